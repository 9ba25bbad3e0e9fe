"""Statuses over time."""

from ipaddress import ip_address, ip_network

import pytest

from srv6mgrd.apply.reconciler import Outcome
from srv6mgrd.counters.labels import sid_labels
from srv6mgrd.counters.statuses import kept, merge, with_frr
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Desired, Sid
from srv6mgrd.model.static_routes import NextHop, StaticRoute
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus

RED = ObjectRef(Kind.VRF, "red")
BLUE = ObjectRef(Kind.VRF, "blue")
INSTALLED = Outcome(InstallStatus.INSTALLED)
FAILED = Outcome(InstallStatus.FAILED, "no memory")


def merged(before, outcome, repaired=(), now=200):
    return merge({RED: before} if before else {}, [(RED, outcome)], {}, repaired, now)[RED]


def test_a_new_object_is_since_now():
    assert merged(None, INSTALLED) == ObjectStatus(InstallStatus.INSTALLED, since=200)


def test_an_object_that_is_put_in_place_first_was_not_repaired():
    assert merged(None, INSTALLED, repaired=[RED]).repairs == 0


def test_what_stays_the_same_is_since_then():
    before = ObjectStatus(InstallStatus.FAILED, "no memory", since=100)

    assert merged(before, FAILED) == before


@pytest.mark.parametrize(
    "outcome", [INSTALLED, Outcome(InstallStatus.FAILED, "no such device")], ids=str
)
def test_another_status_or_reason_is_since_now(outcome):
    before = ObjectStatus(InstallStatus.FAILED, "no memory", since=100)

    assert merged(before, outcome).since == 200


def test_a_repair_is_counted_and_dated_and_does_not_move_since():
    before = ObjectStatus(InstallStatus.INSTALLED, since=100, last_repair=150, repairs=3)

    assert merged(before, INSTALLED, repaired=[RED]) == ObjectStatus(
        InstallStatus.INSTALLED, since=100, last_repair=200, repairs=4
    )


def test_the_repairs_of_others_are_not_counted():
    before = ObjectStatus(InstallStatus.INSTALLED, since=100, last_repair=150, repairs=3)

    assert merged(before, INSTALLED, repaired=[BLUE]) == before


def test_details_are_those_of_now():
    before = ObjectStatus(InstallStatus.INSTALLED, since=100, detail="fcbb::/64")

    found = merge({RED: before}, [(RED, INSTALLED)], {RED: "fcbb:1::/64"}, (), 200)[RED]

    assert (found.detail, found.since) == ("fcbb:1::/64", 100)
    assert merged(before, INSTALLED).detail == ""


def test_a_sid_has_its_behavior_and_vrf_as_detail():
    first, second = map(ip_network, ("fcbb:0:1:1::/64", "fcbb:0:1:2::/64"))
    red = Sid(first, "main", Behavior.END_DT46, vrf="red")
    end, default = (
        Sid(second, "main", Behavior.END),
        Sid(second, "main", Behavior.END_DT4, default_vrf=True),
    )

    _, before = kept({}, None, Desired(sids={first: red, second: end}))
    _, after = kept(
        {}, Desired(sids={first: red, second: end}), Desired(sids={first: red, second: default})
    )

    sids = [ObjectRef(Kind.SID, str(prefix)) for prefix in (first, second)]
    assert [before[ref] for ref in sids] == ["End.DT46 red", "End"]
    assert after == {sids[1]: "End.DT4 default"}
    assert sid_labels(before[sids[0]]) == ("End.DT46", "red")
    assert sid_labels(before[sids[1]]) == ("End", "")


def test_a_sid_that_fails_keeps_its_detail():
    sid = ObjectRef(Kind.SID, "fcbb:0:1:1::/64")
    before = ObjectStatus(InstallStatus.INSTALLED, since=100, detail="End.DT46 red")

    found = merge({sid: before}, [(sid, FAILED)], {}, (), 200)[sid]

    assert (found.status, found.detail) == (InstallStatus.FAILED, "End.DT46 red")


def test_what_is_no_longer_declared_has_no_status():
    before = {RED: ObjectStatus(InstallStatus.INSTALLED, since=100)}

    assert merge(before, [(BLUE, INSTALLED)], {}, (), 200).keys() == {BLUE}


def test_a_reason_that_the_store_cut_is_still_the_same(tmp_path):
    from srv6mgrd.counters.store_writer import StoreWriter

    long = Outcome(InstallStatus.FAILED, "no " * 200)
    store = StoreWriter(tmp_path / "store")
    store.set_statuses({RED: merged(None, long, now=100)})

    assert merged(store.statuses()[RED], long, now=200).since == 100


ROUTE = StaticRoute("red", ip_network("10.9.0.0/24"), (NextHop(1, ip_address("10.1.0.10")),))
STATIC = ObjectRef(Kind.STATIC_ROUTE, ROUTE.name)


@pytest.mark.parametrize(
    ("reported", "status", "reason"),
    [
        ({}, InstallStatus.PENDING, "FRR was not asked yet"),
        ({STATIC: (True, "")}, InstallStatus.INSTALLED, ""),
        ({STATIC: (True, "one next hop less")}, InstallStatus.INSTALLED, "one next hop less"),
        ({STATIC: (False, "no route")}, InstallStatus.PENDING, "no route"),
    ],
)
def test_a_static_route_is_what_frr_says_of_it(reported, status, reason):
    desired = Desired(static_routes={ROUTE.name: ROUTE})

    found, _ = with_frr(desired, {}, reported, {}, ())

    assert found[STATIC] == Outcome(status, reason)


def test_a_static_route_is_as_before_until_frr_was_asked():
    desired = Desired(static_routes={ROUTE.name: ROUTE})
    known = {STATIC: ObjectStatus(InstallStatus.INSTALLED, "one next hop less")}

    found, _ = with_frr(desired, {}, {}, known, ())

    assert found[STATIC] == Outcome(InstallStatus.INSTALLED, "one next hop less")
