/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a behavior rejects, in the order in which it looks (net/ipv6/seg6_local.c). */
#pragma once

#include "maps.h"
#include "outer.h"
#include "packet.h"
#include "route.h"

#define SRH_HMAC_FLAG 0x08
/* The behavior takes it; what becomes of it then is up to the route. */
#define ASK_ROUTE REASONS

/* seg6_hmac_validate_skb. The HMAC itself is not computed. */
static __always_inline enum reason reason_of_hmac(struct __sk_buff *skb, __u32 at)
{
    __u32 ifindex = skb->ifindex;
    struct link *link = bpf_map_lookup_elem(&interfaces, &ifindex);
    struct srh srh;

    if (link && link->hmac < 0)
        return PASSED;
    if (bpf_skb_load_bytes(skb, at, &srh, sizeof(srh)))
        return SRH_MALFORMED;
    if (srh.flags & SRH_HMAC_FLAG)
        return HMAC_UNKNOWN;
    return link && link->hmac > 0 ? HMAC : PASSED;
}

static __always_inline bool is_upper_layer(__u8 next)
{
    return next == IPPROTO_TCP || next == IPPROTO_UDP || next == IPPROTO_ICMPV6;
}

/* decap_and_validate, end_dt_vrf_core, input_action_end_dx2. */
static __always_inline int reason_of_end(struct __sk_buff *skb, const struct watched *sid,
                                         const struct outer *outer, struct forwarded *packet)
{
    int hmac = PASSED;

    if (outer->segments_left)
        return SEGMENTS_LEFT;
    if (outer->srhs)
        hmac = reason_of_hmac(skb, outer->srh_at);
    if (hmac == HMAC || hmac == SRH_MALFORMED)
        return hmac;
    if (outer->later)
        return FRAGMENT;
    if (!outer->tunnelled || !(sid->families & 1u << outer->family))
        return is_upper_layer(outer->next) ? UPPER_LAYER : INNER_TYPE;
    if (sid->flags & IS_VRF_GONE)
        return VRF_GONE;
    if (sid->how == TO_INTERFACE) {
        __u32 ifindex = sid->interface;
        struct link *link = bpf_map_lookup_elem(&interfaces, &ifindex);

        if (link && link->down)
            return LINK_DOWN;
        if (sid->mtu && skb->len - outer->length - ETH_HLEN > sid->mtu)
            return TOO_BIG_SILENT;
        return hmac;
    }
    packet->family = outer->family;
    packet->at = outer->length;
    packet->hmac = hmac;
    return read_forwarded(skb, packet) ? ASK_ROUTE : INNER_TYPE;
}

/* The destination behind the compressed SID; false when there is none (seg6_next_csid_is_arg_zero).
 */
static __always_inline bool shift(const struct watched *sid, struct in6_addr *destination)
{
    __u32 from = sid->block + sid->function;
    struct in6_addr shifted = *destination;
    bool found = false;

#pragma unroll
    for (int i = 0; i < 16; i++) {
        __u32 source = i + sid->function;

        if (i >= from && destination->in6_u.u6_addr8[i])
            found = true;
        if (i >= sid->block)
            shifted.in6_u.u6_addr8[i] = source < 16 ? destination->in6_u.u6_addr8[source & 15] : 0;
    }
    if (found)
        *destination = shifted;
    return found;
}

/* Compressed SIDs follow this one, which has no flavor for them (RFC 9800 section 4.1). */
static __always_inline bool has_argument(const struct watched *sid,
                                         const struct in6_addr *destination)
{
    bool found = false;

#pragma unroll
    for (int i = 0; i < 16; i++) {
        if (i * 8 >= sid->length && destination->in6_u.u6_addr8[i])
            found = true;
    }
    return found && !(sid->flags & NEXT_CSID);
}

/* input_action_end, input_action_end_x, input_action_end_t. */
static __always_inline int reason_of_next(struct __sk_buff *skb, const struct watched *sid,
                                          const struct outer *outer, struct forwarded *packet)
{
    int hmac = PASSED;
    struct srh srh;

    packet->family = IPV6;
    packet->at = ETH_HLEN;
    if (!read_forwarded(skb, packet))
        return PASSED;
    if (!(sid->flags & NEXT_CSID) || !shift(sid, &packet->destination)) {
        if (!outer->active_at && outer->tunnelled && has_argument(sid, &outer->destination))
            return FLAVOR_MISSING;
        if (!outer->active_at)
            return outer->routed ? NO_SEGMENTS_LEFT : NO_SRH;
        if (!outer->active)
            return SRH_MALFORMED;
        hmac = reason_of_hmac(skb, outer->active_at);
        if (hmac == HMAC || hmac == SRH_MALFORMED)
            return hmac;
        if (bpf_skb_load_bytes(skb, outer->active_at, &srh, sizeof(srh)))
            return SRH_MALFORMED;
        if (bpf_skb_load_bytes(skb, outer->active_at + sizeof(srh) + (srh.segments_left - 1) * 16,
                               &packet->destination, sizeof(packet->destination)))
            return SRH_MALFORMED;
    }
    packet->hmac = hmac;
    return ASK_ROUTE;
}
