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

    /* Compared as it is used: the verifier of 6.12 does not follow the negation that it comes from.
     */
    barrier_var(reason);
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

static __always_inline bool may_stay(const struct decision *decision)
{
    const struct usable *found = bpf_map_lookup_elem(&usable, &decision->path);

    return decision->path && found && found->selector == decision->selector &&
           found->epoch == decision->epoch;
}

static __always_inline bool take_path(struct decision *decision, __u32 path)
{
    const struct usable *found = bpf_map_lookup_elem(&usable, &path);

    if (!path || !found || found->selector != decision->selector)
        return false;
    decision->path = path;
    decision->epoch = found->epoch;
    return true;
}

/* For a new flow, or one whose path is gone: the functions that the other direction goes through,
 * or the path of its slot. 0: none. */
static __always_inline void choose_path(__u64 hash, struct decision *decision)
{
    const struct selector *selector = bpf_map_lookup_elem(&selectors, &decision->selector);
    struct place_key wanted = {.selector = decision->selector};
    struct connection connection = {.hash = hash};
    const struct path *chosen;
    const __u64 *place;
    const __u32 *path;

    decision->path = 0;
    if (!selector)
        return;
    connection.chain = selector->chain;
    place = bpf_map_lookup_elem(&connections, &connection);
    if (place) {
        wanted.place = *place;
        path = bpf_map_lookup_elem(&places, &wanted);
        if (path && take_path(decision, *path))
            return;
    }
    if (!take_path(decision, selector->slots[hash & (SLOTS - 1)]))
        return;
    chosen = bpf_map_lookup_elem(&paths, &decision->path);
    if (chosen)
        bpf_map_update_elem(&connections, &connection, &chosen->place, BPF_ANY);
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
    __u64 hash = hash_of(&seen.flow);
    if (!may_stay(&decision)) {
        choose_path(hash, &decision);
        bpf_map_update_elem(&flows, &seen.flow, &decision, BPF_ANY);
    }
    return into_chain(skb, &seen, &decision, decision.path, hash, packets);
}

char _license[] SEC("license") = "Dual BSD/GPL";
