"""Revisions of the running configuration, and how they differ."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol

from srv6mgrd.commits.fields import Field
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.datastore.differences import differences
from srv6mgrd.datastore.history import Transaction
from srv6mgrd.model import names

# Paths that an error message names.
_NAMED = 5
_SECONDS = 30


class Coordinator(Protocol):
    """The history of commits (``datastore.coordinator.CommitCoordinator``)."""

    @property
    def revision(self) -> str: ...

    @property
    def warnings(self) -> Sequence[str]: ...

    @property
    def size(self) -> int: ...

    @property
    def pending(self) -> Mapping[str, str]: ...

    async def since(self, revision: str) -> tuple[Sequence[Transaction], str | None, str]: ...


class Revisions:
    """Asked by the thread that carries requests out, not by the event loop's."""

    def __init__(self, loop: asyncio.AbstractEventLoop, coordinator: Coordinator) -> None:
        self._loop = loop
        self._coordinator = coordinator

    def current(self) -> str:
        return self._coordinator.revision

    def size(self) -> int:
        """Bytes of the running configuration as JSON."""
        return self._coordinator.size

    def warnings(self) -> Sequence[str]:
        """Warnings for the client that made the last commit."""
        return self._coordinator.warnings

    def pending(self) -> list[Field]:
        """The commit that awaits confirmation, as the state shows it; none: no fields."""
        return [(name, value.encode()) for name, value in self._coordinator.pending.items()]

    def changed_since(self, revision: str, connection: Connection) -> str:
        """An error message: who changed what since then; empty when it is the same again."""

        asked = asyncio.run_coroutine_threadsafe(self._coordinator.since(revision), self._loop)
        transactions, before, now = asked.result(_SECONDS)
        remedy = "discard the candidate's changes and make them again"
        if before is None:
            return (
                "candidate: the running configuration has changed since its first edit, and the"
                f" history does not go back so far; {remedy}"
            )
        with connection.context() as context:
            paths = [change.path for change in differences(context, before, now)]
        if not paths:
            return ""
        by = ", ".join(_described(t) for t in transactions[:_NAMED])
        return (
            "candidate: the running configuration has changed since its first edit, by"
            f" {by}: {names.some(paths, _NAMED)}; {remedy}"
        )


def _described(transaction: Transaction) -> str:
    user = f" of {transaction.origin.user}" if transaction.origin.user else ""
    address = f" from {transaction.origin.address}" if transaction.origin.address else ""
    return f"transaction {transaction.id} ({transaction.origin.northbound}{user}{address})"
