"""What the reasons of drops mean, and what to do. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from srv6mgrd.model.drops import DropReason

# What the packets had, and the remedy.
EXPLAINED: Mapping[DropReason, tuple[str, str]] = {
    DropReason.NO_SRH: (
        "packets without a segment routing header, which the behavior needs",
        "see who sends to the SID itself (a ping to it ends so); reduced encapsulation"
        " (H.Encaps.Red) of a single segment has no header either",
    ),
    DropReason.NO_SEGMENTS_LEFT: (
        "packets with no segments left, which the behavior needs",
        "end the segment list with a SID that decapsulates (End.DT*, End.DX*)",
    ),
    DropReason.FLAVOR_MISSING: (
        "packets with compressed SIDs behind this one, which lacks the flavor NEXT-C-SID",
        "add next-csid to flavors, or send a segment list of whole SIDs",
    ),
    DropReason.SRH_MALFORMED: (
        "packets with a segment routing header that makes no sense",
        "see which node writes it: tcpdump -vv 'ip6 proto 43' on the interface to the core",
    ),
    DropReason.HMAC: (
        "packets without the HMAC that seg6_require_hmac demands, or with a wrong one",
        "give the headend and this router the same key (ip sr hmac), or set seg6_require_hmac to 0",
    ),
    DropReason.SEGMENTS_LEFT: (
        "packets that have segments left at a SID that has to be the last one",
        "make this SID the last of the segment list at the headend",
    ),
    DropReason.UPPER_LAYER: (
        "packets with TCP, UDP or ICMPv6 for the SID itself",
        "see who sends to the SID: it is no address of a host; ping it with srv6ctl ping",
    ),
    DropReason.INNER_TYPE: (
        "packets that carry another type of packet than the behavior takes",
        "check behavior and segment list at the headend; End.DT46 takes IPv4 and IPv6",
    ),
    DropReason.FRAGMENT: (
        "later fragments of outer packets, which no behavior reassembles",
        "raise the MTU of the links up to this node, or lower that of the senders' tunnels",
    ),
    DropReason.VRF_GONE: (
        "packets whose VRF has no device",
        "srv6mgrd makes it again; see srv6ctl show vrfs for why it does not",
    ),
    DropReason.NO_ROUTE: (
        "packets that no route leads on",
        "ask for the route with ip route get (vrf NAME), and see srv6ctl show routes",
    ),
    DropReason.POLICY: (
        "packets that a route prohibits or discards",
        "look for blackhole and prohibit in ip route show (vrf NAME)",
    ),
    DropReason.REVERSE_PATH: (
        "packets whose inner source fails the reverse path filter",
        "set net.ipv4.conf.NAME.rp_filter of the VRF, and that of all, to 0",
    ),
    DropReason.NOT_FORWARDING: (
        "packets while forwarding is switched off",
        "sysctl -w net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1",
    ),
    DropReason.HOP_LIMIT: (
        "packets whose hop limit or TTL is used up here",
        "expected of traceroute; else look for a loop",
    ),
    DropReason.TOO_BIG: (
        "packets longer than the MTU of the link that they would leave on, which ICMP reports to"
        " their sender",
        "raise the MTU of that link, or see that the sender takes ICMP for path MTU discovery",
    ),
    DropReason.TOO_BIG_SILENT: (
        "packets longer than the MTU of the link that they would leave on, which nothing reports to"
        " their sender",
        "raise the MTU of that link; a route back to the sender lets path MTU discovery work",
    ),
    DropReason.LINK_DOWN: (
        "packets that would leave on an interface that is down or has no carrier",
        "see ip link show up and the cable",
    ),
    DropReason.NO_NEIGHBOR: (
        "packets for a neighbor that does not answer",
        "see ip neigh show, and that the neighbor is up and has this address",
    ),
    DropReason.BOUNDARY: (
        "packets from outside of the SRv6 domain, which the filter at its boundary drops",
        "expected of customers; set role to core for an interface to a router of the domain",
    ),
    DropReason.FIREWALL: (
        "packets that netfilter or a program of tc dropped behind the behavior",
        "look at nft list ruleset and tc filter show",
    ),
    DropReason.QUEUE_FULL: (
        "packets for which a queue had no room",
        "see tc -s qdisc show of the interface that they leave on",
    ),
    DropReason.OTHER: (
        "packets that the behavior counted as errors for a reason that no check knows",
        "look at nft list ruleset, and at End.BPF programs",
    ),
}
# Names of ``listen.verdict``, which says more about the same packets.
HEARD_AS: Mapping[DropReason, str] = {
    DropReason.NO_SRH: "no-srh",
    DropReason.NO_SEGMENTS_LEFT: "no-segments-left",
    DropReason.SEGMENTS_LEFT: "segments-left",
    DropReason.HOP_LIMIT: "hop-limit",
    DropReason.INNER_TYPE: "inner",
    DropReason.UPPER_LAYER: "inner",
}
