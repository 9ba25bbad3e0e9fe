/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What rules look at in a packet. */
#pragma once

#include "extensions.h"
#include "maps.h"
#include "packet.h"

/* The packet's flow, and where what is behind its IP header begins; 0: it has none. */
struct seen {
    struct flow flow;
    __u32 upper;
    __u32 gso_size;
    __u8 hop_limit;
    __u8 traffic_class;
};

static __always_inline bool is_local6(const struct ipv6hdr *ip)
{
    const __u8 *to = ip->daddr.s6_addr;

    return to[0] == 0xff || (to[0] == 0xfe && (to[1] & 0xc0) == 0x80);
}

static __always_inline bool is_local4(const struct iphdr *ip)
{
    const __u8 *to = (const void *)&ip->daddr;

    return to[0] >> 4 == 14 || ip->daddr == ~0U || (to[0] == 169 && to[1] == 254);
}

static __always_inline bool is_discovery(struct __sk_buff *skb, __u32 at)
{
    __u8 type;

    return !bpf_skb_load_bytes(skb, at, &type, sizeof(type)) && type >= ND_FIRST && type <= ND_LAST;
}

static __always_inline void read_ports(struct __sk_buff *skb, struct seen *seen)
{
    if (has_ports(seen->flow.protocol) &&
        !bpf_skb_load_bytes(skb, seen->upper, seen->flow.ports, sizeof(seen->flow.ports)))
        seen->flow.has_ports = 1;
}

static __always_inline bool read_ipv6(struct __sk_buff *skb, struct seen *seen)
{
    struct flow *flow = &seen->flow;
    struct ipv6hdr *ip = start_of(skb) + ETH_HLEN;
    __u32 header, upper = ETH_HLEN + sizeof(*ip);
    bool local;

    if ((void *)(ip + 1) > end_of(skb)) {
        if (pull(skb, ETH_HLEN + sizeof(*ip)))
            return false;
        ip = start_of(skb) + ETH_HLEN;
        if ((void *)(ip + 1) > end_of(skb))
            return false;
    }
    if (ip->version != 6)
        return false;
    __builtin_memcpy(flow->source, &ip->saddr, sizeof(flow->source));
    __builtin_memcpy(flow->destination, &ip->daddr, sizeof(flow->destination));
    seen->hop_limit = ip->hop_limit;
    seen->traffic_class = ip->priority << 4 | ip->flow_lbl[0] >> 4;
    local = is_local6(ip);
    header = ip->nexthdr;
    if (is_extension(header) || header == IPPROTO_ROUTING) {
        __u32 next = skip_extensions(skb, upper, header, true);

        if (next == NO_HEADER)
            return false;
        header = header_of(next);
        upper = place_of(next);
    }
    flow->protocol = header;
    seen->upper = upper;
    if (header == IPPROTO_ICMPV6)
        local = local || (seen->hop_limit == 255 && is_discovery(skb, upper));
    else
        read_ports(skb, seen);
    flow->kind = local ? LOCAL6 : IPV6;
    return true;
}

static __always_inline bool read_ipv4(struct __sk_buff *skb, struct seen *seen)
{
    struct flow *flow = &seen->flow;
    struct iphdr *ip = start_of(skb) + ETH_HLEN;

    if ((void *)(ip + 1) > end_of(skb)) {
        if (pull(skb, ETH_HLEN + sizeof(*ip)))
            return false;
        ip = start_of(skb) + ETH_HLEN;
        if ((void *)(ip + 1) > end_of(skb))
            return false;
    }
    if (ip->version != 4 || ip->ihl < 5)
        return false;
    __builtin_memcpy(flow->source, &ip->saddr, sizeof(ip->saddr));
    __builtin_memcpy(flow->destination, &ip->daddr, sizeof(ip->daddr));
    seen->hop_limit = ip->ttl;
    seen->traffic_class = ip->tos;
    seen->upper = ETH_HLEN + ip->ihl * 4;
    flow->protocol = ip->protocol;
    flow->kind = is_local4(ip) ? LOCAL4 : IPV4;
    /* All fragments go by their addresses: only the first one has ports. */
    if (!(ip->frag_off & bpf_htons(IP_FRAGMENT)))
        read_ports(skb, seen);
    return true;
}

static __always_inline bool read_frame(struct __sk_buff *skb, struct seen *seen)
{
    struct flow *flow = &seen->flow;
    struct ethhdr *eth = start_of(skb);

    if ((void *)(eth + 1) > end_of(skb))
        return false;
    __builtin_memcpy(flow->source, eth->h_source, ETH_ALEN);
    __builtin_memcpy(flow->destination, eth->h_dest, ETH_ALEN);
    flow->ports[0] = skb->protocol;
    flow->kind = OTHER;
    return true;
}

/* False when the packet is malformed. */
static __always_inline bool read_flow(struct __sk_buff *skb, __u32 classifier, __u32 flags,
                                      struct seen *seen)
{
    struct flow *flow = &seen->flow;
    bool ours = skb->pkt_type != PACKET_OTHERHOST && !skb->vlan_present;

    __builtin_memset(seen, 0, sizeof(*seen));
    flow->classifier = classifier;
    if (flags & BY_MARK)
        flow->mark = skb->mark;
    if (ours && skb->protocol == bpf_htons(ETH_P_IPV6)) {
        if (!read_ipv6(skb, seen))
            return false;
    } else if (ours && skb->protocol == bpf_htons(ETH_P_IP)) {
        if (!read_ipv4(skb, seen))
            return false;
    } else if (!read_frame(skb, seen)) {
        return false;
    }
    if (flags & BY_DSCP)
        flow->dscp = seen->traffic_class >> 2;
    return true;
}

static __always_inline __u64 mixed(__u64 value)
{
    value ^= value >> 31;
    value *= 0x9e3779b97f4a7c15;
    value ^= value >> 29;
    value *= 0xbf58476d1ce4e5b9;
    return value ^ value >> 32;
}

static __always_inline __u64 end_hash(const __u64 *address, __be16 port)
{
    return mixed(mixed(address[0] ^ (__u64)port << 32) + address[1]);
}

/* The same in both directions of a connection. */
static __always_inline __u64 hash_of(const struct flow *flow)
{
    __u64 ends;

    if (flow->kind == OTHER)
        ends = end_hash(flow->source, 0) + end_hash(flow->destination, 0);
    else
        ends = end_hash(flow->source, flow->ports[0]) + end_hash(flow->destination, flow->ports[1]);
    return mixed(ends + flow->protocol);
}
