"""Slots and kept paths, by the states of functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from ipaddress import IPv6Address

from srv6mgrd.chains.selection import SLOTS, Selection, select
from srv6mgrd.kinds.chain.object import ServicePath
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import FunctionState, Way

UP, DRAINING, DOWN = FunctionState.UP, FunctionState.DRAINING, FunctionState.DOWN


def path(
    *functions: str, preference: int = 0, weight: int = 1, way: Way = Way.FORWARD
) -> ServicePath:
    sid = IPv6Address("fcbb::")
    return ServicePath("web", way, Family.IPV6, functions, (sid,), sid, preference, weight)


def shares(selection: Selection) -> dict[int | None, int]:
    return dict(Counter(selection.slots))


def moved(before: Selection, after: Selection) -> int:
    return sum(a != b for a, b in zip(before.slots, after.slots, strict=True))


GROUP = [path("fw1", weight=2), path("fw2"), path("fw3")]


def test_by_weight() -> None:
    assert shares(select(GROUP, {})) == {0: SLOTS // 2, 1: SLOTS // 4, 2: SLOTS // 4}


def test_only_the_slots_of_a_path_that_fails_move() -> None:
    before, after = select(GROUP, {}), select(GROUP, {"fw2": DOWN})
    assert moved(before, after) == SLOTS // 4
    assert after.kept == {0, 2}
    assert 1 not in after.slots


def test_both_ways_have_the_same_slots() -> None:
    """Whatever the order in which their paths come."""
    reverse = [path(*p.functions, weight=p.weight, way=Way.REVERSE) for p in GROUP[::-1]]
    for states in ({}, {"fw2": DOWN}, {"fw1": DRAINING}):
        there, back = select(GROUP, states), select(reverse, states)
        assert _functions(GROUP, there) == _functions(reverse, back)


def _functions(paths: Sequence[ServicePath], selection: Selection) -> list[tuple[str, ...]]:
    return [paths[n].functions if n is not None else () for n in selection.slots]


def test_flows_stay_while_a_function_drains() -> None:
    found = select(GROUP, {"fw1": DRAINING})
    assert 0 not in found.slots
    assert found.kept == {0, 1, 2}


def test_bypass_and_back() -> None:
    paths = [path("fw"), path(preference=10)]
    failed = select(paths, {"fw": DOWN})
    assert failed == Selection((1,) * SLOTS, frozenset({1}))
    # Nothing stays on the bypass.
    assert select(paths, {"fw": UP}) == Selection((0,) * SLOTS, frozenset({0}))


def test_a_bypass_of_what_drains_takes_new_flows_alone() -> None:
    found = select([path("fw"), path(preference=10)], {"fw": DRAINING})
    assert found == Selection((1,) * SLOTS, frozenset({0, 1}))


def test_nothing_works() -> None:
    assert select([path("fw")], {"fw": DOWN}) == Selection((None,) * SLOTS, frozenset())
    assert select([path("fw")], {"fw": DRAINING}) == Selection((None,) * SLOTS, frozenset({0}))
    assert select([], {}) == Selection((None,) * SLOTS, frozenset())


def test_one_path_more_takes_its_share_of_all() -> None:
    more = [*GROUP, path("fw4")]
    before, after = select(GROUP, {}), select(more, {})
    assert Counter(after.slots)[3] == round(SLOTS / 5)
    # At least so many have to move.
    assert moved(before, after) < 2 * SLOTS / 5


def test_weights_of_nothing_are_alike() -> None:
    found = select([path("fw1", weight=0), path("fw2", weight=0)], {})
    assert shares(found) == {0: SLOTS // 2, 1: SLOTS // 2}
