/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets that srv6mgrd sends through a function to see whether it works
 * (srv6mgrd/function_health/packet.py). No chain is known for them: they end here, and are no
 * error.
 */
#pragma once

#include "maps.h"
#include "packet.h"

#define HEALTH_CHECK_ETHERTYPE 0x88b5
#define HEALTH_CHECK_MAGIC 0x53523648
#define ECHO_HLEN 8

struct health_mark {
    __be32 magic, run, check, number;
};

/* Whether this is one; it is noted then. */
static __always_inline bool is_health_check(struct __sk_buff *skb, __u32 inner)
{
    struct health_mark mark;
    __u32 at = ETH_HLEN;

    if (inner == INNER_IPV4)
        at += sizeof(struct iphdr) + ECHO_HLEN;
    else if (inner == INNER_IPV6)
        at += sizeof(struct ipv6hdr) + ECHO_HLEN;
    else if (skb->protocol != bpf_htons(HEALTH_CHECK_ETHERTYPE))
        return false;
    if (bpf_skb_load_bytes(skb, at, &mark, sizeof(mark)) ||
        mark.magic != bpf_htonl(HEALTH_CHECK_MAGIC))
        return false;
    struct health_key key = {bpf_ntohl(mark.run), bpf_ntohl(mark.check)};
    struct health *health = bpf_map_lookup_elem(&health_checks, &key);
    if (!health)
        return false;
    health->number = bpf_ntohl(mark.number);
    health->at = bpf_ktime_get_ns();
    return true;
}
