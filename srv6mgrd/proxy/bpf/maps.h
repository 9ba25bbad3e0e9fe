/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the proxies share with srv6mgrd; srv6mgrd/proxy/layout.py packs the same structures. */
#pragma once

#include <linux/bpf.h>
#include <linux/in6.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#define MAX_PROXIES 4096
#define MAX_PASSES 16384
#define MAX_HEALTH_CHECKS 8192
/* Of all proxies together; the least recently used make room. */
#define MAX_FLOWS 65536
#define MAX_FLOW_CHAINS 4096
/* Different lengths of the SIDs' prefixes. */
#define MAX_LENGTHS 4
#define MAX_SEGMENTS 16
/* IPv6 header, SRH of 16 segments, 32 bytes of TLVs. */
#define MAX_HEADER (40 + 8 + 16 * MAX_SEGMENTS + 32)
#define HEADER_WORDS (MAX_HEADER / 8)

enum behavior { END_AD = 1, END_AS = 2, END_AM = 3 };
enum inner { INNER_IPV4 = 4, INNER_IPV6 = 6, INNER_ETHERNET = 2 };

enum proxy_flags {
    /* The proxy counts as a hop of the inner packet. */
    DECREMENT = 1 << 0,
    /* The function's interface is a veth whose other end is in another namespace. */
    PEER = 1 << 1,
    /* Each flow has a chain of its own. */
    PER_FLOW = 1 << 2,
    /* The function does not work: packets go on without it. */
    BYPASS = 1 << 3,
};

enum chain_flags {
    PASS_LINK_LOCAL = 1 << 0,
    PASS_MULTICAST = 1 << 1,
    PASS_PREFIXES = 1 << 2,
    /* The chain is that of the flow, in flow_chains. */
    BY_FLOW = 1 << 3,
};

enum counter {
    TO_PACKETS,
    TO_OCTETS,
    FROM_PACKETS,
    FROM_OCTETS,
    NO_SRH,
    NO_SEGMENTS_LEFT,
    HOP_LIMIT,
    HEADER_TOO_LONG,
    NOTHING_LEARNED,
    NOT_FOR_PROXY,
    TOO_BIG,
    EXTENSION_HEADER_CHAIN_TOO_LONG,
    FRAGMENT,
    BYPASSED,
    COUNTERS,
};

/* An address as two words in network order, cut to the length of a SID. */
struct sid {
    __u64 high, low;
    __u64 length;
};

struct proxy {
    __u32 id; /* in counters */
    __u8 behavior;
    __u8 inner;
    __u8 flags;
    __u8 pad;
    __u32 interface;        /* towards the function */
    __u32 return_interface; /* back from it */
    __u64 age;              /* nanoseconds */
    __u8 next_hop[16];      /* of inner's family */
    __u8 peer_mac[6];       /* with PEER */
    __u8 own_mac[6];
    __u32 pad2;
};

struct port {
    __u32 interface;
    __u32 inner;
};

struct slot {
    __u32 length; /* 0: nothing yet */
    __u32 pad;
    __u64 header[HEADER_WORDS];
};

/* What comes back on a port goes on with. The slot that is in force is the last bit of sequence;
 * writers fill the other one under the lock and add 1. */
struct chain {
    struct bpf_spin_lock lock;
    __u32 sequence;
    __u32 id; /* in counters */
    __u32 flags;
    __u64 learned; /* CLOCK_MONOTONIC, nanoseconds */
    struct slot slots[2];
};

/* What a packet keeps on its way through the function: addresses, and of TCP and the like ports; of
 * a frame its MAC addresses. */
struct flow {
    __u32 interface;
    __u8 inner;
    __u8 protocol;
    __u16 pad;
    __be16 ports[2];
    __u8 source[16];
    __u8 destination[16];
};

/* The chain that a flow learned, by the digest of its header. */
struct followed {
    __u64 digest;
    __u64 learned;
};

struct flow_chain_key {
    struct port port;
    __u64 digest;
};

/* Never written to once it is there; another one in its place has another digest. */
struct flow_chain {
    __u64 learned;
    struct slot slot;
};

