/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Accounting of tunnelled packets: programs for tc on the interfaces to the core. They change no
 * packet and decide nothing. */
#include "maps.h"
#include "octets.h"
#include "outer.h"
#include "packet.h"
#include "segment_list.h"

static __always_inline struct node *this_node(void)
{
    __u32 first = 0;

    return bpf_map_lookup_elem(&nodes, &first);
}

static __always_inline bool same(const struct in6_addr *one, const struct in6_addr *other)
{
    const __u64 *a = (const void *)one, *b = (const void *)other;

    return a[0] == b[0] && a[1] == b[1];
}

static __always_inline bool is_own_source(const struct node *node, const struct in6_addr *source)
{
    return same(&node->source, source) ||
           (node->more_sources && bpf_map_lookup_elem(&sources, source));
}

/* The number of the VRF that a packet was encapsulated in. A VRF makes itself the interface that
 * the packets of its ports came in on (vrf_ip6_rcv, vrf_ip_rcv, and end_dt_vrf_core by way of
 * them), and encapsulation keeps that; the router's own packets have their socket. */
static __always_inline __u32 vrf_of(struct __sk_buff *skb)
{
    __u32 index = skb->ingress_ifindex;
    __u32 *number;

    if (!index) {
        struct bpf_sock *sk = skb->sk;

        index = sk ? sk->bound_dev_if : 0;
    }
    number = index ? bpf_map_lookup_elem(&vrfs, &index) : NULL;
    return number ? *number : 0;
}

static __always_inline void add(struct count *count, const struct octets *octets)
{
    count->packets += octets->packets;
    count->inner_octets += octets->inner;
    count->outer_octets += octets->outer;
}

static __always_inline void account_in_other(const struct key *key, const struct octets *octets)
{
    __u32 place = key->direction * FAMILIES + key->family;
    struct count *count = bpf_map_lookup_elem(&others, &place);

    if (count)
        add(count, octets);
}

static __always_inline void account(const struct key *key, const struct octets *octets,
                                    struct __sk_buff *skb, const struct outer *outer)
{
    struct count *count = bpf_map_lookup_elem(&rows, key);
    struct count none = {};

    if (!count) {
        /* The list comes first: a row that can be read has one. */
        if (!key->list || remember_list(skb, key->list, outer))
            bpf_map_update_elem(&rows, key, &none, BPF_NOEXIST);
        count = bpf_map_lookup_elem(&rows, key);
    }
    if (count)
        add(count, octets);
    else
        account_in_other(key, octets);
}

/* Egress of interfaces to the core. */
SEC("tc")
int sent(struct __sk_buff *skb)
{
    struct key key = {};
    struct outer outer;
    struct octets octets;
    struct node *node;

    /* A VLAN's packets came by on its own interface. */
    if (skb->protocol != bpf_htons(ETH_P_IPV6) || skb->vlan_present)
        return NEXT;
    node = this_node();
    if (!node || !read_outer(skb, &outer) || !is_own_source(node, &outer.source))
        return NEXT;
    if (!find_inner(skb, &outer))
        return NEXT;
    key.direction = SENT;
    key.family = outer.family;
    octets = octets_of(skb, &outer);
    if (!read_list(skb, &outer)) {
        account_in_other(&key, &octets);
        return NEXT;
    }
    key.vrf = vrf_of(skb);
    key.remote = outer.last;
    key.list = outer.digest;
    account(&key, &octets, skb, &outer);
    return NEXT;
}

static __always_inline struct local_sid *sid_of(const struct node *node,
                                                const struct in6_addr *address)
{
    const __u64 *words = (const void *)address;

#pragma unroll
    for (int i = 0; i < MAX_LENGTHS; i++) {
        const struct prefix *mask = &node->masks[i];
        struct prefix key = {words[0] & mask->high, words[1] & mask->low, mask->length};
        struct local_sid *sid;

        if (!mask->length)
            return NULL;
        sid = bpf_map_lookup_elem(&sids, &key);
        if (sid)
            return sid;
    }
    return NULL;
}

/* Ingress of the same interfaces. */
SEC("tc")
int received(struct __sk_buff *skb)
{
    struct key key = {};
    struct local_sid *sid;
    struct outer outer;
    struct octets octets;
    struct node *node;

    if (skb->protocol != bpf_htons(ETH_P_IPV6) || skb->vlan_present || skb->pkt_type != PACKET_HOST)
        return NEXT;
    node = this_node();
    if (!node || !read_outer(skb, &outer))
        return NEXT;
    sid = sid_of(node, &outer.destination);
    /* With segments left, or something else inside, the behavior drops it (get_and_validate_srh,
     * decap_and_validate); a fragment is not decapsulated. */
    if (!sid || !find_inner(skb, &outer) || outer.segments_left || outer.fragment)
        return NEXT;
    if (!(sid->families & 1u << outer.family))
        return NEXT;
    key.vrf = sid->vrf;
    key.direction = RECEIVED;
    key.family = outer.family;
    key.remote = outer.source;
    octets = octets_of(skb, &outer);
    account(&key, &octets, skb, &outer);
    return NEXT;
}

char _license[] SEC("license") = "Dual BSD/GPL";
