/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Back from the function: put the chain on again, and send the packet on to the next segment. */
#pragma once

#include "chain.h"
#include "extensions.h"
#include "flow.h"
#include "health_check.h"
#include "hop.h"
#include "maps.h"
#include "packet.h"
#include "room.h"

static __always_inline bool passed(const struct chain *chain, const struct port *port,
                                   const void *address, __u32 size)
{
    struct pass key = {64 + 8 * size, port->interface, port->inner, {}};

    if (!(chain->flags & PASS_PREFIXES))
        return false;
    __builtin_memcpy(key.address, address, size);
    return bpf_map_lookup_elem(&passes, &key) != NULL;
}

/* Whether the node itself is meant: neighbor discovery, and what is declared to pass. */
static __always_inline bool for_node6(struct __sk_buff *skb, const struct chain *chain,
                                      const struct port *port, const struct ipv6hdr *ip)
{
    const __u8 *to = ip->daddr.s6_addr;

    if (ip->hop_limit == 255 && (ip->nexthdr == IPPROTO_ICMPV6 || is_extension(ip->nexthdr))) {
        __u32 upper = skip_extensions(skb, ETH_HLEN + sizeof(*ip), ip->nexthdr, false);
        __u8 type;

        if (header_of(upper) == IPPROTO_ICMPV6 &&
            !bpf_skb_load_bytes(skb, place_of(upper), &type, sizeof(type)) && type >= ND_FIRST &&
            type <= ND_LAST)
            return true;
    }
    if (chain->flags & PASS_MULTICAST && to[0] == 0xff)
        return true;
    if (chain->flags & PASS_LINK_LOCAL && to[0] == 0xfe && (to[1] & 0xc0) == 0x80)
        return true;
    return passed(chain, port, to, 16);
}

static __always_inline bool for_node4(const struct chain *chain, const struct port *port,
                                      const struct iphdr *ip)
{
    const __u8 *to = (const void *)&ip->daddr;

    if (chain->flags & PASS_MULTICAST && (to[0] >> 4 == 14 || ip->daddr == ~0U))
        return true;
    if (chain->flags & PASS_LINK_LOCAL && to[0] == 169 && to[1] == 254)
        return true;
    return passed(chain, port, to, 4);
}

/* The chain onto a packet or frame. */
static __always_inline int encapsulate(struct __sk_buff *skb, struct chain *chain,
                                       const struct port *port)
{
    bool frame = port->inner == INNER_ETHERNET;
    struct flow_chain *of_flow = NULL;
    struct tags tags = {};
    __u32 id = chain->id;
    __u32 length;
    __u64 digest = 0;
    int reason = NOT_FOR_PROXY;

    if (frame && skb->vlan_present && !take_tags(skb, &tags))
        goto error;
    __u32 octets = frame ? skb->len + tags.count * 4 : skb->len - ETH_HLEN;
    reason = NOTHING_LEARNED;
    if (chain->flags & BY_FLOW) {
        of_flow = flow_chain_of(skb, frame ? 0 : ETH_HLEN, port, &digest);
        if (!of_flow) {
            if (is_health_check(skb, port->inner))
                return DROP;
            goto error;
        }
        length = of_flow->slot.length;
    } else {
        length = chain->slots[*(volatile __u32 *)&chain->sequence & 1].length;
    }
    if (length < sizeof(struct ipv6hdr) + sizeof(struct srh) || length > MAX_HEADER)
        goto error;
    reason = NOT_FOR_PROXY;
    if (frame) {
        /* The helper above insists on IP; a frame gets a whole new one around it. */
        if (push_around(skb, length, &tags))
            goto error;
    } else if (push(skb, length, port->inner == INNER_IPV6)) {
        goto error;
    }
    reason = NOTHING_LEARNED;
    if (of_flow ? !restore_flow(skb, of_flow, digest, length) : !restore(skb, chain, length))
        goto error;
    struct ethhdr *eth = start_of(skb);
    struct ipv6hdr *outer = (void *)(eth + 1);
    if ((void *)(outer + 1) > end_of(skb))
        goto error;
    eth->h_proto = bpf_htons(ETH_P_IPV6);
    outer->payload_len = bpf_htons(length - sizeof(*outer) + octets);
    count_packet(id, FROM_PACKETS, octets);
    return send_on(skb, id, !frame);
error:
    count_one(id, reason);
    return DROP;
}

/* End.AM: the destination that the segment list says. NEXT when the packet is not of a
 * masquerading proxy behind this interface. */
