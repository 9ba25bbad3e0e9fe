/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs share about a packet, and where they count it. */
#pragma once

#include "maps.h"
#include "outer.h"
#include "route.h"

/* What is found out about a packet. In a map, of whose contents the verifier keeps no account: it
 * would look at each way through the headers together with each way that follows. */
struct scratch {
    struct outer outer;
    struct forwarded packet;
    /* The last packet that passed and where its SID is counted, for the program at the kernel's
     * drops: it has the same packet, on the same CPU. */
    __u64 skb;
    __u32 place;
    __u32 pad;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline void count(__u32 place, __u32 reason, __u64 packets)
{
    __u32 key = place * REASONS + (reason & (REASONS - 1));
    __u64 *known = bpf_map_lookup_elem(&counts, &key);

    if (known)
        *known += packets;
    else
        bpf_map_update_elem(&counts, &key, &packets, BPF_NOEXIST);
}
