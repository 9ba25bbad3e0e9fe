"""srv6mgrd's end of the commit socket: one request after the other, each with a deadline.

A thread for each connection reads, waits and answers; one thread carries requests out. None of them
is the event loop's, which takes part in every commit and may be busy for its whole length.
"""

from __future__ import annotations

import contextlib
import grp
import logging
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from srv6mgrd.commits import answer, netconf_errors
from srv6mgrd.commits.fields import (
    Field,
    Fields,
    ProtocolError,
    encode,
    receive_length,
    receive_rest,
)
from srv6mgrd.commits.intake import OVERDUE, SILENCE, Intake
from srv6mgrd.commits.locks import Caller, Locks
from srv6mgrd.commits.queue import FairQueue
from srv6mgrd.commits.watch import Watchers
from srv6mgrd.datastore.connection import (
    DatastoreError,
    ExpiredError,
    LockedError,
    UnavailableError,
)
from srv6mgrd.datastore.user_groups import UserGroups
from srv6mgrd.lookups import NoAnswerError
from srv6mgrd.name_service import system_users

_LOG = logging.getLogger(__name__)

GROUP = "srv6mgr"
# Seconds between signs of life while a request waits or is carried out.
BEAT = 1.0
# Seconds that a request waits for its turn, where the client sets no deadline, and at most.
_DEADLINE, _LONGEST_DEADLINE = 120, 3600
# The shortest wait while a request changes hands.
_TICK = 0.01
_MOST_CONNECTIONS = 256
# Seconds that a thread gets to end.
_STOP = 30.0
_CREDENTIALS = struct.Struct("3i")


class Worker(Protocol):
    """Carries requests out (``commits.work.Worker``)."""

    def carry_out(self, request: Fields, caller: Caller, owner: int) -> list[Field]: ...

    def upcoming(self, request: Fields) -> str: ...


class _Job:
    """A request on its way."""

    def __init__(self, request: Fields, caller: Caller, owner: int, deadline: float) -> None:
        self.request = request
        self.caller = caller
        self.owner = owner
        self.deadline = deadline
        self.client = (caller.northbound, caller.user, caller.session)
        self.started: float | None = None
        # The transaction that it becomes, once it is started; empty: none.
        self.transaction = ""
        self.answer: list[Field] = []
        self.done = threading.Event()

    def next_check(self) -> float:
        """Seconds until it has to be looked at again."""
        if self.started is not None:
            return BEAT
        return max(_TICK, min(BEAT, self.deadline - time.monotonic()))

    def finish(self, fields: list[Field]) -> None:
        self.answer = fields
        self.done.set()