static __always_inline int demasquerade(struct __sk_buff *skb, __u32 header)
{
    struct ipv6hdr *outer;
    struct srh *srh;
    struct in6_addr *segment;
    __u32 at = sizeof(*outer);

    if (is_extension(header)) {
        __u32 next = skip_extensions(skb, ETH_HLEN + at, header, false);

        header = header_of(next);
        at = place_of(next) - ETH_HLEN;
    }
    if (header != IPPROTO_ROUTING)
        return NEXT;
    /* Known already, but not to the verifier. */
    at = aligned(at);
    if (at > sizeof(*outer) + MAX_EXTENSION_BYTES)
        return NEXT;
    if (start_of(skb) + ETH_HLEN + at + sizeof(*srh) > end_of(skb) &&
        pull(skb, ETH_HLEN + at + MAX_HEADER))
        return NEXT;
    srh = start_of(skb) + ETH_HLEN + at;
    if ((void *)(srh + 1) > end_of(skb))
        return NEXT;
    __u32 length = (srh->length + 1) * 8;
    if ((void *)srh + length > end_of(skb) && pull(skb, ETH_HLEN + at + MAX_HEADER))
        return NEXT;
    /* Read again, or the verifier loses their types where the branches join. */
    barrier_var(skb);
    outer = start_of(skb) + ETH_HLEN;
    srh = (void *)outer + at;
    if ((void *)(outer + 1) > end_of(skb) || (void *)(srh + 1) > end_of(skb))
        return NEXT;
    if (srh->segments_left >= srh->last_entry || srh->type != ROUTING_TYPE_SRH ||
        srh->last_entry >= MAX_SEGMENTS ||
        (srh->last_entry + 1) * sizeof(struct in6_addr) + sizeof(*srh) > length)
        return NEXT;
    /* The segment before is the proxy's. */
    __u32 left = srh->segments_left & (MAX_SEGMENTS - 1);
    segment = &srh->segments[left];
    if ((void *)(segment + 2) > end_of(skb))
        return NEXT;
    struct proxy *proxy = proxy_of(segment + 1);
    if (!proxy || proxy->behavior != END_AM || proxy->return_interface != skb->ifindex)
        return NEXT;
    if (outer->hop_limit <= 1) {
        count_one(proxy->id, HOP_LIMIT);
        return DROP;
    }
    outer->daddr = *segment;
    count_packet(proxy->id, FROM_PACKETS, skb->len - ETH_HLEN);
    /* This node forwards it, whichever way it goes: the stack counts its hop itself. */
    outer->hop_limit--;
    return send_on(skb, proxy->id, true);
}

static __always_inline int back(struct __sk_buff *skb)
{
    struct port port = {.interface = skb->ifindex};
    const struct node *node = this_node();
    struct chain *chain;

    if (!node)
        return NEXT;
    if (skb->protocol == bpf_htons(ETH_P_IPV6) && !skb->vlan_present) {
        struct ipv6hdr *ip;

        if (start_of(skb) + ETH_HLEN + sizeof(*ip) + 1 > end_of(skb) &&
            pull(skb, ETH_HLEN + sizeof(*ip) + 1))
            return NEXT;
        ip = start_of(skb) + ETH_HLEN;
        if ((void *)(ip + 1) > end_of(skb))
            return NEXT;
        __u32 header = ip->nexthdr;
        if (node->kinds & MASQUERADES && (header == IPPROTO_ROUTING || is_extension(header))) {
            int done = demasquerade(skb, header);

            if (done != NEXT)
                return done;
            ip = start_of(skb) + ETH_HLEN;
            if ((void *)(ip + 1) > end_of(skb))
                return NEXT;
        }
        port.inner = INNER_IPV6;
        chain = chain_of(node, &port);
        if (chain) {
            if (for_node6(skb, chain, &port, ip))
                return NEXT;
            return encapsulate(skb, chain, &port);
        }
    } else if (skb->protocol == bpf_htons(ETH_P_IP) && !skb->vlan_present) {
        struct iphdr *ip;

        if (start_of(skb) + ETH_HLEN + sizeof(*ip) > end_of(skb) &&
            pull(skb, ETH_HLEN + sizeof(*ip)))
            return NEXT;
        ip = start_of(skb) + ETH_HLEN;
        if ((void *)(ip + 1) > end_of(skb))
            return NEXT;
        port.inner = INNER_IPV4;
        chain = chain_of(node, &port);
        if (chain) {
            if (for_node4(chain, &port, ip))
                return NEXT;
            return encapsulate(skb, chain, &port);
        }
    }
    port.inner = INNER_ETHERNET;
    chain = chain_of(node, &port);
    return chain ? encapsulate(skb, chain, &port) : NEXT;
}
