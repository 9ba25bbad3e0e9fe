"""The host's hand inside the lab: starts jobs, moves their bytes, reports how they ended."""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import signal
import struct
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from lab.link import BEAT, CHUNK, WINDOW, Frame, Kind, Unpacker, message

Handler = Callable[[], object]


class Agent:
    """One selector loop over the link and all jobs."""

    def __init__(self, link: int) -> None:
        self._link = link
        self._selector = selectors.DefaultSelector()
        self._jobs: dict[int, Job] = {}
        self._unpacker = Unpacker()
        self._over = False

    def run(self) -> None:
        os.set_blocking(self._link, True)
        self.watch(self._link, selectors.EVENT_READ, self._from_host)
        beat = 0.0
        while not self._over:
            if time.monotonic() >= beat:
                self.send(Frame(0, Kind.HELLO))
                beat = time.monotonic() + BEAT
            for key, _ in self._selector.select(max(0.0, beat - time.monotonic())):
                # A handler may have ended the job of a later key of the same round.
                if key.fileobj in self._selector.get_map():
                    key.data()
        for job in list(self._jobs.values()):
            job.signal(signal.SIGKILL)

    def send(self, frame: Frame) -> None:
        data = memoryview(frame.packed())
        while data:
            data = data[os.write(self._link, data) :]

    def watch(self, fd: int, events: int, handler: Handler) -> None:
        self._selector.register(fd, events, handler)

    def unwatch(self, fd: int) -> None:
        with contextlib.suppress(KeyError):
            self._selector.unregister(fd)

    def forget(self, channel: int) -> None:
        self._jobs.pop(channel, None)

    def _from_host(self) -> None:
        try:
            data = os.read(self._link, 65536)
        except OSError:  # a serial line that was hung up
            data = b""
        if not data:
            self._over = True
            return
        self.send(message(0, Kind.CREDIT, len(data)))
        for frame in self._unpacker.feed(data):
            if frame.kind is Kind.START:
                self._start(frame)
            elif frame.channel in self._jobs:
                self._jobs[frame.channel].take(frame)

    def _start(self, frame: Frame) -> None:
        try:
            self._jobs[frame.channel] = Job(self, frame)
        except OSError as error:
            cause = f"{error.filename}: {os.strerror(error.errno or 0)}\n"
            status = 127 if isinstance(error, FileNotFoundError) else 126
            self.send(Frame(frame.channel, Kind.STDERR, f"lab: {cause}".encode()))
            self.send(message(frame.channel, Kind.EXIT, {"status": status}))


@dataclass(slots=True)
class _Output:
    """A stream from the job to the host."""

    kind: Kind
    fd: int


@dataclass(slots=True)
class _Input:
    """Bytes on their way into the job."""

    fd: int
    pending: bytearray = field(default_factory=bytearray)
    ending: bool = False


