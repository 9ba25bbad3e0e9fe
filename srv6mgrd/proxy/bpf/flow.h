/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chains by flow: many through one function. A flow has the digest of its chain's header, and so
 * many flows share one chain. */
#pragma once

#include "chain.h"
#include "extensions.h"
#include "maps.h"
#include "packet.h"

/* The flow of the packet or frame that begins there. Fragments, of which only the first has ports,
 * go by their addresses, and so do packets with more extension headers than are looked through.
 * False when it is too short. */
static __always_inline bool flow_of(struct __sk_buff *skb, __u32 at, const struct port *port,
                                    struct flow *flow)
{
    __u32 ports = 0;

    __builtin_memset(flow, 0, sizeof(*flow));
    flow->interface = port->interface;
    flow->inner = port->inner;
    if (port->inner == INNER_IPV6) {
        struct ipv6hdr ip;

        if (bpf_skb_load_bytes(skb, at, &ip, sizeof(ip)))
            return false;
        flow->protocol = ip.nexthdr;
        __builtin_memcpy(flow->source, &ip.saddr, 16);
        __builtin_memcpy(flow->destination, &ip.daddr, 16);
        ports = at + sizeof(ip);
        if (is_extension(ip.nexthdr) || ip.nexthdr == IPPROTO_ROUTING) {
            __u32 upper = skip_extensions(skb, ports, ip.nexthdr, true);

            if (upper == NO_HEADER)
                return false;
            flow->protocol = header_of(upper);
            ports = place_of(upper);
        }
    } else if (port->inner == INNER_IPV4) {
        struct iphdr ip;

        if (bpf_skb_load_bytes(skb, at, &ip, sizeof(ip)))
            return false;
        flow->protocol = ip.protocol;
        __builtin_memcpy(flow->source, &ip.saddr, 4);
        __builtin_memcpy(flow->destination, &ip.daddr, 4);
        if (!(ip.frag_off & bpf_htons(IP_FRAGMENT)))
            ports = at + ip.ihl * 4;
    } else {
        struct ethhdr eth;

        if (bpf_skb_load_bytes(skb, at, &eth, sizeof(eth)))
            return false;
        __builtin_memcpy(flow->source, eth.h_source, ETH_ALEN);
        __builtin_memcpy(flow->destination, eth.h_dest, ETH_ALEN);
    }
    if (ports && has_ports(flow->protocol) &&
        bpf_skb_load_bytes(skb, ports, flow->ports, sizeof(flow->ports)))
        return false;
    return true;
}

/* Of what same_chain compares. Two headers that differ in one word have two digests. */
static __always_inline __u64 digest_of(const struct slot *slot)
{
    __u64 digest = slot->length;
    __u32 length = slot->length;

#pragma clang loop unroll(disable)
    for (int i = 1; i < HEADER_WORDS && i * 8 < length; i++) {
        digest = (digest ^ slot->header[i]) * 0x9e3779b97f4a7c15;
        digest ^= digest >> 29;
    }
    return digest;
}

/* Learn this header, in scratch, for its flow. */
static __always_inline void learn_flow(const struct proxy *proxy, const struct flow *flow,
                                       struct flow_chain *made)
{
    struct flow_chain_key key = {{proxy->return_interface, proxy->inner}, 0};
    struct followed *known = bpf_map_lookup_elem(&flows, flow);
    __u64 now = bpf_ktime_get_coarse_ns(), digest = digest_of(&made->slot);

    if (known && known->digest != digest && now - known->learned < proxy->age) {
        key.digest = known->digest;
        if (bpf_map_lookup_elem(&flow_chains, &key))
            return;
    }
    key.digest = digest;
    /* Looked at also by a flow that knows it, so that it is not the one to make room. */
    struct flow_chain *chain = bpf_map_lookup_elem(&flow_chains, &key);
    if (!chain) {
        made->learned = now;
        bpf_map_update_elem(&flow_chains, &key, made, BPF_ANY);
    }
    if (!known) {
        struct followed follows = {digest, now};

        if (chain)
            chain->learned = now;
        bpf_map_update_elem(&flows, flow, &follows, BPF_ANY);
    } else if (known->digest != digest) {
        if (chain)
            chain->learned = now;
        known->digest = digest;
        known->learned = now;
    } else if (proxy->age) {
        known->learned = now;
    }
}

/* The chain of the flow of the packet or frame that begins there; NULL when none was learned. */
static __always_inline struct flow_chain *flow_chain_of(struct __sk_buff *skb, __u32 at,
                                                        const struct port *port, __u64 *digest)
{
    struct flow flow;
    struct followed *known;

    if (!flow_of(skb, at, port, &flow))
        return NULL;
    known = bpf_map_lookup_elem(&flows, &flow);
    if (!known)
        return NULL;
    struct flow_chain_key key = {*port, known->digest};
    *digest = key.digest;
    return bpf_map_lookup_elem(&flow_chains, &key);
}

/* Write the chain's header, of this length, to the packet. False when it made room for another one
 * meanwhile. */
static __always_inline bool restore_flow(struct __sk_buff *skb, const struct flow_chain *chain,
                                         __u64 digest, __u32 length)
{
    struct flow_chain *copy = scratch();

    if (!copy)
        return false;
    __builtin_memcpy(&copy->slot, &chain->slot, sizeof(copy->slot));
    return copy->slot.length == length && digest_of(&copy->slot) == digest &&
           store_header(skb, copy->slot.header, length);
}
