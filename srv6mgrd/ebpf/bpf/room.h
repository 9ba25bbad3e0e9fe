/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Room for an outer header before a packet, or around a frame. */
#pragma once

#include "packet.h"

/* linux/errno.h: skb->encapsulation is set already. */
#define EALREADY 114
/* VLAN tags of a frame that can be put back. */
#define MAX_TAGS 2

/* Make room for the header before an IP packet. */
static __always_inline long push(struct __sk_buff *skb, __u32 length, bool ipv6)
{
    long failed = bpf_skb_adjust_room(skb, length, BPF_ADJ_ROOM_MAC,
                                      BPF_F_ADJ_ROOM_ENCAP_L3_IPV6 | BPF_F_ADJ_ROOM_FIXED_GSO);

    if (failed != -EALREADY)
        return failed;
    /* The packet came out of a tunnel in this same sk_buff, and is still marked so: the same
     * without what the helper notes about it. */
    if (ipv6)
        return bpf_skb_adjust_room(skb, length, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_FIXED_GSO);
    if (skb->gso_size)
        return failed;
    /* Grows the header by 20 bytes, and marks the packet as IPv6. */
    failed = bpf_skb_change_proto(skb, bpf_htons(ETH_P_IPV6), 0);
    if (failed)
        return failed;
    return bpf_skb_adjust_room(skb, length - 20, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_FIXED_GSO);
}

/* VLAN tags as a frame has them. */
struct tags {
    __u32 count;
    __be16 words[2 * MAX_TAGS];
};

/* The kernel takes a frame's outermost tag off before tc sees it; one after the other into tags.
 * False when there are too many. */
static __always_inline bool take_tags(struct __sk_buff *skb, struct tags *tags)
{
#pragma unroll
    for (int i = 0; i < MAX_TAGS; i++) {
        if (!skb->vlan_present)
            return true;
        tags->words[2 * i] = skb->vlan_proto;
        tags->words[2 * i + 1] = bpf_htons(skb->vlan_tci);
        tags->count = i + 1;
        /* The next one moves out of the frame, into its place. */
        if (bpf_skb_vlan_pop(skb))
            return false;
    }
    return !skb->vlan_present;
}

/* Make room for an outer header around a frame, and for its tags, which are put back. */
static __always_inline long push_around(struct __sk_buff *skb, __u32 length,
                                        const struct tags *tags)
{
    __u32 at = ETH_HLEN + length, size = tags->count * 4;
    __u8 macs[2 * ETH_ALEN];
    long failed;

    if (bpf_skb_load_bytes(skb, 0, macs, sizeof(macs)))
        return -1;
    failed = bpf_skb_change_head(skb, at + size, 0);
    if (failed || !size)
        return failed;
    if (bpf_skb_store_bytes(skb, at, macs, sizeof(macs), 0))
        return -1;
    at += sizeof(macs);
    if (bpf_skb_store_bytes(skb, at, tags->words, 4, 0))
        return -1;
    return size == 4 ? 0 : bpf_skb_store_bytes(skb, at + 4, tags->words + 2, 4, 0);
}
