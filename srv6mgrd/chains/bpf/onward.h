/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a path's packets leave: by the route to its first segment, outside of any VRF. Looked up
 * once in a tick of the clock for each path and CPU. */
#pragma once

#include "maps.h"
#include "packet.h"

/* Packets to a SID of this router are bound by no link. */
#define NO_MTU 65535

enum hop_kind {
    NO_HOP,
    DIRECT,   /* by the MAC addresses */
    NEIGHBOR, /* the kernel has to find the neighbor, or to hear of it again */
    OWN,      /* a SID of this router: in by the SID device */
};

static __always_inline const struct node *this_node(void)
{
    __u32 first = 0;

    return bpf_map_lookup_elem(&nodes, &first);
}

static __always_inline void find_hop(struct __sk_buff *skb, const struct node *node,
                                     struct hop *hop)
{
    struct bpf_fib_lookup route = {.family = AF_INET6, .tot_len = 1};

    /* Routes of this interface may be a VRF's, those of the SID device never. */
    route.ifindex = node->sid_device ?: skb->ifindex;
    __builtin_memcpy(route.ipv6_src, hop->source, sizeof(route.ipv6_src));
    __builtin_memcpy(route.ipv6_dst, hop->destination, sizeof(route.ipv6_dst));
    hop->kind = NO_HOP;
    hop->mtu = NO_MTU;
    switch (bpf_fib_lookup(skb, &route, sizeof(route), 0)) {
    case BPF_FIB_LKUP_RET_UNSUPP_LWT:
        hop->kind = node->sid_device ? OWN : NO_HOP;
        hop->interface = node->sid_device;
        return;
    case BPF_FIB_LKUP_RET_SUCCESS:
        hop->kind = DIRECT;
        hop->mtu = route.mtu_result;
        __builtin_memcpy(hop->to, route.dmac, ETH_ALEN);
        __builtin_memcpy(hop->from, route.smac, ETH_ALEN);
        break;
    case BPF_FIB_LKUP_RET_NO_NEIGH:
        hop->kind = NEIGHBOR;
        /* The route's is not answered. */
        bpf_check_mtu(skb, route.ifindex, &hop->mtu, 0, 0);
        break;
    default:
        return;
    }
    hop->interface = route.ifindex;
    __builtin_memcpy(hop->gateway, route.ipv6_dst, sizeof(hop->gateway));
}

/* The hop at this tick, and whether it is new. */
static __always_inline struct hop *hop_of(struct __sk_buff *skb, const struct node *node,
                                          const struct path *path, __u32 id, bool *first)
{
    const struct ipv6hdr *outer = (const void *)path->header;
    struct hop *hop = bpf_map_lookup_elem(&hops, &id);
    __u64 tick = bpf_jiffies64();

    if (!hop)
        return NULL;
    *first = false;
    if (hop->tick == tick && same_address(hop->destination, &outer->daddr) &&
        same_address(hop->source, &outer->saddr))
        return hop;
    __builtin_memcpy(hop->source, &outer->saddr, sizeof(hop->source));
    __builtin_memcpy(hop->destination, &outer->daddr, sizeof(hop->destination));
    find_hop(skb, node, hop);
    hop->notified = 0;
    hop->tick = tick;
    *first = true;
    return hop;
}

/* Out by the hop. The kernel itself sends the first packet of a tick to its neighbor, which keeps
 * that one alive; it can't do so with a frame inside, which the stack routes where it has to. */
static __always_inline int send_on(struct __sk_buff *skb, const struct node *node,
                                   const struct hop *hop, bool first, bool frame)
{
    struct ethhdr *eth = start_of(skb);

    if ((void *)(eth + 1) > end_of(skb))
        return DROP;
    if (!frame && (hop->kind == NEIGHBOR || (hop->kind == DIRECT && first))) {
        struct bpf_redir_neigh next = {.nh_family = AF_INET6};

        __builtin_memcpy(next.ipv6_nh, hop->gateway, sizeof(next.ipv6_nh));
        return bpf_redirect_neigh(hop->interface, &next, sizeof(next), 0);
    }
    if (hop->kind == DIRECT) {
        __builtin_memcpy(eth->h_dest, hop->to, ETH_ALEN);
        __builtin_memcpy(eth->h_source, hop->from, ETH_ALEN);
        return bpf_redirect(hop->interface, 0);
    }
    __builtin_memcpy(eth->h_dest, node->mac, ETH_ALEN);
    __builtin_memcpy(eth->h_source, node->mac, ETH_ALEN);
    return node->sid_device ? bpf_redirect(node->sid_device, BPF_F_INGRESS) : DROP;
}
