"""Steps of a chaos campaign follow from the seed, and each northbound is given the same change."""

from __future__ import annotations

import pytest
from lxml import etree

from tests.soak.chaos.plan import OTHERS, ROWS, Commit, Step, possible, step
from tests.soak.chaos.things import (
    NETCONF_NS,
    OURS_NS,
    SRV6_NS,
    THINGS,
    Change,
    as_xml,
    merged,
    toggle,
)

NORTHBOUNDS, FAULTS = ("gNMI", "CONFIG_DB"), ("kill", "stop", "flush")


def planned(seed: int) -> list[Step]:
    return [step(seed, number, NORTHBOUNDS, FAULTS) for number in range(1, 60)]


def test_a_seed_gives_the_same_steps_and_another_seed_others() -> None:
    assert planned(1) == planned(1)
    assert planned(1) != planned(2)


def test_a_step_does_not_depend_on_those_before_it() -> None:
    assert step(1, 30, NORTHBOUNDS, FAULTS) == planned(1)[29]


def test_rows_are_changed_through_config_db_and_nothing_else_is() -> None:
    for one in planned(3):
        assert set(one.things) <= set(ROWS if one.northbound == "CONFIG_DB" else OTHERS)


def test_commits_are_to_be_confirmed_where_that_exists() -> None:
    steps = [one for seed in range(20) for one in planned(seed)]
    assert {one.commit for one in steps if one.northbound == "gNMI"} == set(Commit)
    assert {one.commit for one in steps if one.northbound == "CONFIG_DB"} == {Commit.PLAIN}


@pytest.mark.parametrize(
    ("commit", "sure", "declared"),
    [
        (Commit.PLAIN, True, "b"),
        (Commit.CONFIRMED, True, "b"),
        (Commit.CONFIRMED, False, "ab"),
        (Commit.CANCELLED, True, "a"),
        (Commit.CANCELLED, False, "a"),
        (Commit.EXPIRED, True, "a"),
    ],
)
def test_what_is_not_confirmed_is_not_declared(commit: Commit, sure: bool, declared: str) -> None:
    found = possible(commit, frozenset("a"), frozenset("b"), sure=sure)
    assert found == {frozenset(one) for one in declared}


@pytest.mark.parametrize("name", sorted(THINGS))
def test_what_is_declared_is_removed_by_the_same_toggle(name: str) -> None:
    first = toggle([name], ())
    declared = first.after(())
    assert declared == {name}
    assert toggle([name], declared).after(declared) == set()


def test_no_two_things_share_an_identity() -> None:
    assert len({thing.sid for thing in THINGS.values()}) == len(THINGS)


def test_a_replacement_of_all_keeps_what_others_declared() -> None:
    tree = {
        "interfaces": {"interface": [{"name": "to-p", "role": "core"}]},
        "local-sids": {"sid": [{"prefix": "fcbb:0:1:64::/64"}]},
        "vrfs": {"vrf": [{"name": "red"}]},
        "bgp": {},
    }
    change = Change(add=(THINGS["vrf-1"],))
    more = merged(tree, change)
    assert [vrf["name"] for vrf in more["vrfs"]["vrf"]] == ["red", "v1"]
    assert more["bgp"] == {}
    assert merged(more, Change(remove=change.add)) == tree


def test_a_removal_over_netconf_names_the_keys() -> None:
    thing = THINGS["vrf-2"]
    removed = etree.fromstring(as_xml(Change(remove=(thing,))))
    found = removed.findall(f".//*[@{{{NETCONF_NS}}}operation='remove']")
    assert [(entry.tag, entry[0].text) for entry in found] == [
        (f"{{{SRV6_NS}}}interface", "v2-port"),
        (f"{{{SRV6_NS}}}vrf", "v2"),
        (f"{{{SRV6_NS}}}sid", thing.sid),
    ]


def test_members_of_other_modules_have_their_namespace_over_netconf() -> None:
    added = etree.fromstring(as_xml(Change(add=(THINGS["vrf-2"],))))
    names = {"i": f"{OURS_NS}:srv6mgr-interfaces", "b": f"{OURS_NS}:srv6mgr-bgp", "s": SRV6_NS}
    assert added.findtext(".//i:vlan/i:vlan-id", namespaces=names) == "202"
    assert added.findtext(".//s:vrf/b:bgp/b:import-rt", namespaces=names) == "65000:2002"
