/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The outer header of a tunnelled packet, with its extension headers. */
#pragma once

#include "packet.h"

/* Of the packet inside. */
enum family { IPV4, IPV6, ETHERNET, FAMILIES };

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
    /* Of the first routing header, if it is an SRH: what behaviors that decapsulate look at. */
    __u32 segments_left;
    /* Where the first routing header with segments left begins: what other behaviors look at
     * (IP6_FH_F_SKIP_RH). 0: there is none. */
    __u32 active_at;
    /* Where the inner packet begins. */
    __u32 length;
    __u32 family;
    /* A part of the outer packet, the first one or a later one. */
    bool fragment, later;
    /* The routing header with segments left is an SRH. */
    bool active;
    /* A routing header was seen. */
    bool routed;
    /* There is a packet inside. */
    bool tunnelled;
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
    outer->srh_at = ETH_HLEN + sizeof(struct ipv6hdr);
    outer->routed = true;
    outer->last = srh->segments[0];
    outer->next = srh->next_header;
    return sizeof(*srh) + sizeof(srh->segments[0]);
}

/* As the kernel has it, a routing header that is malformed or of another type is none
 * (seg6_get_srh, seg6_validate_srh). */
static __always_inline void note_routing(struct outer *outer, const struct srh *srh, __u32 at)
{
    bool is_srh = srh->type == ROUTING_TYPE_SRH;
    bool is_valid =
        is_srh && srh->last_entry < srh->length / 2 && srh->segments_left <= srh->last_entry + 1;

    if (is_srh && !outer->srhs++)
        outer->srh_at = at;
    if (!outer->routed && is_valid)
        outer->segments_left = srh->segments_left;
    outer->routed = true;
    if (srh->segments_left && !outer->active_at) {
        outer->active_at = at;
        outer->active = is_valid;
    }
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
    outer->next = next;
    if (next == IPPROTO_IPV6)
        outer->family = IPV6;
    else if (next == IPPROTO_IPIP)
        outer->family = IPV4;
    else if (next == NEXT_HEADER_ETHERNET)
        outer->family = ETHERNET;
    else
        return false;
    outer->tunnelled = true;
    return true;
}
