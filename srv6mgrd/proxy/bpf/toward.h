/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Towards the function: advance the segment list, learn it, take it off, hand over what is inside.
 * draft-ietf-spring-sr-service-programming section 6. */
#pragma once

#include "chain.h"
#include "extensions.h"
#include "flow.h"
#include "hop.h"
#include "maps.h"
#include "packet.h"

/* IPv6 header, SRH, and extension headers before and behind it. */
#define MAX_OUTER (MAX_HEADER + 2 * MAX_EXTENSION_BYTES)

/* What a header says of why the search ended there; 0: nothing. */
static __always_inline int extension_fault(__u32 header)
{
    if (header == IPPROTO_FRAGMENT)
        return FRAGMENT;
    return is_extension(header) ? EXTENSION_HEADER_CHAIN_TOO_LONG : 0;
}

enum arrival {
    FROM_UNDERLAY, /* ingress of an interface */
    FROM_NODE,     /* ingress of the SID device, from where no peer can be reached */
};

/* Take one off the inner packet's hop limit or TTL. A reason why not, or 0. */
static __always_inline int inner_hop(struct __sk_buff *skb, const struct proxy *proxy, void *inner,
                                     const void *end, bool decrement)
{
    if (proxy->inner == INNER_IPV6) {
        struct ipv6hdr *ip = inner;

        if ((void *)(ip + 1) > end || ip->version != 6)
            return NOT_FOR_PROXY;
        if (!decrement)
            return 0;
        if (ip->hop_limit <= 1)
            return HOP_LIMIT;
        ip->hop_limit--;
        /* A checksum of the whole packet that the driver computed changes with it. */
        bpf_csum_update(skb, (__u16)~bpf_htons(1));
    } else if (proxy->inner == INNER_IPV4) {
        struct iphdr *ip = inner;

        if ((void *)(ip + 1) > end || ip->version != 4 || ip->ihl < 5)
            return NOT_FOR_PROXY;
        if (!decrement)
            return 0;
        if (ip->ttl <= 1)
            return HOP_LIMIT;
        ip->ttl--;
        __u32 sum = ip->check + bpf_htons(0x0100); /* RFC 1141 */
        ip->check = sum + (sum >= 0xffff);
    } else if (inner + ETH_HLEN > end) {
        return NOT_FOR_PROXY;
    }
    return 0;
}

static __always_inline int hand_over(struct __sk_buff *skb, const struct proxy *proxy,
                                     struct hop *hop, enum arrival arrival)
{
    struct ethhdr *eth = start_of(skb);

    if ((void *)(eth + 1) > end_of(skb))
        return DROP;
    if (arrival == FROM_UNDERLAY && proxy->flags & PEER) {
        __builtin_memcpy(eth->h_dest, proxy->peer_mac, ETH_ALEN);
        __builtin_memcpy(eth->h_source, proxy->own_mac, ETH_ALEN);
        return bpf_redirect_peer(proxy->interface, 0);
    }
    return send_toward(skb, proxy, hop, eth);
}

/* Whether the SID's seg6local route takes this packet: it does better with super-packets
 * (skb->encapsulation), and fragments packets that are too big for the function's link, or
 * sends Packet Too Big to the inner sender. It counts the inner hop itself. */
static __always_inline bool leave_to_kernel(struct __sk_buff *skb, const struct proxy *proxy,
                                            const struct hop *hop, __u32 octets)
{
    return skb->gso_size || (proxy->inner != INNER_ETHERNET && octets > hop->mtu);
}

/* Whether the function's link would lose a frame (is_skb_forwardable: a VLAN tag is free). */
static __always_inline bool frame_too_big(const struct __sk_buff *skb, const struct proxy *proxy,
                                          const struct hop *hop, __u32 octets)
{
    return proxy->inner == INNER_ETHERNET && !fits(skb, octets, hop->mtu + ETH_HLEN + VLAN_HLEN);
}

