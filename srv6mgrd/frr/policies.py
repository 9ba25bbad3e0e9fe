"""Routing policies as route maps, in exactly the lines that FRR 10.3 prints them with.

A statement has entries of its own for each family that its prefix set holds, since an entry with
``match ip`` never matches an IPv6 route. Their sequence numbers follow from that of the statement,
and are other ones where it rejects: an entry that turns from permit to deny is another entry.
"""

from __future__ import annotations

from collections.abc import Iterable

from srv6mgrd.frr.blocks import BGPD, block
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.model.routing_policy import (
    Actions,
    CommunityOption,
    Conditions,
    Policy,
    PolicyResult,
    PrefixRange,
    RoutingPolicy,
    Statement,
)
from srv6mgrd.model.status import Kind, ObjectRef

# Before the names of all that is ours; what the operator has in FRR has other names.
_PREFIX = "srv6mgr-"
_FAMILIES = {4: "ip", 6: "ipv6"}
# bgpd/bgp_community.h, and the names that community_str prints.
_WELL_KNOWN = {
    "no-export": 0xFFFFFF01,
    "no-advertise": 0xFFFFFF02,
    "no-peer": 0xFFFFFF04,
    "blackhole": 0xFFFF029A,
    "graceful-shutdown": 0xFFFF0000,
}
_NAMED = {number: name for name, number in _WELL_KNOWN.items()} | {
    0xFFFF0001: "accept-own",
    0xFFFF0002: "route-filter-translated-v4",
    0xFFFF0003: "route-filter-v4",
    0xFFFF0004: "route-filter-translated-v6",
    0xFFFF0005: "route-filter-v6",
    0xFFFF0006: "llgr-stale",
    0xFFFF0007: "no-llgr",
    0xFFFF0008: "accept-own-nexthop",
    0xFFFFFF03: "local-AS",
}


def name_in_frr(policy: str) -> str:
    """What the route map of a policy is called."""
    return f"{_PREFIX}{policy}"


def blocks(routing: RoutingPolicy, own_as: int) -> list[FrrBlock]:
    """bgpd's lists and route maps, those before these."""
    lists: dict[tuple[str, ...], tuple[list[str], list[ObjectRef]]] = {}
    entries: list[FrrBlock] = []
    for name in sorted(routing.policies):
        policy = routing.policies[name]
        ref = ObjectRef(Kind.ROUTING_POLICY, name)
        for statement in policy.statements:
            for context, lines in _lists(routing, policy, statement):
                lists.setdefault((context,), (lines, []))[1].append(ref)
            entries += _entries(routing, policy, statement, own_as, ref)
    return [
        *(
            block(BGPD, context, lines, tuple(dict.fromkeys(refs)))
            for context, (lines, refs) in lists.items()
        ),
        *entries,
    ]


def communities(values: Iterable[str]) -> str:
    """Communities as FRR prints them: in the order of their numbers, some by name."""
    return " ".join(_NAMED.get(n) or f"{n >> 16}:{n & 0xFFFF}" for n in _numbers(values))


def _numbers(values: Iterable[str]) -> list[int]:
    return sorted({_number(value) for value in values})


def _number(community: str) -> int:
    if community in _WELL_KNOWN:
        return _WELL_KNOWN[community]
    high, _, low = community.partition(":")
    return int(high) << 16 | int(low)


