"""A confirmed commit outlives restarts, kills and full disks."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.datastore.connection import DatastoreError, NonePendingError, PendingError
from srv6mgrd.datastore.history import History, Origin, Status
from srv6mgrd.notifications import commit_rolled_back
from srv6mgrd.storage import StorageError
from tests.unit.datastore.coordinator.world import ALICE, BOB, ID, SECOND, A, B, C, World


async def test_a_restart_in_the_window_goes_back_on_time(world: World) -> None:
    await world.coordinator.begin(ALICE, 60, B)
    await world.kill()
    world.now += 20 * SECOND
    world.start()
    assert world.running.tree == B
    with pytest.raises(PendingError):
        world.running.commit(C, BOB)
    await world.kill()
    world.now += 40 * SECOND
    world.start()
    await wait_until_async(lambda: world.history.pending is None)
    assert world.running.tree == A
    assert world.running.replaced == [B, A]


async def test_a_clock_that_was_set_back_gives_no_more_time(world: World) -> None:
    await world.coordinator.begin(ALICE, 1, B)
    await world.kill()
    world.now -= 500 * SECOND
    world.start()
    await wait_until_async(lambda: world.running.tree == A)


@pytest.mark.parametrize("write", range(1, 10))
async def test_killed_at_any_write_to_disk_it_ends_old_or_new(
    world: World, write: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever write to the history is the last one, the configuration is one of both, and
    nothing is pending forever."""

    class Killed(BaseException):
        pass

    left = write

    def counted(method: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed
            return method(*args, **kwargs)

        return called

    with monkeypatch.context() as patch:
        for name in ("record", "mark", "pend", "follow", "keep"):
            patch.setattr(History, name, counted(getattr(History, name)))
        await _ignoring(Killed, world.coordinator.begin(ALICE, 60, B))
        await _ignoring(Killed, world.coordinator.confirmation.cancel("one"))
    await world.kill()
    world.now += 61 * SECOND
    world.start()
    await wait_until_async(lambda: world.history.pending is None)
    assert world.running.tree in (A, B)
    assert world.running.tree == A or world.history.transactions()[0].status is Status.DONE


async def _ignoring(kind: type[BaseException], work: Awaitable[None]) -> None:
    with contextlib.suppress(kind, NonePendingError):
        await work


class FullDisk:
    """Nothing that takes room can be written; files can be removed."""

    def __init__(self, world: World, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

        def full(_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        def transaction(_: object) -> Any:
            raise StorageError("history.sqlite: it can't be written (disk is full); make room")

        patch.setattr("srv6mgrd.datastore.pending._dump", lambda *_: full(None))
        patch.setattr(world.history._file._database, "transaction", lambda: transaction(None))

    def empty(self) -> None:
        self._patch.undo()


async def test_a_full_disk_at_the_deadline_stops_no_rollback(world: World) -> None:
    await world.coordinator.begin(ALICE, 60, B)
    with pytest.MonkeyPatch.context() as patch:
        disk = FullDisk(world, patch)
        world.now += 61 * SECOND
        world.coordinator.confirmation._go_back()
        await wait_until_async(lambda: commit_rolled_back(ID) in world.notifier.reported)
        assert world.running.tree == A
        assert world.statuses()[:2] == ["done", "rolled-back"]
        disk.empty()
    assert world.history.save().result()
    await world.kill()
    world.start()
    assert world.statuses()[:2] == ["done", "rolled-back"]
    assert world.running.replaced == [B, A]


async def test_a_rollback_that_was_never_recorded_is_not_repeated(world: World) -> None:
    await world.coordinator.begin(ALICE, 60, B)
    with pytest.MonkeyPatch.context() as patch:
        FullDisk(world, patch)
        await world.coordinator.confirmation.cancel("one")
        world.running.commit(C, BOB)
        await world.kill()
    world.start()
    assert world.history.pending is None
    assert world.running.tree == C
    assert "awaiting-confirmation" not in world.statuses()


async def test_what_could_not_be_rolled_back_after_a_restart_is_not_begun(world: World) -> None:
    with pytest.MonkeyPatch.context() as patch:
        FullDisk(world, patch)
        with pytest.raises(DatastoreError, match="writable, with room, then try again"):
            await world.coordinator.begin(ALICE, 60, B)
        assert world.running.tree == A
        world.running.commit(C, BOB)
    await world.coordinator.begin(ALICE, 60, B)
    await world.coordinator.confirmation.confirm("one")


async def test_a_confirmation_that_can_t_be_kept_is_rejected(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next start would roll it back."""
    await world.coordinator.begin(ALICE, 60, B)

    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", read_only)
        with pytest.raises(DatastoreError, match="Read-only file system"):
            await world.coordinator.confirmation.confirm("one")
        assert world.statuses()[0] == "awaiting-confirmation"
    await world.coordinator.confirmation.confirm("one")
    assert world.statuses()[0] == "done"


async def test_whatever_stops_a_rollback_it_is_tried_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.coordinator.begin(ALICE, 60, B)
    replace_all, failures = world.running.replace, [MemoryError(), OSError("no thread left")]

    def failing(tree: str, origin: Origin) -> None:
        if failures:
            raise failures.pop()
        replace_all(tree, origin)

    monkeypatch.setattr(world.running, "replace", failing)
    world.coordinator.confirmation._go_back()
    await wait_until_async(lambda: commit_rolled_back(ID) in world.notifier.reported)
    assert world.running.tree == A


async def test_a_pending_commit_of_an_older_version_is_taken_over(
    world: World, tmp_path: Path
) -> None:
    await world.kill()
    with sqlite3.connect(tmp_path / "history.sqlite") as db:
        db.execute(
            "create table pending (one integer primary key, name text, door text, user text,"
            " deadline integer, timeout integer, before blob, ended integer)"
        )
        row = ("one", "srv6-gnmid", "alice", world.now + SECOND, 1, zlib.compress(A.encode()))
        db.execute("insert into pending values (1, ?, ?, ?, ?, ?, ?, 0)", row)
        db.execute("pragma user_version = 0")
    db.close()
    world.running.tree = B
    world.start()
    await wait_until_async(lambda: world.history.pending is None)
    assert world.running.tree == A
    await world.kill()
    world.start()
    assert world.history.pending is None
