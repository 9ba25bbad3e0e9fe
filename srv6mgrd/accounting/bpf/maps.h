/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared with srv6mgrd; srv6mgrd/accounting/layout.py packs the same structures. */
#pragma once

#include <linux/bpf.h>
#include <linux/in6.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "outer.h"

/* Packets of further remote routers are counted in the row "other". */
#define MAX_ROWS 131072
#define MAX_LISTS 4096
#define MAX_VRFS 16384
#define MAX_SIDS 262144
#define MAX_SOURCES 4096
/* Different lengths of the SIDs' prefixes. */
#define MAX_LENGTHS 8
#define MAX_SEGMENTS 16

enum direction { SENT, RECEIVED };

struct key {
    __u32 vrf; /* its number; 0 is the default VRF */
    __u8 direction;
    __u8 family;
    __u8 pad[2];
    /* Digest of the segments before the remote SID; 0: there are none. */
    __u64 list;
    /* Sent: the remote SID, which is the last segment. Received: the outer source. */
    struct in6_addr remote;
};

struct count {
    __u64 packets;
    __u64 inner_octets;
    __u64 outer_octets;
};

/* The segments of a list, the first one first, the remote SID last. */
struct list {
    __u32 length;
    __u32 pad;
    struct in6_addr segments[MAX_SEGMENTS];
};

struct prefix {
    __u64 high, low;
    __u64 length;
};

/* A SID of this router that decapsulates. */
struct local_sid {
    __u32 vrf;
    __u32 families; /* 1 << family */
};

/* For srv6mgrd: a VRF that is made again under its name goes on counting. */
struct vrf {
    char name[16];
    __u32 ifindex; /* 0: it is not declared at present */
};

struct node {
    /* Lengths that SIDs have, the longest first; an empty mask ends them. */
    struct prefix masks[MAX_LENGTHS];
    /* What this router encapsulates has this source, or one of the map ``sources``. */
    struct in6_addr source;
    __u32 more_sources;
    __u32 pad;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct node);
} nodes SEC(".maps");

/* Numbers of VRFs by ifindex. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, MAX_VRFS);
    __type(key, __u32);
    __type(value, __u32);
} vrfs SEC(".maps");

/* VRFs by number. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, MAX_VRFS);
    __type(key, __u32);
    __type(value, struct vrf);
} names SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, MAX_SOURCES);
    __type(key, struct in6_addr);
    __type(value, __u32);
} sources SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, MAX_SIDS);
    __type(key, struct prefix);
    __type(value, struct local_sid);
} sids SEC(".maps");

/* Allocated at once, as the lists are: what a program allocates may have to wait for the next tick
 * (bpf_mem_refill), and packets would have no row until then. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, MAX_ROWS);
    __type(key, struct key);
    __type(value, struct count);
} rows SEC(".maps");

/* By direction * FAMILIES + family: what has no row. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 2 * FAMILIES);
    __type(key, __u32);
    __type(value, struct count);
} others SEC(".maps");

/* By the same places, written by srv6mgrd alone: what rows had counted that made room. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 2 * FAMILIES);
    __type(key, __u32);
    __type(value, struct count);
} folded SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, MAX_LISTS);
    __type(key, __u64);
    __type(value, struct list);
} lists SEC(".maps");

/* Too large for the stack. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct list);
} scratches SEC(".maps");
