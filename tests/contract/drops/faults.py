"""Made faults: packets to SIDs of every kind, and why each is dropped."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    IPv6,
    IPv6ExtHdrFragment,
    IPv6ExtHdrRouting,
    IPv6ExtHdrSegmentRouting,
)
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.model.desired import Sid
from srv6mgrd.model.drops import DropReason

PEER = "fcbb:0:3::1"
SITE = {"ipv4": "10.1.0.2", "ipv6": "2001:db8:1::2"}
# Routes of these tests: through a link with a small MTU, one without a carrier, and none.
SMALL, STOPPED, NOWHERE = "fcbb:0:5::", "fcbb:0:6::", "fcbb:0:7::"
DISCARDED, PROHIBITED, SILENT = "fcbb:0:8::", "fcbb:0:9::", "fcbb:0:a::"
ONWARD = "fcbb:0:3:e::"


def sid(function: str, behavior: Behavior, **more: object) -> Sid:
    return Sid(IPv6Network(f"fcbb:0:1:{function}::/64"), "MAIN", behavior, **more)  # type: ignore[arg-type]


SIDS = {
    "End": sid("1", Behavior.END),
    "PSP": sid("2", Behavior.END, flavors=frozenset({Flavor.PSP})),
    "uN": sid("c1", Behavior.END, flavors=frozenset({Flavor.NEXT_CSID})),
    "X": sid("3", Behavior.END_X, next_hop=IPv6Address("2001:db8:c::2"), interface="core"),
    "silent X": sid("4", Behavior.END_X, next_hop=IPv6Address("2001:db8:c::99"), interface="core"),
    "T": sid("5", Behavior.END_T, vrf="red"),
    "DT4": sid("d4", Behavior.END_DT4, vrf="red"),
    "DT6": sid("d6", Behavior.END_DT6, vrf="red"),
    "DT46": sid("d46", Behavior.END_DT46, vrf="red"),
    "DX4": sid("a4", Behavior.END_DX4, next_hop=IPv4Address("10.12.0.2"), interface="core"),
    "DX6": sid("a6", Behavior.END_DX6, next_hop=IPv6Address("2001:db8:c::2"), interface="core"),
    "DX2": sid("a2", Behavior.END_DX2, interface="small"),
    "stopped DX2": sid("a3", Behavior.END_DX2, interface="stopped"),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A packet without its frame. ``errors``: the kernel counts it as an error of the SID.
    ``setting`` is a command before it, and ``after`` the one that takes it back; ``node`` sends it.
    One that is ``hidden`` moves no counter, and is seen while all is watched; one that is
    ``traced`` has its reason on kernels with tracing alone."""

    name: str
    sid: str
    packet: Packet
    reason: DropReason | None
    errors: bool = True
    setting: str = ""
    after: str = ""
    node: str = "far"
    hidden: bool = False
    traced: bool = False


def address(name: str) -> str:
    return str(SIDS[name].prefix.network_address)


def outer(name: str, **fields: int) -> Packet:
    return IPv6(src=PEER, dst=address(name), **fields)


def srh(segments: list[str], left: int, **fields: object) -> Packet:
    """``segments`` as they are in the header, the last one first."""
    return IPv6ExtHdrSegmentRouting(
        addresses=segments, segleft=left, lastentry=len(segments) - 1, **fields
    )


def inner6(**fields: object) -> Packet:
    packet = {"src": "2001:db8:2::2", "dst": SITE["ipv6"], **fields}
    return IPv6(**packet) / UDP(sport=1, dport=2) / Raw(bytes(40))


def inner4(**fields: object) -> Packet:
    packet = {"src": "10.2.0.2", "dst": SITE["ipv4"], **fields}
    return IP(**packet) / UDP(sport=1, dport=2) / Raw(bytes(40))


def on(name: str, to: str, hops: int = 64, size: int = 0) -> Packet:
    """A packet that goes on to another segment."""
    return outer(name, hlim=hops) / srh([to, address(name)], 1) / inner6() / Raw(bytes(size))


