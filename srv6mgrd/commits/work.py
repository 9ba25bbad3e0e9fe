"""Requests of the commit socket, carried out on sysrepo. Everything blocks; one thread.

srv6mgrd makes the edits of all northbounds itself, because sysrepo's writer waits for subscribers
without noticing their death (sr_shmsub_notify_wait_wr): with writer and subscriber in one process
no lock outlives srv6mgrd, and a client that waits sees its socket close (docs/adr/0024).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol, Self

from srv6mgrd.commits import answer, netconf_errors
from srv6mgrd.commits.fields import Field, Fields, ProtocolError
from srv6mgrd.commits.locks import Caller, Locks
from srv6mgrd.datastore.connection import (
    Connection,
    DatastoreError,
    LockedError,
    OutdatedError,
    check_room,
    translated_errors,
)
from srv6mgrd.datastore.error_info import ErrorInfo, error_infos
from srv6mgrd.datastore.ffi import Session
from srv6mgrd.datastore.nacm import Nacm
from srv6mgrd.datastore.reserve import IN_RESERVE, Reserve
from srv6mgrd.datastore.secrets import Secrets
from srv6mgrd.datastore.transaction import TIMEOUT_MS, Edit, Op, commit
from srv6mgrd.datastore.user_groups import UserGroups
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.threads import one_thread

# Those that sysrepo has no part in.
_READING = frozenset({"revision", "pending"})
# It changes the running configuration, too; srv6mgrd itself makes the edit.
_ROLLBACK = "/srv6mgr-operations:rollback"
# Requests that an operator's lock keeps out.
_WRITING = frozenset({"edit", "edit-tree", "replace-tree", "copy"})

# sysrepo sends netconf-config-change (RFC 6470) for this originator alone; its data are the
# session's number, then the user. Behind the user come the northbound, the confirmed commit and the
# client's address.
_NETCONF = "netopeer2"
NETCONF = "srv6-netconfd"


class Revisions(Protocol):
    """Names of configurations (``commits.revisions.Revisions``)."""

    def current(self) -> str: ...

    def warnings(self) -> Sequence[str]: ...

    def size(self) -> int: ...

    def changed_since(self, revision: str, connection: Connection) -> str: ...

    def pending(self) -> list[Field]: ...


@one_thread(but=("close",))
class Worker:
    """Carries requests out."""

    def __init__(
        self,
        connection: Connection,
        locks: Locks,
        revisions: Revisions,
        groups: UserGroups,
    ) -> None:
        self._connection = connection
        self._locks = locks
        self._revisions = revisions
        self._groups = groups
        self._nacm = Nacm()
        self._secrets = Secrets(connection, groups)
        # sysrepo opens a pipe to announce each event: it leaves a change half-way, stored and not
        # announced, where it cannot.
        self._reserve = Reserve(IN_RESERVE)
        self._works: dict[str, Callable[[Fields, Caller], list[Field]]] = {
            "edit": self._edit,
            "rpc": self._rpc,
            "edit-tree": self._edit_tree,
            "replace-tree": self._replace_tree,
            "copy": self._copy,
            "send-tree": self._send_tree,
            "call": self._call,
            "revision": lambda _request, _caller: [],
            "pending": lambda _request, _caller: self._revisions.pending(),
        }

    def close(self) -> None:
        self._nacm.close()
        self._reserve.close()

    def carry_out(self, request: Fields, caller: Caller, owner: int) -> list[Field]:
        """The answer; a failure is one, too."""
        name = request.text("request")
        work = self._works.get(name)
        try:
            if work is None:
                raise DatastoreError(f"request {name}: unknown; update srv6mgr's programs alike")
            if name in _WRITING and (lock := self._locks.in_way_of(owner)) is not None:
                raise LockedError(
                    f"running configuration: locked by {lock}; try again when it is unlocked"
                )
            if name in _READING:
                done = work(request, caller)
            else:
                with self._reserve.set_free():
                    check_room(max(self._revisions.size() if name in _WRITING else 0, request.size))
                    done = work(request, caller)
            found = [*done, ("revision", self._revisions.current().encode())]
            return answer.ok([*found, *self._warnings(request)])
        except (RejectedError, DatastoreError) as error:
            return answer.of_error(error)
        except ProtocolError as error:
            return answer.of_error(DatastoreError(f"request {name}: {error}"))
        except _SysrepoFailure as failure:
            return failure.answer

    def upcoming(self, request: Fields) -> str:
        """The transaction that a request becomes that is carried out now; empty: none."""
        number = self._revisions.current().partition("-")[0]
        return str(int(number) + 1) if _commits(request) and number.isdigit() else ""

    def _warnings(self, request: Fields) -> list[Field]:
        if not _commits(request):
            return []
        return [("warning", text.encode()) for text in self._revisions.warnings()]

    # For clients in Python.

    def _edit(self, request: Fields, caller: Caller) -> list[Field]:
        edits, op, target = [], Op.UPDATE, ""
        for name, value in request.all:
            if name == "operation":
                op = Op(value.decode())
            elif name == "target":
                target = value.decode()
            elif name == "document":
                edits.append(Edit(op, target, value))
        self._check(caller, [(edit.document, "json") for edit in edits])
        with self._session(caller, request.text("commit")) as session:
            commit(
                session,
                request.every("module"),
                edits,
                lambda: self._acting(session, caller),
                bare=request.has("bare"),
            )
        return []

    def _rpc(self, request: Fields, caller: Caller) -> list[Field]:
        given = json.loads(request.bytes("data", b"{}"))
        with (
            self._session(caller) as session,
            translated_errors(session),
            self._acting(session, caller),
        ):
            found = _called(lambda: session.rpc_send(request.text("path"), given, TIMEOUT_MS))
        return [("data", json.dumps(found or {}).encode())]

    # For srv6-netconfd, with trees as XML.

    def _edit_tree(self, request: Fields, caller: Caller) -> list[Field]:
        data = request.bytes("data")
        self._check(caller, [(data, "xml")])
        with self._netconf(caller, request.text("commit"), data) as session:
            tree = _parsed(session, data)
            try:
                session.edit_batch_ly(tree, request.text("default-operation", "merge"))
                session.apply_changes(TIMEOUT_MS)
            finally:
                tree.free()
        return []

    def _replace_tree(self, request: Fields, caller: Caller) -> list[Field]:
        data = request.bytes("data")
        self._check(caller, [(data, "xml")])
        with self._netconf(caller, request.text("commit"), data) as session:
            session.replace_config_ly(_parsed(session, data) if data else None, None, TIMEOUT_MS)
        return []

    def _copy(self, request: Fields, caller: Caller) -> list[Field]:
        """Another datastore becomes the running one. ``base``: the revision of the running
        configuration that the other one was made from. Raises OutdatedError."""
        base = request.text("base")
        if base and base != self._revisions.current():
            changed = self._revisions.changed_since(base, self._connection)
            if changed:
                raise OutdatedError(changed)
        with self._netconf(caller, request.text("commit")) as session:
            # Not sr_copy_config: the candidate may be locked by the session that commits it.
            session.replace_config_ly(self._content(request.text("source")), None, TIMEOUT_MS)
        return []

    def _content(self, datastore: str) -> Any:
        """All of a datastore, under nobody's access rules."""
        import sysrepo

        session = self._connection.session(datastore)
        try:
            with session.get_data_ly("/*") as data:
                return data.duplicate(with_siblings=True, recursive=True, with_flags=True)
        except sysrepo.SysrepoNotFoundError:
            return None
        finally:
            self._connection.drop(session)

    def _call(self, request: Fields, caller: Caller) -> list[Field]:
        given = dict(zip(request.every("name"), request.every("value"), strict=True))
        with self._netconf(caller) as session:
            _called(lambda: session.rpc_send(request.text("path"), given, TIMEOUT_MS))
        return []

    def _send_tree(self, request: Fields, caller: Caller) -> list[Field]:
        import libyang

        with self._netconf(caller) as session:
            with session.get_ly_ctx() as context:
                data = request.text("data")
                tree = context.parse_op_mem("xml", data, libyang.util.DataType.RPC_YANG)
            top = tree.root()
            try:
                found = _called(lambda: session.rpc_send_ly(top, TIMEOUT_MS))
            finally:
                top.free()
            if found is None:
                return []
            try:
                return [("data", found.root().print_mem("xml").encode())]
            finally:
                found.free()

    # Rights.

    def _check(self, caller: Caller, documents: Sequence[tuple[bytes, str]]) -> None:
        if caller.is_restricted:
            self._secrets.check_edit(caller.user, [each for each in documents if each[0]])

    # Sessions.

    def _acting(self, session: Session, caller: Caller) -> AbstractContextManager[None]:
        if not caller.is_restricted:
            return nullcontext()
        # The request may have waited long since it was asked for it.
        self._groups.of(caller.user)
        return self._nacm.acting(session, caller.user)

    def _session(self, caller: Caller, name: str = "") -> AbstractContextManager[Session]:
        return self._connection.session_of(caller.northbound, caller.user, name, caller.address)

    @contextmanager
    def _netconf(self, caller: Caller, name: str = "", data: bytes = b"") -> Iterator[Session]:
        """A session whose errors reach the client with all that RFC 6241 says of them; ``data``
        is what it is about to write, as XML."""
        from libyang import LibyangError
        from sysrepo.errors import SysrepoError

        number = struct.pack("=I", int(caller.session) if caller.session.isdigit() else 0)
        parts = (caller.user, caller.northbound, name, caller.address)
        behind = "".join(f"{part}\0" for part in parts)
        with (
            self._connection.session_with(_NETCONF, number, behind.encode()) as session,
            # Outside: setting the user forgets the errors.
            self._acting(session, caller),
        ):
            try:
                yield session
            except SysrepoError as error:
                with _Values(session, data) as values:
                    failure = _SysrepoFailure(session, error, values)
                raise failure from None
            except LibyangError as error:
                raise DatastoreError(f"request: it cannot be read ({error})") from None


