"""The node's own counters and settings that drops depend on."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from srv6mgrd.plan.observed import Links

# Of this thread's network namespace.
_NET = Path("/proc/thread-self/net")
_SYSCTLS = Path("/proc/sys")
# Links are read in at most so much less than all of the time.
_REST = 50
# What moves when a packet that is forwarded comes to nothing (ip6_forward, ip6_pkt_drop,
# ip_forward, ip_error).
_DISCARDS6 = frozenset(
    {
        "Ip6InHdrErrors",
        "Ip6InTooBigErrors",
        "Ip6InNoRoutes",
        "Ip6InAddrErrors",
        "Ip6InDiscards",
        "Ip6OutNoRoutes",
        "Ip6OutDiscards",
        "Icmp6OutDestUnreachs",
    }
)
_DISCARDS4 = {
    "IpExt:": frozenset({"InNoRoutes"}),
    "Ip:": frozenset({"InHdrErrors", "InAddrErrors", "InDiscards", "OutDiscards", "OutNoRoutes"}),
    "Icmp:": frozenset({"OutDestUnreachs"}),
}


class Kernel(Protocol):
    """What of ``kernel.adapter.LinuxKernel`` is needed."""

    def links(self) -> Links: ...

    def filtered(self) -> int: ...


class DropNode:
    """``drops.watch.Node`` on Linux."""

    def __init__(
        self,
        kernel: Kernel,
        *,
        clock: Callable[[], float] = time.monotonic,
        spent: Callable[[], float] = time.thread_time,
    ) -> None:
        """``spent`` is the CPU time of this thread."""
        self._kernel, self._clock, self._spent = kernel, clock, spent
        self._links: Links | None = None
        self._due = 0.0

    def links(self) -> Links:
        """Not older than reading them, of which there may be thousands, takes ``_REST`` times."""
        now = self._clock()
        if self._links is None or now >= self._due:
            started = self._spent()
            self._links = self._kernel.links()
            self._due = now + (self._spent() - started) * _REST
        return self._links

    def filtered(self) -> int:
        return self._kernel.filtered()

    @staticmethod
    def sysctl(path: str) -> int | None:
        """None when there is no such one."""
        try:
            return int((_SYSCTLS / path).read_text())
        except (OSError, ValueError):
            return None

    @staticmethod
    def discards() -> int:
        return discards_of(*((_NET / name).read_text() for name in ("snmp6", "snmp", "netstat")))


def discards_of(snmp6: str, snmp: str, netstat: str) -> int:
    """Of the contents of these files of /proc/net."""
    return _of_ipv6(snmp6) + _of_ipv4(snmp) + _of_ipv4(netstat)


def _of_ipv6(text: str) -> int:
    pairs = (line.split() for line in text.splitlines())
    return sum(int(value) for name, value in pairs if name in _DISCARDS6)


def _of_ipv4(text: str) -> int:
    lines = [line.split() for line in text.splitlines()]
    total = 0
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        counted = _DISCARDS4.get(names[0], frozenset())
        total += sum(int(v) for n, v in zip(names, values, strict=True) if n in counted)
    return total
