"""A lab left open: one process holds the machine, others join it through an abstract socket.

An abstract socket is no file: nothing is left behind when its owner is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from lab.link import BEAT, Frame, Kind, Unpacker, message
from lab.machine import Machine
from lab.problem import LabError

# Channels below are the server's own.
FIRST_CHANNEL = 100
# What a client that does not read may have waiting; jobs stop at WINDOW bytes by themselves.
PEER_CREDENTIALS = struct.Struct("3i")


def address(name: str) -> str:
    return f"\0srv6mgr-lab/{os.getuid()}/{name}"


class Client:
    """A connection to the server of a lab; also the Peer of a Session on channel 0."""

    def __init__(self, name: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._unpacker = Unpacker()
        self._name = name
        try:
            self._socket.connect(address(name))
        except ConnectionRefusedError:
            raise LabError(
                f"network {name}", "is not open", "open it with: lab start FILE"
            ) from None

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, frame: Frame) -> None:
        with contextlib.suppress(BrokenPipeError):  # the reason is still to be received
            self._socket.sendall(frame.packed())

    def receive(self) -> list[Frame]:
        try:
            data = self._socket.recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            raise LabError(f"network {self._name}", "was closed")
        return list(self._unpacker.feed(data))

    def check(self) -> None:
        """The server looks after the machine."""

    def stop(self) -> None:
        """Ask for the end and wait for it."""
        self.send(Frame(0, Kind.OFF))
        with contextlib.suppress(ConnectionError):
            while self._socket.recv(65536):
                pass


def is_open(name: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(address(name)) == 0


def start(name: str, boot: Callable[[], Machine], nodes: list[str]) -> None:
    """Leave a server behind that holds the machine which `boot` makes; return when it is up."""
    if is_open(name):
        raise LabError(f"network {name}", "is open already", f"lab stop --name {name}")
    read_end, write_end = os.pipe()
    if os.fork():
        os.close(write_end)
        with os.fdopen(read_end) as reported:
            said = reported.read()
        os.wait()
        if said != "ready":
            raise LabError(f"network {name}", said or "ended while it started")
        return
    os.close(read_end)
    os.setsid()
    if os.fork():
        os._exit(0)
    status = 1
    try:
        _serve_in_background(name, boot, nodes, write_end)
        status = 0
    except LabError as error:
        with contextlib.suppress(OSError):
            os.write(write_end, f"{error.cause}".encode())
    except BaseException:
        with contextlib.suppress(OSError):
            os.write(write_end, traceback.format_exc().encode())
    finally:
        os._exit(status)


def _serve_in_background(
    name: str, boot: Callable[[], Machine], nodes: list[str], ready: int
) -> None:
    os.chdir("/")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address(name))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    machine = boot()
    try:
        listener.listen()
        _detach_streams()
        os.write(ready, b"ready")
        os.close(ready)
        Server(machine, listener, nodes).run()
    finally:
        machine.close()


def _detach_streams() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


@dataclass(slots=True, eq=False)
class _Guest:
    """A client as the server sees it."""

    socket: socket.socket
    channel: int
    unpacker: Unpacker = field(default_factory=Unpacker)
    pending: bytearray = field(default_factory=bytearray)
    leaving: bool = False


class Server:
    """Relays between clients (each with channel 0) and the machine (a channel per client)."""

    def __init__(self, machine: Machine, listener: socket.socket, nodes: list[str]) -> None:
        self._machine = machine
        self._listener = listener
        self._nodes = nodes
        self._selector = selectors.DefaultSelector()
        self._guests: dict[int, _Guest] = {}
        self._next = FIRST_CHANNEL
        self._over = False

    def run(self) -> None:
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._machine, selectors.EVENT_READ, self._from_machine)
        self._selector.register(self._machine.console_fd, selectors.EVENT_READ, self._from_console)
        while not self._over:
            self._look_after_machine()
            for key, events in self._selector.select(BEAT):
                if key.fd in self._selector.get_map():
                    if isinstance(key.data, _Guest):
                        self._with_guest(key.data, events)
                    else:
                        key.data()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        credentials = connection.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, PEER_CREDENTIALS.size
        )
        _, uid, _ = PEER_CREDENTIALS.unpack(credentials)
        if uid not in (0, os.getuid()):  # abstract sockets have no permissions
            connection.close()
            return
        connection.setblocking(False)
        guest = _Guest(connection, self._next)
        self._next += 1
        self._guests[guest.channel] = guest
        self._selector.register(connection, selectors.EVENT_READ, guest)

    def _with_guest(self, guest: _Guest, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self._flush(guest)
        if events & selectors.EVENT_READ and guest.channel in self._guests:
            try:
                data = guest.socket.recv(65536)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._machine.send(Frame(guest.channel, Kind.HANGUP))
                self._drop(guest)
                return
            for frame in guest.unpacker.feed(data):
                self._take(guest, frame)

    def _take(self, guest: _Guest, frame: Frame) -> None:
        if frame.kind is Kind.OFF:
            self._over = True
        elif frame.kind is Kind.HELLO:
            self._give(guest, message(0, Kind.HELLO, {"nodes": self._nodes}))
        else:
            self._machine.send(frame._replace(channel=guest.channel))

    def _from_machine(self) -> None:
        try:
            frames = self._machine.receive()
        except LabError as error:
            self._end(error)
            return
        for frame in frames:
            if frame.channel in self._guests:
                self._give(self._guests[frame.channel], frame._replace(channel=0))

    def _look_after_machine(self) -> None:
        try:
            self._machine.check()
        except LabError as error:
            self._end(error)

    def _end(self, error: LabError) -> None:
        for guest in list(self._guests.values()):
            guest.socket.setblocking(True)
            self._give(guest, message(0, Kind.EXIT, {"error": error.cause}))
        self._over = True

    def _from_console(self) -> None:
        if not self._machine.console_ready():
            self._selector.unregister(self._machine.console_fd)

    def _give(self, guest: _Guest, frame: Frame) -> None:
        guest.pending += frame.packed()
        self._flush(guest)

    def _flush(self, guest: _Guest) -> None:
        try:
            while guest.pending:
                del guest.pending[: guest.socket.send(guest.pending)]
        except BlockingIOError:
            pass
        except OSError:
            return  # reading shows that it left
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if guest.pending else 0)
        self._selector.modify(guest.socket, events, guest)

    def _drop(self, guest: _Guest) -> None:
        self._selector.unregister(guest.socket)
        guest.socket.close()
        del self._guests[guest.channel]


def nodes_of(client: Client) -> list[str]:
    """The names of the nodes of an open lab."""
    client.send(Frame(0, Kind.HELLO))
    for frame in client.receive():
        if frame.kind is Kind.HELLO:
            return list(json.loads(frame.data)["nodes"])
    raise LabError("server", "gave no answer")
