"""What a reader asks for, and gets."""

from __future__ import annotations

from typing import Any

import pytest

from srv6mgrd.datastore.operational import (
    EVERYTHING,
    Wanted,
    lists,
    proxies_alone,
    wanted,
    with_proxies,
)
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters

SIDS = "/srv6mgr-srv6:srv6/local-sids"
ONE = "fc00::/64"


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        (f"{SIDS}/sid[prefix='{ONE}']", Wanted(ONE)),
        (f'{SIDS}/sid[prefix="{ONE}"]/state/counters', Wanted(ONE, ("state", "counters"))),
        (f"{SIDS}/srv6mgr-srv6:sid[prefix='{ONE}']", Wanted(ONE)),
        (f"{SIDS}/sid", EVERYTHING),
        (f"{SIDS}/sid/state/counters/in-pkts", Wanted(None, ("state", "counters", "in-pkts"))),
        (f"{SIDS}/sid/srv6mgr-srv6:state/reason", Wanted(None, ("state", "reason"))),
        (f"{SIDS}/sid/srv6mgr-proxy:proxy", Wanted(None, ("proxy",))),
        (
            "/srv6mgr-srv6:srv6/srv6mgr-srv6:local-sids/srv6mgr-srv6:sid"
            f"[srv6mgr-srv6:prefix='{ONE}']/srv6mgr-srv6:state/srv6mgr-srv6:counters",
            Wanted(ONE, ("state", "counters")),
        ),
        # What these look at is more than what they select.
        (f"{SIDS}/sid[behavior='End']", EVERYTHING),
        (f"{SIDS}/sid[behavior='End'][prefix='x']", EVERYTHING),
        (f"{SIDS}/sid[state/install-status='failed']/state/counters", EVERYTHING),
        (f"{SIDS}/sid/state[reason='x']/counters", EVERYTHING),
        (f"{SIDS}/sid[prefix='a'] | {SIDS}/sid[prefix='b']", EVERYTHING),
        (f"{SIDS}/sid/state/counters | {SIDS}/sid/state/reason", EVERYTHING),
        (f"{SIDS}/sid[prefix='a' or prefix='b']", EVERYTHING),
        (f"{SIDS}/sid/state/counters/../reason", EVERYTHING),
        (f"{SIDS}/sid/state/*", EVERYTHING),
        (f"{SIDS}/*/state/counters", EVERYTHING),
        ("/srv6mgr-srv6:srv6//*", EVERYTHING),
        ("/srv6mgr-srv6:srv6//counters", EVERYTHING),
        ("", EVERYTHING),
    ],
)
def test_wanted(asked: str, want: Wanted) -> None:
    assert wanted("local-sids", asked) == want


def test_wanted_of_vrfs() -> None:
    vrfs = "/srv6mgr-srv6:srv6/vrfs"
    assert wanted("vrfs", f"{vrfs}/vrf[name='red']/state") == Wanted("red", ("state",))
    assert wanted("vrfs", f"{vrfs}/vrf") == EVERYTHING


INSTALLED = ObjectStatus(InstallStatus.INSTALLED, since=1)
OBJECTS = {ObjectRef(Kind.SID, prefix): INSTALLED for prefix in (ONE, "fc01::/64")}


def _listed(want: Wanted) -> list[dict[str, Any]]:
    counters = {ONE: SidCounters(7, 700, 1, 1)}
    found: list[dict[str, Any]] = lists("local-sids", OBJECTS, counters.get, want)["sid"]
    return found


def test_nothing_but_counters_is_made_when_nothing_else_is_wanted() -> None:
    one, other = _listed(Wanted(None, ("state", "counters")))
    assert set(one["state"]) == set(other["state"]) == {"counters"}
    assert one["state"]["counters"]["in-pkts"] == "7"
    assert other["state"]["counters"]["in-pkts"] == "0"


def test_the_one_that_is_wanted_stands_alone() -> None:
    (one,) = _listed(Wanted(ONE))
    assert one["prefix"] == ONE
    assert one["state"]["install-status"] == "installed"
    assert one["state"]["counters"]["in-octets"] == "700"


def test_sids_of_proxies_show_their_state() -> None:
    sids = {"sid": [{"prefix": "fcbb:0:1:1::/64", "state": {}}, {"prefix": "fcbb:0:1:2::/64"}]}
    state = {"errors": {"no-srh": "1"}}

    found = with_proxies(sids, {"fcbb:0:1:2::/64": state})

    assert [entry.get("srv6mgr-proxy:proxy") for entry in found["sid"]] == [None, {"state": state}]


def test_state_of_proxies_alone_names_no_other_sid() -> None:
    first, second = "fcbb:0:1:1::/64", "fcbb:0:1:2::/64"
    known = {first: {"mtu": 1500}, second: {"mtu": 1280}}

    def entry(prefix: str) -> dict[str, Any]:
        return {"prefix": prefix, "srv6mgr-proxy:proxy": {"state": known[prefix]}}

    assert proxies_alone(known, None) == {"sid": [entry(first), entry(second)]}
    assert proxies_alone(known, second) == {"sid": [entry(second)]}