/* Take off the outer header and send the packet or frame to the function. */
static __always_inline int strip(struct __sk_buff *skb, const struct proxy *proxy, struct hop *hop,
                                 __u32 length, enum arrival arrival)
{
    __u64 flags = BPF_F_ADJ_ROOM_DECAP_L3_IPV6;
    __s32 cut = length;
    struct ethhdr *eth, frame;

    if (proxy->inner == INNER_ETHERNET) {
        if (bpf_skb_load_bytes(skb, ETH_HLEN + length, &frame, sizeof(frame)))
            return DROP;
        cut += ETH_HLEN;
        /* A frame may hold less than an IPv6 header, which the helper would insist on. */
        flags = BPF_F_ADJ_ROOM_DECAP_L3_IPV4;
    } else if (proxy->inner == INNER_IPV4) {
        flags = BPF_F_ADJ_ROOM_DECAP_L3_IPV4;
    }
    if (bpf_skb_adjust_room(skb, -cut, BPF_ADJ_ROOM_MAC, flags | BPF_F_ADJ_ROOM_FIXED_GSO))
        return DROP;
    eth = start_of(skb);
    if ((void *)(eth + 1) > end_of(skb))
        return DROP;
    if (proxy->inner == INNER_ETHERNET) {
        *eth = frame;
        return bpf_redirect(proxy->interface, 0);
    }
    eth->h_proto = bpf_htons(proxy->inner == INNER_IPV4 ? ETH_P_IP : ETH_P_IPV6);
    return hand_over(skb, proxy, hop, arrival);
}

/* End.AM: the function sees the last segment as the destination. */
static __always_inline int masquerade(struct __sk_buff *skb, const struct proxy *proxy,
                                      struct hop *hop, struct ipv6hdr *outer, struct srh *srh,
                                      enum arrival arrival)
{
    if ((void *)(srh->segments + 1) > end_of(skb))
        return DROP;
    srh->segments_left--;
    outer->hop_limit--;
    outer->daddr = srh->segments[0];
    return hand_over(skb, proxy, hop, arrival);
}

/* What is wrong with an SRH that claims to be of this length; 0: nothing. */
static __always_inline int srh_fault(const struct srh *srh, __u32 length)
{
    if (srh->type != ROUTING_TYPE_SRH || srh->segments_left > srh->last_entry ||
        (srh->last_entry + 1) * sizeof(struct in6_addr) + sizeof(*srh) > length)
        return NO_SRH;
    if (srh->last_entry >= MAX_SEGMENTS || sizeof(struct ipv6hdr) + length > MAX_HEADER)
        return HEADER_TOO_LONG;
    return 0;
}

/* What the function takes, as a next header. */
static __always_inline __u32 inside_of(const struct proxy *proxy)
{
    return proxy->inner == INNER_IPV6   ? IPPROTO_IPV6
           : proxy->inner == INNER_IPV4 ? IPPROTO_IPIP
                                        : NEXT_HEADER_ETHERNET;
}

/* To the next segment, as End does. */
static __always_inline int bypass(struct __sk_buff *skb, const struct proxy *proxy,
                                  struct ipv6hdr *outer, struct srh *srh, __u8 left)
{
    const struct in6_addr *next = &srh->segments[(left - 1) & (MAX_SEGMENTS - 1)];

    if ((void *)(next + 1) > end_of(skb))
        return DROP;
    srh->segments_left = left - 1;
    outer->hop_limit--;
    outer->daddr = *next;
    count_one(proxy->id, BYPASSED);
    return send_on(skb, proxy->id, true);
}

