"""The confirmed commit, with a datastore that takes part in commits as sysrepo does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from srv6mgrd.datastore.config_change import ConfigChange
from srv6mgrd.datastore.coordinator import CommitCoordinator
from srv6mgrd.datastore.history import History, Origin
from srv6mgrd.datastore.participant import Participant
from srv6mgrd.in_loop import InLoop
from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6mgrd.model.sid_changes import SidChange
from srv6mgrd.notifications import Notification
from srv6mgrd.storage import Problems

A, B, C = '{"at":"a"}', '{"at":"b"}', '{"at":"c"}'
ALICE = Origin("srv6-gnmid", "alice", "one")
ID = "7f3a9c21"
BOB = Origin("srv6-netconfd", "bob")
SECOND = 1_000_000_000


class Manager:
    """Rejects what the test lists."""

    def __init__(self) -> None:
        self.reject: set[str] = set()

    def change(self, tree: Mapping[str, Any], *, rollback: bool = False) -> int:
        if tree["at"] in self.reject:
            raise RejectedError([Rejection("it", "the kernel refused it", "wait", "refused")])
        return 1

    def change_sids(self, changes: Sequence[SidChange], *, rollback: bool = False) -> None:
        return None

    def stored(self) -> None: ...

    def aborted(self) -> None: ...


class Running:
    """The running configuration; ``replace`` runs in a thread and has another one commit, as
    sysrepo."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.tree = A
        self.startup = A
        self.saved: list[str] = []
        self.replaced: list[str] = []
        self.participant: Participant
        # Where commits are carried out; None: in the loop.
        self.writer: Executor | None = None
        self._loop = loop

    def read(self) -> str:
        return self.tree

    def replace(self, tree: str, origin: Origin) -> None:
        async def in_loop() -> None:
            self.commit(tree, origin)

        self.replaced.append(tree)
        if self.writer is not None:
            self.writer.submit(self.commit, tree, origin).result(10)
            return
        asyncio.run_coroutine_threadsafe(in_loop(), self._loop).result(10)

    def commit(self, tree: str, origin: Origin) -> None:
        """An edit through any northbound."""
        if tree == self.tree:
            return
        self.participant.change(ConfigChange(lambda: tree), origin)
        self.tree = tree
        self.participant.stored()

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


class Notifier:
    def __init__(self) -> None:
        self.reported: list[Notification] = []

    def put(self, notifications: Iterable[Notification], left_out: int = 0) -> None:
        self.reported += notifications


class World:
    """One srv6mgrd after the other on the same disk and the same running configuration."""

    def __init__(self, path: Path) -> None:
        self.file = path / "history.sqlite"
        self.now = 1000 * SECOND
        self.manager, self.node, self.notifier = Manager(), Node(), Notifier()
        self.running = Running(asyncio.get_running_loop())
        self.history: History
        self.coordinator: CommitCoordinator
        self.start()

    def start(self) -> None:
        self.problems = Problems()
        self.history = History(self.file, keep=5, problems=self.problems)
        self.coordinator = CommitCoordinator(
            self.history,
            self.running,
            self.node,
            self.notifier,
            now=lambda: self.now,
            problems=self.problems,
        )
        self.running.participant = Participant(
            self.manager, self.coordinator, InLoop(asyncio.get_running_loop())
        )
        self.coordinator.start(self.running.tree)

    async def kill(self) -> None:
        """As if by SIGKILL: nothing is written to the disk."""
        await self.coordinator.close()
        self.history.close()

    def statuses(self) -> list[str]:
        return [t.status.value for t in self.history.transactions()]
