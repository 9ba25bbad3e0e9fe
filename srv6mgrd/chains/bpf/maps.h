/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared with srv6mgrd; srv6mgrd/chains/layout.py packs the same structures. */
#pragma once

#include <linux/bpf.h>
#include <linux/in6.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#define MAX_INTERFACES 4096
#define MAX_CLASSIFIERS 1024
#define MAX_RULES 65536
#define MAX_ENTRIES 262144
/* Of all classifiers together. */
#define MAX_TUPLES 65536
/* Of a classifier, for packets of one kind. */
#define MAX_KIND_TUPLES 512
#define MAX_PATHS 16384
#define MAX_SELECTORS 16384
#define MAX_NAMES 32768
#define NAME 128
#define MAX_FUNCTIONS 16
#define SLOTS 256
/* The least recently used make room. */
#define MAX_FLOWS 65536
/* IPv6 header and SRH of 16 segments. */
#define MAX_HEADER (40 + 8 + 16 * 16)
#define HEADER_WORDS (MAX_HEADER / 8)

/* Rules that can match: those of packets to link-local and multicast addresses name these, and
 * OTHER are frames without an IP packet for this router. */
enum kind { OTHER, IPV4, IPV6, LOCAL4, LOCAL6, KINDS };

#define NO_RULE (~0U)

enum reason { UNAVAILABLE, TOO_BIG, HOP_LIMIT, NO_ROUTE, MALFORMED, REASONS };

enum classifier_flags {
    /* Some rules look at the mark, or the DSCP. */
    BY_MARK = 1 << 0,
    BY_DSCP = 1 << 1,
};

struct range {
    __u32 first, count;
};

/* The generation changes with the rules, and is no other classifier's. */
struct classifier {
    __u32 generation;
    __u32 flags;
    struct range tuples[KINDS];
};

enum tuple_flags {
    WITH_PORTS = 1 << 0,
};

/* What a number of rules look at, as masks; ports also as ranges, in host order. ``best`` is the
 * lowest priority among them, by which tuples are sorted. */
struct tuple {
    __u64 source[2], destination[2];
    __u32 mark;
    __u32 best;
    __u16 sources[2], destinations[2];
    __be16 ports[2];
    __u8 protocol, dscp, flags, pad;
};

struct entry_key {
    __u64 source[2], destination[2];
    __u32 generation;
    __u32 tuple;
    __u32 mark;
    __be16 ports[2];
    __u8 protocol, dscp;
    __u8 pad[6];
};

enum entry_flags {
    FRAME = 1 << 0,
};

struct entry {
    __u32 priority;
    __u32 rule;     /* in rule_counts */
    __u32 selector; /* 0: on without a chain */
    __u32 flags;
};

/* Of frames that are OTHER the MAC addresses, and their type for the first port. */
struct flow {
    __u32 classifier;
    __u32 mark;
    __u64 source[2], destination[2];
    __be16 ports[2];
    __u8 protocol;
    __u8 dscp;
    __u8 kind;
    __u8 has_ports;
};

struct decision {
    __u32 generation;
    __u32 rule;
    __u32 selector;
    __u32 path;
    __u32 epoch; /* of the path */
    __u32 flags;
};

/* One way through a chain for packets of a family. A slot has the number of a path; 0: none. */
struct selector {
    __u32 chain;
    __u8 way, family;
    __u16 pad;
    __u32 slots[SLOTS];
};

/* Its own number, since an element of a hash map may be used again while it is read. */
struct path {
    __u32 id;
    __u32 selector;
    __u32 length;
    __u32 pad;
    __u64 place; /* digest of its functions: the same in both directions */
    __u64 header[HEADER_WORDS];
};

/* The selector whose flows may stay on a path; 0: none. The epoch changes when they may no longer:
 * those without packets meanwhile do not stay either, as the other direction may have moved. */
struct usable {
    __u32 selector;
    __u32 epoch;
};

struct place_key {
    __u32 selector;
    __u32 pad;
    __u64 place;
};

/* Both directions of a connection, by the hash of it. */
struct connection {
    __u32 chain;
    __u32 pad;
    __u64 hash;
};

/* For srv6mgrd. */
struct path_record {
    __u32 preference, weight;
    __u32 count;
    __u32 functions[MAX_FUNCTIONS]; /* in names */
};

struct rule_key {
    __u32 classifier, generation, priority;
};

struct rule_record {
    __u32 chain; /* in names; 0: none */
    __u8 way, family;
    __u16 fields;
    __u8 source[16], destination[16];
    __u8 source_length, destination_length;
    __u8 protocol, dscp;
    __u16 sources[2], destinations[2];
    __u32 mark;
    __u32 rule; /* in rule_counts */
};

struct name {
    __u8 kind;
    char text[NAME - 1];
};

struct node {
    __u32 sid_device;
    __u32 generation; /* the last one */
    __u8 mac[6];      /* of the SID device */
    __u16 pad;
};

struct count {
    __u64 packets, octets;
};

/* Where a path's packets leave, as it was at this tick of the clock. */
struct hop {
    __u64 tick;
    __u64 source[2], destination[2];
    __u32 interface;
    __u32 mtu;
    __u32 kind;
    __u8 to[6], from[6]; /* MAC addresses */
    __u32 gateway[4];
    __u32 notified; /* senders of packets too big, in this tick */
    __u32 pad;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct node);
} nodes SEC(".maps");

/* Numbers of classifiers by ifindex. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, MAX_INTERFACES);
    __type(key, __u32);
    __type(value, __u32);
} interfaces SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, MAX_CLASSIFIERS);
    __type(key, __u32);
    __type(value, struct classifier);
} classifiers SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, MAX_TUPLES);
    __type(key, __u32);
    __type(value, struct tuple);
} tuples SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, MAX_ENTRIES);
    __type(key, struct entry_key);
    __type(value, struct entry);
} entries SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, MAX_FLOWS);
    __type(key, struct flow);
    __type(value, struct decision);
} flows SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, MAX_SELECTORS);
    __type(key, __u32);
    __type(value, struct selector);
} selectors SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, MAX_PATHS);
    __type(key, __u32);
    __type(value, struct path);
} paths SEC(".maps");

/* By path. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, MAX_PATHS);
    __type(key, __u32);
    __type(value, struct usable);
} usable SEC(".maps");

/* Paths by their functions. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, MAX_PATHS);
    __type(key, struct place_key);
    __type(value, __u32);
} places SEC(".maps");

/* The functions that a connection goes through, whichever direction came first. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, MAX_FLOWS);
    __type(key, struct connection);
    __type(value, __u64);
} connections SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, MAX_PATHS);
    __type(key, __u32);
    __type(value, struct hop);
} hops SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, MAX_RULES);
    __type(key, __u32);
    __type(value, struct count);
} rule_counts SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, MAX_PATHS);
    __type(key, __u32);
    __type(value, struct count);
} path_counts SEC(".maps");

/* By selector. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, MAX_SELECTORS);
    __type(key, __u32);
    __type(value, __u64[REASONS]);
} drop_counts SEC(".maps");

/* For srv6mgrd alone: what it reads back, and states of functions, by name. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, MAX_NAMES);
    __type(key, __u32);
    __type(value, struct name);
} names SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 2 * MAX_RULES);
    __type(key, struct rule_key);
    __type(value, struct rule_record);
} rules SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, MAX_PATHS);
    __type(key, __u32);
    __type(value, struct path_record);
} path_records SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, MAX_NAMES);
    __type(key, struct name);
    __type(value, __u32);
} states SEC(".maps");
