"""The commit clock, with a datastore that takes part in commits as sysrepo does."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import secrets
import sqlite3
import threading
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from srv6mgrd.counters.node import TRANSACTIONS
from srv6mgrd.datastore.clock import CommitClock
from srv6mgrd.datastore.connection import DatastoreError, NonePendingError, PendingError
from srv6mgrd.datastore.history import History, Origin, Status
from srv6mgrd.model.refusal import Refusal, RefusedError
from srv6mgrd.news import News, commit_undone
from srv6mgrd.storage import Problems, StorageError

A, B, C = '{"at":"a"}', '{"at":"b"}', '{"at":"c"}'
ALICE = Origin("srv6-gnmid", "alice", "one")
ID = "7f3a9c21"
BOB = Origin("srv6-netconfd", "bob")
SECOND = 1_000_000_000


class Manager:
    """Refuses what it was told to refuse."""

    def __init__(self) -> None:
        self.refuse: set[str] = set()
        self.warnings: tuple[str, ...] = ()

    def change(self, tree: Mapping[str, Any], *, rollback: bool = False) -> int:
        if tree["at"] in self.refuse:
            raise RefusedError([Refusal("it", "the kernel refused it", "wait", "refused")])
        return 1

    def stored(self) -> None: ...

    def aborted(self) -> None: ...


class Running:
    """The running configuration; ``replace`` runs in a thread and asks the loop, as sysrepo."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.tree = A
        self.startup = A
        self.saved: list[str] = []
        self.replaced: list[str] = []
        self.clock: CommitClock
        self._loop = loop

    def read(self) -> str:
        return self.tree

    def replace(self, tree: str, origin: Origin) -> None:
        async def in_loop() -> None:
            self.commit(tree, origin)

        self.replaced.append(tree)
        asyncio.run_coroutine_threadsafe(in_loop(), self._loop).result(10)

    def commit(self, tree: str, origin: Origin) -> None:
        """An edit through any door."""
        if tree == self.tree:
            return
        self.clock.change(tree, origin)
        self.tree = tree
        self.clock.stored()

    def is_saved(self) -> bool:
        return self.startup == self.tree

    def save(self) -> None:
        self.startup = self.tree
        self.saved.append(self.tree)


class Node:
    def __init__(self) -> None:
        self.members: dict[str, Mapping[str, Any]] = {}

    def show(self, member: str, data: Mapping[str, Any]) -> None:
        self.members[member] = data


class Herald:
    def __init__(self) -> None:
        self.told: list[News] = []

    def put(self, news: Iterable[News]) -> None:
        self.told += news


