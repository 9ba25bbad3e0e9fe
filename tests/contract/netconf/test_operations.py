"""The RPCs, state and notifications of srv6mgrd (module srv6mgr-operations)."""

from __future__ import annotations

import re
import time

import pytest

from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.contract.netconf.client import Client, rejected, texts, with_namespaces
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import OTHER, ROUTER, SID, sid, srv6, vrf
from tests.contract.netconf.wire import Wire
from tests.contract.rejections import MISTAKES, Mistake, document, judge

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


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_plan_rejects_as_the_edit_would_be(
    client: Client, router: Router, mistake: Mistake
) -> None:
    router.loop.world.manager.judge = judge
    xml = f"<o:plan><o:configuration>{mistake.document()}</o:configuration></o:plan>"
    error = rejected(
        lambda: client.rpc(xml),
        "operation-failed|missing-element|data-missing",
        f"^{re.escape(mistake.message)}$",
        app_tag=mistake.app_tag,
        path=re.sub(r"(?<=/)[\w-]+:", "", mistake.path),
    )
    info = "" if error.info is None else str(error.info)
    assert (f">{mistake.element}</" in info) if mistake.element else ("bad-element" not in info)


def test_plan_reports_each_rejection(server: Server, client: Client, router: Router) -> None:
    router.loop.world.manager.judge = judge
    outside = [f"fcbb:0:9:{n}::/64" for n in (1, 2)]
    sids = [{"prefix": each, "locator": "main", "behavior": "End"} for each in outside]
    whole = document({"local-sids": {"sid": sids}})
    with Wire(server.socket) as wire:
        xml = f"<o:plan><o:configuration>{whole}</o:configuration></o:plan>"
        reply = wire.call(with_namespaces(xml))
    assert texts(reply, "//nc:error-app-tag") == 2 * ["sid-outside-locator"]
    paths = texts(reply, "//nc:error-path")
    assert [path.rpartition("prefix=")[2] for path in paths] == [f"'{p}']" for p in outside]


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
    rejected(
        lambda: client.rpc(xml),
        "operation-failed",
        "configuration is not known",
        app_tag="transaction-unknown",
        path="/rollback/transaction",
    )
    xml = f"<o:compare><o:transaction>{before}</o:transaction><o:other>999</o:other></o:compare>"
    rejected(
        lambda: client.rpc(xml),
        "operation-failed",
        "configuration is not known",
        app_tag="transaction-unknown",
        path="/compare/other",
    )


def test_a_rollback_is_rejected_as_an_edit_is(client: Client, router: Router) -> None:
    client.edit(ROUTER)
    client.edit(srv6(sid(OTHER, "End")))
    number = router.loop.newest().id
    client.edit(srv6(vrf(table="101")))
    path = f"/srv6mgr-srv6:srv6/local-sids/sid[prefix='{OTHER}']"
    rejection = Rejection(f"SID {OTHER}", "it is bad", "make it good", "a-tag", path)
    router.loop.world.manager.change_rejection = rejection
    xml = f"<o:rollback><o:transaction>{number}</o:transaction></o:rollback>"
    rejected(
        lambda: client.rpc(xml),
        "operation-failed",
        f"^{rejection}$",
        app_tag="a-tag",
        path=f"/srv6/local-sids/sid[prefix='{OTHER}']",
    )


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
    rejected(
        lambda: client.rpc(xml),
        "data-missing",
        "commit: no commit awaits confirmation",
        app_tag="commit-unknown",
        path="/confirm/id",
    )


@pytest.mark.parametrize("rpc", ["confirm", "cancel"])
def test_confirm_or_cancel_of_another_commit(client: Client, rpc: str) -> None:
    client.rpc("<o:commit><o:id>one</o:id><o:timeout>60</o:timeout></o:commit>")
    rejected(
        lambda: client.rpc(f"<o:{rpc}><o:id>two</o:id></o:{rpc}>"),
        "operation-failed",
        "it is commit .* that awaits confirmation",
        app_tag="commit-unknown",
        path=f"/{rpc}/id",
    )
    rejected(
        lambda: client.rpc("<o:commit><o:id>two</o:id><o:timeout>60</o:timeout></o:commit>"),
        "in-use",
        r"commit \w+: it came through rpc",
        app_tag="commit-pending",
    )


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
