/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Classification of what customers send, and its way into service function chains. */
#include "encapsulate.h"
#include "flow.h"
#include "maps.h"
#include "packet.h"
#include "search.h"
#include "too_big.h"

static __always_inline void count_drop(__u32 selector, __u32 reason, __u32 packets)
{
    __u64 *counts = bpf_map_lookup_elem(&drop_counts, &selector);

    if (counts && reason < REASONS)
        counts[reason] += packets;
}

static __always_inline void count_packets(void *map, __u32 place, __u32 packets, __u32 octets)
{
    struct count *count = bpf_map_lookup_elem(map, &place);

    if (count) {
        count->packets += packets;
        count->octets += octets;
    }
}

/* Flows that a path has may stay. */
static __always_inline bool may_stay(__u32 path, __u32 selector)
{
    __u32 *usable_by = bpf_map_lookup_elem(&usable, &path);

    return path && usable_by && *usable_by == selector;
}

/* For a new flow, or one whose path is gone. 0: none. */
static __always_inline __u32 new_path(__u32 selector, __u32 hash)
{
    const struct selector *found = bpf_map_lookup_elem(&selectors, &selector);
    __u32 path;

    if (!found)
        return 0;
    path = found->slots[hash & (SLOTS - 1)];
    return may_stay(path, selector) ? path : 0;
}

static __always_inline int into_chain(struct __sk_buff *skb, const struct seen *seen,
                                      const struct decision *decision, __u32 path, __u32 hash,
                                      __u32 packets)
{
    bool frame = decision->flags & FRAME;
    __u32 octets = frame ? skb->len : skb->len - ETH_HLEN;
    __u32 mtu = 0;
    int done;

    if (!path) {
        count_drop(decision->selector, UNAVAILABLE, packets);
        return DROP;
    }
    if (!frame && seen->hop_limit <= 1) {
        /* The stack notifies the sender; it forwards no such packet. */
        count_drop(decision->selector, HOP_LIMIT, packets);
        return NEXT;
    }
    done = encapsulate(skb, seen, path, hash, frame, &mtu);
    if (done <= 0) {
        count_drop(decision->selector, -done, packets);
        return mtu && !frame ? notify_sender(skb, seen, mtu) : DROP;
    }
    count_packets(&path_counts, path, packets, octets);
    return done;
}

/* Ingress of the interfaces of classifiers. */
SEC("tc")
int classify(struct __sk_buff *skb)
{
    __u32 index = skb->ifindex;
    __u32 *number = bpf_map_lookup_elem(&interfaces, &index);
    struct classifier *classifier;
    struct decision decision = {};
    struct decision *known;
    struct seen seen;
    bool frame;

    if (!number)
        return NEXT;
    classifier = bpf_map_lookup_elem(&classifiers, number);
    if (!classifier || !read_flow(skb, *number, classifier->flags, &seen))
        return NEXT;
    known = bpf_map_lookup_elem(&flows, &seen.flow);
    if (known)
        decision = *known;
    if (!known || decision.generation != classifier->generation) {
        if (!decide(&seen.flow, &decision))
            return DROP;
        bpf_map_update_elem(&flows, &seen.flow, &decision, BPF_ANY);
        known = NULL;
    }
    if (decision.rule == NO_RULE)
        return NEXT;

    /* Read by itself: else the compiler changes the pointer to it, which the verifier minds. */
    __u32 packets = skb->gso_segs;

    barrier_var(packets);
    seen.gso_size = skb->gso_size;
    if (!packets || !seen.gso_size)
        packets = 1;
    frame = seen.flow.kind == OTHER || decision.flags & FRAME;
    count_packets(&rule_counts, decision.rule, packets, frame ? skb->len : skb->len - ETH_HLEN);
    if (!decision.selector)
        return NEXT;
    __u32 hash = hash_of(&seen.flow);
    if (!may_stay(decision.path, decision.selector)) {
        decision.path = new_path(decision.selector, hash);
        bpf_map_update_elem(&flows, &seen.flow, &decision, BPF_ANY);
    }
    return into_chain(skb, &seen, &decision, decision.path, hash, packets);
}

char _license[] SEC("license") = "Dual BSD/GPL";
