"""How far a commit is, and whether who carries it out gets on."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from srv6mgrd.progress import Heartbeat, Progress, Work, all_alive
from srv6mgrd.stages import Stage, Stages


def test_a_commit_has_a_stage_and_an_object() -> None:
    progress = Progress(clock=lambda: 7)
    stages = Stages(progress=progress)

    with stages(Stage.COMMIT):
        with stages(Stage.PLAN):
            assert progress.work == Work("commit", 7, "plan")
        progress.write(2, 5, "vrf red")
        with stages(Stage.SAMPLE):
            # Of another thread.
            assert progress.work == Work("commit", 7, "plan", 2, 5, "vrf red")
    assert progress.work is None


def test_each_stage_and_each_round_of_actions_is_a_step() -> None:
    progress = Progress()
    stages = Stages(progress=progress)
    seen = []

    with stages(Stage.REPAIR):
        seen.append(progress.steps)
        with stages(Stage.JOURNAL):
            seen.append(progress.steps)
        progress.write(0, 5, "vrf red")
        seen.append(progress.steps)
        with stages(Stage.SAMPLE):
            seen.append(progress.steps)

    assert [*seen, progress.steps] == [1, 2, 3, 3, 4]


def test_a_thread_that_does_nothing_more_has_no_heartbeat() -> None:
    thread, progress, hung = ThreadPoolExecutor(1, "writer"), Progress(), threading.Event()
    try:
        heartbeat = Heartbeat(thread, lambda: progress.steps)
        assert heartbeat.is_alive()
        thread.submit(lambda: None).result()
        assert heartbeat.is_alive()
        thread.submit(lambda: None).result()

        thread.submit(hung.wait)
        # The beat that waits behind it.
        assert heartbeat.is_alive()
        assert not heartbeat.is_alive()
        assert not heartbeat.is_alive()
        progress.step()
        assert heartbeat.is_alive()
        assert not heartbeat.is_alive()

        hung.set()
        thread.submit(lambda: None).result()
        assert heartbeat.is_alive()
    finally:
        hung.set()
        thread.shutdown()


def test_each_is_asked() -> None:
    thread, hung = ThreadPoolExecutor(1, "writer"), threading.Event()
    other = ThreadPoolExecutor(1, "state")
    try:
        thread.submit(hung.wait)
        heartbeats = Heartbeat(thread), Heartbeat(other)
        assert all_alive(heartbeats)
        assert not all_alive(heartbeats)
        hung.set()
        thread.submit(lambda: None).result()
        other.submit(lambda: None).result()
        assert all_alive(heartbeats)
    finally:
        hung.set()
        thread.shutdown()
        other.shutdown()
