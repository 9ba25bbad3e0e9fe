"""Changes of SIDs among many, reported without the others."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.datastore.recorded import is_whole, packed, unpacked_with
from srv6mgrd.model.parse import parse
from srv6mgrd.model.sid_changes import SidChange, declared_with, is_same, sid_changes, tree_with

TOP = "srv6mgr-srv6:srv6"
DEFAULT = {"ietf-netconf-with-defaults:default": True}


def op(name: str, **more: Any) -> dict[str, Any]:
    return {"yang:operation": name, **more}


def entry(n: int, **more: Any) -> dict[str, Any]:
    return {"prefix": f"fcbb:0:1:{n:x}::/64", "locator": "MAIN", "behavior": "End", **more}


def tree(*entries: dict[str, Any]) -> dict[str, Any]:
    locators = {"locator": [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]}
    return {TOP: {"locators": locators, "local-sids": {"sid": list(entries)}}}


def diff(*entries: dict[str, Any], top: str = "none") -> dict[str, Any]:
    return {TOP: {"@": op(top), "local-sids": {"sid": list(entries)}}}


CREATED = diff(
    entry(3, **{"@": op("create"), "counters": True, "@counters": DEFAULT}),
)


def test_a_created_sid_is_whole_and_without_what_nobody_set():
    assert sid_changes(CREATED) == [SidChange("fcbb:0:1:3::/64", whole=entry(3))]


def test_a_deleted_sid_goes():
    assert sid_changes(diff(entry(3, **{"@": op("delete")}))) == [SidChange("fcbb:0:1:3::/64")]


def test_leaves_of_a_sid_change():
    changed = {
        "@": op("none"),
        "prefix": "fcbb:0:1:3::/64",
        "behavior": "End.X",
        "@behavior": op("replace", **{"yang:orig-value": "End"}),
        "next-hop": "fe80::1",
        "@next-hop": op("create"),
        "vrf": "red",
        "@vrf": op("delete"),
        "counters": True,
        "@counters": op("replace", **DEFAULT),
    }

    assert sid_changes(diff(changed)) == [
        SidChange(
            "fcbb:0:1:3::/64",
            leaves={"behavior": "End.X", "next-hop": "fe80::1", "vrf": None, "counters": None},
        )
    ]


def test_operations_are_inherited():
    sids = {"sid": [entry(3)]}
    made = {TOP: {"@": op("create"), "local-sids": sids}}

    assert sid_changes(made) == [SidChange("fcbb:0:1:3::/64", whole=entry(3))]


OTHERS = {
    "another list": {TOP: {"@": op("none"), "vrfs": {"vrf": []}}},
    "another list beside": {
        TOP: {"@": op("none"), "local-sids": {"sid": []}, "locators": {"locator": []}}
    },
    "another module": {**CREATED, "other:top": {}},
    "all is deleted": diff(entry(1), top="delete"),
    "a proxy of a SID": diff(
        {"@": op("none"), "prefix": "fcbb:0:1:3::/64", "srv6mgr-proxy:proxy": {"age": 3}}
    ),
    "flavors of a SID": diff(
        {"@": op("none"), "prefix": "fcbb:0:1:3::/64", "flavor": ["psp"], "@flavor": [op("create")]}
    ),
    "an unknown operation": diff(entry(3, **{"@": op("merge")})),
    "nothing": {},
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_changes_more_needs_the_configuration(case):
    assert sid_changes(OTHERS[case]) is None


@pytest.mark.parametrize(
    "change",
    [
        SidChange("fcbb:0:1:9::/64"),
        SidChange("fcbb:0:1:9::/64", leaves={"behavior": "End"}),
        SidChange("fcbb:0:1:1::/64", whole=entry(1)),
        SidChange("fcbb:0:1:9::/64", whole=entry(9, behavior="end-base")),
    ],
)
def test_changes_of_another_configuration_are_not_taken(change):
    assert declared_with(parse(tree(entry(1))), [change]) is None


def test_a_leaf_of_a_sid_with_rarer_arguments_needs_the_configuration():
    known = parse(tree(entry(1, flavor=["psp"])))

    assert declared_with(known, [SidChange("fcbb:0:1:1::/64", leaves={"counters": False})]) is None


LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "behavior": st.sampled_from(["End", "srv6mgr-srv6:End.DT46", "End.X"]),
    "vrf": st.sampled_from([None, "red", "blue"]),
    "default-vrf": st.sampled_from([None, True, False]),
    "next-hop": st.sampled_from([None, "fe80::1", "192.0.2.1"]),
    "interface": st.sampled_from([None, "eth0"]),
    "segment-list": st.sampled_from([None, "one"]),
    "counters": st.sampled_from([None, True, False]),
}


@st.composite
def changed(draw: st.DrawFn, numbers: list[int]) -> SidChange:
    n = draw(st.integers(1, 5))
    prefix = f"fcbb:0:1:{n:x}::/64"
    if n not in numbers:
        numbers.append(n)
        leaves = {k: v for k, v in draw(st.fixed_dictionaries(LEAVES)).items() if v is not None}
        return SidChange(prefix, whole={**entry(n), **leaves})
    if draw(st.booleans()):
        numbers.remove(n)
        return SidChange(prefix)
    return SidChange(prefix, leaves=draw(st.fixed_dictionaries({}, optional=LEAVES)))


@given(st.data())
def test_changes_declare_what_the_configuration_with_them_declares(data):
    """However many changes: in ``Desired``, and in what the history makes of them."""
    numbers = [1, 2]
    config = tree(entry(1), entry(2, vrf="red"))
    known, whole, recorded = parse(config), packed(json.dumps(config)), []
    for _ in range(data.draw(st.integers(1, 6))):
        changes = [data.draw(changed(numbers))]
        config = copy.deepcopy(config)
        tree_with(config, changes)
        known = declared_with(known, changes)
        recorded.append(packed(changes))

    assert known == parse(config)
    assert not any(map(is_whole, recorded))
    assert is_same(json.loads(unpacked_with(whole, recorded)), config)


def test_what_is_not_changed_is_the_very_same():
    known = parse(tree(entry(1), entry(2)))

    after = declared_with(known, [SidChange("fcbb:0:1:3::/64", whole=entry(3))])

    assert after is not None
    assert all(after.sids[prefix] is sid for prefix, sid in known.sids.items())


def test_a_sid_that_leaves_the_default_vrf_is_another_one():
    known = parse(tree(entry(1, **{"default-vrf": True})))
    (before,) = known.sids.values()
    (after,) = parse(tree(entry(1)), known).sids.values()
    assert (before.default_vrf, after.default_vrf) == (True, False)


def test_the_order_of_sids_says_nothing():
    assert is_same(tree(entry(1), entry(2)), tree(entry(2), entry(1)))
    assert not is_same(tree(entry(1), entry(2)), tree(entry(2)))
    assert not is_same(tree(entry(1)), {})


def test_a_default_that_is_explicit_says_nothing():
    assert is_same(tree(entry(1, counters=True)), tree(entry(1)))
    assert not is_same(tree(entry(1, counters=False)), tree(entry(1)))