def _commits(request: Fields) -> bool:
    """Whether it changes the running configuration."""
    return request.text("request") in _WRITING or request.text("path") == _ROLLBACK


class _Values:
    """Leaves of what was sent and of the running configuration, for the words of an error."""

    def __init__(self, session: Session, data: bytes) -> None:
        self._session, self._data = session, data
        self._tree: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._tree is not None:
            self._tree.free()

    def sent(self, path: str) -> str | None:
        if not self._data:
            return self.running(path)
        if self._tree is None:
            # Once, and when it is asked for: most errors need none of it.
            self._tree = _parsed(self._session, self._data)
        found = None if self._tree is None else self._tree.find_path(path)
        return None if found is None else str(found.value())

    def running(self, path: str) -> str | None:
        from sysrepo.errors import SysrepoError

        try:
            with self._session.get_data_ly(path) as data:
                found = data.find_path(path)
                return None if found is None else str(found.value())
        except SysrepoError:
            return None


class _SysrepoFailure(Exception):
    """sysrepo's errors, read while the session still has them."""

    def __init__(self, session: Session, error: Any, values: _Values) -> None:
        super().__init__(str(error))
        seen = getattr(error, "infos", None) or error_infos(session)
        infos = seen or [ErrorInfo(int(error.rc), str(error.msg))]
        # Else sysrepo shows the edit to who reads through this session.
        session.discard_changes()
        self.answer = answer.of_infos(netconf_errors.reported(infos, values.sent, values.running))


def _called(call: Callable[[], Any]) -> Any:
    """The output of an RPC; None without one, which the binding takes for a failure."""
    from sysrepo.errors import SysrepoInternalError

    try:
        return call()
    except SysrepoInternalError as error:
        if "returned NULL" not in str(error):
            raise
        return None


def _parsed(session: Session, data: bytes) -> Any:
    """An edit: its nodes may be opaque, such as a leaf without value that is deleted."""
    with session.get_ly_ctx() as context:
        return context.parse_data_mem(data, "xml", parse_only=True, opaq=True)
