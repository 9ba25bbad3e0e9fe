"""Numbers: stable, never handed out twice, kept back after their release."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.model.rejection import RejectedError
from srv6net.allocate.plan import Allocations, functions_of, plan
from srv6net.allocate.pool import Numbers, Pool, allocate
from srv6net.intent.inventory import inventory
from srv6net.intent.l3nm import services
from tests.unit.srv6net.intents import access, document, node, router, routers, service

POOL = Pool("p", 1, 8, "pool p", "widen it")
OWNERS = st.frozensets(st.sampled_from("abcdefghij"), max_size=8)


@given(st.lists(st.tuples(OWNERS, st.integers(0, 20)), max_size=12))
def test_no_number_has_two_owners_and_none_changes(steps: list[tuple[frozenset[str], int]]) -> None:
    numbers, now = Numbers(), 0.0
    last_owner: dict[int, tuple[str, float]] = {}
    for owners, later in steps:
        now += later
        outcome = allocate(POOL, numbers, owners, now, 10)
        if outcome.rejection:
            assert outcome.numbers == numbers
            continue
        taken = outcome.numbers.taken
        assert set(taken) == owners
        assert len(set(taken.values())) == len(taken)
        for owner, number in taken.items():
            assert 1 <= number <= 8
            assert numbers.taken.get(owner, number) == number
            was, until = last_owner.get(number, (owner, 0))
            assert was == owner or until <= now
        for owner, number in numbers.taken.items():
            if owner not in owners:
                last_owner[number] = (owner, now + 10)
        for number in taken.values():
            last_owner.pop(number, None)
        numbers = outcome.numbers


def test_an_owner_that_returns_has_its_number_again() -> None:
    first = allocate(POOL, Numbers(), ["a", "b"], 0, 10).numbers
    gone = allocate(POOL, first, ["b"], 1, 10).numbers
    assert allocate(POOL, gone, ["b", "c"], 2, 10).numbers.taken["c"] == 3
    assert allocate(POOL, gone, ["a", "b"], 2, 10).numbers == first


def test_a_released_number_is_free_after_the_quarantine() -> None:
    first = allocate(POOL, Numbers(), ["a"], 0, 10).numbers
    gone = allocate(POOL, first, [], 1, 10).numbers
    assert allocate(POOL, gone, ["b"], 10.9, 10).numbers.taken == {"b": 2}
    assert allocate(POOL, gone, ["b"], 11, 10).numbers.taken == {"b": 1}


def test_exhaustion_is_reported_before_it_happens() -> None:
    assert allocate(POOL, Numbers(), "abcdefg", 0, 10).warning == ""
    nearly = allocate(POOL, Numbers(), "abcdefgh", 0, 10)
    assert nearly.warning == "pool p: 8 of 8 numbers are in use or in quarantine; widen it"
    gone = allocate(POOL, nearly.numbers, "abcdefg", 0, 10).numbers
    rejection = allocate(POOL, gone, "abcdefgi", 0, 10).rejection
    assert str(rejection) == (
        "pool p: it has 8 numbers, and 8 are needed while 1 are in quarantine; widen it"
    )


def test_a_locator_that_is_too_small_is_named() -> None:
    small = {"name": "MAIN", "prefix": "fcbb:0:1::/48", "function-length": 1}
    known = inventory({"as-number": 65000, "routers": {"pe1": router(1, locator=small)}})
    wanted = services(document(service("red", node("pe1")), service("blue", node("pe1"))))
    with pytest.raises(RejectedError, match="locator MAIN of router pe1: it has 1 numbers, and 2"):
        plan(wanted, known, Allocations(), 0)


def test_one_service_more_changes_no_number_of_the_others() -> None:
    red = service("red", node("pe1", access("r", "r1")), node("pe2", access("r2", "r2")))
    blue = service("blue", node("pe1", access("b", "b1")))
    before = plan(services(document(red)), routers(2), Allocations(), 0).allocations
    after = plan(services(document(red, blue)), routers(2), before, 1).allocations
    for name, numbers in before.pools.items():
        assert numbers.taken.items() <= after.pools[name].taken.items()


def test_numbers_of_a_locator_that_was_replaced_are_given_back() -> None:
    wanted = services(document(service("red", node("pe1"))))
    old = routers(1)
    before = plan(wanted, old, Allocations(), 0).allocations
    moved = {"as-number": 65000, "routers": {"pe1": router(1, locator={"prefix": "fcbb:9::/48"})}}
    after = plan(wanted, inventory(moved), before, 1).allocations
    left = after.pools[functions_of(old.routers["pe1"])]
    assert (dict(left.taken), len(left.released)) == ({}, 1)


def test_a_target_that_was_handed_out_cannot_be_chosen() -> None:
    red = service("red", node("pe1"))
    before = plan(services(document(red)), routers(1), Allocations(), 0).allocations
    target = {"id": 1, "route-targets": [{"route-target": "0:65000:10000"}],
              "route-target-type": "both"}  # fmt: skip
    family = {"address-family": "ietf-vpn-common:ipv4", "vpn-targets": {"vpn-target": [target]}}
    profiles = {"vpn-instance-profile": [{"profile-id": "p", "address-family": [family]}]}
    blue = service("blue", node("pe1", profile="p"), **{"vpn-instance-profiles": profiles})
    with pytest.raises(RejectedError, match="number 10000 is chosen in the intent and was handed"):
        plan(services(document(red, blue)), routers(1), before, 1)