class Job:
    """One process group, with pipes or a terminal."""

    def __init__(self, agent: Agent, frame: Frame) -> None:
        wish = frame.fields()
        self._agent = agent
        self._channel = frame.channel
        self._in_flight = 0
        self._paused = False
        self._terminal = bool(wish["pty"])
        if self._terminal:
            main, child_end = os.openpty()
            _prepare_terminal(child_end, wish)
            streams = (child_end, child_end, child_end)
            self._input = _Input(os.dup(main))
            self._outputs = [_Output(Kind.STDOUT, main)]
        else:
            (in_end, feed), (out, out_end), (err, err_end) = os.pipe(), os.pipe(), os.pipe()
            streams = (in_end, out_end, err_end)
            self._input = _Input(feed)
            self._outputs = [_Output(Kind.STDOUT, out), _Output(Kind.STDERR, err)]
        own_ends = {self._input.fd, *(output.fd for output in self._outputs)}
        try:
            # The agent has no terminal to give away: setsid takes it for the job.
            prefix = ["setsid", "--ctty"] if self._terminal else []
            self._process = subprocess.Popen(
                [*prefix, *wish["argv"]],
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                env={**os.environ, **wish["env"]},
                cwd=wish["cwd"],
                start_new_session=not self._terminal,
            )
        except OSError:
            for fd in own_ends:
                os.close(fd)
            raise
        finally:
            for fd in set(streams):
                os.close(fd)
        for fd in own_ends:
            os.set_blocking(fd, False)
        self._watch_outputs()
        self._pidfd = os.pidfd_open(self._process.pid)
        agent.watch(self._pidfd, selectors.EVENT_READ, self._ended)

    def take(self, frame: Frame) -> None:
        if frame.kind is Kind.STDIN:
            self._input.pending += frame.data
            self._write()
        elif frame.kind is Kind.STDIN_END:
            if self._terminal:
                self._input.pending += b"\x04"
            else:
                self._input.ending = True
            self._write()
        elif frame.kind is Kind.ACK:
            self._in_flight -= int(frame.fields())
            if self._paused and self._in_flight < WINDOW:
                self._paused = False
                self._watch_outputs()
        elif frame.kind is Kind.SIGNAL:
            self.signal(signal.Signals(frame.fields()))
        elif frame.kind is Kind.SIZE:
            _set_size(self._outputs[0].fd, *frame.fields())
        elif frame.kind is Kind.HANGUP:
            self.signal(signal.SIGHUP)
            self.signal(signal.SIGCONT)

    def signal(self, number: signal.Signals) -> None:
        group = self._process.pid
        if self._terminal:  # a shell gives each of its jobs a group; the one in front is meant
            with contextlib.suppress(OSError):
                group = os.tcgetpgrp(self._outputs[0].fd) or group
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, number)

    def _watch_outputs(self) -> None:
        for output in self._outputs:
            self._agent.watch(output.fd, selectors.EVENT_READ, partial(self._read, output))

    def _unwatch_outputs(self) -> None:
        for output in self._outputs:
            self._agent.unwatch(output.fd)

    def _read(self, output: _Output) -> bool:
        try:
            data = os.read(output.fd, CHUNK)
        except BlockingIOError:
            return False
        except OSError:  # a terminal whose last program is gone
            data = b""
        if not data:
            self._agent.unwatch(output.fd)
            self._outputs.remove(output)
            os.close(output.fd)
            return False
        self._agent.send(Frame(self._channel, output.kind, data))
        self._in_flight += len(data)
        if self._in_flight >= WINDOW and not self._paused:
            self._paused = True
            self._unwatch_outputs()
        return True

    def _write(self) -> None:
        stream = self._input
        if stream.fd < 0:
            return
        wrote = 0
        try:
            while stream.pending:
                count = os.write(stream.fd, stream.pending)
                del stream.pending[:count]
                wrote += count
        except BlockingIOError:
            pass
        except OSError:  # nobody reads any more
            wrote += len(stream.pending)
            stream.pending.clear()
        if wrote:
            self._agent.send(message(self._channel, Kind.ACK, wrote))
        self._agent.unwatch(stream.fd)
        if stream.pending:
            self._agent.watch(stream.fd, selectors.EVENT_WRITE, self._write)
        elif stream.ending:
            os.close(stream.fd)
            stream.fd = -1

    def _ended(self) -> None:
        status = self._process.wait()
        self._agent.unwatch(self._pidfd)
        os.close(self._pidfd)
        self._unwatch_outputs()
        # What is left in the pipes belongs to the job; a daemon it left behind may hold the pipe
        # open forever, so what is there now is all that is waited for.
        for output in list(self._outputs):
            while self._read(output):
                pass
        self._unwatch_outputs()
        fds = {output.fd for output in self._outputs} | {self._input.fd}
        for fd in fds - {-1}:
            self._agent.unwatch(fd)
            os.close(fd)
        status = status if status >= 0 else 128 - status
        self._agent.send(message(self._channel, Kind.EXIT, {"status": status}))
        self._agent.forget(self._channel)


def _prepare_terminal(fd: int, wish: dict[str, object]) -> None:
    size = wish.get("size")
    if isinstance(size, list):
        _set_size(fd, *size)
    if not wish.get("raw"):
        # The host's terminal is in its ordinary mode: it echoes, and it makes the line ends.
        attributes = termios.tcgetattr(fd)
        attributes[1] &= ~termios.OPOST
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(fd, termios.TCSANOW, attributes)


def _set_size(fd: int, rows: int, columns: int) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def main() -> None:
    where = sys.argv[1]
    if where.startswith("fd:"):
        link = int(where[3:])
        os.set_inheritable(link, False)
    else:
        link = os.open(where, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(link)
    Agent(link).run()


if __name__ == "__main__":
    main()
