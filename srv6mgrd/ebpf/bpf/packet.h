/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Headers in a packet, and the words of tc. */
#pragma once

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* On to the filters behind us and to the stack, as if we had not been there. */
#define NEXT TC_ACT_UNSPEC
#define DROP TC_ACT_SHOT
/* To the stack, which routes it. */
#define STACK TC_ACT_OK

#define ROUTING_TYPE_SRH 4
#define NEXT_HEADER_ETHERNET 143
#define VLAN_HLEN 4
/* RFC 4861: router solicitation to redirect. */
#define ND_FIRST 133
#define ND_LAST 137

#define AF_INET 2
#define AF_INET6 10

struct srh {
    __u8 next_header;
    __u8 length; /* in words of 8 bytes, without the first */
    __u8 type;
    __u8 segments_left;
    __u8 last_entry;
    __u8 flags;
    __be16 tag;
    struct in6_addr segments[];
};

/* Make the first bytes readable, so far as there are any; packet pointers have to be read again. */
static __always_inline int pull(struct __sk_buff *skb, __u32 bytes)
{
    return bpf_skb_pull_data(skb, bytes < skb->len ? bytes : skb->len);
}

static __always_inline void *start_of(const struct __sk_buff *skb)
{
    return (void *)(long)skb->data;
}

static __always_inline void *end_of(const struct __sk_buff *skb)
{
    return (void *)(long)skb->data_end;
}

/* A pointer that the compiler must not fold into others, so that the verifier sees it checked. */
#define barrier_var(var) asm volatile("" : "+r"(var))

static __always_inline bool same_address(const __u64 *known, const struct in6_addr *address)
{
    const __u64 *words = (const void *)address;

    return known[0] == words[0] && known[1] == words[1];
}
