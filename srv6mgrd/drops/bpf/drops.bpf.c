/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why packets to local SIDs are dropped: a program for tc at the ingress of interfaces to the core,
 * which looks at them as their behavior is about to. It changes no packet and decides nothing. */
#include "behavior.h"
#include "maps.h"
#include "outer.h"
#include "packet.h"
#include "route.h"
#include "scratch.h"

static __always_inline struct watched *watched_of(const struct node *node,
                                                  const struct in6_addr *address)
{
    const __u64 *words = (const void *)address;

#pragma unroll
    for (int i = 0; i < MAX_LENGTHS; i++) {
        const struct prefix *mask = &node->masks[i];
        struct prefix key = {words[0] & mask->high, words[1] & mask->low, mask->length};
        struct watched *sid;

        if (!mask->length)
            return NULL;
        sid = bpf_map_lookup_elem(&sids, &key);
        if (sid)
            return sid;
    }
    return NULL;
}

static __always_inline bool is_outside(struct __sk_buff *skb)
{
    __u32 ifindex = skb->ifindex;
    struct link *link = bpf_map_lookup_elem(&interfaces, &ifindex);

    return link && link->outside;
}

static __always_inline __u32 reason_of(struct __sk_buff *skb, const struct watched *sid,
                                       struct scratch *scratch)
{
    __u32 reason;

    if (is_outside(skb))
        return BOUNDARY;
    __builtin_memset(&scratch->packet, 0, sizeof(scratch->packet));
    find_inner(skb, &scratch->outer);
    reason = sid->families ? reason_of_end(skb, sid, &scratch->outer, &scratch->packet)
                           : reason_of_next(skb, sid, &scratch->outer, &scratch->packet);
    if (reason != ASK_ROUTE)
        return reason;
    reason = reason_of_route(skb, sid, &scratch->packet);
    return reason == PASSED ? scratch->packet.hmac : reason;
}

/* Without a call: bpf_get_prandom_u32 takes as long as all else for a packet that is passed over.
 */
static __always_inline __u32 random_of(struct runs *run)
{
    __u64 state = run->random ? run->random : bpf_ktime_get_ns() | 1;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    run->random = state;
    return state >> 32;
}

SEC("tc")
int watch(struct __sk_buff *skb)
{
    struct scratch *scratch;
    struct watched *sid;
    struct node *node;
    __u32 first = 0, reason;
    struct runs *run;

    node = bpf_map_lookup_elem(&nodes, &first);
    run = bpf_map_lookup_elem(&runs, &first);
    if (!node || !run)
        return NEXT;
    run->count++;
    /* First of all, so that the others cost next to nothing. */
    if (node->others && random_of(run) & node->others)
        return NEXT;
    if (skb->protocol != bpf_htons(ETH_P_IPV6) || skb->vlan_present || skb->pkt_type != PACKET_HOST)
        return NEXT;
    scratch = bpf_map_lookup_elem(&scratches, &first);
    if (!scratch || !read_outer(skb, &scratch->outer))
        return NEXT;
    scratch->skb = 0;
    sid = watched_of(node, &scratch->outer.destination);
    if (!sid)
        return NEXT;
    reason = reason_of(skb, sid, scratch);
    if (node->traced && (reason == PASSED || reason == HMAC_UNKNOWN) && sid->how != TO_INTERFACE) {
        scratch->skb = (__u64)(long)skb;
        scratch->place = sid->place;
    }
    count(sid->place, reason, (__u64)node->others + 1);
    return NEXT;
}

char _license[] SEC("license") = "Dual BSD/GPL";