class World:
    """One srv6mgrd after the other on the same disk and the same running configuration."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.now = 1000 * SECOND
        self.manager, self.node, self.herald = Manager(), Node(), Herald()
        self.running = Running(asyncio.get_running_loop())
        self.history: History
        self.clock: CommitClock
        self.start()

    def start(self) -> None:
        self.problems = Problems()
        self.history = History(self._path / "history.sqlite", keep=5, problems=self.problems)
        self.clock = CommitClock(
            self.history,
            self.manager,
            self.running,
            self.node,
            self.herald,
            now=lambda: self.now,
            problems=self.problems,
        )
        self.running.clock = self.clock
        self.clock.start(self.running.tree)

    async def kill(self) -> None:
        """As if by SIGKILL: nothing is told to the disk."""
        await self.clock.close()
        self.history.close()

    def statuses(self) -> list[str]:
        return [t.status.value for t in self.history.transactions()]


@pytest.fixture
async def world(tmp_path: Path) -> Any:
    made = World(tmp_path)
    yield made
    await made.kill()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.005)


async def test_a_commit_is_recorded_and_becomes_the_startup_configuration(world: World) -> None:
    world.running.commit(B, BOB)
    newest, first = world.history.transactions()
    assert (newest.origin, newest.actions, newest.status) == (BOB, 1, Status.DONE)
    assert first.origin.door == "startup"
    assert world.history.configuration(newest.id) == B
    await until(lambda: world.running.saved == [B])
    entry = world.node.members[TRANSACTIONS]["transaction"][0]
    assert (entry["origin"], entry["user"], entry["status"]) == ("srv6-netconfd", "bob", "done")


async def test_a_restart_records_only_what_changed_meanwhile(world: World) -> None:
    world.running.commit(B, BOB)
    await world.kill()
    world.start()
    assert len(world.history.transactions()) == 2
    await world.kill()
    world.running.tree = C
    world.start()
    assert world.history.transactions()[0].origin.door == "startup"
    assert world.history.latest() == C


async def test_the_oldest_transactions_are_forgotten(world: World) -> None:
    for number in range(10):
        world.running.commit(json.dumps({"at": str(number)}), BOB)
    numbers = [t.id for t in world.history.transactions()]
    assert numbers == [11, 10, 9, 8, 7]


async def test_what_is_confirmed_stays(world: World) -> None:
    await world.clock.begin(ALICE, 60, B)
    assert world.statuses()[0] == "awaiting-confirmation"
    assert world.node.members[TRANSACTIONS]["pending"]["id"] == ID
    assert not world.running.saved
    world.clock.confirm("one")
    assert world.statuses()[0] == "done"
    assert "pending" not in world.node.members[TRANSACTIONS]
    await until(lambda: world.running.saved == [B])
    world.running.commit(C, BOB)


async def test_what_is_not_confirmed_is_undone_once(world: World) -> None:
    await world.clock.begin(ALICE, 1, B)
    await until(lambda: world.history.pending is None)
    assert world.running.tree == A
    assert world.running.replaced == [B, A]
    assert [t.status for t in world.history.transactions()[:2]] == [Status.DONE, Status.ROLLED_BACK]
    assert commit_undone(ID) in world.herald.told


async def test_edits_of_the_commit_may_follow_and_those_of_others_wait(world: World) -> None:
    await world.clock.begin(ALICE, 60)
    with pytest.raises(PendingError, match=f"commit {ID}: it came through srv6-gnmid of alice and"):
        world.running.commit(B, BOB)
    with pytest.raises(PendingError, match="awaits confirmation"):
        await world.clock.begin(Origin("rpc", token="two"), 60, B)
    world.running.commit(B, ALICE)
    world.running.commit(C, ALICE)
    await world.clock.cancel("one")
    assert world.running.tree == A
    assert world.statuses()[:3] == ["done", "rolled-back", "rolled-back"]


async def test_more_time_is_given_by_its_name(world: World) -> None:
    await world.clock.begin(ALICE, 1, B)
    world.clock.extend("one", 60)
    world.running.commit(C, ALICE)
    pending = world.history.pending
    assert pending is not None
    assert (pending.before, pending.timeout) == (A, 60)
    with pytest.raises(PendingError, match=f"commit {ID}: it came through"):
        await world.clock.begin(ALICE, 60, B)
    await world.clock.cancel("one")
    assert world.running.tree == A


async def test_it_gets_another_name(world: World) -> None:
    await world.clock.begin(ALICE, 60, B)
    world.clock.extend("one", 60, "two")
    with pytest.raises(RefusedError, match=f"commit: it is commit {ID} that awaits"):
        world.clock.confirm("one")
    world.running.commit(C, replace(ALICE, token="two"))
    await world.clock.cancel("two")
    assert world.running.tree == A


async def test_it_is_of_who_edits_it(world: World) -> None:
    await world.clock.begin(Origin("rpc", token="one"), 60)
    world.running.commit(B, ALICE)
    assert world.node.members[TRANSACTIONS]["pending"]["user"] == "alice"
    pending = world.history.pending
    assert pending is not None
    assert pending.origin == replace(ALICE, token="")
    await world.clock.cancel("one")
    assert world.running.tree == A


async def test_what_is_refused_leaves_nothing_pending(world: World) -> None:
    world.manager.refuse = {"b"}
    with pytest.raises(RefusedError, match="the kernel refused it"):
        await world.clock.begin(ALICE, 60, B)
    assert world.history.pending is None
    assert world.running.tree == A
    world.running.commit(C, BOB)


async def test_an_unknown_commit_is_refused(world: World) -> None:
    edit = partial(world.running.commit, B, replace(ALICE, token="x"))
    attempts = (partial(world.clock.confirm, "x"), partial(world.clock.extend, "x", 9), edit)
    for attempt in attempts:
        with pytest.raises(NonePendingError, match="commit: no commit awaits confirmation; it"):
            attempt()
    with pytest.raises(NonePendingError, match="commit: no commit awaits confirmation; it"):
        await world.clock.cancel("x")
    await world.clock.begin(ALICE, 60)
    for attempt in attempts[:2]:
        with pytest.raises(RefusedError, match=f"it is commit {ID} that awaits confirmation; ch"):
            attempt()
    with pytest.raises(PendingError, match=f"commit {ID}: it came through"):
        edit()


async def test_a_restart_in_the_window_goes_back_on_time(world: World) -> None:
    await world.clock.begin(ALICE, 60, B)
    await world.kill()
    world.now += 20 * SECOND
    world.start()
    assert world.running.tree == B
    with pytest.raises(PendingError):
        world.running.commit(C, BOB)
    await world.kill()
    world.now += 40 * SECOND
    world.start()
    await until(lambda: world.history.pending is None)
    assert world.running.tree == A
    assert world.running.replaced == [B, A]


async def test_a_clock_that_was_set_back_gives_no_more_time(world: World) -> None:
    await world.clock.begin(ALICE, 1, B)
    await world.kill()
    world.now -= 500 * SECOND
    world.start()
    await until(lambda: world.running.tree == A)


async def test_a_rollback_that_is_refused_is_told_and_tried_on(world: World) -> None:
    await world.clock.begin(ALICE, 60, B)
    world.manager.refuse = {"a"}
    with pytest.raises(RefusedError, match="the kernel refused it"):
        await world.clock.cancel("one")
    await until(lambda: any(n.name == "rollback-failed" for n in world.herald.told))
    assert "the kernel refused it" in world.node.members[TRANSACTIONS]["pending"]["problem"]
    with pytest.raises(PendingError, match="being undone"):
        world.running.commit(C, ALICE)
    world.manager.refuse = set()
    await until(lambda: commit_undone(ID) in world.herald.told)
    assert world.running.tree == A
    assert [n.name for n in world.herald.told].count("commit-undone") == 1


async def test_what_can_t_be_undone_may_be_confirmed(world: World) -> None:
    await world.clock.begin(ALICE, 60, B)
    world.manager.refuse = {"a"}
    with pytest.raises(RefusedError):
        await world.clock.cancel("one")
    world.clock.confirm("one")
    assert world.statuses()[0] == "done"
    world.running.commit(C, BOB)


@pytest.mark.parametrize("write", range(1, 10))
async def test_killed_at_any_write_to_disk_it_ends_old_or_new(
    world: World, write: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever write to the history is the last one, the configuration is one of both, and
    nothing is pending for ever."""

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
        await _ignoring(Killed, world.clock.begin(ALICE, 60, B))
        await _ignoring(Killed, world.clock.cancel("one"))
    await world.kill()
    world.now += 61 * SECOND
    world.start()
    await until(lambda: world.history.pending is None)
    assert world.running.tree in (A, B)
    assert world.running.tree == A or world.history.transactions()[0].status is Status.DONE


