"""Set and RPCs of srv6mgrd through the commit socket, confirmed commits included (ADR 0011)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from srv6mgrd.commits import locks
from srv6mgrd.commits.client import DEADLINE, CommitClient
from srv6mgrd.datastore.connection import DatastoreError, TimedOutError
from srv6mgrd.datastore.transaction import Edit
from srv6mgrd.gnmi.extensions import Confirmed, Step
from srv6mgrd.gnmi.workers import Caller
from srv6mgrd.model.rejection import RejectedError

_NORTHBOUND = "srv6-gnmid"
_OPERATIONS = "/srv6mgr-operations"
# Longest wait for the own change to arrive; it takes milliseconds.
_FOLLOWED_S = 2.0
# srv6mgrd ends its wait so long before the client's deadline, and we ours for srv6mgrd half as
# long before it, so that the client hears why.
_ANSWER_S = 0.2
_RPCS = {Step.CONFIRM: "confirm", Step.CANCEL: "cancel", Step.EXTEND: "extend"}


class Writer:
    """Used by any thread. Everything blocks, and raises RejectedError or a DatastoreError with
    nothing changed."""

    def __init__(
        self,
        client: CommitClient,
        modules: Sequence[str],
        is_bare: Callable[[], bool],
        followed: Callable[[int, float], object],
    ) -> None:
        """``modules`` are those whose configuration may be written; ``is_bare`` as in
        ``transaction.commit``; ``followed`` waits until readers have what came before a mark."""
        self._client = client
        self._modules = modules
        self._is_bare = is_bare
        self._followed = followed

    def commit(self, edits: Sequence[Edit], caller: Caller, confirmed: Confirmed | None) -> None:
        """Apply edits, or take a step of a confirmed commit; the caller's user needs the right to
        execute its RPCs (RFC 8341)."""
        if confirmed is None:
            self._apply(edits, caller, "")
        elif confirmed.step is Step.BEGIN:
            self._begin(edits, caller, confirmed)
        else:
            given: dict[str, str | int] = {"id": confirmed.id}
            if confirmed.step is Step.EXTEND:
                given["timeout"] = confirmed.seconds
            self.call(_RPCS[confirmed.step], given, caller)

    def _begin(self, edits: Sequence[Edit], caller: Caller, confirmed: Confirmed) -> None:
        given: dict[str, str | int] = {"id": confirmed.id, "timeout": confirmed.seconds}
        self.call("commit", given, caller)
        try:
            self._apply(edits, caller, confirmed.id)
        except TimedOutError:
            # It goes on, and is rolled back in time unless it is confirmed.
            raise
        except (RejectedError, DatastoreError):
            self.call("cancel", {"id": confirmed.id}, Caller())
            raise

    def _apply(self, edits: Sequence[Edit], caller: Caller, name: str) -> None:
        mark = self._client.edit(
            _named(caller),
            self._modules,
            edits,
            commit=name,
            bare=self._is_bare(),
            deadline=time_to_begin(caller),
            timeout=_time_to_answer(caller),
            warn=caller.warnings.append,
        )
        # Who reads next finds what it wrote.
        self._followed(mark, _FOLLOWED_S)

    def call(self, rpc: str, given: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """An RPC of srv6mgr-operations; the caller's user needs the right to execute it."""
        path = f"{_OPERATIONS}:{rpc}"
        return self._client.rpc(
            _named(caller), path, given, time_to_begin(caller), timeout=_time_to_answer(caller)
        )


def _named(caller: Caller) -> locks.Caller:
    # A client that need not authenticate has no name, and no rules that could apply.
    return locks.Caller(
        _NORTHBOUND,
        caller.user or "",
        address=caller.address,
        is_restricted=caller.user is not None,
    )


def time_to_begin(caller: Caller) -> float:
    """Seconds that a request may wait until it is begun."""
    left = caller.seconds_left(DEADLINE)
    return max(0.0, left - min(_ANSWER_S, left / 4))


def _time_to_answer(caller: Caller) -> float | None:
    """Seconds that its answer may take; None: its client does not say."""
    if caller.deadline is None:
        return None
    left = caller.seconds_left(DEADLINE)
    return max(0.0, left - min(_ANSWER_S, left / 4) / 2)
