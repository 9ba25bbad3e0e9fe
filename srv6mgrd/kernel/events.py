"""What changes in the kernel, as it happens: links, addresses, routes of ours and in their way,
IPv6 rules, and the nftables table at the boundary.

A filter in the kernel (SO_ATTACH_FILTER) drops what is of no interest before it costs a wake-up or
room in the receive buffer: routes of foreign tables, which may be a full BGP feed, and changes of
routes that we made ourselves.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncIterator, Iterator

from srv6mgrd.kinds.kernel_event import EventKind, KernelEvent
from srv6mgrd.kinds.registry import KINDS
from srv6mgrd.netlink import wire
from srv6mgrd.netlink.listening import listening, program, turn

_BUFFER = 32 << 20
_DATAGRAM = 1 << 16
# Kinds of devices share one.
_EVENTS = tuple(dict.fromkeys(kind.event for kind in KINDS))


class KernelEvents:
    """Async iterator over batches of events; each batch is what has come in since the last one.

    ``ignore_port`` is the port id of the socket whose changes of routes are not reported
    (LinuxKernel.port); ``buffer`` is in bytes. Start it before the first observe, so that nothing
    falls in between.
    """

    def __init__(self, ignore_port: int = 0, buffer: int = _BUFFER) -> None:
        groups = _groups()
        routing = groups.pop(wire.NETLINK_ROUTE)
        self._sockets = [listening(routing, buffer, code=program(ignore_port))]
        for family, members in groups.items():
            # Without nftables there is nothing to hear of.
            with contextlib.suppress(OSError):
                self._sockets.append(listening(members, buffer, family=family))
        self._readable = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def close(self) -> None:
        self._unheard()
        self._loop = None
        for netlink in self._sockets:
            netlink.close()

    def __aiter__(self) -> AsyncIterator[list[KernelEvent]]:
        return self

    async def __anext__(self) -> list[KernelEvent]:
        """Waits until something of interest has changed."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        # Others have a turn, however much there is to hear.
        await asyncio.sleep(0)
        while True:
            if events := self.take():
                return events
            self._readable.clear()
            for netlink in self._sockets:
                self._loop.add_reader(netlink, self._wake)
            await self._readable.wait()

    def _wake(self) -> None:
        self._readable.set()
        # Level-triggered: silent until the reader has taken what is there.
        self._unheard()

    def _unheard(self) -> None:
        if self._loop is not None:
            for netlink in self._sockets:
                self._loop.remove_reader(netlink)

    def take(self) -> list[KernelEvent]:
        """What has come in, without waiting; each thing once, in its last state."""
        events: dict[tuple[EventKind, str], KernelEvent] = {}
        for netlink in self._sockets:
            with contextlib.suppress(BlockingIOError):
                for _ in turn():
                    for event in _received(netlink):
                        events[event.kind, event.key] = event
        return list(events.values())


def _received(netlink: socket.socket) -> Iterator[KernelEvent]:
    """Events of one datagram. Raises BlockingIOError when there is none."""
    try:
        datagram = netlink.recv(_DATAGRAM)
    except OSError as error:
        if error.errno != errno.ENOBUFS:
            raise
        yield KernelEvent(EventKind.LOST)
        return
    for kind, _, _, body in wire.messages(datagram):
        if (event := decode(kind, body)) is not None:
            yield event


def decode(message: int, body: memoryview) -> KernelEvent | None:
    """One notification; None when no kind of object is concerned."""
    for event in _EVENTS:
        if (found := event(message, body)) is not None:
            return found
    return None


def _groups() -> dict[int, set[int]]:
    """What to join, by netlink protocol."""
    found: dict[int, set[int]] = {}
    for kind in KINDS:
        for protocol, members in kind.groups.items():
            found.setdefault(protocol, set()).update(members)
    return found