def frame(size: int = 40) -> Packet:
    return Ether(dst="02:00:00:00:00:09", src="02:00:00:00:00:08", type=0x800) / Raw(bytes(size))


def _of_next_segments() -> list[Fault]:
    """What behaviors do that go on to the next segment."""
    found = []
    for name in ("End", "PSP", "X", "T"):
        to = ONWARD if name != "T" else SITE["ipv6"]
        found += [
            Fault(f"{name} without SRH", name, outer(name) / inner6(), DropReason.NO_SRH),
            Fault(f"{name}, no segments left", name,
                  outer(name) / srh([address(name)], 0) / inner6(), DropReason.NO_SEGMENTS_LEFT),
            Fault(f"{name}, hop limit", name, on(name, to, hops=1), DropReason.HOP_LIMIT),
        ]  # fmt: skip
    malformed = srh([ONWARD, address("End")], 1)
    malformed.lastentry = 9
    beyond = srh([ONWARD, address("End")], 7)
    other = IPv6ExtHdrRouting(type=3, segleft=1, addresses=[ONWARD])
    compressed = IPv6(src=PEER, dst="fcbb:0:1:1:2::")
    return [
        *found,
        Fault("End, compressed SIDs", "End", compressed / inner6(), DropReason.FLAVOR_MISSING),
        Fault("uN without SRH", "uN", outer("uN") / inner6(), DropReason.NO_SRH),
        # Behind it: ONWARD, and nothing that has a route.
        Fault("uN goes on", "uN", IPv6(src=PEER, dst="fcbb:0:1:c1:3:e::") / inner6(), None,
              errors=False),
        Fault("uN, no route", "uN", IPv6(src=PEER, dst="fcbb:0:1:c1:7:1::") / inner6(),
              DropReason.NO_ROUTE, errors=False),
        Fault("End, ping within", "End", compressed / ICMPv6EchoRequest(), DropReason.NO_SRH),
        Fault("End, ping", "End", outer("End") / ICMPv6EchoRequest(), DropReason.NO_SRH),
        Fault("End, last entry beyond the header", "End", outer("End") / malformed / inner6(),
              DropReason.SRH_MALFORMED),
        Fault("End, segments left beyond the list", "End", outer("End") / beyond / inner6(),
              DropReason.SRH_MALFORMED),
        Fault("End, another routing header", "End", outer("End") / other / inner6(),
              DropReason.SRH_MALFORMED),
        Fault("End, no route", "End", on("End", NOWHERE), DropReason.NO_ROUTE, errors=False),
        Fault("End, discarded", "End", on("End", DISCARDED), DropReason.POLICY, errors=False,
              hidden=True),
        Fault("End, prohibited", "End", on("End", PROHIBITED), DropReason.POLICY, errors=False),
        Fault("End, too big", "End", on("End", SMALL, size=1400), DropReason.TOO_BIG),
        Fault("End, no carrier", "End", on("End", STOPPED), DropReason.LINK_DOWN),
        Fault("End, silent neighbor", "End", on("End", SILENT), DropReason.NO_NEIGHBOR,
              errors=False),
        Fault("X, silent neighbor", "silent X", on("silent X", ONWARD), DropReason.NO_NEIGHBOR,
              errors=False),
        Fault("T, no route in the VRF", "T", on("T", NOWHERE), DropReason.NO_ROUTE, errors=False),
        Fault("End, HMAC required", "End", on("End", ONWARD), DropReason.HMAC,
              setting="sysctl -qw net.ipv6.conf.core.seg6_require_hmac=1",
              after="sysctl -qw net.ipv6.conf.core.seg6_require_hmac=0"),
        Fault("DT6, HMAC required", "DT6",
              outer("DT6") / srh([address("DT6")], 0) / inner6(), DropReason.HMAC,
              setting="sysctl -qw net.ipv6.conf.core.seg6_require_hmac=1",
              after="sysctl -qw net.ipv6.conf.core.seg6_require_hmac=0"),
        Fault("End goes on", "End", on("End", ONWARD), None, errors=False),
        Fault("PSP goes on", "PSP", on("PSP", ONWARD), None, errors=False),
        Fault("X goes on", "X", on("X", ONWARD), None, errors=False),
    ]  # fmt: skip