async def _ignoring(kind: type[BaseException], work: Awaitable[None]) -> None:
    with contextlib.suppress(kind, NonePendingError):
        await work


async def test_rolling_back_to_a_past_transaction(world: World) -> None:
    world.running.commit(B, BOB)
    world.running.commit(C, BOB)
    number = world.history.transactions()[1].id
    await world.clock.roll_back(number, Origin("rpc"))
    assert world.running.tree == B
    with pytest.raises(RefusedError, match="transaction 99: its configuration is not known"):
        await world.clock.roll_back(99, Origin("rpc"))


async def test_a_startup_configuration_that_can_t_be_saved_is_no_failure(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full() -> None:
        raise DatastoreError("no space left")

    monkeypatch.setattr(world.running, "save", full)
    world.running.commit(B, BOB)
    await until(lambda: "no space left" in caplog.text)
    world.running.commit(C, BOB)


async def test_closing_waits_for_what_still_asks_the_datastore(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, done = threading.Event(), threading.Event()

    def slow() -> None:
        goes_on.wait(10)
        done.set()

    monkeypatch.setattr(world.running, "save", slow)
    world.running.commit(B, BOB)
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_later(0.05, goes_on.set)
    await world.clock.close()
    assert done.is_set()


@pytest.fixture(autouse=True)
def short_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("srv6mgrd.datastore.clock._RETRY_FIRST", 0.01)
    monkeypatch.setattr("srv6mgrd.datastore.startup.RETRY_FIRST", 0.01)


@pytest.fixture(autouse=True)
def made_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    made = secrets.token_hex
    monkeypatch.setattr(
        "srv6mgrd.datastore.pending.secrets.token_hex", lambda n: ID if n == 4 else made(n)
    )


class FullDisk:
    """Nothing that takes room can be written; files can be removed."""

    def __init__(self, world: World, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

        def full(_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        def transaction(_: object) -> Any:
            raise StorageError("history.sqlite: it can't be written (disk is full); make room")

        patch.setattr("srv6mgrd.datastore.pending.json.dump", lambda *_: full(None))
        patch.setattr(world.history._database, "transaction", lambda: transaction(None))

    def empty(self) -> None:
        self._patch.undo()


async def test_a_full_disk_at_the_deadline_stops_no_rollback(world: World) -> None:
    await world.clock.begin(ALICE, 60, B)
    with pytest.MonkeyPatch.context() as patch:
        disk = FullDisk(world, patch)
        world.now += 61 * SECOND
        world.clock._go_back()
        await until(lambda: commit_undone(ID) in world.herald.told)
        assert world.running.tree == A
        assert world.statuses()[:2] == ["done", "rolled-back"]
        disk.empty()
    assert world.history.save()
    await world.kill()
    world.start()
    assert world.statuses()[:2] == ["done", "rolled-back"]
    assert world.running.replaced == [B, A]


async def test_a_rollback_that_was_never_recorded_is_not_repeated(world: World) -> None:
    await world.clock.begin(ALICE, 60, B)
    with pytest.MonkeyPatch.context() as patch:
        FullDisk(world, patch)
        await world.clock.cancel("one")
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
            await world.clock.begin(ALICE, 60, B)
        assert world.running.tree == A
        world.running.commit(C, BOB)
    await world.clock.begin(ALICE, 60, B)
    world.clock.confirm("one")


async def test_a_confirmation_that_can_t_be_kept_is_rejected(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next start would roll it back."""
    await world.clock.begin(ALICE, 60, B)

    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", read_only)
        with pytest.raises(DatastoreError, match="Read-only file system"):
            world.clock.confirm("one")
        assert world.statuses()[0] == "awaiting-confirmation"
    world.clock.confirm("one")
    assert world.statuses()[0] == "done"


async def test_whatever_stops_a_rollback_it_is_tried_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.clock.begin(ALICE, 60, B)
    replace_all, failures = world.running.replace, [MemoryError(), OSError("no thread left")]

    def failing(tree: str, origin: Origin) -> None:
        if failures:
            raise failures.pop()
        replace_all(tree, origin)

    monkeypatch.setattr(world.running, "replace", failing)
    world.clock._go_back()
    await until(lambda: commit_undone(ID) in world.herald.told)
    assert world.running.tree == A


async def test_a_startup_configuration_is_saved_as_soon_as_it_can_be(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def full() -> None:
        tries.append(1)
        raise DatastoreError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(world.running, "save", full)
        world.running.commit(B, BOB)
        await until(lambda: len(tries) > 1)
        assert "no space left" in world.problems.listed()["startup configuration"][0]
    await until(lambda: world.running.saved == [B])
    await until(lambda: not world.problems.listed())


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
    await until(lambda: world.history.pending is None)
    assert world.running.tree == A
    await world.kill()
    world.start()
    assert world.history.pending is None


async def test_the_token_of_a_commit_is_shown_nowhere(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token = "hunter2-not-for-others"
    said = []
    await world.clock.begin(replace(ALICE, token=token), 60)
    world.running.commit(B, replace(ALICE, token=token))
    for wrong in (
        partial(world.running.commit, C, BOB),
        partial(world.clock.confirm, "x"),
        partial(world.clock.extend, "x", 9),
    ):
        with pytest.raises((PendingError, RefusedError)) as rejected:
            wrong()
        said.append(str(rejected.value))
    with pytest.raises(PendingError) as rejected:
        await world.clock.begin(BOB, 60)
    said += [str(rejected.value), repr(world.history.pending), repr(world.history.transactions())]
    files = [f.read_bytes() for f in tmp_path.iterdir()]
    world.running.commit(A, replace(ALICE, token=token))
    world.clock.confirm(token)
    with pytest.raises(NonePendingError) as none:
        world.clock.confirm(token)
    await world.kill()
    files += [f.read_bytes() for f in tmp_path.iterdir()]
    world.start()
    said += [str(none.value), str(world.node.members), str(world.herald.told), caplog.text]
    assert token not in "".join(said)
    assert not any(token.encode() in content for content in files)


async def test_it_is_confirmed_by_its_public_id_too(world: World) -> None:
    """srv6ctl goes on by that; who may call the RPCs is for NACM to say."""
    await world.clock.begin(ALICE, 60, B)
    with pytest.raises(RefusedError, match="it is commit"):
        world.clock.confirm("", "other")
    with pytest.raises(RefusedError, match="it is commit"):
        world.clock.confirm(ID)
    world.clock.confirm("", ID)
    assert world.statuses()[0] == "done"
    assert world.history.transactions()[0].commit_id == ID


async def test_a_northbound_may_name_a_commit(world: World) -> None:
    await world.clock.begin(ALICE, 60, B, "netconf-session-7")
    with pytest.raises(PendingError, match="commit netconf-session-7: it came through"):
        world.running.commit(C, BOB)
    with pytest.raises(RefusedError):
        world.clock.confirm("netconf-session-7")
    await world.clock.cancel("one")


async def test_who_calls_himself_srv6mgrd_does_not_roll_back(world: World) -> None:
    await world.clock.begin(ALICE, 60, B)
    with pytest.raises(PendingError):
        world.running.commit(C, Origin("srv6mgrd", "alice", ID))


async def test_a_token_outlives_a_restart(world: World) -> None:
    await world.clock.begin(ALICE, 60, B)
    await world.kill()
    world.start()
    world.running.commit(C, ALICE)
    world.clock.check("one")
    world.clock.confirm("one")
    assert world.running.tree == C


async def test_tokens_of_an_older_version_are_forgotten(world: World, tmp_path: Path) -> None:
    await world.kill()
    with sqlite3.connect(tmp_path / "history.sqlite") as db:
        db.execute("update transactions set name = 'secret'")
        db.execute("pragma user_version = 0")
    db.close()
    world.start()
    await world.kill()
    assert b"secret" not in (tmp_path / "history.sqlite").read_bytes()
    world.start()


async def test_what_was_committed_last_is_saved_before_the_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, goes_on = threading.Event(), threading.Event()

    def slow() -> None:
        tree = world.running.tree
        began.set()
        goes_on.wait(10)
        world.running.saved.append(tree)

    monkeypatch.setattr(world.running, "save", slow)
    world.running.commit(B, BOB)
    await asyncio.to_thread(began.wait, 10)
    world.running.commit(C, BOB)
    asyncio.get_running_loop().call_later(0.05, goes_on.set)
    await world.clock.close()
    assert world.running.saved == [B, C]


async def test_what_a_killed_process_had_not_saved_is_saved_by_the_next(world: World) -> None:
    world.running.commit(B, BOB)
    await until(lambda: world.running.saved == [B])
    await world.kill()
    world.running.startup = A
    world.start()
    await until(lambda: world.running.saved == [B, B])
    await world.kill()
    world.start()
    await world.clock.close()
    assert world.running.saved == [B, B]


async def test_what_awaits_confirmation_is_not_saved_by_a_start(world: World) -> None:
    await world.clock.begin(ALICE, 600, B)
    await world.kill()
    world.start()
    await world.clock.close()
    assert not world.running.saved


async def test_a_startup_configuration_that_can_t_be_saved_does_not_delay_the_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("srv6mgrd.datastore.startup.RETRY_FIRST", 60.0)

    def full() -> None:
        raise DatastoreError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(world.running, "save", full)
        world.running.commit(B, BOB)
        await until(world.problems.listed)
        await asyncio.wait_for(world.clock.close(), 10)
