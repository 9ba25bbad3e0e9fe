"""Rows of accounting as flow records: what was counted between two readings. Pure.

``octetDeltaCount`` has the octets before this router treated the packets, ``postOctetDeltaCount``
those after it (RFC 7012 section 5): inner and outer ones of what is encapsulated, outer and inner
ones of what is decapsulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network
from typing import Any

from srv6mgrd.counters.accounting import ACCOUNTING
from srv6mgrd.ipfix.messages import Element, Template, Value

Members = Mapping[str, Any]

_TIMES = (Element.FLOW_START_MILLISECONDS, Element.FLOW_END_MILLISECONDS)
_COUNTS = (
    Element.PACKET_DELTA_COUNT,
    Element.OCTET_DELTA_COUNT,
    Element.POST_OCTET_DELTA_COUNT,
)
_WHAT = (Element.FLOW_DIRECTION, Element.PROTOCOL_IDENTIFIER)
_SEGMENTS = (
    Element.DESTINATION_IPV6_ADDRESS,
    Element.SRH_ACTIVE_SEGMENT_IPV6,
    Element.SRH_SEGMENT_IPV6,
    Element.SRH_SEGMENT_IPV6_LOCATOR_LENGTH,
)
# Packets with one segment have no header that lists it.
SENT = Template(256, (*_TIMES, Element.VRF_NAME, *_WHAT, *_SEGMENTS, *_COUNTS))
SENT_WITH_LIST = Template(
    257,
    (
        *_TIMES, Element.VRF_NAME, *_WHAT, *_SEGMENTS, Element.SRH_SEGMENT_IPV6_LIST_SECTION,
        *_COUNTS,
    ),
)  # fmt: skip
RECEIVED = Template(258, (*_TIMES, Element.VRF_NAME, *_WHAT, Element.SOURCE_IPV6_ADDRESS, *_COUNTS))
OTHER = Template(259, (*_TIMES, *_WHAT, *_COUNTS))
TEMPLATES = (SENT, SENT_WITH_LIST, RECEIVED, OTHER)

# flowDirection.
_DIRECTIONS = {"received": 0, "sent": 1}
# Next headers: IPv4 and IPv6 in IPv6 (RFC 2473), Ethernet (RFC 8986).
_PROTOCOLS = {"ipv4": 4, "ipv6": 41, "ethernet": 143}
_NO_COUNTS = (0, 0, 0)

Key = tuple[str, ...]
Counts = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """The rows of accounting at a time (ns), by what they count; ``since`` is the text of when all
    began at 0. Counts are packets, inner octets and outer octets."""

    at: int
    since: str
    rows: Mapping[Key, Counts]
    about: Mapping[Key, Members]


def reading(members: Members, at: int) -> Reading:
    """Of the file of accounting; without rows while accounting is not enabled."""
    statistics = members.get(ACCOUNTING, {}).get("statistics", {})
    rows: dict[Key, Counts] = {}
    about: dict[Key, Members] = {}
    for kind, keys in (
        ("sent", ("vrf", "address-family", "segments")),
        ("received", ("vrf", "address-family", "source")),
        ("other", ("direction", "address-family")),
    ):
        for row in statistics.get(kind, ()):
            key = (kind, *(str(row[name]) for name in keys))
            rows[key] = (
                int(row["packets"]), int(row["inner-octets"]), int(row["outer-octets"])
            )  # fmt: skip
            about[key] = row
    return Reading(at, str(statistics.get("discontinuity-time", "")), rows, about)


def records(before: Reading, now: Reading) -> Iterator[tuple[Template, bytes]]:
    """Of each row that counted packets in between, sorted by template."""
    is_same = before.since == now.since
    found: dict[int, list[tuple[Template, bytes]]] = {one.number: [] for one in TEMPLATES}
    times = before.at // 1_000_000, now.at // 1_000_000
    for key, counts in now.rows.items():
        known = before.rows.get(key, _NO_COUNTS) if is_same else _NO_COUNTS
        if any(new < old for new, old in zip(counts, known, strict=True)):
            # The row made room for others meanwhile, and began at 0.
            known = _NO_COUNTS
        packets, inner, outer = (new - old for new, old in zip(counts, known, strict=True))
        if packets > 0:
            template, values = _described(key[0], now.about[key])
            octets = (inner, outer) if values[-2] == _DIRECTIONS["sent"] else (outer, inner)
            record = template.record((*times, *_arranged(template, values), packets, *octets))
            found[template.number].append((template, record))
    for listed in found.values():
        yield from listed


def _described(kind: str, row: Members) -> tuple[Template, Sequence[Value]]:
    """The values between the times and the counts: VRF, addresses, and at the end direction and
    protocol, which ``_arranged`` puts in place."""
    protocol = _PROTOCOLS[row["address-family"]]
    if kind == "other":
        return OTHER, (_DIRECTIONS[row["direction"]], protocol)
    vrf = str(row["vrf"]).encode()
    what = _DIRECTIONS[kind], protocol
    if kind == "received":
        return RECEIVED, (vrf, IPv6Address(row["source"]).packed, *what)
    segments = [IPv6Address(text).packed for text in str(row["segments"]).split()]
    # Unknown where no locator of ours is of its block.
    length = IPv6Network(row["remote-locator"]).prefixlen if "remote-locator" in row else 0
    values: tuple[Value, ...] = (vrf, segments[0], segments[0], segments[-1], length)
    if len(segments) == 1:
        return SENT, (*values, *what)
    # RFC 8754 section 2: the last segment is the first of the list.
    return SENT_WITH_LIST, (*values, b"".join(reversed(segments)), *what)


def _arranged(template: Template, values: Sequence[Value]) -> Sequence[Value]:
    *others, direction, protocol = values
    if template is OTHER:
        return (direction, protocol)
    return (others[0], direction, protocol, *others[1:])
