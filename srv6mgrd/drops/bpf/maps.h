/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared with srv6mgrd; srv6mgrd/drops/layout.py packs the same structures. */
#pragma once

#include <linux/bpf.h>
#include <linux/in6.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

/* SIDs that are watched at a time, and different lengths of their prefixes. */
#define MAX_WATCHED 256
#define MAX_LENGTHS 8
#define MAX_LINKS 4096

/* In the order of DropReason (srv6mgrd/model/drops.py), behind PASSED. */
enum reason {
    PASSED,
    NO_SRH,
    NO_SEGMENTS_LEFT,
    FLAVOR_MISSING,
    SRH_MALFORMED,
    HMAC,
    SEGMENTS_LEFT,
    UPPER_LAYER,
    INNER_TYPE,
    FRAGMENT,
    VRF_GONE,
    NO_ROUTE,
    POLICY,
    REVERSE_PATH,
    NOT_FORWARDING,
    HOP_LIMIT,
    TOO_BIG,
    TOO_BIG_SILENT,
    LINK_DOWN,
    NO_NEIGHBOR,
    BOUNDARY,
    FIREWALL,
    QUEUE_FULL,
    OTHER,
    /* Passed, with an HMAC that nobody but the behavior can compute. */
    HMAC_UNKNOWN = 31,
    REASONS = 32
};

/* How a behavior goes on with a packet. */
enum how { NEXT_SEGMENT, TO_NEXT_HOP, IN_TABLE, TO_INTERFACE };

#define PSP 1
#define NEXT_CSID 2
#define IS_VRF_GONE 4

struct prefix {
    __u64 high, low;
    __u64 length;
};

/* What a SID does, as far as it decides about packets. */
struct watched {
    /* Where its packets are counted. */
    __u32 place;
    /* Of what is looked up, 0 for the main one; the interface that frames go to, and its MTU. */
    __u32 table;
    __u32 interface;
    __u32 mtu;
    /* What it decapsulates: 1 << family; 0: it does not. */
    __u8 families;
    __u8 how;
    __u8 flags;
    /* Octets of the block of a compressed SID, and of its node and function. */
    __u8 block, function;
    /* The reverse path filter of its VRF, as in rp_filter. */
    __u8 rp_filter;
    /* Of its prefix. */
    __u8 length;
    __u8 pad;
    /* IPv4: in the first octets. */
    struct in6_addr next_hop;
};

struct node {
    /* Lengths that prefixes have, the longest first; an empty mask ends them. */
    struct prefix masks[MAX_LENGTHS];
    /* Of so many packets, less one, one is looked at; a power of two less one. */
    __u32 others;
    /* The program at the kernel's drops runs, too. */
    __u32 traced;
};

struct link {
    __u8 down;
    /* seg6_require_hmac */
    __s8 hmac;
    /* The boundary's filter drops packets to SIDs that come in here. */
    __u8 outside;
    __u8 pad;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct node);
} nodes SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, MAX_WATCHED);
    __type(key, struct prefix);
    __type(value, struct watched);
} sids SEC(".maps");

/* By ifindex, those in a state that drops packets. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, MAX_LINKS);
    __type(key, __u32);
    __type(value, struct link);
} interfaces SEC(".maps");

/* Packets by place * REASONS + reason. A hash, since few of these are ever seen, and all are read
 * each second. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, MAX_WATCHED *REASONS);
    __type(key, __u32);
    __type(value, __u64);
} counts SEC(".maps");

/* Of the program on this CPU. */
struct runs {
    /* For so many packets. */
    __u64 count;
    /* State of a generator of random numbers (Marsaglia, xorshift64). */
    __u64 random;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct runs);
} runs SEC(".maps");
