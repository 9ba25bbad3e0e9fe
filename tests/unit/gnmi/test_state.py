"""Status and counters while srv6mgrd comes and goes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from srv6mgrd.counters import observed, proxies
from srv6mgrd.counters.node import beside, publish
from srv6mgrd.counters.store_file import StoreError
from srv6mgrd.counters.store_reader import StoreReader, since
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.gnmi.feed import TelemetryFeed
from srv6mgrd.gnmi.state import State
from srv6mgrd.gnmi.view import Model
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.unit.gnmi.models import schema

SID = ObjectRef(Kind.SID, "fcbb:0:1:1::/64")


class Unreadable:
    """A store whose writer died inside."""

    def __getattr__(self, _name: str) -> Any:
        raise StoreError("store: its writer died inside")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(tmp_path: Path, clock: Clock) -> State:
    store = StoreWriter(tmp_path / "store")
    store.set_statuses({SID: ObjectStatus(InstallStatus.INSTALLED, since=5)})
    store.set_counters({SID.name: SidCounters(1, 2, 3, 4)}, {}, 7)
    store.renew_lease(3600)
    return State(tmp_path / "store", clock)


def test_a_restart_of_srv6mgrd_takes_nothing_away(state: State, clock: Clock) -> None:
    known, counters, records = state.status(), state.counters(), state.records()
    assert known.objects[SID].status is InstallStatus.INSTALLED
    reader, state._reader = state._reader, Unreadable()  # type: ignore[assignment]
    clock.now = 9
    assert state.status().objects is known.objects
    assert state.counters() is counters
    assert state.records() is records
    state._reader = reader
    assert state.status() == known


def test_counters_are_made_when_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sids = [f"fcbb:0:1:{n:x}::/64" for n in range(100)]
    store = StoreWriter(tmp_path / "store")
    store.set_statuses({ObjectRef(Kind.SID, p): ObjectStatus(InstallStatus.PENDING) for p in sids})
    store.set_counters({p: SidCounters(n, 2, 3, 4) for n, p in enumerate(sids)}, {}, 7)
    store.set_counters({sids[4]: SidCounters(9, 2, 3, 4)}, {}, 8)
    made: list[int] = []

    def counted(counters: bytes, cleared: bytes, slot: int) -> SidCounters:
        made.append(slot)
        return since(counters, cleared, slot)

    monkeypatch.setattr("srv6mgrd.counters.store_reader.since", counted)
    state = State(tmp_path / "store")
    found = state.counters()
    assert found.at == 8
    assert (found.by_prefix[sids[3]].packets, found.by_prefix[sids[4]].packets) == (3, 9)
    assert found.by_prefix.get("fcbb:ffff::/64") is None
    assert len(made) == 2
    assert dict(found.by_prefix) == StoreReader(tmp_path / "store").counters()
    assert state.counters() is found


def test_a_store_that_stays_unreadable_makes_statuses_unknown(state: State, clock: Clock) -> None:
    state.status()
    reader, state._reader = state._reader, Unreadable()  # type: ignore[assignment]
    state.status()
    clock.now = 11
    found = state.status()
    assert found.objects[SID].status is InstallStatus.UNKNOWN
    assert found.problem == "store: its writer died inside"
    # Read again and again: the very same, so that nobody compares it.
    assert state.status() is found
    state._reader = reader
    assert state.status().objects[SID].status is InstallStatus.INSTALLED


def test_a_store_that_was_never_read_says_why(tmp_path: Path) -> None:
    assert "absent" in State(tmp_path / "store").status().problem


async def test_what_was_read_is_read_again_when_there_is_something_else(tmp_path: Path) -> None:
    store = StoreWriter(tmp_path / "store")
    store.set_statuses({SID: ObjectStatus(InstallStatus.INSTALLED, since=5)})
    store.renew_lease(3600)
    feed = TelemetryFeed(Model(schema()), State(tmp_path / "store"))
    try:
        assert feed.at_once() is None
        first = await feed.snapshot()
        known = feed.at_once()
        assert known is not None
        assert known.counters is first.counters
        for change in (
            lambda: store.set_counters({SID.name: SidCounters(1, 2, 3, 4)}, {}, 7),
            lambda: store.set_statuses({SID: ObjectStatus(InstallStatus.PENDING)}),
            lambda: publish(beside(tmp_path / "store"), {"srv6mgr-operations:storage": {}}),
            lambda: publish(proxies.beside(tmp_path / "store"), {}),
            lambda: publish(observed.beside(tmp_path / "store"), {}),
        ):
            change()
            assert feed.at_once() is None
            await feed.snapshot()
            assert feed.at_once() is not None
    finally:
        feed.close()


async def test_state_without_counters_follows_the_store(tmp_path: Path) -> None:
    store = StoreWriter(tmp_path / "store")
    store.renew_lease(3600)
    feed = TelemetryFeed(Model(schema()), State(tmp_path / "store"))
    try:
        for status in (InstallStatus.PENDING, InstallStatus.INSTALLED):
            store.set_statuses({SID: ObjectStatus(status)})
            for _ in range(2):
                assert (await feed.without_counters()).status[SID].status is status
    finally:
        feed.close()


def test_nothing_is_taken_for_known_while_it_is_written(tmp_path: Path) -> None:
    writer = StoreWriter(tmp_path / "store")
    state = State(tmp_path / "store")
    assert state.edition() is not None
    writer._write_lock(writer._map.lock + 1)
    assert state.edition() is None
    writer._write_lock(writer._map.lock + 1)
    assert state.edition() is not None


async def test_a_sample_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that begins waits for no thread where another one has read the same."""
    store, state = StoreWriter(tmp_path / "store"), State(tmp_path / "store")
    store.set_statuses({SID: ObjectStatus(InstallStatus.INSTALLED, since=5)})
    store.set_counters({SID.name: SidCounters(1, 2, 3, 4)}, {}, 7)
    reads: list[int] = []
    records = state.records
    monkeypatch.setattr(state, "records", lambda: reads.append(1) or records())
    feed = TelemetryFeed(Model(schema()), state)
    config = f'{{"srv6mgr-srv6:srv6": {{"local-sids": {{"sid": [{{"prefix": "{SID.name}"}}]}}}}}}'
    changed = feed.follow(asyncio.get_running_loop())
    try:
        await asyncio.to_thread(changed, [config], True)
        await asyncio.sleep(0)
        first = await feed.sample()
        assert first is not None
        assert await feed.sample() is first
        assert len(reads) == 1
        store.set_counters({SID.name: SidCounters(2, 2, 3, 4)}, {}, 8)
        second = await feed.sample()
        assert second is not None
        assert second.records.sample > first.records.sample
        assert len(reads) == 2
    finally:
        feed.close()