def _of_last_segments() -> list[Fault]:
    """What behaviors do that decapsulate."""
    found = []
    for name in ("DT4", "DT6", "DT46", "DX4", "DX6", "DX2"):
        wrong = inner4() if name in ("DT6", "DX6") else inner6()
        right = {"4": inner4(), "2": frame()}.get(name[-1], inner6())
        if name == "DT46":
            right = inner6()
        left = srh([ONWARD, address(name)], 1)
        if name == "DX2":
            left.nh = 143
        if name != "DT46":
            found.append(
                Fault(f"{name}, another type", name, outer(name) / wrong, DropReason.INNER_TYPE)
            )
        found.append(
            Fault(f"{name}, segments left", name, outer(name) / left / right,
                  DropReason.SEGMENTS_LEFT)
        )  # fmt: skip
    rp_filter = "net.ipv4.conf.red.rp_filter"
    later = IPv6ExtHdrFragment(nh=41, offset=8, m=0, id=7) / Raw(bytes(64))
    big = {"flags": "DF"}
    return [
        *found,
        Fault("DT4, ping", "DT4", outer("DT4") / ICMPv6EchoRequest(), DropReason.UPPER_LAYER),
        Fault("DT6, UDP", "DT6", outer("DT6") / UDP(sport=1, dport=2), DropReason.UPPER_LAYER),
        Fault("DT46, TCP", "DT46", outer("DT46") / TCP(sport=1, dport=2), DropReason.UPPER_LAYER),
        Fault("DT46, nothing", "DT46", outer("DT46", nh=59) / Raw(bytes(8)), DropReason.INNER_TYPE),
        Fault("DT6, frame", "DT6", outer("DT6", nh=143) / frame(), DropReason.INNER_TYPE),
        Fault("DT46, fragment", "DT46", outer("DT46") / later, DropReason.FRAGMENT),
        Fault("DT4, no route", "DT4", outer("DT4") / inner4(dst="10.9.0.1"), DropReason.NO_ROUTE,
              errors=False),
        # Of another source, since ICMP is limited by destination (icmp_ratelimit).
        Fault("DT46, no IPv4 route", "DT46", outer("DT46") / inner4(src="10.2.0.3", dst="10.9.0.1"),
              DropReason.NO_ROUTE, errors=False),
        Fault("DT6, no route", "DT6", outer("DT6") / inner6(dst="2001:db8:99::1"),
              DropReason.NO_ROUTE, errors=False),
        Fault("DT4, TTL", "DT4", outer("DT4") / inner4(ttl=1), DropReason.HOP_LIMIT),
        Fault("DT6, hop limit", "DT6", outer("DT6") / inner6(hlim=1), DropReason.HOP_LIMIT),
        Fault("DX6, hop limit", "DX6", outer("DX6") / inner6(hlim=1), DropReason.HOP_LIMIT),
        Fault("DT4, too big", "DT4", outer("DT4") / inner4(**big) / Raw(bytes(1500)),
              DropReason.TOO_BIG),
        Fault("DT6, too big", "DT6", outer("DT6") / inner6() / Raw(bytes(1480)),
              DropReason.TOO_BIG),
        Fault("DT6, too big, no way back", "DT6",
              outer("DT6") / inner6(src="2001:db8:99::1") / Raw(bytes(1480)),
              DropReason.TOO_BIG_SILENT),
        Fault("DX2, too big", "DX2", outer("DX2", nh=143) / frame(1400),
              DropReason.TOO_BIG_SILENT),
        Fault("DX2, no carrier", "stopped DX2", outer("stopped DX2", nh=143) / frame(),
              DropReason.LINK_DOWN),
        Fault("DT6, silent neighbor", "DT6", outer("DT6") / inner6(dst="2001:db8:1::77"),
              DropReason.NO_NEIGHBOR, errors=False),
        Fault("DT4, silent neighbor", "DT4", outer("DT4") / inner4(dst="10.1.0.77"),
              DropReason.NO_NEIGHBOR, errors=False),
        Fault("DT4, reverse path", "DT4", outer("DT4") / inner4(), DropReason.REVERSE_PATH,
              setting=f"sysctl -qw {rp_filter}=1", after=f"sysctl -qw {rp_filter}=0"),
        Fault("DT46 from a customer", "DT46",
              IPv6(src="2001:db8:1::2", dst=address("DT46")) / inner6(), DropReason.BOUNDARY,
              errors=False, node="host"),
        Fault("End from a customer", "End",
              IPv6(src="2001:db8:1::2", dst=address("End")) / srh([ONWARD, address("End")], 1)
              / inner6(), DropReason.BOUNDARY, errors=False, node="host"),
        Fault("DT6 delivers", "DT6", outer("DT6") / inner6(), None, errors=False),
        Fault("DT4 delivers", "DT4", outer("DT4") / inner4(), None, errors=False),
        Fault("DT46 to the router itself", "DT46", outer("DT46") / inner6(dst="2001:db8:1::1"),
              None, errors=False),
    ]  # fmt: skip


