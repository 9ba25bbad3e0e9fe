/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where packets leave. Looked up once in a tick of the clock for each proxy and CPU: a look-up
 * takes as long as all the rest of a program. A route, neighbor or MTU that changes is so seen a
 * tick later, at most 10 ms. */
#pragma once

#include "maps.h"
#include "packet.h"

static __always_inline struct hops *hops_of(__u32 id)
{
    return bpf_map_lookup_elem(&hops, &id);
}

/* Whether a packet of this many bytes may be sent as it is. */
static __always_inline bool fits(const struct __sk_buff *skb, __u32 length, __u32 mtu)
{
    return skb->gso_size || length <= mtu;
}

/* The function's link at this tick. NULL when there is none. */
static __always_inline struct hop *toward_hop(struct __sk_buff *skb, const struct proxy *proxy)
{
    struct hops *both = hops_of(proxy->id);
    __u64 tick = bpf_jiffies64();
    __u32 mtu = 0;

    if (!both)
        return NULL;
    struct hop *hop = &both->toward;
    if (hop->tick == tick && hop->interface == proxy->interface)
        return hop;
    if (bpf_check_mtu(skb, proxy->interface, &mtu, 0, 0) < 0)
        return NULL;
    hop->tick = tick;
    hop->interface = proxy->interface;
    hop->mtu = mtu;
    hop->resolved = 0;
    return hop;
}

/* The MAC addresses between this node and the proxy's next hop, when both are known. */
static __always_inline bool resolve(struct __sk_buff *skb, const struct proxy *proxy,
                                    struct hop *hop)
{
    struct bpf_fib_lookup route = {.ifindex = proxy->interface};
    const __u32 *next = (const void *)proxy->next_hop;
    bool direct;

    if (proxy->inner == INNER_IPV4) {
        route.family = AF_INET;
        route.ipv4_dst = next[0];
    } else {
        route.family = AF_INET6;
        __builtin_memcpy(route.ipv6_dst, next, sizeof(route.ipv6_dst));
    }
    if (bpf_fib_lookup(skb, &route, sizeof(route), BPF_FIB_LOOKUP_OUTPUT))
        return false;
    /* A gateway before it takes its place. */
    direct = route.ifindex == proxy->interface && route.ipv6_dst[0] == next[0];
    if (proxy->inner != INNER_IPV4)
        direct = direct && route.ipv6_dst[1] == next[1] && route.ipv6_dst[2] == next[2] &&
                 route.ipv6_dst[3] == next[3];
    if (!direct)
        return false;
    __builtin_memcpy(hop->to, route.dmac, ETH_ALEN);
    __builtin_memcpy(hop->from, route.smac, ETH_ALEN);
    return true;
}

/* To the next hop of an inner packet, which begins behind the Ethernet header. */
static __always_inline int send_toward(struct __sk_buff *skb, const struct proxy *proxy,
                                       struct hop *hop, struct ethhdr *eth)
{
    struct bpf_redir_neigh next = {};

    if (hop->resolved) {
        __builtin_memcpy(eth->h_dest, hop->to, ETH_ALEN);
        __builtin_memcpy(eth->h_source, hop->from, ETH_ALEN);
        return bpf_redirect(proxy->interface, 0);
    }
    /* The first one of each tick: it keeps the neighbor alive. */
    hop->resolved = resolve(skb, proxy, hop);
    if (proxy->inner == INNER_IPV4) {
        next.nh_family = AF_INET;
        __builtin_memcpy(&next.ipv4_nh, proxy->next_hop, sizeof(next.ipv4_nh));
    } else {
        next.nh_family = AF_INET6;
        __builtin_memcpy(next.ipv6_nh, proxy->next_hop, sizeof(next.ipv6_nh));
    }
    return bpf_redirect_neigh(proxy->interface, &next, sizeof(next), 0);
}

/* Out by the route to the outer destination. What the lookup can't do the stack does: resolve a
 * neighbor, say that the packet is too big. A segment of this node enters by the SID device. */
static __always_inline int send_on(struct __sk_buff *skb, __u32 id, bool stack)
{
    struct bpf_fib_lookup route = {.family = AF_INET6, .ifindex = skb->ifindex};
    struct ethhdr *eth = start_of(skb);
    struct ipv6hdr *outer = (void *)(eth + 1);
    struct hops *both = hops_of(id);
    __u64 tick = bpf_jiffies64();
    __u32 first = 0;

    if (!both || (void *)(outer + 1) > end_of(skb))
        return DROP;
    struct hop *hop = &both->onward;
    if (hop->tick != tick || !same_address(hop->destination, &outer->daddr) ||
        !same_address(hop->source, &outer->saddr)) {
        __builtin_memcpy(route.ipv6_src, &outer->saddr, sizeof(route.ipv6_src));
        __builtin_memcpy(route.ipv6_dst, &outer->daddr, sizeof(route.ipv6_dst));
        long found = bpf_fib_lookup(skb, &route, sizeof(route), 0);
        if (found == BPF_FIB_LKUP_RET_UNSUPP_LWT)
            goto own;
        if (found != BPF_FIB_LKUP_RET_SUCCESS)
            goto other;
        hop->tick = tick;
        __builtin_memcpy(hop->source, &outer->saddr, sizeof(hop->source));
        __builtin_memcpy(hop->destination, &outer->daddr, sizeof(hop->destination));
        hop->interface = route.ifindex;
        hop->mtu = route.mtu_result;
        __builtin_memcpy(hop->to, route.dmac, ETH_ALEN);
        __builtin_memcpy(hop->from, route.smac, ETH_ALEN);
    }
    if (fits(skb, skb->len - ETH_HLEN, hop->mtu)) {
        __builtin_memcpy(eth->h_dest, hop->to, ETH_ALEN);
        __builtin_memcpy(eth->h_source, hop->from, ETH_ALEN);
        return bpf_redirect(hop->interface, 0);
    }
other:
    if (stack) {
        /* Forwarding counts a hop, and so did the way in. */
        if (outer->hop_limit < 255)
            outer->hop_limit++;
        return STACK;
    }
own:;
    struct node *node = bpf_map_lookup_elem(&nodes, &first);
    return node ? bpf_redirect(node->sid_device, BPF_F_INGRESS) : DROP;
}