def _lists(
    routing: RoutingPolicy, policy: Policy, statement: Statement
) -> Iterable[tuple[str, list[str]]]:
    """The lists that a statement needs, each with its lines."""
    conditions, actions = statement.conditions, statement.actions
    if conditions.prefix_set is not None:
        ranges = routing.prefix_sets[conditions.prefix_set]
        for family in _families_of(ranges):
            of_family = [r for r in ranges if r.prefix.version == family]
            yield (
                f"{_FAMILIES[family]} prefix-list {_PREFIX}{conditions.prefix_set}",
                [f"permit {_range(r)}" for r in of_family],
            )
    if conditions.community_set is not None:
        members = routing.community_sets[conditions.community_set]
        # One line with several communities matches routes that have all of them.
        each = [members] if conditions.all_communities else [[m] for m in members]
        yield (
            f"bgp community-list standard {_community_list(conditions)}",
            sorted({f"permit {communities(m)}" for m in each}),
        )
    if conditions.as_path_set is not None:
        yield (
            f"bgp as-path access-list {_PREFIX}{conditions.as_path_set}",
            [f"permit {member}" for member in routing.as_path_sets[conditions.as_path_set]],
        )
    if _removes(actions):
        yield (
            f"bgp community-list standard {_removed_list(policy, statement)}",
            [f"permit {communities([member])}" for member in actions.communities],
        )


def _removes(actions: Actions) -> bool:
    return bool(actions.communities) and actions.community_option is CommunityOption.REMOVE


def _community_list(conditions: Conditions) -> str:
    # No name of a set has a colon.
    return f"{_PREFIX}{conditions.community_set}{':all' if conditions.all_communities else ''}"


def _removed_list(policy: Policy, statement: Statement) -> str:
    return f"{_PREFIX}{policy.name}:{statement.sequence}"


def _families_of(ranges: Iterable[PrefixRange]) -> list[int]:
    return sorted({r.prefix.version for r in ranges})


def _range(r: PrefixRange) -> str:
    length, longest = r.prefix.prefixlen, r.prefix.max_prefixlen
    lower = r.lower if r.lower is not None else length
    upper = r.upper if r.upper is not None else (length if r.lower is None else longest)
    words = [str(r.prefix)]
    if lower > length:
        words.append(f"ge {lower}")
    if upper > length and not (upper == longest and lower > length):
        words.append(f"le {upper}")
    return " ".join(words)


def _entries(
    routing: RoutingPolicy, policy: Policy, statement: Statement, own_as: int, ref: ObjectRef
) -> Iterable[FrrBlock]:
    conditions, actions = statement.conditions, statement.actions
    rejects = actions.result is PolicyResult.REJECT
    word = "deny" if rejects else "permit"
    families: list[int | None] = [None]
    if conditions.prefix_set is not None:
        families = [*_families_of(routing.prefix_sets[conditions.prefix_set])]
    for family in families:
        place = 4 * statement.sequence + 2 * rejects + (family == 6)
        lines = [*_matches(conditions, family), *_sets(policy, statement, own_as)]
        if actions.result is PolicyResult.NEXT:
            lines.append("on-match next")
        yield block(BGPD, (f"route-map {name_in_frr(policy.name)} {word} {place}",), lines, (ref,))


def _matches(conditions: Conditions, family: int | None) -> Iterable[str]:
    if family is not None:
        kind = _FAMILIES[family]
        yield f"match {kind} address prefix-list {_PREFIX}{conditions.prefix_set}"
    if conditions.community_set is not None:
        yield f"match community {_community_list(conditions)}"
    if conditions.as_path_set is not None:
        yield f"match as-path {_PREFIX}{conditions.as_path_set}"
    if conditions.tag is not None:
        yield f"match tag {conditions.tag}"


def _sets(policy: Policy, statement: Statement, own_as: int) -> Iterable[str]:
    actions = statement.actions
    if actions.local_pref is not None:
        yield f"set local-preference {actions.local_pref}"
    if actions.med is not None:
        yield f"set metric {actions.med}"
    if actions.tag is not None:
        yield f"set tag {actions.tag}"
    if actions.prepend:
        yield f"set as-path prepend{f' {actions.prepend_as or own_as}' * actions.prepend}"
    if _removes(actions):
        yield f"set comm-list {_removed_list(policy, statement)} delete"
    elif actions.communities:
        adds = actions.community_option is CommunityOption.ADD
        yield f"set community {communities(actions.communities)}{' additive' if adds else ''}"
    elif actions.community_option is CommunityOption.REPLACE:
        yield "set community none"
