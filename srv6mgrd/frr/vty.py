"""Client of a daemon's vty UNIX socket: the protocol that vtysh speaks.

A command is its text and a NUL. An answer is text, three NULs and a status byte (``vtysh_read``
in FRR's lib/vty.c). The daemon takes commands that arrive together one after the other, so
they are written ahead and the answers read as they come; that is what makes many of them fast.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from selectors import EVENT_READ, EVENT_WRITE, PollSelector
from types import TracebackType
from typing import Protocol

SUCCESS = 0  # CMD_SUCCESS in lib/command.h; every other status is a rejection
_MARK = b"\0\0\0"
_CHUNK = 1 << 16


# The process that listens at a socket, and the socket's inode; None when nobody does.
Instance = tuple[int, int] | None
Instances = tuple[Instance, ...]
# struct ucred
_CREDENTIALS = struct.Struct("3i")


def instance(path: Path) -> Instance:
    """Who serves the socket; another one after each restart of the daemon. Asks it nothing and
    never waits: one with a full queue counts as absent until it takes calls again."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.setblocking(False)
            probe.connect(str(path))
            return credentials(probe), os.stat(path).st_ino
    except OSError:
        return None


def is_open(connected: socket.socket) -> bool:
    """Whether the other end is there, and has sent nothing that nobody asked for."""
    try:
        connected.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def credentials(connected: socket.socket) -> int:
    """The process that called listen() (unix(7))."""
    size = _CREDENTIALS.size
    found = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    return int(_CREDENTIALS.unpack(found)[0])


@dataclass(frozen=True, slots=True)
class Answer:
    """What a daemon says to one command."""

    status: int
    text: str

    @property
    def ok(self) -> bool:
        return self.status == SUCCESS

    @property
    def message(self) -> str:
        """FRR's words about a rejection, in one line."""
        lines = [line.strip().removeprefix("%").strip() for line in self.text.splitlines()]
        return (
            "; ".join(filter(None, lines)) or f"rejected without a message (status {self.status})"
        )


class VtyError(OSError):
    """A daemon can't be reached, went away, or is silent. ``answers`` are those that came."""

    def __init__(self, number: int, message: str, answers: Sequence[Answer] = ()) -> None:
        super().__init__(number, message)
        self.answers = list(answers)

    def __str__(self) -> str:
        return str(self.strerror)


def _connected(path: Path, timeout: float) -> socket.socket:
    """Raises VtyError."""
    try:
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    except OSError as error:
        raise VtyError(
            error.errno or errno.EMFILE,
            f"{path.stem} can't be asked ({error.strerror}); see what takes the descriptors"
            " of srv6mgrd, or raise LimitNOFILE",
        ) from error
    try:
        # Not settimeout: without room in the daemon's backlog, which is 3, that fails at once
        # (unix_stream_connect), and a daemon that is busy with a thousand VRFs has none.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _timeval(timeout))
        made.connect(str(path))
    except BlockingIOError as error:
        made.close()
        cause = f"{path.stem} took no connection within {timeout:g} s"
        raise VtyError(errno.ETIMEDOUT, f"{cause}; see its log") from error
    except OSError as error:
        made.close()
        raise VtyError(
            error.errno or errno.ETIMEDOUT,
            f"{path.stem} can't be reached at {path} ({error.strerror or error});"
            " start frr and see that the daemon is enabled",
        ) from error
    return made


def _timeval(seconds: float) -> bytes:
    """struct timeval."""
    whole, part = divmod(round(seconds * 1e6), 1_000_000)
    return struct.pack("@ll", whole, part)


class Shows(Protocol):
    """What ``FrrSockets`` offers: the output of a show command, or ``VtyError``."""

    def show(self, daemon: str, command: str) -> str: ...


# Called with answers; one that hears nothing may not have come to an end.
Answered = Callable[[], None]


def _nobody() -> None:
    pass


