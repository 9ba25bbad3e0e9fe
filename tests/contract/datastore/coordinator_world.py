"""The commit clock between sysrepo and a manager that does nothing, in one event loop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from ipaddress import IPv6Network
from pathlib import Path
from typing import Any

import sysrepo

from srv6mgrd.commits.paths import commit_socket
from srv6mgrd.commits.revisions import Revisions
from srv6mgrd.commits.service import CommitService
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.datastore.coordinator import CommitCoordinator, Node, Notifier
from srv6mgrd.datastore.history import History, Pending, Transaction
from srv6mgrd.datastore.participant import Participant
from srv6mgrd.datastore.rpc import RpcSubscription
from srv6mgrd.datastore.running import MODULE, TREE, Running
from srv6mgrd.datastore.subscription import ConfigSubscription
from srv6mgrd.datastore.transaction import Edit, Op, commit
from srv6mgrd.in_loop import InLoop
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6mgrd.model.sid_changes import SidChange
from srv6mgrd.notifications import Notification
from srv6mgrd.plan.actions import Action, Create

SID = SidRoute(IPv6Network("fcbb:0:1:64::/64"), Behavior.END, 8986)


class Manager:
    def __init__(self) -> None:
        self.trees: list[Mapping[str, Any]] = []
        # What became of commits: changed, then stored or aborted.
        self.events: list[str] = []
        self.cleared: list[str | None] = []
        self.rejection: Rejection | None = None
        self.change_rejection: Rejection | None = None
        # Raises RejectedError for a configuration that it rejects.
        self.judge: Callable[[Mapping[str, Any]], None] = lambda _: None
        self.warnings: tuple[str, ...] = ()

    async def plan(self, tree: Mapping[str, Any]) -> list[Action]:
        self.trees.append(tree)
        if self.rejection is not None:
            raise RejectedError([self.rejection])
        self.judge(tree)
        return [Create(SID)]

    async def reconcile(self) -> list[Action]:
        return []

    async def clear_counters(self, sid: str | None = None) -> None:
        self.cleared.append(sid)

    def change_sids(self, changes: Sequence[SidChange], *, rollback: bool = False) -> int | None:
        return None

    def change(self, tree: Mapping[str, Any], *, rollback: bool = False) -> int:
        if self.change_rejection is not None:
            raise RejectedError([self.change_rejection])
        self.judge(tree)
        self.events.append("changed")
        return 1

    def stored(self) -> None:
        self.events.append("stored")

    def aborted(self) -> None:
        self.events.append("aborted")


class Client:
    """Sends RPCs from a thread, as another process would."""

    def __init__(self, session: Any) -> None:
        self._session = session

    async def send(self, name: str, given: dict[str, Any]) -> Any:
        path = f"/srv6mgr-operations:{name}"
        try:
            return await asyncio.to_thread(self._session.rpc_send, path, given)
        except sysrepo.SysrepoInternalError as error:
            # What the binding makes of an answer without output.
            if "returned NULL" in str(error):
                return None
            raise


class Silent:
    """Nobody is notified."""

    def show(self, member: str, data: Mapping[str, Any]) -> None: ...

    def put(self, notifications: Iterable[Notification], left_out: int = 0) -> None: ...


class World:
    """RPCs, commits and the clock between them, in one event loop, as in srv6mgrd."""

    def __init__(
        self,
        node: Node | None = None,
        notifier: Notifier | None = None,
        *,
        save: bool = True,
        runtime: Path | None = None,
        manager: Manager | None = None,
    ) -> None:
        """``runtime``: folder of a commit socket; None: there is none."""
        self.manager = manager or Manager()
        self.running, self.history = Running(), History(None)
        self.coordinator = CommitCoordinator(
            self.history,
            self.running,
            node or Silent(),
            notifier or Silent(),
            warnings=lambda: self.manager.warnings,
            save=save,
        )
        self._subscription, self._rpcs = ConfigSubscription(), RpcSubscription()
        loop = asyncio.get_running_loop()
        participant = Participant(self.manager, self.coordinator, InLoop(loop))
        self._writer = ThreadPoolExecutor(1, "writer")
        self._subscription.start(participant.change, participant.stored, participant.aborted)
        self.coordinator.start(self._subscription.text())
        self._subscription.follow(self._writer)
        self._rpcs.start(self.manager, self.coordinator)
        self._runtime = runtime
        self._commits: CommitService | None = None
        self.serve_commits()
        self._connection = Connection(originator="test")
        self.client = Client(self._connection.session())
        self.startup = self._connection.session("startup")

    def serve_commits(self) -> None:
        """In the thread of the loop."""
        if self._runtime is not None:
            revisions = Revisions(asyncio.get_running_loop(), self.coordinator)
            self._commits = CommitService(commit_socket(self._runtime), revisions)

    async def end_commits(self) -> None:
        """Nobody listens at the commit socket, and every connection to it ends."""
        if self._commits is not None:
            await asyncio.to_thread(self._commits.close)
            self._commits = None

    async def edit(self, tree: Mapping[str, Any], *data: str) -> None:
        """What another northbound does."""

        def replace() -> None:
            with self._connection.session_of("door", *data) as session:
                commit(session, (MODULE,), [Edit(Op.REPLACE, TREE, json.dumps(tree).encode())])

        await asyncio.to_thread(replace)

    async def read(self) -> Any:
        return json.loads(await asyncio.to_thread(self.running.read))

    async def close(self) -> None:
        await self.end_commits()
        await self.coordinator.close()
        self._connection.close()
        self._rpcs.close()
        self._subscription.unfollow()
        await asyncio.to_thread(self._writer.shutdown)
        self._subscription.close()
        self.running.close()
        await asyncio.to_thread(self.history.close)


class Loop:
    """An event loop in a thread, with a World in it."""

    def __init__(
        self,
        node: Node | None = None,
        notifier: Notifier | None = None,
        *,
        save: bool = True,
        runtime: Path | None = None,
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

        async def make() -> World:
            return World(node, notifier, save=save, runtime=runtime)

        try:
            self.world: World = self.run(make())
        except BaseException:
            self._end()
            raise

    def begin(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.begin(work).result(30)

    def pending(self) -> Pending | None:
        async def read() -> Pending | None:
            return self.world.history.pending

        found: Pending | None = self.run(read())
        return found

    def newest(self) -> Transaction:
        async def read() -> Transaction:
            return self.world.history.transactions()[0]

        found: Transaction = self.run(read())
        return found

    def close(self) -> None:
        self.run(self.world.close())
        self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