def _of_hmac() -> list[Fault]:
    """A key that the router has, and packets that it did not sign."""
    secret = "printf 'secret\\nsecret\\n' | ip sr hmac set 7 sha256"
    found = []
    for name in ("End", "DT6"):
        left = int(name == "End")
        segments = [ONWARD, address(name)] if left else [address(name)]
        # RFC 8754 section 2.1.2; scapy's TLV is of another length.
        signature = struct.pack("!BBHI32x", 5, 38, 0, 7)
        signed = srh(segments, left, hmac=1, nh=41, len=2 * len(segments) + 5)
        signed = signed / Raw(signature)
        found.append(
            Fault(f"{name}, wrong HMAC", name, outer(name) / signed / inner6(), DropReason.HMAC,
                  setting=secret, after="true")
        )  # fmt: skip
    return found


def _of_forwarding() -> list[Fault]:
    """While the node forwards nothing."""
    v6, v4 = "net.ipv6.conf.all.forwarding", "net.ipv4.ip_forward"
    return [
        Fault("End, not forwarding", "End", on("End", ONWARD), DropReason.NOT_FORWARDING,
              setting=f"sysctl -qw {v6}=0", after=f"sysctl -qw {v6}=1"),
        Fault("DT6, not forwarding", "DT6", outer("DT6") / inner6(), DropReason.NOT_FORWARDING,
              setting=f"sysctl -qw {v6}=0", after=f"sysctl -qw {v6}=1"),
        Fault("DT4, not forwarding", "DT4", outer("DT4") / inner4(), DropReason.NOT_FORWARDING,
              errors=False, setting=f"sysctl -qw {v4}=0", after=f"sysctl -qw {v4}=1"),
    ]  # fmt: skip


def _behind_behaviors() -> list[Fault]:
    """What others drop once the behavior has passed a packet on."""
    filtered = "nft 'table ip6 other { chain forward {"
    filtered += " type filter hook forward priority 0; policy drop; }; }'"
    return [
        Fault("End, firewall", "End", on("End", ONWARD), DropReason.FIREWALL, traced=True,
              setting=filtered, after="nft delete table ip6 other"),
        Fault("DX6, firewall", "DX6", outer("DX6") / inner6(), DropReason.FIREWALL, traced=True,
              setting=filtered, after="nft delete table ip6 other"),
        Fault("End, queue full", "End", on("End", ONWARD), DropReason.QUEUE_FULL, traced=True,
              setting="tc qdisc replace dev core root bfifo limit 1",
              after="tc qdisc del dev core root"),
    ]  # fmt: skip


FAULTS = [
    *_of_next_segments(),
    *_of_last_segments(),
    *_of_hmac(),
    *_of_forwarding(),
    *_behind_behaviors(),
]
# Those that need no VRF, which not every kernel has.
IN_DEFAULT_VRF = [fault for fault in FAULTS if SIDS[fault.sid].vrf is None]
