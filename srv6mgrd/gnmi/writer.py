"""What a Set does to the datastore, commits to be confirmed included (docs/adr/0011)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from srv6mgrd.datastore import ffi
from srv6mgrd.datastore.connection import Connection, DatastoreError, worded
from srv6mgrd.datastore.transaction import TIMEOUT_MS, Edit, commit
from srv6mgrd.gnmi.authority import Authority
from srv6mgrd.gnmi.extensions import Confirmed, Step
from srv6mgrd.model.refusal import RefusedError

_DOOR = "srv6-gnmid"
_OPERATIONS = "/srv6mgr-operations"
_RPCS = {Step.CONFIRM: "confirm", Step.CANCEL: "cancel", Step.EXTEND: "extend"}


class Writer:
    """Used by one thread at a time. Everything blocks, and raises RefusedError or a
    DatastoreError with nothing changed."""

    def __init__(
        self,
        connection: Connection,
        modules: Sequence[str],
        authority: Authority,
        is_bare: Callable[[], bool],
    ) -> None:
        """``modules`` are those whose configuration may be written; ``is_bare`` tells
        ``commit``."""
        self._connection = connection
        self._modules = modules
        self._authority = authority
        self._is_bare = is_bare

    def commit(self, edits: Sequence[Edit], user: str | None, confirmed: Confirmed | None) -> None:
        """Apply edits, or take a step of a commit to be confirmed; ``user`` needs the right to
        execute its RPCs (RFC 8341)."""
        if confirmed is None:
            self._apply(edits, user, "")
        elif confirmed.step is Step.BEGIN:
            self._begin(edits, user, confirmed)
        else:
            given: dict[str, str | int] = {"id": confirmed.id}
            if confirmed.step is Step.EXTEND:
                given["timeout"] = confirmed.seconds
            self._call(_RPCS[confirmed.step], given, user)

    def _begin(self, edits: Sequence[Edit], user: str | None, confirmed: Confirmed) -> None:
        given: dict[str, str | int] = {"id": confirmed.id, "timeout": confirmed.seconds}
        self._call("commit", given, user)
        try:
            self._apply(edits, user, confirmed.id)
        except (RefusedError, DatastoreError):
            self._call("cancel", {"id": confirmed.id}, None)
            raise

    def _apply(self, edits: Sequence[Edit], user: str | None, name: str) -> None:
        with self._connection.session_of(_DOOR, user or "", name) as session:
            commit(
                session,
                self._modules,
                edits,
                lambda: self._authority.acting(session, user),
                bare=self._is_bare(),
            )

    def _call(self, rpc: str, given: dict[str, str | int], user: str | None) -> None:
        with (
            self._connection.session_of(_DOOR) as session,
            worded(session),
            self._authority.acting(session, user),
        ):
            ffi.call(session, f"{_OPERATIONS}:{rpc}", given, TIMEOUT_MS)
