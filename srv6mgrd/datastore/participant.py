"""srv6mgrd's part in a commit of sysrepo, in the writer's thread."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from srv6mgrd import memory
from srv6mgrd.datastore.config_change import ConfigChange
from srv6mgrd.datastore.coordinator import CommitCoordinator
from srv6mgrd.datastore.history import Origin, packed
from srv6mgrd.datastore.recording import Stored
from srv6mgrd.in_loop import InLoop
from srv6mgrd.model.sid_changes import SidChange, sid_changes
from srv6mgrd.threads import one_thread


class Commits(Protocol):
    """Who carries commits out (``manager.commits.Commits``)."""

    def change(self, tree: Mapping[str, Any], *, rollback: bool = False) -> int: ...

    def change_sids(self, changes: Sequence[SidChange], *, rollback: bool = False) -> int | None:
        """None: these changes do not say."""
        ...

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
        # A commit that we agreed to, until sysrepo says what became of it: its configuration or
        # what it changes, and what the clock records of it.
        self._staged: tuple[str | Sequence[SidChange], Stored] | None = None

    @memory.searched_later()
    def change(self, change: ConfigChange, origin: Origin) -> None:
        """Carry out a commit. Raises RejectedError or PendingError with nothing changed."""
        rollback = self._in_loop.ask(self._coordinator.admit, origin)
        try:
            configuration, actions = self._carried_out(change, rollback=rollback)
        except BaseException:
            self._in_loop.ask(self._coordinator.ended)
            raise
        size = len(configuration) if isinstance(configuration, str) else self._coordinator.size
        self._staged = configuration, Stored(origin, actions, size, rollback=rollback)

    def _carried_out(
        self, change: ConfigChange, *, rollback: bool
    ) -> tuple[str | Sequence[SidChange], int]:
        """The configuration, or the changes in it where these are enough; and how many actions it
        took."""
        if self._coordinator.takes_changes and (diff := change.small_diff()) is not None:
            changes = sid_changes(diff)
            if changes:
                actions = self._commits.change_sids(changes, rollback=rollback)
                if actions is not None:
                    return changes, actions
        text = change.text()
        tree = _parsed(text)
        try:
            return text, self._commits.change(tree, rollback=rollback)
        finally:
            memory.let_go(tree)

    @memory.searched_later()
    def stored(self) -> None:
        """The commit is through."""
        self._commits.stored()
        staged, self._staged = self._staged, None
        if staged is not None:
            configuration, stored = staged
            # Compressed here, which takes too long for the event loop, as does the disk.
            recorded = packed(configuration)
            self._in_loop.ask(self._coordinator.stored, stored, recorded).result()

    def aborted(self) -> None:
        """Somebody else rejected the commit after us."""
        self._commits.aborted()
        self.give_up()

    def give_up(self) -> None:
        """Nothing comes of the commit that was agreed to last."""
        self._staged = None
        self._in_loop.ask(self._coordinator.ended)


def _parsed(tree: str) -> dict[str, Any]:
    """As ``json.loads`` does it, which keeps every other thread from running until it is done:
    200 ms for 100,000 SIDs. Where it calls a function of Python they may run."""
    data: dict[str, Any] = json.loads(tree, object_hook=lambda members: members)
    return data
