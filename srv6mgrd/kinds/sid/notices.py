"""What the kernel says of every change in the SID table, ours included, message by message.

``inet6_rt_notify`` runs within the request: when a write is acknowledged, its notification is in
our socket. So the observed state is the earlier one plus the notifications since.
"""

from __future__ import annotations

import errno
import socket
import struct
from dataclasses import dataclass

from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.netlink import wire
from srv6mgrd.netlink.listening import listening, program

_BUFFER = 32 << 20
_DATAGRAM = 1 << 16
_HEAD = struct.Struct("=IHH")


@dataclass(frozen=True, slots=True)
class Notice:
    """A route came or went; ``message`` is the whole netlink message. ``replaces``: it took the
    place of another."""

    message: bytes
    removed: bool
    replaces: bool


class SidNotices:
    """Collects notifications from its making on."""

    def __init__(self, buffer: int = _BUFFER) -> None:
        self._buffer = buffer
        self._socket = self._listening()

    def _listening(self) -> socket.socket:
        return listening([wire.RTNLGRP_IPV6_ROUTE], self._buffer, code=program(0))

    def close(self) -> None:
        self._socket.close()

    def take(self, at_most: int) -> list[Notice] | None:
        """Notifications since the last time; None when some were lost, or when there are more
        than ``at_most``: then it is not even looked at."""
        found: list[Notice] = []
        while len(found) <= at_most:
            try:
                datagram = self._socket.recv(_DATAGRAM)
            except BlockingIOError:
                return found
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                break
            found += _notices(datagram)
        # To take the rest one by one is what takes long; another socket begins without it.
        left, self._socket = self._socket, self._listening()
        left.close()
        return None


def _notices(datagram: bytes) -> list[Notice]:
    found = []
    at = 0
    while at + wire.NLMSGHDR.size <= len(datagram):
        length, kind, flags = _HEAD.unpack_from(datagram, at)
        message = datagram[at : at + length]
        if kind in (wire.RTM_NEWROUTE, wire.RTM_DELROUTE) and _is_of_sids(message):
            replaces = bool(flags & wire.NLM_F_REPLACE)
            found.append(Notice(message, kind == wire.RTM_DELROUTE, replaces))
        at += (length + 3) & ~3
    return found


def _is_of_sids(message: bytes) -> bool:
    family, *_, table, _, _, _, _ = wire.RTMSG.unpack_from(message, wire.NLMSGHDR.size)
    found = wire.attribute_map(message, wire.NLMSGHDR.size + wire.RTMSG.size)
    if wire.RTA_TABLE in found:
        table = wire.u32(found[wire.RTA_TABLE])
    return bool(family == socket.AF_INET6 and table == SID_TABLE)
