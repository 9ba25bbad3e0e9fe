/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The segment list of a packet that leaves, and where it is kept. */
#pragma once

#include "maps.h"
#include "outer.h"

/* One step of a 64-bit mixer (the finalizer of MurmurHash3), over the segments in their order. */
static __always_inline __u64 mixed(__u64 digest, const struct in6_addr *segment)
{
    const __u64 *words = (const void *)segment;

#pragma unroll
    for (int i = 0; i < 2; i++) {
        digest ^= words[i];
        digest *= 0xff51afd7ed558ccdULL;
        digest ^= digest >> 33;
        digest *= 0xc4ceb9fe1a85ec53ULL;
        digest ^= digest >> 29;
    }
    return digest;
}

/* The list as it was given at the headend. A reduced SRH lacks the first segment, which is the
 * destination (RFC 8754 section 4.1.1). False when a row cannot name the list: it is too long, or
 * there are two. */
static __always_inline bool read_list(struct __sk_buff *skb, struct outer *outer)
{
    __u32 at = outer->srh_at;
    struct in6_addr segment;
    struct srh srh;
    __u64 digest = 0;

    if (outer->srhs > 1)
        return false;
    /* None, or single_segment() has read it. */
    if (!outer->srhs || outer->segments)
        return true;
    if (bpf_skb_load_bytes(skb, at, &srh, sizeof(srh)))
        return false;
    outer->segments = srh.last_entry + 1;
    if (outer->segments > MAX_SEGMENTS || outer->segments * 2 > srh.length)
        return false;
    if (bpf_skb_load_bytes(skb, at + sizeof(srh), &outer->last, sizeof(outer->last)))
        return false;
    /* As it leaves the headend, the list begins with the destination. */
    if (srh.segments_left == outer->segments)
        digest = mixed(digest, &outer->destination);
#pragma clang loop unroll(disable)
    for (__u32 i = MAX_SEGMENTS - 1; i > 0; i--) {
        if (i >= outer->segments)
            continue;
        if (bpf_skb_load_bytes(skb, at + sizeof(srh) + i * 16, &segment, sizeof(segment)))
            return false;
        digest = mixed(digest, &segment);
    }
    outer->digest = digest;
    return true;
}

/* Keep the segments behind the digest of a list. False when there is no room. */
static __always_inline bool remember_list(struct __sk_buff *skb, __u64 digest,
                                          const struct outer *outer)
{
    __u32 first = 0, length = 0;
    struct list *list;

    if (bpf_map_lookup_elem(&lists, &digest))
        return true;
    list = bpf_map_lookup_elem(&scratches, &first);
    if (!list)
        return false;
    __builtin_memset(list, 0, sizeof(*list));
    if (outer->segments_left == outer->segments)
        list->segments[length++] = outer->destination;
#pragma clang loop unroll(disable)
    for (__u32 i = MAX_SEGMENTS; i > 0; i--) {
        if (i > outer->segments || length >= MAX_SEGMENTS)
            continue;
        if (bpf_skb_load_bytes(skb, outer->srh_at + sizeof(struct srh) + (i - 1) * 16,
                               &list->segments[length & (MAX_SEGMENTS - 1)],
                               sizeof(struct in6_addr)))
            return false;
        length++;
    }
    list->length = length;
    bpf_map_update_elem(&lists, &digest, list, BPF_ANY);
    return bpf_map_lookup_elem(&lists, &digest);
}