class Vty:
    """One session with one daemon, in enable mode."""

    def __init__(
        self, path: Path, timeout: float = 30.0, connected: socket.socket | None = None
    ) -> None:
        """``timeout``: longest silence in seconds while answers are outstanding; ``connected`` to
        the daemon already, and nothing was sent yet."""
        self._name = path.stem
        self._timeout = timeout
        self._socket = connected if connected is not None else _connected(path, timeout)
        self._socket.setblocking(False)
        try:
            self.run(["enable"])
        except VtyError:
            self.close()
            raise

    def __enter__(self) -> Vty:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def is_alive(self) -> bool:
        """Whether the daemon has not closed the session since the last answer."""
        return is_open(self._socket)

    def served_by(self) -> int:
        """The process id of the daemon."""
        return credentials(self._socket)

    def run(self, commands: Sequence[str], answered: Answered = _nobody) -> list[Answer]:
        """All commands, written ahead; one answer each, whatever its status. ``answered`` is
        called as they come."""
        pending = memoryview(b"".join(c.encode() + b"\0" for c in commands))
        answers: list[Answer] = []
        received = bytearray()
        # poll(2) takes no descriptor of its own, which there may not be.
        with PollSelector() as selector:
            selector.register(self._socket, EVENT_READ | EVENT_WRITE if pending else EVENT_READ)
            while len(answers) < len(commands):
                ready = selector.select(self._timeout)
                if not ready:
                    cause = f"{self._name} gave no answer within {self._timeout:g} s"
                    raise VtyError(errno.ETIMEDOUT, f"{cause}; see its log", answers)
                try:
                    events = ready[0][1]
                    if events & EVENT_READ:
                        before = len(answers)
                        self._receive(received, answers)
                        if len(answers) > before:
                            answered()
                    if events & EVENT_WRITE and pending:
                        pending = pending[self._socket.send(pending[:_CHUNK]) :]
                        if not pending:
                            selector.modify(self._socket, EVENT_READ)
                except BlockingIOError:
                    continue
                except VtyError:
                    raise
                except OSError as error:
                    raise self._gone(error.errno or errno.EPIPE, answers) from error
        return answers

    def _receive(self, received: bytearray, answers: list[Answer]) -> None:
        data = self._socket.recv(_CHUNK)
        if not data:
            raise self._gone(errno.ECONNRESET, answers)
        # The mark may be split over two reads: look again at the last bytes.
        look = max(0, len(received) - len(_MARK))
        received += data
        start = 0
        while 0 <= (end := received.find(_MARK, look)) < len(received) - len(_MARK):
            text = received[start:end].decode(errors="replace")
            start = look = end + len(_MARK) + 1
            answers.append(Answer(received[start - 1], text))
        del received[:start]

    def _gone(self, number: int, answers: Sequence[Answer]) -> VtyError:
        cause = f"{self._name} closed the session after {len(answers)} commands"
        return VtyError(number, f"{cause}; it has stopped or restarted, see its log", answers)


class Keeper(Protocol):
    """A session that outlives the ``with`` (``kept.KeptSession``)."""

    def taken(self) -> AbstractContextManager[None]:
        """Nobody else uses it meanwhile."""
        ...

    def session(self) -> Vty: ...

    def drop(self) -> None: ...


class Sessions(ExitStack):
    """One session with each daemon, from the first question on until the ``with`` ends, or longer
    where somebody keeps it."""

    def __init__(
        self,
        directory: Path,
        timeout: float,
        keepers: Mapping[str, Keeper] | None = None,
        answered: Answered = _nobody,
    ) -> None:
        super().__init__()
        self._answered = answered
        self._directory = directory
        self._timeout = timeout
        self._keepers = keepers or {}
        self._taken: set[str] = set()
        self._open: dict[str, Vty] = {}

    def run(self, daemon: str, commands: Sequence[str]) -> list[Answer]:
        """``Vty.run``. After a VtyError the daemon gets a new session with the next call."""
        try:
            return self._session(daemon).run(commands, self._answered)
        except VtyError:
            self.drop(daemon)
            raise

    def _session(self, daemon: str) -> Vty:
        if (keeper := self._keepers.get(daemon)) is not None:
            if daemon not in self._taken:
                self.enter_context(keeper.taken())
                self._taken.add(daemon)
            return keeper.session()
        if daemon not in self._open:
            vty = Vty(self._directory / f"{daemon}.vty", self._timeout)
            self._open[daemon] = self.enter_context(vty)
        return self._open[daemon]

    def drop(self, daemon: str) -> None:
        """End the session; the next command begins another."""
        if daemon in self._keepers:
            self._keepers[daemon].drop()
        elif daemon in self._open:
            self._open.pop(daemon).close()

    def show(self, daemon: str, command: str) -> str:
        """Output of a show command; ``VtyError`` when rejected or out of reach."""
        (answer,) = self.run(daemon, [command])
        if not answer.ok:
            message = f"{daemon} refused '{command}': {answer.message}; see its FRR version"
            raise VtyError(errno.EOPNOTSUPP, message)
        return answer.text
