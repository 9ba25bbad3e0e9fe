/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why the kernel drops packets that have passed the checks: a program at the tracepoint
 * skb:kfree_skb. In an object of its own, which kernels without BTF do not load. */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "maps.h"
#include "route.h"
#include "scratch.h"

/* What is read of the kernel's structures; libbpf finds where it is. */
struct sk_buff {
    unsigned char *head;
    __u16 network_header;
} __attribute__((preserve_access_index));

enum skb_drop_reason {
    SKB_DROP_REASON_NETFILTER_DROP,
    SKB_DROP_REASON_TC_EGRESS,
    SKB_DROP_REASON_TC_INGRESS,
    SKB_DROP_REASON_QDISC_DROP,
    SKB_DROP_REASON_QDISC_OVERLIMIT,
    SKB_DROP_REASON_QDISC_CONGESTED,
    SKB_DROP_REASON_CPU_BACKLOG,
    SKB_DROP_REASON_FULL_RING,
    SKB_DROP_REASON_NEIGH_CREATEFAIL,
    SKB_DROP_REASON_NEIGH_FAILED,
    SKB_DROP_REASON_NEIGH_QUEUEFULL,
    SKB_DROP_REASON_NEIGH_DEAD,
    SKB_DROP_REASON_IP_OUTNOROUTES,
    SKB_DROP_REASON_IP_INNOROUTES,
    SKB_DROP_REASON_IP_RPFILTER,
    SKB_DROP_REASON_DEV_READY,
};

/* Numbers differ between kernels, and not all have each. */
#define IS(reason, name)                                                                           \
    (bpf_core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_##name) &&                   \
     (reason) == bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_##name))

/* The kernel's reason in our words; PASSED: it says nothing. */
static __always_inline __u32 reason_of_kernel(__u32 reason)
{
    if (IS(reason, NETFILTER_DROP) || IS(reason, TC_EGRESS) || IS(reason, TC_INGRESS))
        return FIREWALL;
    if (IS(reason, QDISC_DROP) || IS(reason, QDISC_OVERLIMIT) || IS(reason, QDISC_CONGESTED) ||
        IS(reason, CPU_BACKLOG) || IS(reason, FULL_RING))
        return QUEUE_FULL;
    if (IS(reason, NEIGH_CREATEFAIL) || IS(reason, NEIGH_FAILED) || IS(reason, NEIGH_QUEUEFULL) ||
        IS(reason, NEIGH_DEAD))
        return NO_NEIGHBOR;
    if (IS(reason, IP_OUTNOROUTES) || IS(reason, IP_INNOROUTES))
        return NO_ROUTE;
    if (IS(reason, IP_RPFILTER))
        return REVERSE_PATH;
    return IS(reason, DEV_READY) ? LINK_DOWN : PASSED;
}

/* The memory of a packet may be another packet's by now. */
static __always_inline bool is_still(const struct sk_buff *skb, const struct forwarded *packet)
{
    const void *ip = BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, network_header);
    struct in6_addr to = {};

    if (packet->family == IPV4) {
        bpf_probe_read_kernel(&to, 4, ip + offsetof(struct iphdr, daddr));
        return to.in6_u.u6_addr32[0] == packet->destination.in6_u.u6_addr32[0];
    }
    bpf_probe_read_kernel(&to, sizeof(to), ip + offsetof(struct ipv6hdr, daddr));
    return !__builtin_memcmp(&to, &packet->destination, sizeof(to));
}

/* skb:kfree_skb: the packet, where it is dropped, and the reason. */
SEC("raw_tp/kfree_skb")
int trace(struct bpf_raw_tracepoint_args *drop)
{
    struct scratch *scratch;
    struct node *node;
    __u32 first = 0, reason;

    scratch = bpf_map_lookup_elem(&scratches, &first);
    node = bpf_map_lookup_elem(&nodes, &first);
    if (!scratch || !node || !scratch->skb || scratch->skb != drop->args[0])
        return 0;
    scratch->skb = 0;
    reason = reason_of_kernel(drop->args[2]);
    if (reason != PASSED && is_still((void *)(long)drop->args[0], &scratch->packet))
        count(scratch->place, reason, (__u64)node->others + 1);
    return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
