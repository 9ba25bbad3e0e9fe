"""SIDs that are made for VRFs: the rule, and that nothing else moves them."""

from dataclasses import replace

import pytest

from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import check
from srv6mgrd.model.desired import Sid
from srv6mgrd.model.expand import auto_function, expand
from tests.builders import desired, dt46, locator, net, sid, speaker, vpn, vrf


def exporting(name="red", table=100, **bgp):
    made = replace(vpn(), locator="MAIN", **bgp)
    return vrf(name, table, bgp=made)


def export_sids(state):
    return {v.name: v.bgp.export_sid for v in expand(state).vrfs.values() if v.bgp}


def test_a_function_makes_the_sid_that_a_declaration_would():
    made = expand(desired(locator(), exporting(export_function=0x64)))

    prefix = net("fcbb:0:1:64::/64")
    assert made.sids == {prefix: Sid(prefix, "MAIN", Behavior.END_DT46, "red")}
    assert made.vrfs["red"].bgp.export_sid == prefix


def test_auto_is_0x100_and_the_table():
    made = export_sids(desired(locator(), exporting(table=100, export_auto=True)))

    assert made == {"red": net("fcbb:0:1:164::/64")}


@pytest.mark.parametrize(
    ("length", "table", "function"),
    [
        (16, 1, 0x101),
        (16, 0xFEFF, 0xFFFF),
        (16, 0xFF00, 0x100),
        (16, 4294967295, 0x100 + 4294967295 % 0xFF00),
        (20, 1000, 0x100 + 1000),
        (9, 3, 0x103),
        (8, 5, 0x85),
        (8, 0x80, 0x80),
        (1, 7, 1),
        (80, 7, 0x107),
    ],
)
def test_the_rule(length, table, function):
    assert auto_function(locator(function_length=length), table) == function


@pytest.mark.parametrize(
    "others",
    [
        [exporting("aaa", 1, export_auto=True)],
        [exporting("zzz", 101, export_auto=True), exporting("blue", 99, export_auto=True)],
        [sid("fcbb:0:1:165::/64"), sid("fcbb:0:1:100::/64")],
        [exporting("blue", 7, export_function=0x165)],
    ],
)
def test_auto_stays_when_others_come_and_go(others):
    alone = export_sids(desired(locator(), exporting(export_auto=True)))
    beside = export_sids(desired(locator(), exporting(export_auto=True), *others))

    assert beside["red"] == alone["red"]


def test_tables_apart_have_functions_apart():
    vrfs = [exporting(f"vrf{t}", t, export_auto=True) for t in range(1000, 3000)]
    made = export_sids(desired(locator(), speaker(), *vrfs))

    assert len(set(made.values())) == 2000


def test_expanding_twice_changes_nothing():
    once = expand(
        desired(
            locator(),
            exporting(export_auto=True),
            exporting("blue", 7, export_function=16),
            vrf("green", 8, bgp=vpn(export_sid="fcbb:0:1:1::/64")),
            dt46("fcbb:0:1:1::/64", "green"),
        )
    )

    assert expand(once) == once


def test_what_was_checked_before_expanding_is_fine_after():
    state = desired(locator(), speaker(), exporting(export_auto=True))

    check(state)
    check(expand(state))


def test_a_vrf_that_declares_the_very_sid_exports_it():
    state = desired(locator(), exporting(export_function=0x64), dt46("fcbb:0:1:64::/64", "red"))

    check(state)
    assert export_sids(state) == {"red": net("fcbb:0:1:64::/64")}


@pytest.mark.parametrize(
    "state",
    [
        desired(locator(), exporting(export_function=0x10000)),
        desired(locator(), exporting(export_function=0x64), sid("fcbb:0:1:64::/64")),
    ],
)
def test_a_sid_that_can_not_be_made_is_left_to_the_checks(state):
    assert export_sids(state) == {"red": None}
    assert expand(state).sids == state.sids


def test_without_an_export_nothing_is_made():
    state = desired(locator(), vrf("red", 10, bgp=vpn()), vrf("blue", 20))

    assert expand(state) == state
