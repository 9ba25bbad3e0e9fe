"""The RPCs, state and notifications of srv6mgrd (module srv6mgr-operations)."""

from __future__ import annotations

import time

import pytest

from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.contract.netconf.client import Client, rejected, texts
from tests.contract.netconf.conftest import Router
from tests.contract.netconf.data import ROUTER, SID, srv6, vrf

TABLES = "//s:vrf/s:table-id"


def test_reconcile(client: Client) -> None:
    assert texts(client.rpc("<o:reconcile/>"), "//nc:ok") == ["ok"]


def test_plan(client: Client) -> None:
    xml = "<o:plan><o:configuration>{}</o:configuration></o:plan>"
    reply = client.rpc(xml)
    assert texts(reply, "//o:operation/o:number") == ["1"]
    assert SID in texts(reply, "//o:operation/o:object")[0]
    bad = xml.replace("{}", '{"srv6mgr-srv6:srv6": {"nothing": 1}}')
    rejected(lambda: client.rpc(bad), "operation-failed|invalid-value|unknown-element", "nothing")


def test_plan_tells_what_would_be_rejected(client: Client, router: Router) -> None:
    rejection = Rejection("SID fcbb::/64", "outside locator main", "choose another", "x")
    router.loop.world.manager.rejection = rejection
    xml = "<o:plan><o:configuration>{}</o:configuration></o:plan>"
    rejected(lambda: client.rpc(xml), "operation-failed", f"^{rejection}$")
    router.loop.world.manager.rejection = None


def test_clear_counters(client: Client, router: Router) -> None:
    client.edit(ROUTER)
    assert texts(
        client.rpc(f"<o:clear-counters><o:sid>{SID}</o:sid></o:clear-counters>"), "//nc:ok"
    )
    assert router.loop.world.manager.cleared[-1] == SID


def test_history_compare_and_rollback(client: Client) -> None:
    client.edit(ROUTER)
    known = texts(client.rpc("<nc:get/>"), "//o:transaction/o:id")
    before = max(known, key=int)
    client.edit(srv6(vrf(table="101")))
    reply = client.rpc(f"<o:compare><o:transaction>{before}</o:transaction></o:compare>")
    assert texts(reply, "//o:change/o:path")[0].endswith("/table-id")
    assert texts(reply, "//o:change/o:before | //o:change/o:after") == ["100", "101"]
    client.rpc(f"<o:rollback><o:transaction>{before}</o:transaction></o:rollback>")
    assert client.texts(TABLES) == ["100"]
    xml = "<o:rollback><o:transaction>999999</o:transaction></o:rollback>"
    rejected(lambda: client.rpc(xml), "operation-failed", "configuration is not known")


def test_status_and_counters(client: Client, router: Router) -> None:
    client.edit(ROUTER)
    installed = ObjectStatus(InstallStatus.INSTALLED, since=time.time_ns())
    router.store.set_statuses({ObjectRef(Kind.SID, SID): installed})
    router.store.set_counters({SID: SidCounters(7, 700, 1, time.time_ns())}, {}, time.time_ns())
    counted = f"//s:sid[s:prefix='{SID}']/s:state"
    for ask in (
        "<nc:get/>",
        "<nmda:get-data><nmda:datastore>ds:operational</nmda:datastore></nmda:get-data>",
    ):
        tree = client.rpc(ask)
        assert texts(tree, f"{counted}/s:install-status") == ["installed"]
        assert texts(tree, f"{counted}//s:in-pkts") == ["7"]
    tree = client.config()
    assert texts(tree, counted) == []


@pytest.mark.parametrize("missing", ["<o:confirm/>", "<o:rollback/>", "<o:plan/>"])
def test_parameters_that_are_missing(client: Client, missing: str) -> None:
    rejected(lambda: client.rpc(missing), "missing-element|data-missing", "is missing; add")


def test_confirm_without_a_commit(client: Client) -> None:
    xml = "<o:confirm><o:id>one</o:id></o:confirm>"
    rejected(lambda: client.rpc(xml), "data-missing", "commit: no commit awaits confirmation")


def test_a_commit_by_rpc_is_confirmed_by_rpc(client: Client, router: Router) -> None:
    client.rpc(
        "<o:commit><o:id>one</o:id><o:timeout>60</o:timeout><o:configuration>"
        '{"srv6mgr-srv6:srv6":{"vrfs":{"vrf":[{"name":"red","table-id":7}]}}}'
        "</o:configuration></o:commit>"
    )
    assert client.texts(TABLES) == ["7"]
    rejected(lambda: client.edit(ROUTER), "in-use", r"commit \w+: it came through rpc")
    client.rpc("<o:confirm><o:id>one</o:id></o:confirm>")
    client.edit(srv6(vrf(table="8")))
    assert client.texts(TABLES) == ["8"]


def test_a_warning_of_a_commit_is_a_notification(client: Client, router: Router) -> None:
    """RFC 6241 section 7.5 has no warning beside ok."""
    client.manager.create_subscription()
    router.loop.world.manager.warnings = ("boundary: eth1 can reach SIDs; set its role",)
    client.edit(ROUTER)
    router.loop.world.manager.warnings = ()
    event = client.event_with("//o:commit-warning")
    assert texts(event, "//o:warning") == ["boundary: eth1 can reach SIDs; set its role"]
    newest = router.loop.newest().id
    assert texts(event, "//o:transaction") == [str(newest)]
