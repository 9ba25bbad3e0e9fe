"""A northbound's end of the commit socket."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from srv6mgrd.commits import answer
from srv6mgrd.commits.fields import Field, Fields, ProtocolError, encode, receive
from srv6mgrd.commits.locks import Caller
from srv6mgrd.datastore.connection import DatastoreError, TimedOutError, UnavailableError
from srv6mgrd.datastore.transaction import Edit

# srv6mgrd gives a sign of life each second (server.BEAT).
SILENCE = 10.0
# Seconds that a change waits for its turn, unless the client has a deadline of its own.
DEADLINE = 120.0

# What still waits at its deadline srv6mgrd rejects itself.
_GRACE = 3.0
# Seconds after which who waits may say so.
_SILENT_WAIT = 2.0

_ABSENT = "srv6mgrd: it is not running, so the change cannot be carried out; start it and try again"
_DIED = (
    "srv6mgrd: it ended while the request was carried out; read the running configuration,"
    " then try again"
)


# Takes the warnings about the running configuration for the client that makes a change.
Warn = Callable[[str], object]


class CommitClient:
    """Each request has a connection of its own: it ends with the request."""

    def __init__(self, path: Path, waits: Warn = lambda _: None) -> None:
        """``waits`` is called once with what a request waits for that has no answer after 2 s."""
        self._path = path
        self._waits = waits

    def edit(
        self,
        caller: Caller,
        modules: Sequence[str],
        edits: Sequence[Edit],
        *,
        commit: str = "",
        bare: bool = False,
        deadline: float = DEADLINE,
        timeout: float | None = None,
        warn: Warn = lambda _: None,
    ) -> int:
        """Apply edits in their order, all or none; the mark that watchers get behind it.

        ``commit`` names the confirmed commit that the edits belong to; ``bare`` as in
        ``transaction.commit``. What has not begun after ``deadline`` seconds is not made, what is
        not done after ``timeout`` goes on. Raises
        RejectedError or DatastoreError with nothing changed, unless the error says that the outcome
        is not known.
        """
        fields: list[Field] = [("module", module.encode()) for module in modules]
        for edit in edits:
            fields += [
                ("operation", edit.op.value.encode()),
                ("target", edit.target.encode()),
                ("document", edit.document),
            ]
        fields.append(("commit", commit.encode()))
        if bare:
            fields.append(("bare", b""))
        found = self._ask("edit", caller, fields, deadline, timeout)
        _pass_on(found, warn)
        return found.number("mark", 0)

    def rpc(
        self,
        caller: Caller,
        path: str,
        given: Mapping[str, Any],
        deadline: float = DEADLINE,
        warn: Warn = lambda _: None,
        *,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Call an RPC of srv6mgrd, with deadlines as in ``edit``. Raises RejectedError or
        DatastoreError."""
        fields = [("path", path.encode()), ("data", json.dumps(given).encode())]
        found = self._ask("rpc", caller, fields, deadline, timeout)
        _pass_on(found, warn)
        return dict(json.loads(found.bytes("data", b"{}")))

    def _ask(
        self,
        name: str,
        caller: Caller,
        fields: Iterable[Field],
        deadline: float,
        timeout: float | None,
    ) -> Fields:
        until = time.monotonic() + (deadline + _GRACE if timeout is None else timeout)
        head: list[Field] = [
            ("request", name.encode()),
            ("northbound", caller.northbound.encode()),
            ("user", caller.user.encode()),
            ("session", caller.session.encode()),
            ("address", caller.address.encode()),
            ("timeout-ms", str(max(0, int(1000 * deadline))).encode()),
        ]
        if caller.is_restricted:
            head.append(("restricted", b""))
        with self._connected() as connection:
            try:
                connection.settimeout(SILENCE)
                connection.sendall(encode([*head, *fields]))
                found = _awaited(connection, until, self._waits)
            except (TimeoutError, BlockingIOError):
                raise TimedOutError(
                    f"srv6mgrd: no sign of life for {SILENCE:.0f} s; the change may still be"
                    " carried out; see systemctl status srv6mgrd"
                ) from None
            except (ProtocolError, OSError):
                raise UnavailableError(_DIED) from None
        answer.check(found)
        return found

    @contextlib.contextmanager
    def _connected(self) -> Iterator[socket.socket]:
        try:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        except OSError as error:
            raise UnavailableError(
                f"srv6mgrd: it cannot be asked ({error.strerror}); see what takes the file"
                " descriptors of this process (ls -l /proc/PID/fd), then try again"
            ) from error
        with connection:
            # Not settimeout: without room in its backlog that fails at once (unix_stream_connect).
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _timeval(SILENCE))
            try:
                connection.connect(str(self._path))
            except PermissionError:
                raise DatastoreError(
                    f"srv6mgrd: {self._path} may not be opened; join the group srv6mgr"
                ) from None
            except (TimeoutError, BlockingIOError):
                raise TimedOutError(
                    "srv6mgrd: it takes no connection; see systemctl status srv6mgrd"
                ) from None
            except OSError:
                raise UnavailableError(_ABSENT) from None
            yield connection


def _pass_on(found: Fields, warn: Warn) -> None:
    for text in found.every("warning"):
        warn(text)


def _timeval(seconds: float) -> bytes:
    return struct.pack("@ll", int(seconds), int(seconds % 1 * 1e6))


def _awaited(connection: socket.socket, until: float, waits: Warn) -> Fields:
    """The answer behind the signs of life. Raises TimedOutError, ProtocolError or OSError."""
    seen, heard = Fields([]), time.monotonic()
    silent_until: float | None = heard + _SILENT_WAIT
    while True:
        now = time.monotonic()
        if now >= until:
            raise TimedOutError(_not_done(seen))
        if silent_until is not None and now >= silent_until:
            waits(f"srv6mgrd: {seen.text('message') or 'no sign of life so far'}")
            silent_until = None
        next_look = min(until, heard + SILENCE, silent_until or until)
        # A message that has begun is not cut in two by a look.
        if not _has_begun(connection, next_look - now):
            if time.monotonic() >= heard + SILENCE:
                raise TimeoutError
            continue
        connection.settimeout(min(until - now, SILENCE))
        found = receive(connection)
        if found is None:
            raise ConnectionResetError
        if found.text("result") != answer.WAITING:
            return found
        seen, heard = found, time.monotonic()


def _has_begun(connection: socket.socket, seconds: float) -> bool:
    """Whether the other end sends or closes within so many seconds. poll, since select takes no
    descriptor from 1024 on."""
    waiting = select.poll()
    waiting.register(connection, select.POLLIN)
    return bool(waiting.poll(max(seconds, 0.001) * 1000))


def _not_done(seen: Fields) -> str:
    """Behind this sign of life."""
    if seen.has(answer.BEGUN):
        return (
            f"srv6mgrd: not done before the deadline, and it goes on ({seen.text('message')});"
            " read activity and transactions of srv6mgr-operations to see how it ends"
        )
    return (
        f"srv6mgrd: not done before the deadline ({seen.text('message', 'no sign of life')}); the"
        " change may still be carried out"
    )
