"""ietf-alarms in sysrepo: the list, its notifications, and its actions."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import sysrepo

from lab.waiting import wait_until_async
from srv6mgrd.alarms.keeper import Alarms
from srv6mgrd.alarms.kept import AlarmFile
from srv6mgrd.counters.alarms import beside
from srv6mgrd.datastore.alarms import AlarmSubscription
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.datastore.notifications import Notifier
from srv6mgrd.in_loop import InLoop
from srv6mgrd.model.condition import Condition, ConditionType, Severity
from srv6mgrd.model.paths import (
    bgp_path,
    interface_path,
    measurement_session_path,
    sid_path,
    vrf_path,
)
from srv6mgrd.storage import Problems

RED = Condition(
    ConditionType.BGP_SESSION_DOWN, vrf_path("red"), Severity.MAJOR, "it is idle", "see its peer"
)
DISK = Condition(
    ConditionType.DISK_NEARLY_FULL, "/var/lib/srv6mgr", Severity.WARNING, "95% full", "make room"
)
LIST = "/ietf-alarms:alarms/alarm-list"


@dataclass
class World:
    """Alarms as srv6mgrd has them, and a client."""

    alarms: Alarms
    session: Any
    heard: list[tuple[str, Any]] = field(default_factory=list)

    async def read(self, xpath: str = "/ietf-alarms:alarms") -> Any:
        """What sysrepocfg shows."""
        done = await asyncio.to_thread(
            subprocess.run,
            ["sysrepocfg", "-X", "-d", "operational", "-f", "json", "-x", xpath],
            check=True,
            capture_output=True,
            text=True,
        )
        return json.loads(done.stdout)["ietf-alarms:alarms"]

    async def call(self, path: str, given: dict[str, Any]) -> Any:
        try:
            return await asyncio.to_thread(self.session.rpc_send, path, given, 5000)
        except sysrepo.SysrepoInternalError as error:
            # The binding's word for an answer without output.
            if "returned NULL" not in str(error):
                raise
            return None

    async def active(self) -> list[str]:
        listed = (await self.read()).get("alarm-list", {}).get("alarm", [])
        return [alarm["resource"] for alarm in listed if not alarm["is-cleared"]]


@pytest.fixture
async def world(place: Path, tmp_path: Path) -> AsyncIterator[World]:
    problems, notifier = Problems(), Notifier()
    store = place / "store"
    alarms = Alarms(
        beside(store),
        AlarmFile(tmp_path / "alarms.json", problems),
        notifier,
        in_loop=InLoop(asyncio.get_running_loop()),
        problems=problems,
    )
    subscription = AlarmSubscription(store)
    assert subscription.start(alarms)
    connection = Connection(originator="test")
    made = World(alarms, connection.session())

    def heard(path: str, kind: str, leaves: Any, _at: int, _private: Any) -> None:
        if kind == "realtime":
            made.heard.append((path, leaves))

    listener = connection.session()
    listener.subscribe_notification("ietf-alarms", None, heard)
    jobs = [asyncio.create_task(job) for job in (alarms.run(), notifier.run())]
    yield made
    for job in jobs:
        job.cancel()
        with suppress(asyncio.CancelledError):
            await job
    await asyncio.to_thread(connection.close)
    subscription.close()
    notifier.close()
    beside(store).unlink()


def alarm_path(condition: Condition) -> str:
    return (
        f'{LIST}/alarm[resource="{condition.resource}"]'
        f"[alarm-type-id='srv6mgr-alarms:{condition.type}'][alarm-type-qualifier='']"
    )


async def test_a_condition_is_an_alarm_for_readers_and_subscribers(world: World) -> None:
    world.alarms.report("test", [RED, DISK])
    await wait_until_async(lambda: len(world.heard) == 2, seen=lambda: world.heard)
    found = await world.read()
    listed = {alarm["resource"]: alarm for alarm in found["alarm-list"]["alarm"]}
    red = listed[RED.resource]
    assert red["alarm-type-id"] == "srv6mgr-alarms:bgp-session-down"
    assert (red["perceived-severity"], red["is-cleared"]) == ("major", False)
    assert red["alarm-text"] == "it is idle; see its peer"
    assert red["srv6mgr-alarms:remedy"] == "see its peer"
    assert [change["perceived-severity"] for change in red["status-change"]] == ["major"]
    assert listed[DISK.resource]["perceived-severity"] == "warning"
    assert found["alarm-list"]["number-of-alarms"] == 2
    counts = {each["severity"]: each["not-cleared"] for each in found["summary"]["alarm-summary"]}
    assert counts == {"critical": 0, "major": 1, "minor": 0, "warning": 1}
    types = {each["alarm-type-id"] for each in found["alarm-inventory"]["alarm-type"]}
    assert types == {f"srv6mgr-alarms:{name}" for name in ConditionType}
    path, leaves = world.heard[0]
    assert path.endswith("alarm-notification")
    assert (leaves["resource"], leaves["perceived-severity"]) == (RED.resource, "major")
    assert leaves["remedy"] == "see its peer"


async def test_a_cleared_alarm_is_notified_and_stays(world: World) -> None:
    world.alarms.report("test", [RED])
    await wait_until_async(lambda: len(world.heard) == 1)
    world.alarms.report("test", [])
    await wait_until_async(lambda: len(world.heard) == 2, seen=lambda: world.heard)
    assert world.heard[1][1]["perceived-severity"] == "cleared"
    (alarm,) = (await world.read())["alarm-list"]["alarm"]
    assert (alarm["is-cleared"], alarm["perceived-severity"]) == (True, "major")


async def test_an_operator_acknowledges(world: World) -> None:
    world.alarms.report("test", [RED, DISK])
    await wait_until_async(lambda: len(world.heard) == 2)
    given = {"state": "ack", "text": "on it"}
    await world.call(f"{alarm_path(RED)}/set-operator-state", given)
    await wait_until_async(lambda: len(world.heard) == 3, seen=lambda: world.heard)
    path, leaves = world.heard[-1]
    assert path.endswith("operator-action")
    assert (leaves["state"], leaves["text"]) == ("ack", "on it")
    listed = (await world.read())["alarm-list"]["alarm"]
    (red,) = (alarm for alarm in listed if alarm["resource"] == RED.resource)
    (change,) = red["operator-state-change"]
    assert (change["state"], change["text"]) == ("ack", "on it")
    gone = alarm_path(RED).replace("red", "blue")
    with pytest.raises(sysrepo.SysrepoError):
        await world.call(f"{gone}/set-operator-state", given)


async def test_alarms_are_compressed_and_purged(world: World) -> None:
    world.alarms.report("test", [RED, DISK])
    await wait_until_async(lambda: len(world.heard) == 2)
    world.alarms.report("test", [DISK])
    await wait_until_async(lambda: len(world.heard) == 3)
    assert await world.call(f"{LIST}/compress-alarms", {}) == {"compressed-alarms": 1}
    purged = await world.call(f"{LIST}/purge-alarms", {"alarm-clearance-status": "cleared"})
    assert purged == {"purged-alarms": 1}

    async def is_gone() -> bool:
        return len((await world.read())["alarm-list"]["alarm"]) == 1

    while not await is_gone():
        await asyncio.sleep(0.05)
    assert await world.active() == [DISK.resource]


# As conditions name what they are about: instances of models, files, words.
RESOURCES = (
    vrf_path("red"),
    bgp_path("red"),
    f"{bgp_path(None)}/neighbor[address='2001:db8::2']",
    sid_path("fcbb:0:1:64::/64"),
    interface_path("eth0.100"),
    measurement_session_path("to-pe2"),
    "/srv6mgr-srv6:srv6/srv6mgr-operations:daemons/daemon[name='srv6-gnmid']",
    "/srv6mgr-srv6:srv6/srv6mgr-operations:storage/problem[file='history.sqlite']",
    "/srv6mgr-srv6:srv6/srv6mgr-operations:transactions/pending",
    "/run/redis/redis.sock",
    "/etc/srv6mgr/gnmid.crt",
    "clock",
)


async def test_resources_are_read_as_they_are_reported(world: World) -> None:
    """Else gNMI and sysrepo would have different keys of the same alarm."""
    world.alarms.report("test", [replace(DISK, resource=each) for each in RESOURCES])
    await wait_until_async(lambda: len(world.heard) == len(RESOURCES))
    listed = (await world.read())["alarm-list"]["alarm"]
    assert {alarm["resource"] for alarm in listed} == set(RESOURCES)
    assert {leaves["resource"] for _, leaves in world.heard} == set(RESOURCES)
    for each in RESOURCES:
        path = alarm_path(replace(DISK, resource=each))
        await world.call(f"{path}/set-operator-state", {"state": "ack"})


@contextmanager
def configuring() -> Iterator[Callable[..., None]]:
    connection = Connection(originator="operator")
    session = connection.session()

    def configure(**leaves: object) -> None:
        text = json.dumps({"ietf-alarms:alarms": {"control": leaves}})
        with session.get_ly_ctx() as context:
            tree = context.parse_data_mem(text, "json", parse_only=True, strict=True)
        session.replace_config_ly(tree, "ietf-alarms")

    try:
        yield configure
    finally:
        configure()
        connection.close()


async def test_alarms_are_shelved(world: World) -> None:
    shelf = {
        "name": "work",
        "resource": [RED.resource],
        "alarm-type": [
            {"alarm-type-id": "srv6mgr-alarms:service-alarm", "alarm-type-qualifier-match": ".*"}
        ],
    }
    with configuring() as configure:
        await asyncio.to_thread(configure, **{"alarm-shelving": {"shelf": [shelf]}})
        await wait_until_async(lambda: bool(world.alarms._list.control.shelves))
        world.alarms.report("test", [RED, DISK])
        await wait_until_async(lambda: len(world.heard) == 1)
        found = await world.read()
        assert await world.active() == [DISK.resource]
        assert found["summary"]["shelves-active"] == [None]
        (red,) = found["shelved-alarms"]["shelved-alarm"]
        assert (red["resource"], red["shelf-name"]) == (RED.resource, "work")
        purge = "/ietf-alarms:alarms/shelved-alarms/purge-shelved-alarms"
        given = {"alarm-clearance-status": "any"}
        assert await world.call(purge, given) == {"purged-alarms": 1}
        await asyncio.to_thread(configure)
        await wait_until_async(lambda: not world.alarms._list.control.shelves)
        world.alarms.report("test", [RED])
        await wait_until_async(lambda: len(world.heard) == 2)


async def test_which_changes_are_notified_is_configured(world: World) -> None:
    with configuring() as configure:
        await asyncio.to_thread(
            configure,
            **{"notify-status-changes": "severity-level", "notify-severity-level": "major"},
        )
        await wait_until_async(lambda: world.alarms._list.control.level is Severity.MAJOR)
        world.alarms.report("test", [DISK])
        world.alarms.report("test", [DISK, RED])
        await wait_until_async(lambda: len(world.heard) == 1)
        assert world.heard[0][1]["resource"] == RED.resource
        assert set(await world.active()) == {RED.resource, DISK.resource}
