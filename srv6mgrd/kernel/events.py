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
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Network, ip_network

from srv6mgrd.kinds.address import kernel as addresses
from srv6mgrd.kinds.boundary.object import BOUNDARY_KEY, BOUNDARY_TABLE
from srv6mgrd.kinds.route import Family
from srv6mgrd.kinds.rule import kernel as rules
from srv6mgrd.kinds.unreachable.object import UnreachableDefault
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.reserved import ROUTE_PROTOCOL
from srv6mgrd.netlink import links, nft, wire
from srv6mgrd.netlink.notification_filter import attach, program
from srv6mgrd.netlink.socket import open_socket

_BUFFER = 32 << 20
_DATAGRAM = 1 << 16
_GROUPS = (
    wire.RTNLGRP_LINK,
    wire.RTNLGRP_IPV4_IFADDR,
    wire.RTNLGRP_IPV6_IFADDR,
    wire.RTNLGRP_IPV4_ROUTE,
    wire.RTNLGRP_IPV6_ROUTE,
    wire.RTNLGRP_IPV6_RULE,
)
# Events handed over at once; the rest waits in the socket.
_TAKE = 4096


class EventKind(StrEnum):
    LINK = "link"
    ADDRESS = "address"
    ROUTE = "route"
    RULE = "rule"
    BOUNDARY = "boundary"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class KernelEvent:
    """Something changed. ``key`` is that of the plan's object; of a link it is ``link NAME``, its
    VRF port is meant too. LOST: notifications were dropped, so read everything again."""

    kind: EventKind
    key: str = ""
    removed: bool = False
    ours: bool = False


class KernelEvents:
    """Async iterator over batches of events; each batch is what has come in since the last one.

    ``ignore_port`` is the port id of the socket whose changes of routes are not reported
    (LinuxKernel.port); ``buffer`` is in bytes. Start it before the first observe, so that nothing
    falls in between.
    """

    def __init__(self, ignore_port: int = 0, buffer: int = _BUFFER) -> None:
        routing = open_socket(wire.NETLINK_ROUTE, buffer)
        # Before joining: what comes in between would pass unfiltered.
        attach(routing, program(ignore_port))
        _join(routing, _GROUPS)
        self._sockets = [routing]
        # Without nftables there is nothing to hear of.
        with contextlib.suppress(OSError):
            filtering = open_socket(nft.NETLINK_NETFILTER, buffer)
            self._sockets.append(filtering)
            _join(filtering, (nft.NFNLGRP_NFTABLES,))
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
                for _ in range(_TAKE):
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


def decode(kind: int, body: memoryview) -> KernelEvent | None:
    """One notification; None when it is of no interest."""
    if kind in (wire.RTM_NEWLINK, wire.RTM_DELLINK):
        if body[0] != socket.AF_UNSPEC:
            # A bridge port's state (br_ifinfo_notify).
            return None
        link = links.decode(body)
        removed = kind == wire.RTM_DELLINK
        return KernelEvent(EventKind.LINK, f"link {link.name}", removed, link.ours)
    if kind in (wire.RTM_NEWRULE, wire.RTM_DELRULE):
        rule = rules.decode(body)
        if rule is None:
            return None
        removed = kind == wire.RTM_DELRULE
        return KernelEvent(EventKind.RULE, rule.object.key, removed, rule.ours)
    if kind in (wire.RTM_NEWADDR, wire.RTM_DELADDR):
        removed = kind == wire.RTM_DELADDR
        return KernelEvent(EventKind.ADDRESS, addresses.event_key(body), removed)
    if kind in (wire.RTM_NEWROUTE, wire.RTM_DELROUTE):
        return _route(body, removed=kind == wire.RTM_DELROUTE)
    # Of nf_tables; the table is the first attribute of all that is told but NFT_MSG_NEWGEN.
    if kind in nft.REPORTED and nft.table_of(body) == BOUNDARY_TABLE:
        removed = kind == nft.NFT_MSG_DELTABLE
        return KernelEvent(EventKind.BOUNDARY, BOUNDARY_KEY, removed)
    return None


def _route(body: memoryview, *, removed: bool) -> KernelEvent | None:
    family, length, _, _, table, protocol, _, kind, _ = wire.RTMSG.unpack_from(body)
    found = wire.attribute_map(body, wire.RTMSG.size)
    table = wire.u32(found[wire.RTA_TABLE]) if wire.RTA_TABLE in found else table
    ours = protocol == ROUTE_PROTOCOL
    if family == socket.AF_INET6 and table == SID_TABLE:
        address = bytes(found[wire.RTA_DST]) if wire.RTA_DST in found else bytes(16)
        key = f"route6 table {table} {IPv6Network((address, length), strict=False)}"
        return KernelEvent(EventKind.ROUTE, key, removed, ours)
    version: Family = 6 if family == socket.AF_INET6 else 4
    if not length and kind == wire.RTN_UNREACHABLE:
        default = UnreachableDefault(version, table)
        return KernelEvent(EventKind.ROUTE, default.key, removed, ours)
    if ours:
        address = bytes(found.get(wire.RTA_DST, bytes(16 if version == 6 else 4)))
        metric = wire.u32(found[wire.RTA_PRIORITY]) if wire.RTA_PRIORITY in found else 0
        prefix = ip_network((address, length), strict=False)
        key = f"route{version} table {table} {prefix} metric {metric}"
        return KernelEvent(EventKind.ROUTE, key, removed, ours)
    return None


def _join(target: socket.socket, groups: Iterable[int]) -> None:
    target.bind((0, 0))
    for group in groups:
        target.setsockopt(wire.SOL_NETLINK, wire.NETLINK_ADD_MEMBERSHIP, group)
    target.setblocking(False)
