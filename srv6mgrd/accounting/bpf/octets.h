/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets and octets as they are on the wire: a super-packet (GSO, GRO) is counted as the packets
 * that it is cut into or was made of, each with headers of its own. */
#pragma once

#include "outer.h"

struct octets {
    __u64 packets, inner, outer;
};

#define TCP_DATA_OFFSET 12
#define UDP_HEADER 8

/* Length of the inner headers that each packet of a super-packet has; 0: unknown. */
static __always_inline __u32 inner_headers(struct __sk_buff *skb, const struct outer *outer)
{
    __u32 at = outer->length, begin = at;
    __u32 family = outer->family;
    __u8 protocol, word;

    if (family == ETHERNET) {
        __be16 type;

        if (bpf_skb_load_bytes(skb, at + 2 * ETH_ALEN, &type, sizeof(type)))
            return 0;
        at += ETH_HLEN;
        if (type == bpf_htons(ETH_P_8021Q)) {
            if (bpf_skb_load_bytes(skb, at + 2, &type, sizeof(type)))
                return 0;
            at += VLAN_HLEN;
        }
        if (type == bpf_htons(ETH_P_IP))
            family = IPV4;
        else if (type == bpf_htons(ETH_P_IPV6))
            family = IPV6;
        else
            return 0;
    }
    if (family == IPV4) {
        struct iphdr ip;

        if (bpf_skb_load_bytes(skb, at, &ip, sizeof(ip)))
            return 0;
        protocol = ip.protocol;
        at += ip.ihl * 4;
    } else {
        if (bpf_skb_load_bytes(skb, at + offsetof(struct ipv6hdr, nexthdr), &protocol, 1))
            return 0;
        at += sizeof(struct ipv6hdr);
    }
    if (protocol == IPPROTO_UDP)
        return at + UDP_HEADER - begin;
    if (protocol != IPPROTO_TCP || bpf_skb_load_bytes(skb, at + TCP_DATA_OFFSET, &word, 1))
        return 0;
    return at + (word >> 4) * 4 - begin;
}

static __always_inline struct octets octets_of(struct __sk_buff *skb, const struct outer *outer)
{
    struct octets octets = {1, skb->len - outer->length, skb->len - ETH_HLEN};
    __u32 headers, payload, more;

    if (outer->later)
        octets.packets = 0;
    if (!skb->gso_size)
        return octets;
    headers = inner_headers(skb, outer);
    if (headers && headers < octets.inner) {
        payload = octets.inner - headers;
        more = (payload - 1) / skb->gso_size;
    } else {
        more = skb->gso_segs ? skb->gso_segs - 1 : 0;
    }
    octets.packets += more;
    octets.inner += (__u64)more * headers;
    octets.outer += (__u64)more * (outer->length - ETH_HLEN + headers);
    return octets;
}
