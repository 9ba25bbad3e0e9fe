"""What of the metrics a client asks for: ``/metrics?vrf=red&kind=sid``. Pure.

A client names what it wants, so that it chooses how many series it stores.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qsl, urlsplit

PATH = "/metrics"
_MOST_VRFS = 100
_LONGEST_VRF = 15


class Kind(StrEnum):
    """Of metrics."""

    SID = "sid"
    DROP = "drop"
    OBJECT = "object"
    VRF = "vrf"
    ACCOUNTING = "accounting"
    BGP = "bgp"
    PROXY = "proxy"
    INTERFACE = "interface"
    PATH = "path"
    ALARM = "alarm"
    NODE = "node"


# Those whose metrics have the label ``vrf``; others are left out where VRFs are named.
OF_VRFS = frozenset({Kind.SID, Kind.DROP, Kind.VRF, Kind.ACCOUNTING, Kind.BGP})


class QueryError(Exception):
    """The query can't be understood; the message says why, and what can be."""


class NoSuchPageError(Exception):
    """There is nothing at this path."""


@dataclass(frozen=True, slots=True)
class Query:
    """Kinds and VRFs that are wanted; no VRF: all."""

    kinds: frozenset[Kind] = frozenset(Kind)
    vrfs: frozenset[str] = frozenset()

    def wants(self, kind: Kind) -> bool:
        return kind in self.kinds and (not self.vrfs or kind in OF_VRFS)

    def wants_vrf(self, name: str) -> bool:
        return not self.vrfs or name in self.vrfs


def parse(target: str) -> Query:
    """The query of a request target (RFC 9112 section 3.2). Raises QueryError, NoSuchPageError."""
    try:
        parts = urlsplit(target)
        pairs = parse_qsl(
            parts.query, keep_blank_values=True, strict_parsing=bool(parts.query),
            max_num_fields=_MOST_VRFS + len(Kind),
        )  # fmt: skip
    except ValueError as error:
        raise QueryError(f"query: {error}; write ?vrf=NAME&kind=KIND") from None
    if parts.path != PATH:
        raise NoSuchPageError(f"nothing is here; metrics are at {PATH}")
    kinds: set[Kind] = set()
    vrfs: set[str] = set()
    for name, value in pairs:
        if name == "kind":
            kinds.update(_kinds(value))
        elif name == "vrf":
            vrfs.add(_vrf(value))
        else:
            raise QueryError(f"query: {name[:64]!r} is unknown; known are vrf, kind")
    return Query(frozenset(kinds or Kind), frozenset(vrfs))


def _kinds(text: str) -> list[Kind]:
    try:
        return [Kind(word) for word in text.split(",")]
    except ValueError:
        raise QueryError(f"kind: {text[:64]!r} is unknown; known are {', '.join(Kind)}") from None


def _vrf(text: str) -> str:
    if not 0 < len(text.encode()) <= _LONGEST_VRF:
        raise QueryError(f"vrf: {text[:64]!r} is no name of a VRF; write one of 1 to 15 characters")
    return text
