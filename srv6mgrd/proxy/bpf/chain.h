/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The chain of a port: learned from packets towards the function, or declared; put back on those
 * that return. */
#pragma once

#include "maps.h"
#include "packet.h"

/* This CPU's copy of a header. Helpers move the bytes between it and a packet: loops over packets
 * take the verifier seconds. */
static __always_inline struct flow_chain *scratch(void)
{
    __u32 first = 0;

    return bpf_map_lookup_elem(&scratches, &first);
}

/* Copy the IPv6 header and the SRH, of this length together, as they are at the segment ``next``;
 * ``at`` is where the SRH begins, and ``inside`` what they are put on again. Extension headers
 * between or behind them are this one packet's (RFC 9486, RFC 9343), and stay behind. */
static __always_inline bool advanced(struct __sk_buff *skb, struct slot *copy, __u32 length,
                                     __u32 at, __u8 inside, __u32 next)
{
    struct ipv6hdr *outer = (void *)copy->header;
    struct srh *srh = (void *)(outer + 1);

    /* Known already, but not to the verifier. In two steps: before 6.13 it does not follow the
     * difference that the compiler would make of them. */
    barrier_var(length);
    if (length > MAX_HEADER)
        return false;
    barrier_var(length);
    if (length < sizeof(*outer) + sizeof(*srh))
        return false;
    copy->length = length;
    if (at == ETH_HLEN + sizeof(*outer)) {
        if (bpf_skb_load_bytes(skb, ETH_HLEN, copy->header, length))
            return false;
    } else if (bpf_skb_load_bytes(skb, ETH_HLEN, outer, sizeof(*outer)) ||
               bpf_skb_load_bytes(skb, at, srh, length - sizeof(*outer))) {
        return false;
    }
    if (bpf_skb_load_bytes(skb, at + sizeof(*srh) + next * 16, &outer->daddr, sizeof(outer->daddr)))
        return false;
    outer->nexthdr = IPPROTO_ROUTING;
    outer->hop_limit--;
    srh->next_header = inside;
    srh->segments_left = next;
    return true;
}

/* Whether two headers are of one chain. The first word is not compared: traffic class, flow label,
 * payload length and hop limit are the packet's, not the chain's. */
static __always_inline bool same_chain(const struct slot *one, const struct slot *other)
{
    __u64 difference = one->length ^ other->length;
    __u32 length = other->length;

#pragma clang loop unroll(disable)
    for (int i = 1; i < HEADER_WORDS && i * 8 < length; i++)
        difference |= one->header[i] ^ other->header[i];
    return !difference;
}

/* Learn this header. Compared before it is written, so that CPUs that see the same chain share the
 * cache line in peace. */
static __always_inline void learn(const struct proxy *proxy, const struct slot *header)
{
    struct port port = {proxy->return_interface, proxy->inner};
    struct chain *chain = bpf_map_lookup_elem(&chains, &port);
    __u64 now = 0;

    if (!chain)
        return;
    struct slot *slot = &chain->slots[chain->sequence & 1];
    if (proxy->age && slot->length) {
        now = bpf_ktime_get_coarse_ns();
        if (now - chain->learned < proxy->age)
            return;
    }
    if (same_chain(slot, header)) {
        if (proxy->age)
            chain->learned = now;
        return;
    }
    now = bpf_ktime_get_coarse_ns();
    bpf_spin_lock(&chain->lock);
    slot = &chain->slots[(chain->sequence + 1) & 1];
    __builtin_memcpy(slot->header, header->header, sizeof(slot->header));
    slot->length = header->length;
    chain->learned = now;
    /* With the lock's own barriers: who sees the number sees the slot. */
    chain->sequence += 1;
    bpf_spin_unlock(&chain->lock);
}

static __always_inline bool store_header(struct __sk_buff *skb, const __u64 *header, __u32 length)
{
    barrier_var(length);
    if (length > MAX_HEADER)
        return false;
    barrier_var(length);
    if (!length)
        return false;
    return !bpf_skb_store_bytes(skb, ETH_HLEN, header, length, 0);
}

/* Write the chain's header, of this length, to the packet. The slot in force is not written to
 * before the other one was, so a reader is overtaken only by two writers; then it takes the lock.
 * False when the chain changed its length meanwhile. */
static __always_inline bool restore(struct __sk_buff *skb, struct chain *chain, __u32 length)
{
    __u32 sequence = *(volatile __u32 *)&chain->sequence;
    struct slot *slot = &chain->slots[sequence & 1];
    struct flow_chain *copy;

    if (slot->length != length || !store_header(skb, slot->header, length))
        return false;
    if (*(volatile __u32 *)&chain->sequence - sequence < 2)
        return true;
    copy = scratch();
    if (!copy)
        return false;
    bpf_spin_lock(&chain->lock);
    slot = &chain->slots[chain->sequence & 1];
    __builtin_memcpy(copy->slot.header, slot->header, sizeof(slot->header));
    copy->slot.length = slot->length;
    bpf_spin_unlock(&chain->lock);
    return copy->slot.length == length && store_header(skb, copy->slot.header, length);
}
