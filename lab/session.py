"""One job of the lab, joined to this process's streams or terminal."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from lab.link import BEAT, CHUNK, WINDOW, Frame, Kind, message
from lab.problem import LabError

# How long a job may take to end itself after Ctrl-C.
GRACE = 5.0


class Peer(Protocol):
    """Where frames go to and come from: a machine of ours, or the server of one."""

    def fileno(self) -> int: ...
    def send(self, frame: Frame) -> None: ...
    def receive(self) -> list[Frame]: ...
    def check(self) -> None: ...


class Interrupted(Exception):
    """The user pressed Ctrl-C, or this process got SIGTERM."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class JobTooLong(Exception):
    """The job did not end within its limit."""


class Session:
    """Runs one job and returns its exit status."""

    def __init__(
        self, peer: Peer, channel: int, side: Sequence[tuple[int, Callable[[], bool]]] = ()
    ) -> None:
        self._peer = peer
        self._channel = channel
        # Other descriptors to look after meanwhile; a callback says False at the end of its own.
        self._side = dict(side)

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = "/src",
        environment: Mapping[str, str] | None = None,
        raw: bool = False,
        stdin: bytes | None = None,
        collect: bytearray | None = None,
        limit: float | None = None,
    ) -> int:
        """`raw`: the whole terminal is the job's; `stdin`: these bytes instead of ours;
        `collect`: takes the output instead of our streams; `limit`: seconds, JobTooLong after."""
        ours = collect is None
        pty = ours and (raw or (os.isatty(1) and os.isatty(2)))
        wish = {"argv": list(argv), "cwd": cwd, "env": dict(environment or {}), "pty": pty,
                "raw": raw, "size": _terminal_size() if pty else None}  # fmt: skip
        self._peer.send(message(self._channel, Kind.START, wish))
        with _signals(pty, raw) as wake, _raw_terminal() if raw else contextlib.nullcontext():
            return self._loop(wake, stdin, collect, limit)

    def _loop(
        self, wake: int, stdin: bytes | None, collect: bytearray | None, limit: float | None
    ) -> int:
        over = None if limit is None else time.monotonic() + limit
        in_flight = 0
        reading = stdin is None
        if stdin is not None:
            self._peer.send(Frame(self._channel, Kind.STDIN, stdin))
            self._peer.send(Frame(self._channel, Kind.STDIN_END))
        interrupted: int | None = None
        deadline: float | None = None
        while True:
            poll = select.poll()
            for fd in (self._peer.fileno(), wake, *self._side):
                poll.register(fd, select.POLLIN)
            if reading and in_flight < WINDOW:
                poll.register(0, select.POLLIN)
            left = BEAT if deadline is None else max(0.0, min(BEAT, deadline - time.monotonic()))
            ready = {fd for fd, _ in poll.poll(left * 1000)}
            self._peer.check()
            if over is not None and time.monotonic() > over:
                raise JobTooLong(f"is not done after {limit:.0f} s")
            if deadline is not None and time.monotonic() >= deadline:
                raise Interrupted(interrupted or signal.SIGINT)
            for fd in ready & set(self._side):
                if not self._side[fd]():
                    del self._side[fd]
            if wake in ready:
                for number in os.read(wake, 64):
                    if number == signal.SIGWINCH:
                        size = _terminal_size()
                        self._peer.send(message(self._channel, Kind.SIZE, size))
                    elif interrupted is not None:
                        raise Interrupted(number)
                    else:
                        interrupted, deadline = number, time.monotonic() + GRACE
                        self._peer.send(message(self._channel, Kind.SIGNAL, number))
            if 0 in ready and reading:
                data = _read_input()
                if data:
                    in_flight += len(data)
                    self._peer.send(Frame(self._channel, Kind.STDIN, data))
                else:
                    reading = False
                    self._peer.send(Frame(self._channel, Kind.STDIN_END))
            if self._peer.fileno() in ready:
                for frame in self._peer.receive():
                    if frame.channel != self._channel:
                        continue
                    if frame.kind is Kind.ACK:
                        in_flight -= int(frame.fields())
                    elif frame.kind in (Kind.STDOUT, Kind.STDERR):
                        if collect is None:
                            _write_all(1 if frame.kind is Kind.STDOUT else 2, frame.data)
                        else:
                            collect += frame.data
                        self._peer.send(message(self._channel, Kind.ACK, len(frame.data)))
                    elif frame.kind is Kind.EXIT:
                        fields = frame.fields()
                        if "error" in fields:
                            raise LabError("command", fields["error"])
                        if interrupted is not None:
                            raise Interrupted(interrupted)
                        return int(fields["status"])


def _read_input() -> bytes:
    try:
        return os.read(0, CHUNK)
    except OSError:  # a background process has no terminal to read from
        return b""


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _terminal_size() -> list[int]:
    for fd in (1, 0, 2):
        with contextlib.suppress(OSError):
            columns, rows = os.get_terminal_size(fd)
            return [rows, columns]
    return [24, 80]


@contextmanager
def _signals(terminal: bool, raw: bool) -> Iterator[int]:
    """A descriptor that gives the numbers of the signals that arrive."""
    wanted = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    if terminal:
        wanted.append(signal.SIGWINCH)
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    before = {number: signal.signal(number, lambda *_: None) for number in wanted}
    previous = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    try:
        yield read_end
    finally:
        signal.set_wakeup_fd(previous)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(read_end)
        os.close(write_end)


@contextmanager
def _raw_terminal() -> Iterator[None]:
    if not os.isatty(0):
        yield
        return
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        sys.stdout.flush()
