"""The proof that srv6mgrd's threads get on: without it, systemd's watchdog ends the process.

Steps are counted, since times depend on the machine: each part of a long piece of work is one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from srv6mgrd.progress import EVERY, heartbeats, progress, state_progress
from tests.unit.manager.test_event_loop import configuration
from tests.unit.manager.world import World

SIDS = 5 * EVERY


@pytest.fixture
def threads() -> Iterator[tuple[ThreadPoolExecutor, ThreadPoolExecutor]]:
    made = ThreadPoolExecutor(1, "writer"), ThreadPoolExecutor(1, "state")
    yield made
    for thread in made:
        thread.shutdown()


def test_publishing_many_statuses_takes_steps(tmp_path: Path) -> None:
    world = World(tmp_path / "store")
    world.manager.commits.change(configuration(SIDS))
    world.running = configuration(SIDS)
    before = state_progress.steps
    world.manager.commits.stored()
    # Statuses are worked out, and stored.
    assert state_progress.steps - before >= 2 * SIDS // EVERY


def test_a_sample_of_many_sids_takes_steps(tmp_path: Path) -> None:
    world = World(tmp_path / "store")
    world.commit(configuration(SIDS))
    before = state_progress.steps
    world.manager.sampling.beat()
    assert state_progress.steps - before >= SIDS // EVERY


def test_who_publishes_long_is_not_taken_for_hung(
    threads: tuple[ThreadPoolExecutor, ThreadPoolExecutor],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The writer waits for ``state`` meanwhile, and does nothing itself."""
    writer, state = threads
    world = World(tmp_path / "store", writer, state)
    arrived, go_on = threading.Event(), threading.Event()

    def publish(*_: object) -> None:
        arrived.set()
        go_on.wait()

    monkeypatch.setattr(world.outward, "publish", publish)
    found = heartbeats(writer, state)
    commit = writer.submit(world.commit, configuration(1))
    try:
        assert arrived.wait(10)
        # Each hands its thread a beat, which waits behind this work.
        for heartbeat in (*found, *found):
            heartbeat.is_alive()
        assert not any(heartbeat.is_alive() for heartbeat in found)
        state_progress.step()
        assert all(heartbeat.is_alive() for heartbeat in found)
        assert not any(heartbeat.is_alive() for heartbeat in found)
    finally:
        go_on.set()
    commit.result()


def test_state_says_nothing_of_a_writer_that_does_not_wait_for_it(
    threads: tuple[ThreadPoolExecutor, ThreadPoolExecutor],
) -> None:
    writer, state = threads
    of_writer, _ = heartbeats(writer, state)
    hung = threading.Event()
    writer.submit(hung.wait)
    try:
        for _ in range(2):
            of_writer.is_alive()
        state_progress.step()
        assert not of_writer.is_alive()
        progress.step()
        assert of_writer.is_alive()
    finally:
        hung.set()
