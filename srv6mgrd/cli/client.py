"""srv6ctl's client of sysrepo: the running configuration, edits of it, and the RPCs of srv6mgrd."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from srv6mgrd.cli.change.document import Document, Removal
from srv6mgrd.cli.change.shown import Operation
from srv6mgrd.cli.config.schema import Schema, of_libyang
from srv6mgrd.cli.config.trees import as_xml, made, without_secrets
from srv6mgrd.cli.config.words import Target, lines, resolve
from srv6mgrd.cli.problem import Complaint, Exit, Problem, complaint_of
from srv6mgrd.commits.client import DEADLINE, CommitClient
from srv6mgrd.commits.locks import Caller
from srv6mgrd.commits.paths import commit_socket
from srv6mgrd.datastore.connection import (
    Connection,
    DatastoreError,
    DeniedError,
    LockedError,
    NonePendingError,
    PendingError,
    TimedOutError,
    UnavailableError,
    translated_errors,
)
from srv6mgrd.datastore.differences import Change, differences
from srv6mgrd.datastore.running import MODULE, TREE, read
from srv6mgrd.datastore.transaction import Edit, Op, preview
from srv6mgrd.model.rejection import RejectedError

_NORTHBOUND = "srv6ctl"
_OPERATIONS = "/srv6mgr-operations"
_SIDS = f"{MODULE}:local-sids"
_TOP = f"{MODULE}:srv6"

_STATUSES: tuple[tuple[type[DatastoreError], Exit], ...] = (
    (PendingError, Exit.BUSY),
    (LockedError, Exit.BUSY),
    (DeniedError, Exit.DENIED),
    (NonePendingError, Exit.REJECTED),
)


class Client:
    """Everything blocks. Errors are those of ``datastore``; ``opened`` makes Problems of them."""

    def __init__(
        self, connection: Connection, commits: CommitClient, warn: Callable[[str], object]
    ) -> None:
        """``warn`` gets the warnings for the client that makes a change."""
        self._connection = connection
        self._warn = warn
        self._commits = commits
        self._session = connection.session()
        # Read once where it is to be the same for all who ask.
        self.remembers = False
        self._running = ""

    def running(self) -> str:
        """The running configuration of srv6mgr as RFC 7951 JSON."""
        if not (self.remembers and self._running):
            with translated_errors(self._session):
                self._running = read(self._session)
        return self._running

    def running_with_sid(self, sid: str) -> str:
        """The same with one SID alone, by its prefix; empty where it is not there."""
        path = f"{TREE}/*[not(self::{_SIDS})] | {TREE}/{_SIDS}/{MODULE}:sid[prefix='{sid}']"
        with translated_errors(self._session):
            return read(self._session, path)

    def startup(self) -> str:
        """The configuration that the next boot begins with."""
        session = self._connection.session("startup")
        with translated_errors(session):
            return read(session)

    def resolve(self, words: Sequence[str], *, values: bool = False) -> Target:
        """The object that words name; with ``values`` leaves are followed by theirs. Raises
        Problem."""
        with self._schema() as schema:
            return resolve(schema, words, values=values)

    def part(self, path: str, datastore: str) -> str | None:
        """What is declared below a path, as JSON from the root down, secrets hidden; None where
        that is nothing."""
        session = self._connection.session(datastore)
        with translated_errors(session):
            text = read(session, path)
        if text == "{}":
            return None
        with self._connection.context() as context:
            return without_secrets(context, text)

    def xml(self, configuration: str) -> str:
        """A configuration in JSON as XML."""
        with self._connection.context() as context:
            return as_xml(context, configuration)

    def lines(self, configuration: str) -> list[list[str]]:
        """A configuration in JSON by words that ``resolve`` takes with values."""
        with self._schema() as schema:
            return list(lines(schema, json.loads(configuration).get(_TOP, {})))

    def setting(self, target: Target) -> Document:
        """What makes an object, and gives its leaves their values."""
        with self._connection.context() as context, translated_errors(self._session):
            return Document(made(context, target).encode(), replace=False)

    @contextlib.contextmanager
    def _schema(self) -> Iterator[Schema]:
        with self._connection.context() as context:
            yield of_libyang(next(context.find_path(TREE)))

    def modules(self) -> frozenset[str]:
        """Names of the YANG modules that sysrepo holds."""
        with self._connection.context() as context:
            return frozenset(module.name() for module in context)

    def secret_names(self) -> frozenset[str]:
        """Names of the leaves that hold secrets."""
        from srv6mgrd.datastore.secrets import secret_leaves

        with self._connection.context() as context:
            return frozenset(name.decode() for _, name in secret_leaves(context))

    def after(self, change: Document | Removal) -> str:
        """The configuration as it would be with a change; whether it is valid is not judged."""
        return preview(self._session, (MODULE,), _edits(change))

    def differences(self, before: str, after: str) -> list[Change]:
        """How two configurations differ, leaf by leaf."""
        with self._connection.context() as context:
            return list(differences(context, before, after))

    def commit(self, change: Document | Removal, user: str) -> None:
        """Make a document the running configuration, or a part of it, or remove an object."""
        self._commit(change, user, "")

    def commit_to_confirm(
        self, change: Document | Removal, user: str, name: str, seconds: int
    ) -> None:
        """The same, undone after ``seconds`` unless the commit ``name`` is confirmed."""
        # Nobody needs it any more: srv6ctl goes on by the name, with the rights of its user.
        token = _token()
        self._call("commit", {"id": token, "commit-id": name, "timeout": seconds})
        try:
            self._commit(change, user, token)
        except (RejectedError, DatastoreError):
            self._call("cancel", {"id": token})
            raise

    def _commit(self, change: Document | Removal, user: str, token: str) -> None:
        self._commits.edit(
            Caller(_NORTHBOUND, user), (MODULE,), _edits(change), commit=token, warn=self._warn
        )

    def confirm(self, name: str) -> None:
        self._call("confirm", {"commit-id": name})

    def cancel(self, name: str) -> None:
        self._call("cancel", {"commit-id": name})

    def extend(self, name: str, seconds: int) -> None:
        self._call("extend", {"commit-id": name, "timeout": seconds})

    def roll_back(self, number: int, user: str) -> None:
        """Make the configuration after a past transaction the running one."""
        self._call("rollback", {"transaction": number, "user": user})

    def roll_back_to_confirm(self, number: int, user: str, name: str, seconds: int) -> None:
        """The same, undone after ``seconds`` unless the commit ``name`` is confirmed."""
        which = {"id": _token(), "commit-id": name}
        given = {"transaction": number, "user": user, "timeout": seconds, **which}
        self._call("rollback", given)

    def clear_counters(self, sid: str | None) -> None:
        self._call("clear-counters", {"sid": sid} if sid else {})

    def set_operator_state(self, alarm: str, state: str, text: str, user: str) -> None:
        """Of an alarm, by its data path."""
        given = {"state": state} | ({"text": text} if text else {})
        caller = Caller(_NORTHBOUND, user)
        self._commits.rpc(caller, f"{alarm}/set-operator-state", given, warn=self._warn)

    def plan(self, configuration: str) -> list[Operation]:
        """What a commit of a whole configuration would do."""
        return _operations(self._ask("plan", {"configuration": configuration}))

    def reconcile(self) -> list[Operation]:
        """Compare and repair now; what was done."""
        return _operations(self._ask("reconcile", {}))

    def compare(self, transaction: int, other: int | None) -> list[Change]:
        """How the configurations after two transactions differ; None is the running one."""
        given = {"transaction": transaction} | ({} if other is None else {"other": other})
        reported = self._ask("compare", given)
        return [
            Change(c["path"], c.get("before"), c.get("after")) for c in reported.get("change", [])
        ]

    def answers(self, seconds: float) -> bool:
        """Whether srv6mgrd answers in time; it is asked for a transaction that there is not."""
        try:
            self._ask("compare", {"transaction": 0}, seconds)
        except (TimedOutError, UnavailableError):
            return False
        except (RejectedError, LockedError):
            pass  # it does not know it, or carries out a change
        return True

    def _ask(
        self, rpc: str, given: Mapping[str, Any], deadline: float = DEADLINE
    ) -> dict[str, Any]:
        return self._commits.rpc(
            Caller(_NORTHBOUND), f"{_OPERATIONS}:{rpc}", given, deadline, self._warn
        )

    def _call(self, rpc: str, given: Mapping[str, Any]) -> None:
        self._ask(rpc, given)


def _token() -> str:
    import secrets

    return secrets.token_hex(16)


def _edits(change: Document | Removal) -> list[Edit]:
    if isinstance(change, Removal):
        return [Edit(Op.DELETE, change.path)]
    return [Edit(Op.REPLACE if change.replace else Op.UPDATE, "", change.text)]


@contextlib.contextmanager
def problems() -> Iterator[None]:
    """Raises Problem for all that goes wrong within."""
    try:
        yield
    except RejectedError as rejected:
        complaints = [Complaint(r.object, r.cause, r.remedy) for r in rejected.rejections]
        raise Problem(complaints, Exit.REJECTED) from None
    except DatastoreError as error:
        status = next((s for kind, s in _STATUSES if isinstance(error, kind)), Exit.UNREACHABLE)
        raise Problem([complaint_of(str(error))], status) from None


@contextlib.contextmanager
def opened(
    runtime: Path,
    warn: Callable[[str], object],
    waits: Callable[[str], object] = lambda _: None,
) -> Iterator[Client]:
    """A northbound that is closed afterwards. Raises Problem for all that goes wrong on its way.
    ``runtime`` is srv6mgrd's runtime directory; ``warn`` as in ``Client``, ``waits`` as in
    ``CommitClient``."""
    try:
        connection = _connected()
    except DatastoreError as error:
        raise Problem([complaint_of(str(error))], Exit.UNREACHABLE) from None
    try:
        with problems():
            yield Client(connection, CommitClient(commit_socket(runtime), waits), warn)
    finally:
        connection.close()


def _connected() -> Connection:
    try:
        import sysrepo
    except (ImportError, OSError) as error:
        remedy = "install libsysrepo and its Python binding"
        raise Problem.of(
            "sysrepo", f"can't be loaded ({error})", remedy, Exit.UNREACHABLE
        ) from None
    try:
        return Connection(originator=_NORTHBOUND)
    except sysrepo.SysrepoUnauthorizedError as error:
        raise _denied(str(error.msg)) from None
    except (sysrepo.SysrepoError, OSError) as error:
        if os.geteuid():
            raise _denied("its files may not be read") from None
        remedy = "see that its repository and /dev/shm are there, and that you are root"
        raise Problem.of("sysrepo", str(error), remedy, Exit.UNREACHABLE) from None


def _denied(cause: str) -> Problem:
    return Problem.of("sysrepo", f"access is denied ({cause})", "run srv6ctl as root", Exit.DENIED)


def _operations(reported: Mapping[str, Any]) -> list[Operation]:
    return [
        Operation(o.get("verb", ""), o.get("object", ""), o.get("command", ""))
        for o in sorted(reported.get("operation", []), key=lambda o: int(o["number"]))
    ]
