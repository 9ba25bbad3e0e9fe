"""Alarms over NETCONF: the list, notifications, and actions with their rights."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.waiting import wait_until
from srv6mgrd.alarms.keeper import Alarms
from srv6mgrd.alarms.kept import AlarmFile
from srv6mgrd.counters.alarms import beside
from srv6mgrd.datastore.alarms import AlarmSubscription
from srv6mgrd.in_loop import InLoop
from srv6mgrd.model.condition import Condition, ConditionType, Severity
from srv6mgrd.model.paths import vrf_path
from srv6mgrd.storage import Problems
from tests.contract.netconf.client import Client, rejected, texts
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import ROUTER
from tests.contract.netconf.test_access import USER
from tests.contract.netconf.test_groups import MODULE, RULES, put
from tests.contract.netconf.test_push import ON_CHANGE, to_datastore

DOWN = Condition(
    ConditionType.BGP_SESSION_DOWN, vrf_path("red"), Severity.MAJOR, "it is idle", "see its peer"
)
KEYS = (
    "<al:resource>/s:srv6/s:vrfs/s:vrf[s:name='red']</al:resource>"
    '<al:alarm-type-id xmlns:s6a="urn:srv6mgr:yang:srv6mgr-alarms">s6a:bgp-session-down'
    "</al:alarm-type-id><al:alarm-type-qualifier/>"
)
GET = '<nc:get><nc:filter type="xpath" select="/al:alarms/al:alarm-list"/></nc:get>'


def action(inner: str) -> str:
    return (
        f'<action xmlns="urn:ietf:params:xml:ns:yang:1"><al:alarms><al:alarm-list>{inner}'
        "</al:alarm-list></al:alarms></action>"
    )


def set_state(state: str, keys: str = KEYS) -> str:
    done = f"<al:set-operator-state><al:state>{state}</al:state></al:set-operator-state>"
    return action(f"<al:alarm>{keys}{done}</al:alarm>")


PURGE = action(
    "<al:purge-alarms><al:alarm-clearance-status>any</al:alarm-clearance-status></al:purge-alarms>"
)


@pytest.fixture
def alarms(router: Router, server: Server, client: Client, tmp_path: Path) -> Iterator[Alarms]:
    client.edit(ROUTER)

    async def made() -> tuple[Alarms, AlarmSubscription]:
        problems = Problems()
        found = Alarms(
            beside(server.store),
            AlarmFile(tmp_path / "alarms.json", problems),
            router.notifier,
            in_loop=InLoop(asyncio.get_running_loop()),
            problems=problems,
        )
        subscription = AlarmSubscription(server.store)
        assert subscription.start(found)
        return found, subscription

    async def close() -> None:
        subscription.close()

    found, subscription = router.loop.run(made())
    job = router.loop.begin(found.run())
    found.report("test", [DOWN])
    wait_until(lambda: states(client) == ["major"])
    yield found
    job.cancel()
    router.loop.run(close())
    beside(server.store).unlink()


def get(client: Client) -> Any:
    return client.rpc(GET)


def states(client: Client) -> list[str]:
    return texts(get(client), "//al:alarm/al:perceived-severity")


def test_the_list_is_read(client: Client, alarms: Alarms) -> None:
    found = get(client)
    assert texts(found, "//al:alarm/al:alarm-text") == ["it is idle; see its peer"]
    (resource,) = texts(found, "//al:alarm/al:resource")
    assert resource.endswith("name='red']")
    assert texts(found, "//al:alarm/*[local-name()='remedy']") == ["see its peer"]


def test_an_operator_acknowledges(client: Client, alarms: Alarms) -> None:
    client.rpc("<ncn:create-subscription/>")
    client.rpc(set_state("ack"))
    event = client.event_with("//al:operator-action")
    assert texts(event, "//al:operator-action/al:state") == ["ack"]
    assert texts(event, "//al:operator-action/al:operator") == ["root"]
    wait_until(lambda: texts(get(client), "//al:operator-state-change/al:state") == ["ack"])
    blue = set_state("ack", KEYS.replace("red", "blue"))
    rejected(
        lambda: client.rpc(blue), "operation-failed|data-missing|invalid-value|unknown-element"
    )


def test_a_cleared_alarm_is_notified(client: Client, alarms: Alarms) -> None:
    client.rpc("<ncn:create-subscription/>")
    alarms.report("test", [])
    event = client.event_with("//al:alarm-notification[al:perceived-severity='cleared']")
    assert texts(event, "//al:alarm-text") == ["it is idle; see its peer"]


def test_changes_are_pushed(client: Client, alarms: Alarms) -> None:
    path = "/al:alarms/al:alarm-list"
    filter_ = f"<yp:datastore-xpath-filter>{path}</yp:datastore-xpath-filter>"
    to_datastore(client, ON_CHANGE, filter_, "operational")
    first = client.event_with("//yp:push-update")
    assert texts(first, "//al:alarm/al:is-cleared") == ["false"]
    alarms.report("test", [])
    change = client.event_with("//yp:push-change-update")
    assert "true" in texts(change, "//al:is-cleared")


def test_purge_reports_how_many(client: Client, alarms: Alarms) -> None:
    assert texts(client.rpc(PURGE), "//al:purged-alarms") == ["1"]


@pytest.mark.parametrize("group", ["", "srv6mgr-viewer", "srv6mgr-operator"])
@pytest.mark.parametrize("own", [False, True], ids=["of the packages", "without the last list"])
def test_who_acknowledges_by_the_rules(
    server: Server, client: Client, alarms: Alarms, group: str, own: bool
) -> None:
    """Without a rule nobody does, as of RPCs of ours: exec-default permits."""
    nacm = json.loads(RULES.read_text())[f"{MODULE}:nacm"]
    if own:
        nacm["rule-list"] = [one for one in nacm["rule-list"] if one["group"] != ["*"]]
    put({**nacm, "groups": {"group": [{"name": group or "others", "user-name": [USER]}]}})
    member = Client(server.socket, user=USER)
    try:
        assert states(member) == ["major"]
        if group == "srv6mgr-operator":
            member.rpc(set_state("ack"))
            wait_until(lambda: texts(get(client), "//al:operator") == [USER])
        else:
            rejected(lambda: member.rpc(set_state("ack")), "access-denied")
            rejected(lambda: member.rpc(PURGE), "access-denied")
    finally:
        member.close()
        put({})
