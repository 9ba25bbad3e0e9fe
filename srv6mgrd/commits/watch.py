"""Changes of the running configuration for other processes, which srv6mgrd never waits for.

sysrepo's writer waits until each subscriber has taken its event, also one that is stopped or dead.
So srv6mgrd alone subscribes, and passes the changes on through the commit socket; a watcher that
does not read loses its connection and begins again.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import socket
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from srv6mgrd.commits import answer
from srv6mgrd.commits.client import SILENCE
from srv6mgrd.commits.fields import Field, Fields, ProtocolError, encode, receive
from srv6mgrd.datastore.connection import Connection, DatastoreError

_LOG = logging.getLogger(__name__)

# Seconds between signs of life, and until a watcher that does not read is dropped.
_BEAT, _STALLED = 1.0, 30.0
# Changes that wait for a watcher to read them.
_MOST = 10_000
_RETRY = 0.5
_END: list[Field] = []


class Watchers:
    """srv6mgrd's side."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queues: list[queue.Queue[list[Field]]] = []
        self._mark = 0

    def mark(self) -> int:
        """A number that every watcher gets behind all changes that were made before."""
        with self._lock:
            self._mark += 1
            for each in self._queues:
                _put(each, [("mark", str(self._mark).encode())])
            return self._mark

    def end(self) -> None:
        """End all that are served."""
        with self._lock:
            for each in self._queues:
                _put(each, _END)

    def serve(self, connection: socket.socket, modules: Sequence[str]) -> None:
        """Send changes until ``end``, or until the watcher leaves. Raises OSError then, and where
        the configuration cannot be followed."""
        waiting: queue.Queue[list[Field]] = queue.Queue(_MOST)
        source = _connected()
        connection.settimeout(_STALLED)
        with self._lock:
            self._queues.append(waiting)
        try:
            try:
                source.follow(modules, lambda diff: _put(waiting, [("data", diff.encode())]))
            except DatastoreError as error:
                raise ConnectionAbortedError(str(error)) from error
            with self._lock:
                _put(waiting, [("begin", b"")])
                _put(waiting, [("mark", str(self._mark).encode())])
            while True:
                try:
                    fields = waiting.get(timeout=_BEAT)
                except queue.Empty:
                    fields = answer.waiting("")
                if fields is _END:
                    return
                connection.sendall(encode(fields))
                if waiting.full():
                    raise ConnectionAbortedError("the watcher does not keep up")
        finally:
            with self._lock:
                self._queues.remove(waiting)
            source.close()


def _connected() -> Connection:
    """Raises OSError, from which the watcher begins again."""
    from sysrepo.errors import SysrepoError

    try:
        return Connection(originator="srv6mgrd")
    except (DatastoreError, SysrepoError) as error:
        raise ConnectionAbortedError(str(error)) from error


def _put(waiting: queue.Queue[list[Field]], fields: list[Field]) -> None:
    # A full queue ends the connection, which begins again with the whole configuration.
    with contextlib.suppress(queue.Full):
        waiting.put_nowait(fields)


class Watch:
    """A northbound's side: follows the configuration in a thread of its own."""

    def __init__(
        self,
        path: Path,
        modules: Sequence[str],
        changed: Callable[[Sequence[str], bool], None],
        read: Callable[[], str],
    ) -> None:
        """``changed`` gets JSON diffs; with True they make the whole configuration. ``read``
        gives it while srv6mgrd does not run. Blocks until ``changed`` was called once."""
        self._path = path
        self._modules = modules
        self._changed = changed
        self._read = read
        self._marked = threading.Condition()
        self._mark = -1
        self._closing = False
        self._connection: socket.socket | None = None
        self._first = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()
        self._first.wait()

    def wait_for(self, mark: int, seconds: float) -> bool:
        """Whether all changes before a mark were passed to ``changed``; waits for it."""
        with self._marked:
            return self._marked.wait_for(lambda: self._mark >= mark, seconds)

    def close(self) -> None:
        self._closing = True
        if (connection := self._connection) is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()

    def _run(self) -> None:
        while not self._closing:
            try:
                self._follow()
            except (OSError, ProtocolError, DatastoreError) as error:
                _LOG.debug("configuration: %s", error)
            except Exception:
                _LOG.exception("the configuration is not followed; starting again")
            self._reach(-1)
            if not self._first.is_set():
                self._begin_alone()
            time.sleep(0 if self._closing else _RETRY)

    def _begin_alone(self) -> None:
        try:
            self._changed([self._read()], True)
            self._first.set()
        except Exception as error:
            _LOG.warning("the configuration cannot be read yet: %s", error)

    def _follow(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(SILENCE)
            self._connection = connection
            connection.connect(str(self._path))
            modules = [("module", module.encode()) for module in self._modules]
            connection.sendall(encode([("request", b"watch"), *modules]))
            # All that comes before "begin" is the configuration as it is.
            begun: list[str] | None = []
            while not self._closing and (fields := receive(connection)) is not None:
                begun = self._take(fields, begun)

    def _take(self, fields: Fields, begun: list[str] | None) -> list[str] | None:
        if fields.has("data") and begun is not None:
            return [*begun, fields.text("data")]
        if fields.has("data"):
            self._changed([fields.text("data")], False)
        elif fields.has("begin") and begun is not None:
            self._changed(begun, True)
            self._first.set()
            return None
        elif fields.has("mark"):
            # Before the beginning it speaks of changes that are not passed on yet.
            if begun is None:
                self._reach(fields.number("mark", 0))
        elif fields.text("result") != answer.WAITING:
            answer.check(fields)
        return begun

    def _reach(self, mark: int) -> None:
        with self._marked:
            self._mark = mark
            self._marked.notify_all()
