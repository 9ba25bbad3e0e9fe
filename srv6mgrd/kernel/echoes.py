"""Echoes of neighbors, asked for from any address, one that this router does not have too (RFC 4443
section 4.1)."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import select
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address

from srv6mgrd.netlink.classic_filter import LOAD_BYTE, LOAD_HALF, all_of, attach

_TIMEOUT = 0.4
_ECHO_REQUEST, _ECHO_REPLY = 128, 129
_ECHO = struct.Struct("!BBHHH")
_ICMPV6 = 58
_IPV6_HEADER = 40
# linux/in6.h, linux/icmpv6.h, linux/if_ether.h
_IPV6_FREEBIND, _ICMP6_FILTER, _ETH_P_IPV6 = 78, 1, 0x86DD
_NOTHING = b"\xff" * 32
_UNREACHABLE = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EACCES, errno.EINVAL)


@dataclass(frozen=True, slots=True)
class Probe:
    """An echo request to a neighbor, from an address of a locator or, without one, from the usual
    address."""

    neighbor: IPv6Address
    locator: str = ""
    source: IPv6Address | None = None


class Sockets:
    """The kernel's. Answers to an address of a locator are for nobody here: a packet socket sees
    them before the kernel rejects them. It is open only while answers are awaited, since all IPv6
    packets pass its filter."""

    def __init__(self) -> None:
        self._identifier = int.from_bytes(os.urandom(2))
        self._numbers = itertools.count()

    def answered(self, probes: Sequence[Probe]) -> set[Probe]:
        """Those that were answered in time. Raises OSError."""
        found = set[Probe]()
        with _listening(self._identifier) as answers, _sending() as requests:
            awaited = {}
            for probe in probes:
                number = next(self._numbers) & 0xFFFF
                if _send(requests, probe, self._identifier, number):
                    awaited[number] = probe
            until = time.monotonic() + _TIMEOUT
            while awaited and (left := until - time.monotonic()) > 0:
                if not select.select([answers], [], [], left)[0]:
                    break
                sender, number = self._read(answers.recv(_IPV6_HEADER + _ECHO.size))
                expected = awaited.get(number)
                if expected is not None and sender == expected.neighbor:
                    found.add(awaited.pop(number))
        return found

    def _read(self, packet: bytes) -> tuple[IPv6Address | None, int]:
        """Sender and number of an answer; what came in before the filter was attached has none."""
        if len(packet) < _IPV6_HEADER + _ECHO.size or packet[6] != _ICMPV6:
            return None, 0
        kind, _, _, identifier, number = _ECHO.unpack_from(packet, _IPV6_HEADER)
        if (kind, identifier) != (_ECHO_REPLY, self._identifier):
            return None, 0
        return IPv6Address(packet[8:24]), number


@contextlib.contextmanager
def _listening(identifier: int) -> Iterator[socket.socket]:
    """To echo replies with this identifier."""
    kind = socket.SOCK_DGRAM | socket.SOCK_NONBLOCK
    with socket.socket(socket.AF_PACKET, kind, socket.htons(_ETH_P_IPV6)) as made:
        attach(
            made,
            all_of(
                (LOAD_BYTE, 6, _ICMPV6),
                (LOAD_BYTE, _IPV6_HEADER, _ECHO_REPLY),
                (LOAD_HALF, _IPV6_HEADER + 4, identifier),
            ),
        )
        yield made


@contextlib.contextmanager
def _sending() -> Iterator[socket.socket]:
    with socket.socket(
        socket.AF_INET6, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.IPPROTO_ICMPV6
    ) as made:
        made.setsockopt(socket.IPPROTO_ICMPV6, _ICMP6_FILTER, _NOTHING)
        made.setsockopt(socket.IPPROTO_IPV6, _IPV6_FREEBIND, 1)
        yield made


def _send(requests: socket.socket, probe: Probe, identifier: int, number: int) -> bool:
    """Whether it left; the kernel fills in the checksum (RFC 3542 section 3.1)."""
    echo = _ECHO.pack(_ECHO_REQUEST, 0, 0, identifier, number)
    ancillary = []
    if probe.source is not None:
        info = probe.source.packed + struct.pack("=I", 0)
        ancillary = [(socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, info)]
    try:
        requests.sendmsg([echo], ancillary, 0, (str(probe.neighbor), 0))
    except OSError as error:
        if error.errno not in _UNREACHABLE and not isinstance(error, BlockingIOError):
            raise
        return False
    return True
