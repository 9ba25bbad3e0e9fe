"""Packets that must not pass the boundary of the SRv6 domain, and what became of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from robot.api.deco import library
from scapy.layers.inet import ICMP, IP
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrSegmentRouting,
    PadN,
)
from scapy.layers.l2 import Ether

from lab.problem import LabError
from lab.waiting import wait_until
from tests.robot.library.kernel import counted, sid_routes
from tests.robot.library.network import node

# Of a customer, as both tenants number them, and of pe1's encapsulation.
CUSTOMER, FORGED = "fd00:1::10", "2001:db8::1"
# The host of the other tenant that an attacker is after, and one of his own.
VICTIM, PEER = "10.1.0.10", "fd00:2::10"


def tunnelled(sid: str, source: str = CUSTOMER) -> Any:
    """An IPv4 packet to the victim in a packet to a SID."""
    return IPv6(src=source, dst=sid) / IP(src="10.9.9.9", dst=VICTIM) / ICMP()


def routed(to: str, *segments: str, before: Any = None) -> Any:
    """A packet to the first segment with the others in its SRH."""
    path = [to, *segments]
    srh = IPv6ExtHdrSegmentRouting(addresses=path[::-1], segleft=len(segments))
    head = IPv6(src=CUSTOMER, dst=to)
    head = head if before is None else head / before
    return head / srh / ICMPv6EchoRequest()


def hop_by_hop() -> Any:
    return IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0\0")])


def options() -> Any:
    return IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0\0")])


def ping(to: str, *before: Any) -> Any:
    head: Any = IPv6(src=CUSTOMER, dst=to)
    for header in before:
        head = head / header
    return head / ICMPv6EchoRequest(data=b"x" * 8)


# By name; what a row of a suite says.
PACKETS: Mapping[str, Any] = {
    "a tunnel to a local SID": tunnelled("fcbb:0:1:64::"),
    "a tunnel to the other tenant's SID": tunnelled("fcbb:0:1:c8::"),
    "a tunnel to a remote SID": tunnelled("fcbb:0:2:64::"),
    "a ping to a local SID": ping("fcbb:0:1:64::"),
    "a ping to an address of the block": ping("fcbb:0:ffff::1"),
    "a forged source to a local SID": tunnelled("fcbb:0:1:c8::", FORGED),
    "a forged source to a remote SID": tunnelled("fcbb:0:2:c8::", FORGED),
    "a forged source to a host": IPv6(src=FORGED, dst=PEER) / ICMPv6EchoRequest(),
    "source routing through a host": routed(PEER, "fcbb:0:2:c8::"),
    "source routing through the router": routed("fd00:1::1", "fcbb:0:1:c8::"),
    "source routing through a SID": routed("fcbb:0:1:c8::", PEER),
    "source routing at its end": routed(PEER),
    "source routing behind options": routed(PEER, "fcbb:0:2:c8::", before=hop_by_hop()),
    "source routing in a fragment": routed(
        PEER, "fcbb:0:2:c8::", before=IPv6ExtHdrFragment(m=0, offset=0)
    ),
    "an ordinary packet": ping(PEER),
    "an ordinary packet with options": ping(PEER, hop_by_hop(), options()),
    "an ordinary packet with options, in a fragment": ping(
        PEER, hop_by_hop(), IPv6ExtHdrFragment(m=0, offset=0, id=7)
    ),
    "a packet from the core to a SID in a SID": IPv6(src="2001:db8:1::2", dst="fcbb:0:1:64::")
    / tunnelled("fcbb:0:1:c8::"),
    "source routing from the core in a SID": IPv6(src="2001:db8:1::2", dst="fcbb:0:1:64::")
    / routed("fd00:1::10", "fcbb:0:1:c8::"),
}


def dropped(name: str) -> dict[str, int]:
    """Packets that the boundary of a router dropped, by the comment of the rule."""
    listed = node(name).json(["nft", "-j", "list", "table", "ip6", "srv6mgr"])["nftables"]
    found = {}
    for rule in (item["rule"] for item in listed if "rule" in item):
        counters = [e["counter"]["packets"] for e in rule["expr"] if "counter" in e]
        if counters:
            found[rule["comment"]] = sum(counters)
    return found


def counted_on(routers: Iterable[str]) -> dict[tuple[str, str], int]:
    """Packets that SIDs counted, by node and prefix."""
    return {
        (name, prefix): counted(route).packets
        for name in routers
        for prefix, route in sid_routes(name).items()
    }


@library(scope="GLOBAL", auto_keywords=True)
class Attack:
    """Frames from a node to its router, and the router's filter."""

    def __init__(self) -> None:
        self._dropped: dict[str, int] = {}
        self._counted: dict[tuple[str, str], int] = {}

    def send(self, source: str, packet: str, to: str, count: int = 1) -> None:
        """Send a packet of ``PACKETS`` out of an interface to one of a router's, each ``NODE
        INTERFACE``."""
        router, port = to.split()
        link = node(router).json(["ip", "-j", "link", "show", port])
        frame = bytes(Ether(dst=link[0]["address"]) / PACKETS[packet]).hex()
        script = "/src/tests/robot/library/frames.py"
        name, interface = source.split()
        node(name).run(["python3", "-S", script, interface, *[frame] * count])

    def note_drops(self, router: str) -> None:
        """Remember what the filter of a router has dropped until now."""
        self._dropped = dropped(router)

    def note_sids(self, *routers: str) -> None:
        """Remember what the SIDs of routers have counted until now, as the kernels say it."""
        self._counted = counted_on(routers)

    def all_were_dropped(self, router: str, rule: str, packets: int) -> None:
        """A filter has dropped exactly that many packets since then, all by this rule."""
        wanted = dict.fromkeys(self._dropped, 0)
        if rule:
            wanted[rule] = packets

        def since() -> dict[str, int]:
            return {r: n - self._dropped.get(r, 0) for r, n in dropped(router).items()}

        wait_until(lambda: since() == wanted, f"{router}: {wanted} dropped", 5, 0.05)

    def sids_counted(self, *wanted: str) -> None:
        """Since then SIDs of the noted routers have counted what is listed, ``NODE PREFIX
        PACKETS``, and no other SID has counted any."""
        expected = {}
        for line in wanted:
            name, prefix, packets = line.split()
            expected[name, prefix] = int(packets)
        routers = {name for name, _ in self._counted}

        def since() -> dict[tuple[str, str], int]:
            now = counted_on(routers)
            return {sid: n - self._counted[sid] for sid, n in now.items() if n - self._counted[sid]}

        try:
            wait_until(lambda: since() == expected, "SIDs", 2, 0.05)
        except LabError:
            raise AssertionError(f"SIDs counted {since()}, not {expected}") from None

    def ruleset(self, router: str, but: str = "srv6mgr") -> str:
        """All tables of a router with their handles, but for the one of this name and for what
        counters count."""
        listed = node(router).json(["nft", "-s", "-a", "-j", "list", "ruleset"])["nftables"]
        theirs = []
        for item in listed:
            (value,) = item.values()
            if but not in (value.get("table"), value.get("name")):
                theirs.append(item)
        return json.dumps(theirs, indent=1)
