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

/* An address in two words, the first one first. Loops over octets would be many ways for the
 * verifier. */
struct wide {
    __u64 high, low;
};

static __always_inline struct wide wide_of(const struct in6_addr *address)
{
    const __be64 *words = (const void *)address;

    return (struct wide){bpf_be64_to_cpu(words[0]), bpf_be64_to_cpu(words[1])};
}

static __always_inline struct wide shifted_left(struct wide value, __u32 bits)
{
    if (bits >= 128)
        return (struct wide){};
    if (bits >= 64)
        return (struct wide){value.low << (bits & 63), 0};
    if (!bits)
        return value;
    return (struct wide){value.high << bits | value.low >> ((64 - bits) & 63), value.low << bits};
}

/* The first so many bits of an address. */
static __always_inline struct wide first_bits(__u32 bits)
{
    struct wide rest = shifted_left((struct wide){~0ULL, ~0ULL}, (128 - bits) & 127);

    return bits ? rest : (struct wide){};
}

/* Whether the address goes on behind so many bits. */
static __always_inline bool goes_on(const struct in6_addr *address, __u32 bits)
{
    struct wide rest = shifted_left(wide_of(address), bits);

    return rest.high | rest.low;
}

/* The destination behind the compressed SID; false when there is none (seg6_next_csid_is_arg_zero,
 * seg6_next_csid_advance_arg). */
static __always_inline bool shift(const struct watched *sid, struct in6_addr *destination)
{
    __u32 block = sid->block * 8, function = sid->function * 8;
    struct wide known = wide_of(destination), kept = first_bits(block);
    struct wide moved = shifted_left(known, function);
    __be64 *words = (void *)destination;

    if (!goes_on(destination, block + function))
        return false;
    words[0] = bpf_cpu_to_be64((known.high & kept.high) | (moved.high & ~kept.high));
    words[1] = bpf_cpu_to_be64((known.low & kept.low) | (moved.low & ~kept.low));
    return true;
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
        /* Compressed SIDs follow this one, which has no flavor for them (RFC 9800 section 4.1). */
        if (!outer->active_at && outer->tunnelled && !(sid->flags & NEXT_CSID) &&
            goes_on(&outer->destination, sid->length))
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
