/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notify the sender of a packet that does not fit the underlay with its path's header on: ICMP
 * Fragmentation Needed (RFC 1191) or ICMPv6 Packet Too Big (RFC 4443 section 3.2), back to where it
 * came from. The stack could not: a packet that it gets as it is goes around the chain. */
#pragma once

#include "flow.h"
#include "maps.h"
#include "packet.h"

#define ICMP_UNREACHABLE 3
#define ICMP_FRAGMENTATION_NEEDED 4
#define ICMP_ECHO 8
#define ICMPV6_TOO_BIG 2
#define ICMPV6_ECHO 128
#define MIN_MTU 1280
#define MIN_MTU4 576
#define IP_OFFSET 0x1fff
/* Of the packet: its headers, for the sender to know it by. */
#define QUOTED 128

struct icmp {
    __u8 type, code;
    __be16 checksum;
    __be32 mtu;
};

struct pseudo_header {
    struct in6_addr source, destination;
    __be32 length;
    __be32 next;
};

/* What the checksum is of; IPv4 has no pseudo header. */
struct answer {
    struct pseudo_header pseudo;
    struct icmp icmp;
    __u8 quoted[QUOTED];
};

/* Too large for the stack. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct answer);
} answers SEC(".maps");

/* An empty one. */
static __always_inline struct answer *new_answer(void)
{
    __u32 first = 0;
    struct answer *answer = bpf_map_lookup_elem(&answers, &first);

    if (answer) {
        __builtin_memset(&answer->pseudo, 0, sizeof(answer->pseudo));
        __builtin_memset(&answer->icmp, 0, sizeof(answer->icmp));
    }
    return answer;
}

static __always_inline __be16 folded(__s64 sum)
{
    sum = (sum & 0xffff) + (sum >> 16 & 0xffff);
    sum = (sum & 0xffff) + (sum >> 16);
    return ~sum;
}

/* Cut the packet, and make room before it for these bytes of headers. */
static __always_inline bool quote(struct __sk_buff *skb, __u32 headers)
{
    return !bpf_skb_change_tail(skb, ETH_HLEN + QUOTED, 0) && !bpf_skb_change_head(skb, headers, 0);
}

static __always_inline void turn_around(const struct ethhdr *from, struct ethhdr *to)
{
    __builtin_memcpy(to->h_dest, from->h_source, ETH_ALEN);
    __builtin_memcpy(to->h_source, from->h_dest, ETH_ALEN);
    to->h_proto = from->h_proto;
}

static __noinline int notify6(struct __sk_buff *skb, __u32 upper, __u32 mtu)
{
    struct bpf_fib_lookup route = {.family = AF_INET6, .ifindex = skb->ifindex};
    struct answer *answer = new_answer();
    struct {
        struct ethhdr eth;
        struct ipv6hdr ip;
    } __attribute__((packed)) headers = {};
    struct ethhdr eth;
    __u8 type;

    if (!answer || bpf_skb_load_bytes(skb, 0, &eth, sizeof(eth)) ||
        bpf_skb_load_bytes(skb, ETH_HLEN, answer->quoted, QUOTED))
        return DROP;
    const struct ipv6hdr *ip = (const void *)answer->quoted;
    if (ip->nexthdr == IPPROTO_ICMPV6 &&
        (bpf_skb_load_bytes(skb, upper, &type, sizeof(type)) || type < ICMPV6_ECHO))
        return DROP;
    __builtin_memcpy(route.ipv6_dst, &ip->saddr, sizeof(route.ipv6_dst));
    if (bpf_fib_lookup(skb, &route, sizeof(route), BPF_FIB_LOOKUP_SRC | BPF_FIB_LOOKUP_SKIP_NEIGH))
        return DROP;
    __builtin_memcpy(&answer->pseudo.source, route.ipv6_src, sizeof(answer->pseudo.source));
    answer->pseudo.destination = ip->saddr;
    answer->pseudo.length = bpf_htonl(sizeof(answer->icmp) + QUOTED);
    answer->pseudo.next = bpf_htonl(IPPROTO_ICMPV6);
    answer->icmp.type = ICMPV6_TOO_BIG;
    answer->icmp.mtu = bpf_htonl(mtu > MIN_MTU ? mtu : MIN_MTU);
    answer->icmp.checksum = folded(bpf_csum_diff(0, 0, (void *)answer, sizeof(*answer), 0));
    turn_around(&eth, &headers.eth);
    headers.ip.version = 6;
    headers.ip.payload_len = bpf_htons(sizeof(answer->icmp) + QUOTED);
    headers.ip.nexthdr = IPPROTO_ICMPV6;
    headers.ip.hop_limit = 64;
    headers.ip.saddr = answer->pseudo.source;
    headers.ip.daddr = answer->pseudo.destination;
    if (!quote(skb, sizeof(headers.ip) + sizeof(answer->icmp)) ||
        bpf_skb_store_bytes(skb, 0, &headers, sizeof(headers), 0) ||
        bpf_skb_store_bytes(skb, sizeof(headers), &answer->icmp, sizeof(answer->icmp), 0))
        return DROP;
    return bpf_redirect(skb->ifindex, 0);
}

