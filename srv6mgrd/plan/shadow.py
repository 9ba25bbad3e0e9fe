"""Foreign routes and rules that take packets of ours: they match first, and are not ours to
remove. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.route import UnknownRoute
from srv6mgrd.kinds.rule.object import Rule, UnknownRule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.checks import SID_TABLE


@dataclass(frozen=True, slots=True)
class Shadow:
    """``by`` gets all packets of ``wanted``, or those of them that it matches."""

    wanted: SidRoute | Rule
    by: SidRoute | UnknownRoute | Rule | UnknownRule


def shadows(
    wanted: Mapping[str, Object], observed: Iterable[str], beside: Mapping[str, Object]
) -> Iterator[Shadow]:
    """``beside``: observed objects that stay beside the wanted ones, by key; ``observed``: keys of
    all observed objects, rules in the order in which the kernel asks them."""
    yield from _of_sids(wanted, beside.values())
    yield from _of_rules(wanted, observed, beside)


def _of_sids(wanted: Mapping[str, Object], beside: Iterable[Object]) -> Iterator[Shadow]:
    others = [o for o in beside if isinstance(o, SidRoute | UnknownRoute) and o.table == SID_TABLE]
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


def _of_rules(
    wanted: Mapping[str, Object],
    observed: Iterable[str],
    beside: Mapping[str, Object],
) -> Iterator[Shadow]:
    others = {k: o for k, o in beside.items() if isinstance(o, Rule | UnknownRule)}
    if not others:
        return
    rules = {k: o for k, o in wanted.items() if isinstance(o, Rule)}
    # Of several rules with one priority the oldest is asked first (fib_nl_newrule).
    places = {key: at for at, key in enumerate(observed) if key in others or key in rules}
    for key, rule in rules.items():
        for other_key, other in others.items():
            first = key not in places or places[other_key] < places[key]
            if (
                (other.priority, not first) < (rule.priority, True)
                and other.table != rule.table
                and other.to.overlaps(rule.to)
                and _meet(other.source, rule.source)
            ):
                yield Shadow(rule, other)


def _meet(a: IPv6Address | IPv6Network | None, b: IPv6Address | IPv6Network | None) -> bool:
    """Whether two sources have packets in common; None is anybody."""
    return a is None or b is None or IPv6Network(a).overlaps(IPv6Network(b))
