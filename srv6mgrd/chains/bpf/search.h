/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rule of a flow: a look-up for each combination of masks that rules have, the best ones first
 * (tuple space search, Srinivasan et al., SIGCOMM 1999). */
#pragma once

#include "flow.h"
#include "maps.h"
#include "packet.h"

/* The rules may change meanwhile; those of before are then gone. */
#define TRIES 3

struct search {
    struct flow flow;
    __u32 generation;
    __u32 first;
    struct entry found;
    struct entry_key key;
};

static __always_inline bool within(const __u16 *range, __be16 port)
{
    __u16 number = bpf_ntohs(port);

    return number >= range[0] && number <= range[1];
}

/* The best of so many combinations. A function of its own for the verifier, which so walks through
 * the loop once; a callback (bpf_loop) would need the JIT compiler, which not every kernel has. */
__noinline int search_tuples(struct search *search, __u32 count)
{
    if (!search)
        return 0;
#pragma clang loop unroll(disable)
    for (__u32 number = 0; number < MAX_KIND_TUPLES && number < count; number++) {
        const struct flow *flow = &search->flow;
        struct entry_key *key = &search->key;
        __u32 at = search->first + number;
        const struct tuple *tuple = bpf_map_lookup_elem(&tuples, &at);
        const struct entry *entry;

        if (!tuple || tuple->best >= search->found.priority)
            break;
        if (tuple->flags & WITH_PORTS &&
            (!flow->has_ports || !within(tuple->sources, flow->ports[0]) ||
             !within(tuple->destinations, flow->ports[1])))
            continue;
        key->source[0] = flow->source[0] & tuple->source[0];
        key->source[1] = flow->source[1] & tuple->source[1];
        key->destination[0] = flow->destination[0] & tuple->destination[0];
        key->destination[1] = flow->destination[1] & tuple->destination[1];
        key->generation = search->generation;
        key->tuple = at;
        key->mark = flow->mark & tuple->mark;
        key->ports[0] = flow->ports[0] & tuple->ports[0];
        key->ports[1] = flow->ports[1] & tuple->ports[1];
        key->protocol = flow->protocol & tuple->protocol;
        key->dscp = flow->dscp & tuple->dscp;
        entry = bpf_map_lookup_elem(&entries, key);
        if (entry && entry->priority < search->found.priority)
            search->found = *entry;
    }
    return 0;
}

/* The decision for a flow. False when its classifier is gone, or changes all the time. */
static __noinline int decide(struct flow *flow, struct decision *decision)
{
    struct search search = {};
    struct classifier *classifier;
    __u32 kind = flow->kind;

    search.flow = *flow;
#pragma clang loop unroll(disable)
    for (int i = 0; i < TRIES; i++) {
        __u32 count;

        classifier = bpf_map_lookup_elem(&classifiers, &flow->classifier);
        barrier_var(kind);
        if (!classifier || kind >= KINDS)
            return false;
        search.generation = classifier->generation;
        search.first = classifier->tuples[kind].first;
        count = classifier->tuples[kind].count;
        search.found.priority = ~0U;
        search.found.rule = NO_RULE;
        search.found.selector = 0;
        search.found.flags = 0;
        search_tuples(&search, count);
        classifier = bpf_map_lookup_elem(&classifiers, &flow->classifier);
        if (classifier && classifier->generation == search.generation) {
            decision->generation = search.generation;
            decision->rule = search.found.rule;
            if (decision->selector != search.found.selector)
                decision->path = 0;
            decision->selector = search.found.selector;
            decision->flags = search.found.flags;
            return true;
        }
    }
    return false;
}
