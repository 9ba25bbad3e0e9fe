"""What the error counter of a SID most likely means, and what to do. Pure.

The kernel counts as an error each packet for which the behavior fails (seg6_local_input_core):
what the behavior rejects, and what comes of the packet after it, within the same call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from srv6mgrd.cli.explain.drops import EXPLAINED, HEARD_AS
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Sid
from srv6mgrd.model.drops import DropReason

CERTAIN, LIKELY, POSSIBLE = "certain", "likely", "possible"
_RANK = {CERTAIN: 0, LIKELY: 1, POSSIBLE: 2}

# Next header of what a behavior that decapsulates takes (seg6_local.c, decap_and_validate).
INNER: Mapping[Behavior, Mapping[int, str]] = {
    Behavior.END_DX2: {143: "Ethernet"},
    Behavior.END_DX4: {4: "IPv4"},
    Behavior.END_DX6: {41: "IPv6"},
    Behavior.END_DT4: {4: "IPv4"},
    Behavior.END_DT6: {41: "IPv6"},
    Behavior.END_DT46: {4: "IPv4", 41: "IPv6"},
}
_PROTOCOLS = {
    4: "IPv4",
    6: "TCP",
    17: "UDP",
    41: "IPv6",
    58: "ICMPv6",
    59: "nothing",
    143: "Ethernet",
}


class Cause(NamedTuple):
    """``how`` sure it is: seen, supported by the state of the node, or known of this behavior."""

    how: str
    what: str
    remedy: str


class Dropped(NamedTuple):
    """Packets that were dropped, as srv6mgrd reports it; ``ago`` is how long the last one is."""

    reason: DropReason
    certainty: str
    packets: int
    ago: str


@dataclass(frozen=True, slots=True)
class Facts:
    """The state of the node, as far as it concerns a SID. ``heard`` counts what packets to the SID
    had that it must drop, by the names of ``listen.verdict``; ``dropped`` are packets that srv6mgrd
    saw to be dropped, by reason; ``proxy`` are the errors of a proxy by reason; None is not
    known."""

    heard: Mapping[str, int] = field(default_factory=dict)
    dropped: Sequence[Dropped] = ()
    proxy: Mapping[str, int] = field(default_factory=dict)
    rp_filter: int | None = None
    forwarding_v4: bool | None = None
    forwarding_v6: bool | None = None
    device: str = ""
    device_up: bool | None = None


_PROXY = {
    "no-srh": (
        "packets without a segment routing header",
        "send through a segment list that has a segment after this one, or use End.AS",
    ),
    "no-segments-left": (
        "packets whose last segment is this SID",
        "put the segment that follows the function behind it in the list",
    ),
    "hop-limit": (
        "packets whose hop limit or TTL was used up",
        "look for a loop: a SID that is twice in a list, or a route back to the sender",
    ),
    "header-too-long": (
        "headers of more than 16 segments, or longer than can be kept",
        "shorten the segment list",
    ),
    "nothing-learned": (
        "packets back from the function before any went to it, or of a flow that is not known",
        "see that the function starts no traffic of its own; allow it with pass, or use End.AS",
    ),
    "not-for-proxy": (
        "packets of another inner type than the proxy's",
        "declare a second proxy for that inner type on the same interfaces",
    ),
    "too-big": (
        "frames or masqueraded packets that are too big for the function's link",
        "raise mtu of the proxy, or lower that of the senders' links",
    ),
    "extension-header-chain-too-long": (
        "packets with more than 8 extension headers, or 1024 bytes of them, beside the list",
        "see which node adds them (an IOAM trace grows with each), and limit it there",
    ),
    "fragment": (
        "fragments of outer packets, which no proxy reassembles",
        "raise the MTU of the links up to this node, or lower that of the senders' tunnels",
    ),
}


def causes(sid: Sid, facts: Facts) -> list[Cause]:
    """The surest first."""
    heard = {name.partition(" ")[0] for name in facts.heard}
    dropped = [drop for drop in facts.dropped if HEARD_AS.get(drop.reason) not in heard]
    found = [*_heard(sid, facts.heard), *_dropped(dropped)]
    if sid.proxy is not None:
        found += _of_proxy(facts.proxy)
    else:
        seen = heard | {HEARD_AS.get(drop.reason, "") for drop in dropped}
        found += [*_of_node(sid, facts), *_of_behavior(sid, seen)]
    return sorted(found, key=lambda cause: _RANK[cause.how])


def _of_proxy(errors: Mapping[str, int]) -> Iterator[Cause]:
    for reason, count in sorted(errors.items(), key=lambda item: -item[1]):
        what, remedy = _PROXY.get(reason, (reason, "see docs/proxies.md"))
        if count:
            yield Cause(CERTAIN, f"{count} {what}", remedy)


def _dropped(dropped: Iterable[Dropped]) -> Iterator[Cause]:
    for drop in sorted(dropped, key=lambda one: -one.packets):
        what, remedy = EXPLAINED[drop.reason]
        yield Cause(drop.certainty, f"{drop.packets} {what}, the last {drop.ago} ago", remedy)


def _heard(sid: Sid, heard: Mapping[str, int]) -> Iterator[Cause]:
    for name, count in sorted(heard.items(), key=lambda item: -item[1]):
        kind, _, detail = name.partition(" ")
        what, remedy = _WORDS[kind](sid, detail)
        yield Cause(CERTAIN, f"{what} (seen just now: {count})", remedy)


def protocol(number: int) -> str:
    """Name of a next header."""
    return _PROTOCOLS.get(number, f"protocol {number}")


def _inner(sid: Sid, detail: str) -> tuple[str, str]:
    wanted = " or ".join(INNER[sid.behavior].values())
    carried = protocol(int(detail)) if detail else "something else"
    return (
        f"packets that carry {carried}, while {sid.behavior} takes {wanted} alone",
        "see who sends to the SID itself (a ping to it ends so); check behavior and segment list"
        " at the headend",
    )


def _segments_left(sid: Sid, _: str) -> tuple[str, str]:
    return (
        f"packets that have segments left, while {sid.behavior} has to be the last one",
        "make this SID the last of the segment list at the headend",
    )


def _no_srh(sid: Sid, _: str) -> tuple[str, str]:
    return (
        f"packets without a segment routing header, which {sid.behavior} needs",
        "see who sends to the SID itself (a ping to it ends so); reduced encapsulation"
        " (H.Encaps.Red) of a single segment has no header either",
    )


def _last(sid: Sid, _: str) -> tuple[str, str]:
    return (
        f"packets whose last segment is this SID, while {sid.behavior} needs one more",
        "end the segment list with a SID that decapsulates (End.DT*, End.DX*)",
    )


def _hop_limit(_: Sid, __: str) -> tuple[str, str]:
    return (
        "packets whose hop limit or TTL is used up here",
        "expected of traceroute; else look for a loop",
    )


_WORDS = {
    "inner": _inner,
    "segments-left": _segments_left,
    "no-srh": _no_srh,
    "no-segments-left": _last,
    "hop-limit": _hop_limit,
}


def _of_node(sid: Sid, facts: Facts) -> Iterator[Cause]:
    if facts.device and facts.device_up is False:
        yield Cause(LIKELY, f"{facts.device} is down", f"ip link set {facts.device} up")
    takes = INNER.get(sid.behavior, {})
    if 4 in takes and facts.rp_filter:
        yield Cause(
            LIKELY,
            f"net.ipv4.conf.all.rp_filter is {facts.rp_filter}: the kernel drops IPv4 packets that"
            " come out of a tunnel",
            "set it to 0, and those of interfaces instead",
        )
    if 4 in takes and facts.forwarding_v4 is False:
        yield Cause(LIKELY, "IPv4 is not forwarded", "sysctl -w net.ipv4.ip_forward=1")
    if facts.forwarding_v6 is False and sid.behavior is not Behavior.END_DX2:
        yield Cause(LIKELY, "IPv6 is not forwarded", "sysctl -w net.ipv6.conf.all.forwarding=1")


def _of_behavior(sid: Sid, seen: Collection[str]) -> Iterator[Cause]:
    """Other possible causes; those ``seen`` are reported already."""
    usual = ("inner", "segments-left") if sid.behavior in INNER else ("no-srh", "no-segments-left")
    for kind in usual:
        if kind not in seen:
            yield Cause(POSSIBLE, *_WORDS[kind](sid, ""))
    if sid.behavior is Behavior.END_BPF:
        yield Cause(POSSIBLE, "the program drops packets", "see what it returns (BPF_DROP)")
    if sid.behavior is Behavior.END_DX2:
        yield Cause(
            POSSIBLE,
            f"frames longer than the MTU of {sid.interface}, or it is no Ethernet device",
            f"raise the MTU of {sid.interface} (ip -s link show {sid.interface})",
        )
    else:
        yield Cause(
            POSSIBLE,
            "packets that can't go on: no route, a source that is this node's own, hop limit, MTU,"
            " a firewall",
            "ask for the route with ip route get (vrf NAME), and look at nft list ruleset",
        )
