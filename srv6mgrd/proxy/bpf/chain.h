/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The chain of a port: learned from packets towards the function, or declared; put back on those
 * that return. */
#pragma once

#include "maps.h"
#include "packet.h"

/* Whether the header is what the slot holds. The first word is not compared: traffic class, flow
 * label, payload length and hop limit are the packet's, not the chain's. */
static __always_inline bool same_chain(const struct slot *slot, const __u64 *header,
                                       const void *end, __u32 length)
{
    __u64 difference = slot->length ^ length;

#pragma clang loop unroll(disable)
    for (int i = 1; i < HEADER_WORDS; i++) {
        if (i * 8 >= length || (const void *)(header + i + 1) > end)
            break;
        difference |= header[i] ^ slot->header[i];
    }
    return !difference;
}

/* Learn the header of this packet, already advanced to the next segment. Compared before it is
 * written, so that CPUs that see the same chain share the cache line in peace. */
static __always_inline void learn(const struct proxy *proxy, const void *header, const void *end,
                                  __u32 length)
{
    struct port port = {proxy->return_interface, proxy->inner};
    struct chain *chain = bpf_map_lookup_elem(&chains, &port);
    __u64 now = 0;

    if (!chain)
        return;
    struct slot *slot = &chain->slots[chain->sequence & 1];
    if (proxy->age && slot->length) {
        now = bpf_ktime_get_coarse_ns();
        if (now - chain->learned < proxy->age)
            return;
    }
    if (same_chain(slot, header, end, length)) {
        if (proxy->age)
            chain->learned = now;
        return;
    }
    now = bpf_ktime_get_coarse_ns();
    const __u64 *words = header;

    bpf_spin_lock(&chain->lock);
    slot = &chain->slots[(chain->sequence + 1) & 1];
#pragma clang loop unroll(disable)
    for (int i = 0; i < HEADER_WORDS; i++) {
        if (i * 8 >= length || (const void *)(words + i + 1) > end)
            break;
        slot->header[i] = words[i];
    }
    slot->length = length;
    chain->learned = now;
    /* With the lock's own barriers: who sees the number sees the slot. */
    chain->sequence += 1;
    bpf_spin_unlock(&chain->lock);
}

static __always_inline void copy_header(__u64 *to, const void *end, const struct slot *slot,
                                        __u32 length)
{
#pragma clang loop unroll(disable)
    for (int i = 0; i < HEADER_WORDS; i++) {
        if (i * 8 >= length || (const void *)(to + i + 1) > end)
            break;
        to[i] = slot->header[i];
    }
}

/* Write the chain's header, of this length, to the packet. The slot in force is not written to
 * before the other one was, so a reader is overtaken only by two writers; then it takes the lock.
 * False when the chain changed its length meanwhile. */
static __always_inline bool restore(struct chain *chain, void *to, const void *end, __u32 length)
{
    __u32 sequence = *(volatile __u32 *)&chain->sequence;
    struct slot *slot = &chain->slots[sequence & 1];

    if (slot->length != length)
        return false;
    copy_header(to, end, slot, length);
    if (*(volatile __u32 *)&chain->sequence - sequence < 2)
        return true;
    bool same;

    bpf_spin_lock(&chain->lock);
    slot = &chain->slots[chain->sequence & 1];
    same = slot->length == length;
    if (same)
        copy_header(to, end, slot, length);
    bpf_spin_unlock(&chain->lock);
    return same;
}