/* Where packets leave, as it was at this tick of the clock. */
struct hop {
    __u64 tick;
    __u64 source[2], destination[2];
    __u32 interface;
    __u32 mtu;
    __u8 to[6], from[6]; /* MAC addresses */
    __u32 resolved;      /* whether there are any */
};

struct hops {
    struct hop toward; /* to the function */
    struct hop onward; /* to the next segment, by source and destination */
};

struct pass {
    __u32 length; /* 64 bits of port, then the prefix's */
    __u32 interface;
    __u32 inner;
    __u8 address[16]; /* IPv4: the first four */
};

/* What proxies of this node do with what comes back: the inner types that they restore, as
 * 1 << inner, and whether any masquerades. What none does, no packet is looked up for. */
#define MASQUERADES 1u

struct node {
    /* Lengths that SIDs have, the longest first; an empty mask ends them. */
    struct sid masks[MAX_LENGTHS];
    __u32 sid_device;
    __u32 kinds;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct node);
} nodes SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, MAX_PROXIES);
    __type(key, struct sid);
    __type(value, struct proxy);
} proxies SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, MAX_PROXIES);
    __type(key, struct port);
    __type(value, struct chain);
} chains SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, MAX_FLOWS);
    __type(key, struct flow);
    __type(value, struct followed);
} flows SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, MAX_FLOW_CHAINS);
    __type(key, struct flow_chain_key);
    __type(value, struct flow_chain);
} flow_chains SEC(".maps");

/* Too large for the stack. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct flow_chain);
} scratches SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LPM_TRIE);
    __uint(max_entries, MAX_PASSES);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct pass);
    __type(value, __u32);
} passes SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, MAX_PROXIES);
    __type(key, __u32);
    __type(value, __u64[COUNTERS]);
} counters SEC(".maps");

/* Health checks of functions: which run of srv6mgrd sent it, and its number there. */
struct health_key {
    __u32 run, check;
};

/* The last one that came back, and when (CLOCK_MONOTONIC). */
struct health {
    __u32 number;
    __u32 pad;
    __u64 at;
};

/* srv6mgrd adds those that it sends: nobody else can fill it. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, MAX_HEALTH_CHECKS);
    __type(key, struct health_key);
    __type(value, struct health);
} health_checks SEC(".maps");

/* By the number of the proxy. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, MAX_PROXIES);
    __type(key, __u32);
    __type(value, struct hops);
} hops SEC(".maps");

static __always_inline void count_packet(__u32 id, enum counter packets, __u32 octets)
{
    __u64 *counts = bpf_map_lookup_elem(&counters, &id);

    if (counts) {
        counts[packets] += 1;
        counts[packets + 1] += octets;
    }
}

static __always_inline void count_one(__u32 id, enum counter reason)
{
    __u64 *counts = bpf_map_lookup_elem(&counters, &id);

    if (counts && reason < COUNTERS)
        counts[reason] += 1;
}

static __always_inline struct node *this_node(void)
{
    __u32 first = 0;

    return bpf_map_lookup_elem(&nodes, &first);
}

/* The proxy whose SID covers this address. */
static __always_inline struct proxy *proxy_of(const struct in6_addr *address)
{
    struct node *node = this_node();
    const __u64 *words = (const void *)address;

    if (!node)
        return NULL;
#pragma unroll
    for (int i = 0; i < MAX_LENGTHS; i++) {
        const struct sid *mask = &node->masks[i];
        struct sid key = {words[0] & mask->high, words[1] & mask->low, mask->length};

        if (!mask->length)
            return NULL;
        struct proxy *proxy = bpf_map_lookup_elem(&proxies, &key);
        if (proxy)
            return proxy;
    }
    return NULL;
}

/* What comes back on a port goes on with; NULL when no proxy is there. */
static __always_inline struct chain *chain_of(const struct node *node, const struct port *port)
{
    return node->kinds & 1u << port->inner ? bpf_map_lookup_elem(&chains, port) : NULL;
}
