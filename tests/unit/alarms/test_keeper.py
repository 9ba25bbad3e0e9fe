"""The alarm list in the daemon: files, notifications, a restart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.alarms import control
from srv6mgrd.alarms.alarm import OperatorState
from srv6mgrd.alarms.keeper import Alarms
from srv6mgrd.alarms.kept import AlarmFile
from srv6mgrd.in_loop import InLoop
from srv6mgrd.model.active_alarm import ActiveAlarm
from srv6mgrd.model.condition import Condition, ConditionType, Severity
from srv6mgrd.notifications import Notification
from srv6mgrd.storage import DAMAGED, Problems

DOWN = Condition(ConditionType.DAEMON_DOWN, "x", Severity.MINOR, "x does not run", "start it")


class World:
    """One daemon after the other in the same folder."""

    def __init__(self, folder: Path) -> None:
        self.published, self.kept = folder / "alarms.json", folder / "state" / "alarms.json"
        self.problems = Problems()
        self.sent: list[Notification] = []
        self.active: Sequence[ActiveAlarm] = ()
        self.start()

    def start(self) -> None:
        self.alarms = Alarms(
            self.published,
            AlarmFile(self.kept, self.problems),
            self,
            in_loop=InLoop(asyncio.get_running_loop()),
            problems=self.problems,
            outward=self,
        )
        self.job = asyncio.create_task(self.alarms.run())

    def put(self, notifications: Iterable[Notification], left_out: int = 0) -> None:
        self.sent += notifications

    def publish_alarms(self, alarms: Sequence[ActiveAlarm]) -> None:
        self.active = alarms

    async def stop(self) -> None:
        self.job.cancel()
        with suppress(asyncio.CancelledError):
            await self.job

    @property
    def shown(self) -> list[dict[str, object]]:
        if not self.published.exists():
            return []
        found: list[dict[str, object]] = json.loads(self.published.read_text())["alarm-list"].get(
            "alarm", []
        )
        return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    return tmp_path


async def test_alarms_and_acknowledgements_survive_a_restart(folder: Path) -> None:
    world = World(folder)
    world.alarms.report("test", [DOWN])
    await wait_until_async(lambda: len(world.shown) == 1)
    assert world.alarms.act(DOWN.key, OperatorState.ACK, "alice", "")
    await world.stop()
    world.published.unlink()
    world.sent.clear()
    world.start()
    await wait_until_async(lambda: len(world.shown) == 1)
    world.alarms.report("test", [DOWN])
    assert world.shown[0]["is-cleared"] is False
    assert "operator-state-change" in world.shown[0]
    assert world.sent == []
    await world.stop()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"version": 9}', '{"version":1,"alarms":[{}]}']
)
async def test_a_damaged_file_is_set_aside(folder: Path, content: str) -> None:
    (folder / "state/alarms.json").write_text(content)
    world = World(folder)
    await wait_until_async(world.published.exists)
    assert (folder / "state/alarms").with_suffix(DAMAGED).exists()
    assert list(world.problems.listed()) == [f"alarms{DAMAGED}"]
    await world.stop()


async def test_without_room_the_list_is_kept_in_memory(folder: Path) -> None:
    world = World(folder)
    world.kept.with_name("alarms.json.new").mkdir()
    world.alarms.report("test", [DOWN])
    await wait_until_async(lambda: "alarms.json" in world.problems.listed())
    assert len(world.shown) == 1
    world.kept.with_name("alarms.json.new").rmdir()
    await world.stop()
    assert "x does not run" in world.kept.read_text()


async def test_active_alarms_are_published_beside_the_list(folder: Path) -> None:
    world = World(folder)
    world.alarms.report("test", [DOWN])
    await wait_until_async(lambda: len(world.active) == 1)
    (found,) = world.active
    assert (found.type, found.resource, found.acknowledged) == (*DOWN.key, None)
    assert world.alarms.act(DOWN.key, OperatorState.ACK, "alice", "")
    await wait_until_async(lambda: world.active[0].acknowledged is not None)
    world.alarms.configure(control.parse({"alarm-shelving": {"shelf": [{"name": "all"}]}}))
    await wait_until_async(lambda: not world.active)
    await world.stop()


async def test_nothing_is_written_while_nothing_changes(folder: Path) -> None:
    world = World(folder)
    world.alarms.report("test", [DOWN])
    await wait_until_async(world.kept.exists)
    seen = world.kept.stat().st_ino, world.published.stat().st_ino
    for _ in range(20):
        world.alarms.report("test", [DOWN])
        await asyncio.sleep(0)
    assert (world.kept.stat().st_ino, world.published.stat().st_ino) == seen
    await world.stop()
