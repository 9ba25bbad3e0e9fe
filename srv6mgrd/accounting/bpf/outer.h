/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The outer header of a tunnelled packet, and its segment list. */
#pragma once

#include "maps.h"
#include "packet.h"

#define MAX_EXTENSIONS 4
#define FRAGMENT_OFFSET 0xfff8

struct outer {
    struct in6_addr source, destination;
    /* The last segment of the SRH; without one the destination. */
    struct in6_addr last;
    /* Of the segments before the last one; 0: there are none. */
    __u64 digest;
    /* Where the first SRH begins, and how many there are. */
    __u32 srh_at, srhs;
    /* Of the list, once it was read. */
    __u32 segments;
    /* Those of the first routing header that has any left, if that is an SRH: the one that
     * behaviors look at (IP6_FH_F_SKIP_RH). */
    __u32 segments_left;
    /* Where the inner packet begins. */
    __u32 length;
    __u32 family;
    /* A part of the outer packet, the first one or a later one. */
    bool fragment, later;
    /* A routing header with segments left was seen. */
    bool active;
    __u8 next;
};

static __always_inline bool read_outer(struct __sk_buff *skb, struct outer *outer)
{
    struct ipv6hdr *ip = start_of(skb) + ETH_HLEN;

    if ((void *)(ip + 1) > end_of(skb)) {
        if (pull(skb, ETH_HLEN + sizeof(*ip)))
            return false;
        ip = start_of(skb) + ETH_HLEN;
        if ((void *)(ip + 1) > end_of(skb))
            return false;
    }
    __builtin_memset(outer, 0, sizeof(*outer));
    outer->source = ip->saddr;
    outer->destination = outer->last = ip->daddr;
    outer->next = ip->nexthdr;
    return true;
}

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

/* An SRH of one segment right behind the outer header, as most packets have it, read without a
 * helper: each call takes as long as half of the rest. Its length; 0: it is another one. */
static __always_inline __u32 single_segment(struct __sk_buff *skb, struct outer *outer)
{
    struct srh *srh = start_of(skb) + ETH_HLEN + sizeof(struct ipv6hdr);

    if (outer->next != IPPROTO_ROUTING || (void *)(srh->segments + 1) > end_of(skb))
        return 0;
    if (srh->type != ROUTING_TYPE_SRH || srh->length != 2 || srh->last_entry || srh->segments_left)
        return 0;
    outer->srhs = outer->segments = 1;
    outer->last = srh->segments[0];
    outer->next = srh->next_header;
    return sizeof(*srh) + sizeof(srh->segments[0]);
}

/* As the kernel does, behaviors ignore a routing header that is malformed or of another type
 * (seg6_get_srh, seg6_validate_srh). */
static __always_inline void note_routing(struct outer *outer, const struct srh *srh, __u32 at)
{
    bool is_srh = srh->type == ROUTING_TYPE_SRH;

    if (is_srh && !outer->srhs++)
        outer->srh_at = at;
    if (!srh->segments_left || outer->active)
        return;
    outer->active = true;
    if (is_srh && srh->last_entry < srh->length / 2 && srh->segments_left <= srh->last_entry + 1)
        outer->segments_left = srh->segments_left;
}

/* Where the inner packet begins, and of which family it is; false when there is none. */
static __always_inline bool find_inner(struct __sk_buff *skb, struct outer *outer)
{
    __u32 at = ETH_HLEN + sizeof(struct ipv6hdr) + single_segment(skb, outer);
    __u8 next = outer->next;

#pragma unroll
    for (int i = 0; i < MAX_EXTENSIONS; i++) {
        /* The others begin as it does, with what follows and their length. */
        struct srh extension;

        if (next != IPPROTO_ROUTING && next != IPPROTO_HOPOPTS && next != IPPROTO_DSTOPTS &&
            next != IPPROTO_FRAGMENT)
            break;
        if (bpf_skb_load_bytes(skb, at, &extension, sizeof(extension)))
            return false;
        if (next == IPPROTO_ROUTING)
            note_routing(outer, &extension, at);
        if (next == IPPROTO_FRAGMENT) {
            __be16 *fragment = (void *)&extension.type;

            outer->fragment = true;
            outer->later = *fragment & bpf_htons(FRAGMENT_OFFSET);
            at += 8;
        } else {
            at += (extension.length + 1) * 8;
        }
        next = extension.next_header;
    }
    /* The last header may be cut off. */
    if (at > skb->len)
        return false;
    outer->length = at;
    if (next == IPPROTO_IPV6)
        outer->family = IPV6;
    else if (next == IPPROTO_IPIP)
        outer->family = IPV4;
    else if (next == NEXT_HEADER_ETHERNET)
        outer->family = ETHERNET;
    else
        return false;
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
