"""srv6mgrd's part in a commit of sysrepo, in the writer's thread."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from srv6mgrd import memory
from srv6mgrd.datastore.coordinator import CommitCoordinator
from srv6mgrd.datastore.history import Origin, packed
from srv6mgrd.datastore.recording import Stored
from srv6mgrd.in_loop import InLoop
from srv6mgrd.threads import one_thread


class Commits(Protocol):
    """Who carries commits out (``manager.commits.Commits``)."""

    def change(self, tree: Mapping[str, Any], *, rollback: bool = False) -> int: ...

    def stored(self) -> None: ...

    def aborted(self) -> None: ...


@one_thread()
class Participant:
    """Asks the commit clock, which is the event loop's, has a commit carried out, and reports it to
    the clock. sysrepo's client waits until each of these returns."""

    def __init__(self, commits: Commits, coordinator: CommitCoordinator, in_loop: InLoop) -> None:
        self._commits = commits
        self._coordinator = coordinator
        self._in_loop = in_loop
        # A commit that we agreed to, until sysrepo says what became of it: its configuration, and
        # what the clock records of it.
        self._staged: tuple[str, Stored] | None = None

    @memory.searched_later()
    def change(self, tree: str, origin: Origin) -> None:
        """Carry out a commit. Raises RefusedError or PendingError with nothing changed."""
        rollback = self._in_loop.ask(self._coordinator.admit, origin)
        try:
            actions = self._commits.change(_parsed(tree), rollback=rollback)
        except BaseException:
            self._in_loop.ask(self._coordinator.ended)
            raise
        self._staged = tree, Stored(origin, actions, len(tree), rollback=rollback)

    @memory.searched_later()
    def stored(self) -> None:
        """The commit is through."""
        self._commits.stored()
        staged, self._staged = self._staged, None
        if staged is not None:
            tree, stored = staged
            # Compressed here, which takes too long for the event loop, as does the disk.
            self._in_loop.ask(self._coordinator.stored, stored, packed(tree)).result()

    def aborted(self) -> None:
        """Somebody else refused the commit after us."""
        self._commits.aborted()
        self.give_up()

    def give_up(self) -> None:
        """Nothing comes of the commit that was agreed to last."""
        self._staged = None
        self._in_loop.ask(self._coordinator.ended)


def _parsed(tree: str) -> Mapping[str, Any]:
    """As ``json.loads`` does it, which keeps every other thread from running until it is done:
    200 ms for 100,000 SIDs. Where it calls a function of Python they may run."""
    data: Mapping[str, Any] = json.loads(tree, object_hook=lambda members: members)
    return data