static __always_inline int toward(struct __sk_buff *skb, enum arrival arrival)
{
    struct ipv6hdr *outer;
    struct srh *srh;
    /* From the outer header: where the one behind its extension headers begins, where what is
     * inside does, and how much of it stays in the chain. */
    __u32 at, length, kept;
    __u32 header;
    int answer;

    if (start_of(skb) + ETH_HLEN + sizeof(*outer) > end_of(skb) &&
        pull(skb, ETH_HLEN + sizeof(*outer)))
        return NEXT;
    outer = start_of(skb) + ETH_HLEN;
    if ((void *)(outer + 1) > end_of(skb))
        return NEXT;
    struct proxy *proxy = proxy_of(&outer->daddr);
    if (!proxy)
        return NEXT;

    __u32 octets = skb->len - ETH_HLEN;
    int reason = NOT_FOR_PROXY;
    bool by_kernel;
    struct hop *hop = toward_hop(skb, proxy);
    if (!hop)
        goto error;
    reason = NO_SRH;
    /* A packet shorter than it says. Super-packets need not say. */
    if (!skb->gso_size && sizeof(*outer) + bpf_ntohs(outer->payload_len) > octets)
        goto error;
    at = sizeof(*outer);
    header = outer->nexthdr;
    if (is_extension(header)) {
        __u32 next = skip_extensions(skb, ETH_HLEN + at, header, false);

        if (next == NO_HEADER)
            goto error;
        header = header_of(next);
        at = place_of(next) - ETH_HLEN;
        reason = extension_fault(header);
        if (reason)
            goto error;
        reason = NO_SRH;
    }
    /* Known already, but not to the verifier. */
    at = aligned(at);
    if (at > sizeof(*outer) + MAX_EXTENSION_BYTES)
        goto error;
    if (header != IPPROTO_ROUTING) {
        if (proxy->behavior != END_AS)
            goto error;
        reason = NOT_FOR_PROXY;
        if (header != inside_of(proxy))
            goto error;
        if (pull(skb, ETH_HLEN + at + sizeof(*outer)))
            goto error;
        reason = TOO_BIG;
        if (frame_too_big(skb, proxy, hop, octets - at))
            goto error;
        by_kernel = leave_to_kernel(skb, proxy, hop, octets - at);
        reason = inner_hop(skb, proxy, start_of(skb) + ETH_HLEN + at, end_of(skb),
                           proxy->flags & DECREMENT && !by_kernel);
        if (reason)
            goto error;
        if (by_kernel) {
            count_packet(proxy->id, TO_PACKETS, octets);
            return STACK;
        }
        length = at;
        goto inner;
    }

    if (start_of(skb) + ETH_HLEN + at + sizeof(*srh) > end_of(skb) &&
        pull(skb, ETH_HLEN + at + MAX_HEADER))
        goto error;
    srh = start_of(skb) + ETH_HLEN + at;
    if ((void *)(srh + 1) > end_of(skb))
        goto error;
    kept = (srh->length + 1) * 8;
    reason = srh_fault(srh, kept);
    if (reason)
        goto error;
    reason = NO_SRH;
    length = at + kept;
    kept += sizeof(*outer);
    header = srh->next_header;
    if (is_extension(header) && proxy->behavior != END_AM) {
        __u32 next = skip_extensions(skb, ETH_HLEN + length, header, false);

        reason = NOT_FOR_PROXY;
        if (next == NO_HEADER)
            goto error;
        header = header_of(next);
        length = place_of(next) - ETH_HLEN;
        reason = extension_fault(header);
        if (reason)
            goto error;
        reason = NO_SRH;
    }
    length = aligned(length);
    if (length > MAX_OUTER)
        goto error;
    /* The whole header, and the one inside. */
    if (start_of(skb) + ETH_HLEN + length + sizeof(*outer) > end_of(skb) &&
        pull(skb, ETH_HLEN + length + sizeof(*outer)))
        goto error;
    /* Read again, or the verifier loses the pointers' types where the branches join. */
    barrier_var(skb);
    outer = start_of(skb) + ETH_HLEN;
    srh = (void *)outer + at;
    if ((void *)(outer + 1) > end_of(skb) || (void *)(srh + 1) > end_of(skb))
        goto error;
    if (start_of(skb) + ETH_HLEN + length > end_of(skb))
        goto error;
    reason = NO_SEGMENTS_LEFT;
    __u8 left = srh->segments_left;
    if (!left && proxy->behavior != END_AS)
        goto error;
    reason = HOP_LIMIT;
    if (outer->hop_limit <= 1)
        goto error;
    if (proxy->flags & BYPASS && left)
        return bypass(skb, proxy, outer, srh, left);
    if (proxy->behavior == END_AM) {
        reason = TOO_BIG;
        if (!fits(skb, octets, hop->mtu))
            goto error;
        count_packet(proxy->id, TO_PACKETS, octets);
        return masquerade(skb, proxy, hop, outer, srh, arrival);
    }
    reason = NOT_FOR_PROXY;
    if (header != inside_of(proxy))
        goto error;
    reason = TOO_BIG;
    if (frame_too_big(skb, proxy, hop, octets - length))
        goto error;
    by_kernel = leave_to_kernel(skb, proxy, hop, octets - length);
    reason = inner_hop(skb, proxy, (void *)outer + length, end_of(skb),
                       proxy->flags & DECREMENT && !by_kernel);
    if (reason)
        goto error;
    if (proxy->behavior == END_AD) {
        struct port port = {proxy->return_interface, proxy->inner};
        struct flow_chain *copy = scratch();
        struct flow flow;

        reason = NOT_FOR_PROXY;
        if (!copy || !advanced(skb, &copy->slot, kept, ETH_HLEN + at, header, left - 1))
            goto error;
        if (!(proxy->flags & PER_FLOW))
            learn(proxy, &copy->slot);
        else if (flow_of(skb, ETH_HLEN + length, &port, &flow))
            learn_flow(proxy, &flow, copy);
        else
            goto error;
    }
    if (by_kernel) {
        /* The SID's seg6local route decapsulates at the last segment. */
        srh->segments_left = 0;
        count_packet(proxy->id, TO_PACKETS, octets);
        return STACK;
    }
inner:
    reason = NOT_FOR_PROXY;
    answer = strip(skb, proxy, hop, length, arrival);
    if (answer == DROP)
        goto error;
    count_packet(proxy->id, TO_PACKETS, octets);
    return answer;
error:
    count_one(proxy->id, reason);
    return DROP;
}
