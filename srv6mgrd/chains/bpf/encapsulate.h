/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A path's header onto a packet or frame (H.Encaps, H.Encaps.L2 of RFC 8986 section 5). */
#pragma once

#include "flow.h"
#include "maps.h"
#include "onward.h"
#include "packet.h"
#include "room.h"

#define TCP_DATA_OFFSET 12
#define TCP_WORDS_SHIFT 4
#define UDP_HEADER 8
#define FLOW_LABEL 0xfffffU

/* The longest packet that this one is or is cut into, behind its Ethernet header. */
static __always_inline __u32 longest(struct __sk_buff *skb, const struct seen *seen)
{
    __u32 headers = seen->upper - ETH_HLEN + UDP_HEADER;
    __u8 words;

    if (!seen->gso_size || !seen->upper)
        return skb->len - ETH_HLEN;
    if (seen->flow.protocol == IPPROTO_TCP &&
        !bpf_skb_load_bytes(skb, seen->upper + TCP_DATA_OFFSET, &words, sizeof(words)))
        headers += (words >> TCP_WORDS_SHIFT) * 4 - UDP_HEADER;
    return headers + seen->gso_size;
}

/* Forwarding counts a hop of the packet inside. */
static __always_inline bool count_hop(struct __sk_buff *skb)
{
    void *inner = start_of(skb) + ETH_HLEN;

    if (skb->protocol == bpf_htons(ETH_P_IPV6)) {
        struct ipv6hdr *ip = inner;

        if ((void *)(ip + 1) > end_of(skb))
            return false;
        ip->hop_limit--;
        /* A checksum of the whole packet that the driver computed changes with it. */
        bpf_csum_update(skb, (__u16)~bpf_htons(1));
    } else {
        struct iphdr *ip = inner;

        if ((void *)(ip + 1) > end_of(skb))
            return false;
        ip->ttl--;
        __u32 sum = ip->check + bpf_htons(0x0100); /* RFC 1141 */
        ip->check = sum + (sum >= 0xffff);
    }
    return true;
}

/* Write the path's header. False when it made room for another path meanwhile. */
static __always_inline bool store_path(struct __sk_buff *skb, const struct path *path, __u32 id,
                                       __u32 length, __u32 octets, __u8 traffic_class, __u32 label)
{
    struct {
        __be32 flow;
        __be16 length;
        __u8 next, hop_limit;
    } start = {};

    if (bpf_skb_store_bytes(skb, ETH_HLEN, path->header, length, BPF_F_RECOMPUTE_CSUM))
        return false;
    __builtin_memcpy(&start, path->header, sizeof(start));
    if (*(volatile const __u32 *)&path->id != id)
        return false;
    start.flow = bpf_htonl(6U << 28 | (__u32)traffic_class << 20 | (label & FLOW_LABEL));
    start.length = bpf_htons(length - sizeof(struct ipv6hdr) + octets);
    return !bpf_skb_store_bytes(skb, ETH_HLEN, &start, sizeof(start), BPF_F_RECOMPUTE_CSUM);
}

/* The largest packet that fits, where its sender is to know; only so many are notified in a tick.
 */
#define MAX_NOTIFIED 8

static __always_inline __u32 mtu_to_notify(struct hop *hop, __u32 length)
{
    return hop->notified++ < MAX_NOTIFIED && hop->mtu > length ? hop->mtu - length : 0;
}

/* Put the header on, and send the packet on. A negative reason when it could not be done; ``mtu``
 * is that of packets that fit. */
static __always_inline int encapsulate(struct __sk_buff *skb, const struct seen *seen, __u32 id,
                                       __u32 label, bool frame, __u32 *mtu)
{
    const struct path *path = bpf_map_lookup_elem(&paths, &id);
    const struct node *node = this_node();
    struct tags tags = {};
    struct hop *hop;
    __u32 length, octets;
    bool first;

    if (!path || !node)
        return -UNAVAILABLE;
    length = path->length;
    hop = hop_of(skb, node, path, id, &first);
    if (!hop || hop->kind == NO_HOP || (frame && hop->kind == NEIGHBOR && !node->sid_device))
        return -NO_ROUTE;
    if (frame && skb->vlan_present && !take_tags(skb, &tags))
        return -MALFORMED;
    octets = longest(skb, seen) + (frame ? ETH_HLEN + tags.count * VLAN_HLEN : 0);
    if (octets + length > hop->mtu) {
        *mtu = mtu_to_notify(hop, length);
        return -TOO_BIG;
    }
    octets = frame ? skb->len + tags.count * VLAN_HLEN : skb->len - ETH_HLEN;
    if (!frame && !count_hop(skb))
        return -MALFORMED;
    /* Known already, but not to the verifier. */
    barrier_var(length);
    if (length > MAX_HEADER)
        return -MALFORMED;
    barrier_var(length);
    if (length < sizeof(struct ipv6hdr))
        return -MALFORMED;
    if (frame ? push_around(skb, length, &tags)
              : push(skb, length, skb->protocol == bpf_htons(ETH_P_IPV6)))
        return -MALFORMED;
    if (!store_path(skb, path, id, length, octets, seen->traffic_class, label))
        return -UNAVAILABLE;
    struct ethhdr *eth = start_of(skb);
    if ((void *)(eth + 1) > end_of(skb))
        return -MALFORMED;
    eth->h_proto = bpf_htons(ETH_P_IPV6);
    return send_on(skb, node, hop, first, frame);
}