class CommitServer:
    """Listens from ``start`` to ``close``."""

    def __init__(
        self, path: Path, worker: Worker, locks: Locks, watchers: Watchers, groups: UserGroups
    ) -> None:
        self._path = path
        self._worker = worker
        self._locks = locks
        self._watchers = watchers
        self._groups, self._users = groups, system_users()
        self._queue: FairQueue[_Job] = FairQueue()
        self._intake = Intake()
        self._running: _Job | None = None
        # Guards the queue, the locks and the connections.
        self._changed = threading.Condition()
        self._closing = False
        self._connections: dict[int, socket.socket] = {}
        self._next_owner = 1
        self._threads: list[threading.Thread] = []
        self._clients: set[threading.Thread] = set()

    def start(self) -> None:
        """Raises OSError when the socket cannot be bound."""
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        mask = os.umask(0o177)
        try:
            self._listening.bind(str(self._path))
        finally:
            os.umask(mask)
        with contextlib.suppress(KeyError, PermissionError):
            os.chown(self._path, -1, grp.getgrnam(GROUP).gr_gid)
            self._path.chmod(0o660)
        self._listening.listen(64)
        self._thread(self._accept, "commit-accept")
        self._thread(self._work, "commit-work")

    def close(self) -> None:
        """The request that is carried out is finished, those that wait are answered."""
        with self._changed:
            self._closing = True
            while (job := self._queue.take()) is not None:
                job.finish(answer.of_error(UnavailableError("srv6mgrd: it is stopping; try again")))
            self._changed.notify_all()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()
        for thread in self._threads:
            thread.join(timeout=_STOP)
        self._watchers.end()
        # Answers on their way still reach clients that read; then the others lose theirs.
        self._shut(socket.SHUT_RD, 2.0)
        self._shut(socket.SHUT_RDWR, _STOP)

    def _shut(self, how: int, seconds: float) -> None:
        """Shut all connections and wait until their threads have ended their subscriptions."""
        with self._changed:
            clients = list(self._clients)
            for connection in self._connections.values():
                with contextlib.suppress(OSError):
                    connection.shutdown(how)
        until = time.monotonic() + seconds
        for thread in clients:
            thread.join(timeout=max(0.0, until - time.monotonic()))

    def _thread(self, call: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=call, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def waiting(self) -> int:
        """Requests that wait for their turn. Any thread."""
        with self._changed:
            return len(self._queue)

    # Connections.

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError as error:
                if self._closing:
                    return
                # Without a descriptor left the connection stays in the backlog: no spin.
                _LOG.error("commit socket: %s", error)
                time.sleep(BEAT)
                continue
            uid = _uid(connection)
            with self._changed:
                if len(self._connections) >= _MOST_CONNECTIONS or not self._intake.admits(uid):
                    connection.close()
                    continue
                owner, self._next_owner = self._next_owner, self._next_owner + 1
                self._connections[owner] = connection
            client = threading.Thread(
                target=self._serve, args=(connection, uid, owner), name="commit-client", daemon=True
            )
            with self._changed:
                self._clients.add(client)
            client.start()

    def _serve(self, connection: socket.socket, uid: int, owner: int) -> None:
        try:
            while (length := receive_length(connection)) is not None:
                with self._intake.room(uid, length, lambda: _has_left(connection)):
                    if not self._serve_one(connection, length, uid, owner):
                        return
        except ProtocolError as error:
            _LOG.warning("commit socket: %s", error)
        except OSError:
            pass  # the client left
        finally:
            with self._changed:
                self._locks.release(owner)
                del self._connections[owner]
                self._clients.discard(threading.current_thread())
            self._intake.left(uid)
            connection.close()

    def _serve_one(self, connection: socket.socket, length: int, uid: int, owner: int) -> bool:
        """Whether there may be another request."""
        if (request := _rest(connection, length, uid)) is None:
            return False
        try:
            # Only root, as which the northbounds run, says for whom it asks.
            peer = None if uid == 0 else self._users.ask(uid) or str(uid)
        except NoAnswerError as error:
            connection.sendall(encode(answer.of_error(UnavailableError(str(error)))))
            return True
        if request.text("request") != "watch":
            self._answer(connection, request, peer, owner)
            return True
        if peer is not None:
            raise ProtocolError("watch: root alone may follow the configuration")
        self._watchers.serve(connection, request.every("module"))
        return False

    def _answer(
        self, connection: socket.socket, request: Fields, peer: str | None, owner: int
    ) -> None:
        caller = Caller(
            request.text("northbound", "unknown"),
            request.text("user"),
            request.text("session"),
            request.text("address"),
            request.has("restricted"),
        )
        if peer is not None:
            caller = replace(caller, user=peer, is_restricted=True)
        if peer is not None and request.text("request") in ("lock", "unlock"):
            raise ProtocolError("lock: the northbounds alone, which check rights, may take it")
        if peer is None and request.text("request") == "word":
            # Behind nobody: it needs neither sysrepo nor the configuration.
            infos, values = netconf_errors.read(request)
            translated_errors = netconf_errors.reported(infos, values.get)
            connection.sendall(encode(answer.of_infos(translated_errors)))
            return
        if (fields := self._unknown(caller) or self._lock(request, caller, owner)) is not None:
            connection.sendall(encode(fields))
            return
        milliseconds = request.number("timeout-ms", 1000 * _DEADLINE)
        seconds = min(milliseconds / 1000, _LONGEST_DEADLINE)
        job = _Job(request, caller, owner, time.monotonic() + seconds)
        with self._changed:
            if self._closing:
                return
            self._queue.put(job)
            self._changed.notify_all()
        try:
            while not job.done.wait(job.next_check()):
                self._expire()
                if _has_left(connection):
                    raise ConnectionResetError
                connection.sendall(encode(self._sign_of_life(job)))
        except OSError:
            # Nobody waits for it any more; what is carried out already is finished.
            with self._changed:
                self._queue.remove(job)
            raise
        connection.sendall(encode(job.answer))

    def _unknown(self, caller: Caller) -> list[Field] | None:
        """The answer to a caller whose groups the system does not say; None to others."""
        try:
            self._groups.of(caller.user if caller.is_restricted else "")
        except UnavailableError as error:
            return answer.of_error(error)
        return None

    def _lock(self, request: Fields, caller: Caller, owner: int) -> list[Field] | None:
        """The answer to a request about the lock; None for other requests."""
        name = request.text("request")
        if name == "lock":
            with self._changed:
                held = self._locks.take(owner, caller, time.time())
            if held is None:
                return answer.ok()
            text = f"running configuration: locked by {held}; try again when it is unlocked"
            holder = [
                ("holder", held.caller.session.encode()),
                ("holder-northbound", held.caller.northbound.encode()),
            ]
            return [*answer.of_error(LockedError(text)), *holder]
        if name == "unlock":
            with self._changed:
                if self._locks.release(owner):
                    return answer.ok()
            return answer.of_error(DatastoreError("unlock: this session holds no lock; lock first"))
        return None

    # Carrying out.

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._closing and not len(self._queue):
                    self._changed.wait()
                if self._closing:
                    return
                job = self._running = self._queue.take()
            if job is None:
                continue
            job.transaction = self._worker.upcoming(job.request)
            job.started = time.monotonic()
            if job.deadline <= job.started:
                job.finish(_expired(None))
                with self._changed:
                    self._running = None
                continue
            try:
                fields = self._worker.carry_out(job.request, job.caller, job.owner)
                job.finish([*fields, ("mark", str(self._watchers.mark()).encode())])
            except Exception as error:
                _LOG.exception("request %s failed", job.request.text("request"))
                job.finish(answer.of_error(DatastoreError(f"srv6mgrd: internal error: {error!r}")))
            with self._changed:
                self._running = None

    def _expire(self) -> None:
        with self._changed:
            running = self._running
            late = self._queue.expired(time.monotonic())
        for job in late:
            job.finish(_expired(running.caller if running is not None else None))

    def _sign_of_life(self, job: _Job) -> list[Field]:
        with self._changed:
            running = self._running
        if job.started is not None:
            name = f" as transaction {job.transaction}" if job.transaction else ""
            text = f"carried out{name} for {time.monotonic() - job.started:.0f} s"
            return answer.waiting(text, begun=True)
        if running is not None and running.started is not None:
            lasted = time.monotonic() - running.started
            text = f"waits behind the change of {running.caller}, carried out for {lasted:.0f} s"
            return answer.waiting(text)
        return answer.waiting("waits")


def _expired(ahead: Caller | None) -> list[Field]:
    behind = f" behind that of {ahead}" if ahead is not None else ""
    return answer.of_error(
        ExpiredError(
            f"running configuration: busy, the change waited{behind} until its deadline and"
            " nothing was changed; try again"
        )
    )


def _rest(connection: socket.socket, length: int, uid: int) -> Fields | None:
    """Who announces a message and does not send it keeps its room for a short time only."""
    if uid == 0:
        return receive_rest(connection, length)
    overdue = threading.Timer(OVERDUE, _hang_up, (connection,))
    connection.settimeout(SILENCE)
    overdue.start()
    try:
        return receive_rest(connection, length)
    finally:
        overdue.cancel()
        connection.settimeout(None)


def _hang_up(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _uid(connection: socket.socket) -> int:
    """Of the user at the other end."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(raw)[1])


def _has_left(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))