static __noinline int notify4(struct __sk_buff *skb, __u32 upper, __u32 mtu)
{
    struct bpf_fib_lookup route = {.family = AF_INET, .ifindex = skb->ifindex};
    struct answer *answer = new_answer();
    struct {
        struct ethhdr eth;
        struct iphdr ip;
    } __attribute__((packed)) headers = {};
    struct iphdr made = {};
    struct ethhdr eth;
    __u8 type;

    if (!answer || bpf_skb_load_bytes(skb, 0, &eth, sizeof(eth)) ||
        bpf_skb_load_bytes(skb, ETH_HLEN, answer->quoted, QUOTED))
        return DROP;
    const struct iphdr *ip = (const void *)answer->quoted;
    if (ip->frag_off & bpf_htons(IP_OFFSET))
        return DROP;
    if (ip->protocol == IPPROTO_ICMP &&
        (bpf_skb_load_bytes(skb, upper, &type, sizeof(type)) || (type && type != ICMP_ECHO)))
        return DROP;
    route.ipv4_dst = ip->saddr;
    if (bpf_fib_lookup(skb, &route, sizeof(route), BPF_FIB_LOOKUP_SRC | BPF_FIB_LOOKUP_SKIP_NEIGH))
        return DROP;
    answer->icmp.type = ICMP_UNREACHABLE;
    answer->icmp.code = ICMP_FRAGMENTATION_NEEDED;
    answer->icmp.mtu = bpf_htonl(mtu > MIN_MTU4 ? mtu : MIN_MTU4);
    answer->icmp.checksum = folded(bpf_csum_diff(0, 0, (void *)answer, sizeof(*answer), 0));
    made.version = 4;
    made.ihl = sizeof(made) / 4;
    made.tot_len = bpf_htons(sizeof(made) + sizeof(answer->icmp) + QUOTED);
    made.ttl = 64;
    made.protocol = IPPROTO_ICMP;
    made.saddr = route.ipv4_src;
    made.daddr = ip->saddr;
    made.check = folded(bpf_csum_diff(0, 0, (void *)&made, sizeof(made), 0));
    turn_around(&eth, &headers.eth);
    headers.ip = made;
    if (!quote(skb, sizeof(made) + sizeof(answer->icmp)) ||
        bpf_skb_store_bytes(skb, 0, &headers, sizeof(headers), 0) ||
        bpf_skb_store_bytes(skb, sizeof(headers), &answer->icmp, sizeof(answer->icmp), 0))
        return DROP;
    return bpf_redirect(skb->ifindex, 0);
}

static __always_inline int notify_sender(struct __sk_buff *skb, const struct seen *seen, __u32 mtu)
{
    if (seen->flow.kind == IPV6)
        return notify6(skb, seen->upper, mtu);
    if (seen->flow.kind == IPV4)
        return notify4(skb, seen->upper, mtu);
    return DROP;
}
