/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What becomes of a packet that a behavior hands to forwarding. */
#pragma once

#include "maps.h"
#include "outer.h"
#include "packet.h"

#define IP_DF 0x4000

/* A packet that is to be forwarded: the one inside of the tunnel, or the outer one. */
struct forwarded {
    __u32 family;
    /* Where its header begins. */
    __u32 at;
    struct in6_addr source, destination;
    /* What is left of its hop limit or TTL. */
    __u8 hops;
    bool fragments;
    /* What is counted when it passes. */
    __u8 hmac;
};

static __always_inline bool read_forwarded(struct __sk_buff *skb, struct forwarded *packet)
{
    if (packet->family == IPV4) {
        struct iphdr ip;

        if (bpf_skb_load_bytes(skb, packet->at, &ip, sizeof(ip)))
            return false;
        packet->source.in6_u.u6_addr32[0] = ip.saddr;
        packet->destination.in6_u.u6_addr32[0] = ip.daddr;
        packet->hops = ip.ttl;
        packet->fragments = !(ip.frag_off & bpf_htons(IP_DF));
    } else {
        struct ipv6hdr ip;

        if (bpf_skb_load_bytes(skb, packet->at, &ip, sizeof(ip)))
            return false;
        packet->source = ip.saddr;
        packet->destination = ip.daddr;
        packet->hops = ip.hop_limit;
    }
    return true;
}

/* The answer of the kernel's tables for a packet to an address. */
static __always_inline int looked_up(struct __sk_buff *skb, const struct watched *sid,
                                     const struct forwarded *packet, const struct in6_addr *to,
                                     struct bpf_fib_lookup *answer)
{
    __u32 flags = 0, length = skb->len - packet->at;

    __builtin_memset(answer, 0, sizeof(*answer));
    answer->ifindex = skb->ifindex;
    /* What is cut into packets that fit is not too big. */
    if (!skb->gso_size && length <= 0xffff && !packet->fragments)
        answer->tot_len = length;
    if (packet->family == IPV4) {
        answer->family = AF_INET;
        answer->ipv4_src = packet->source.in6_u.u6_addr32[0];
        answer->ipv4_dst = to->in6_u.u6_addr32[0];
    } else {
        answer->family = AF_INET6;
        __builtin_memcpy(answer->ipv6_src, &packet->source, sizeof(answer->ipv6_src));
        __builtin_memcpy(answer->ipv6_dst, to, sizeof(answer->ipv6_dst));
    }
    if (sid->table) {
        flags = BPF_FIB_LOOKUP_DIRECT | BPF_FIB_LOOKUP_TBID;
        answer->tbid = sid->table;
    }
    return bpf_fib_lookup(skb, answer, sizeof(*answer), flags);
}

/* Whether the reverse path filter drops it (__fib_validate_source): a route back that leads into a
 * tunnel is none through the VRF. */
static __always_inline bool is_on_wrong_path(struct __sk_buff *skb, const struct watched *sid,
                                             const struct forwarded *packet)
{
    struct bpf_fib_lookup answer;
    int code;

    if (packet->family != IPV4 || !sid->rp_filter || sid->how != IN_TABLE)
        return false;
    code = looked_up(skb, sid, packet, &packet->source, &answer);
    if (code == BPF_FIB_LKUP_RET_UNREACHABLE || code == BPF_FIB_LKUP_RET_BLACKHOLE ||
        code == BPF_FIB_LKUP_RET_PROHIBIT)
        return true;
    return sid->rp_filter == 1 && code == BPF_FIB_LKUP_RET_UNSUPP_LWT;
}

/* Whether the kernel reports to the sender that a packet is too big (icmpv6_send, icmp_send): a
 * route leads back to it. */
static __always_inline bool is_reported(struct __sk_buff *skb, const struct watched *sid,
                                        struct forwarded *packet)
{
    struct bpf_fib_lookup answer;
    int code;

    packet->fragments = true;
    code = looked_up(skb, sid, packet, &packet->source, &answer);
    return code == BPF_FIB_LKUP_RET_SUCCESS || code == BPF_FIB_LKUP_RET_UNSUPP_LWT ||
           code == BPF_FIB_LKUP_RET_NO_NEIGH;
}

static __always_inline int reason_of_route(struct __sk_buff *skb, const struct watched *sid,
                                           struct forwarded *packet)
{
    struct bpf_fib_lookup answer;
    const struct in6_addr *to = sid->how == TO_NEXT_HOP ? &sid->next_hop : &packet->destination;
    struct link *link;
    __u32 ifindex;
    int code;

    code = looked_up(skb, sid, packet, to, &answer);
    switch (code) {
    case BPF_FIB_LKUP_RET_UNREACHABLE:
        return NO_ROUTE;
    case BPF_FIB_LKUP_RET_BLACKHOLE:
    case BPF_FIB_LKUP_RET_PROHIBIT:
        return POLICY;
    case BPF_FIB_LKUP_RET_FWD_DISABLED:
        return NOT_FORWARDING;
    case BPF_FIB_LKUP_RET_NOT_FWDED:
        /* No route, or an address of this router, which a VRF delivers. */
        return sid->how == IN_TABLE && sid->families ? PASSED : NO_ROUTE;
    default:
        break;
    }
    if (is_on_wrong_path(skb, sid, packet))
        return REVERSE_PATH;
    if (packet->hops <= 1)
        return HOP_LIMIT;
    if (code == BPF_FIB_LKUP_RET_FRAG_NEEDED)
        return is_reported(skb, sid, packet) ? TOO_BIG : TOO_BIG_SILENT;
    ifindex = answer.ifindex;
    link = bpf_map_lookup_elem(&interfaces, &ifindex);
    if (link && link->down)
        return LINK_DOWN;
    return code == BPF_FIB_LKUP_RET_NO_NEIGH ? NO_NEIGHBOR : PASSED;
}
