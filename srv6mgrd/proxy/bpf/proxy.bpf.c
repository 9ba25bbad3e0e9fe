/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SR proxies: programs for tc. They write nothing but the packets of declared proxies; all else
 * goes on to the filters behind them (TC_ACT_UNSPEC). */
#include "back.h"
#include "chain.h"
#include "maps.h"
#include "packet.h"
#include "toward.h"

/* Ingress of the interfaces that SRv6 packets come in on. */
SEC("tc")
int toward_function(struct __sk_buff *skb)
{
    /* A VLAN's packets come again on its own interface; others' frames are not ours to take. */
    if (skb->protocol != bpf_htons(ETH_P_IPV6) || skb->vlan_present || skb->pkt_type != PACKET_HOST)
        return NEXT;
    return toward(skb, FROM_UNDERLAY);
}

/* Ingress of the SID device: a packet of this node, or that a proxy of this node sent on to another
 * SID of it. */
SEC("tc")
int toward_again(struct __sk_buff *skb)
{
    if (skb->protocol != bpf_htons(ETH_P_IPV6))
        return NEXT;
    /* Its Ethernet addresses are left from the way to the function. */
    if (bpf_skb_change_type(skb, PACKET_HOST))
        return DROP;
    return toward(skb, FROM_NODE);
}

/* Egress of the SID device: what this node itself sends to its proxies. It comes in again without
 * its route, by which a packet that waits for a neighbor would get its addresses (neigh_update). */
SEC("tc")
int toward_local(struct __sk_buff *skb)
{
    struct ipv6hdr *outer;

    if (skb->protocol != bpf_htons(ETH_P_IPV6) || pull(skb, ETH_HLEN + sizeof(*outer)))
        return NEXT;
    outer = start_of(skb) + ETH_HLEN;
    if ((void *)(outer + 1) > end_of(skb) || !proxy_of(&outer->daddr))
        return NEXT;
    return bpf_redirect(skb->ifindex, BPF_F_INGRESS);
}

/* Ingress of the functions' interfaces. */
SEC("tc")
int back_function(struct __sk_buff *skb)
{
    return back(skb);
}

char _license[] SEC("license") = "Dual BSD/GPL";
