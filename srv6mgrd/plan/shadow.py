"""Foreign routes that take packets of our SIDs: they stand in front, and are not ours to remove.
Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Network

from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.plan.objects import Object, SidRoute, UnknownRoute
from srv6mgrd.plan.observed import ObservedObject


@dataclass(frozen=True, slots=True)
class Shadow:
    """``by`` gets all packets of the SID, or those to its own longer prefix."""

    wanted: SidRoute
    by: SidRoute | UnknownRoute


def shadows(wanted: Mapping[str, Object], beside: Iterable[ObservedObject]) -> Iterator[Shadow]:
    """``beside`` is what stands and stays beside what is wanted."""
    others = [
        seen.object
        for seen in beside
        if isinstance(seen.object, SidRoute | UnknownRoute) and seen.object.table == SID_TABLE
    ]
    if not others:
        return
    sids = {o.prefix: o for o in wanted.values() if isinstance(o, SidRoute)}
    lengths = sorted({prefix.prefixlen for prefix in sids})
    for other in others:
        prefix = other.prefix
        if not isinstance(prefix, IPv6Network):
            continue
        for length in lengths:
            if length > prefix.prefixlen:
                break
            sid = sids.get(IPv6Network((int(prefix.network_address), length), strict=False))
            # Of several routes to one prefix the one with the lowest metric is used.
            if sid and (length < prefix.prefixlen or other.metric < sid.metric):
                yield Shadow(sid, other)
