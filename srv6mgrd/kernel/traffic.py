"""Counters of SIDs, read again only where traffic may have changed them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv6Network
from pathlib import Path

from srv6mgrd.kinds.device import UnknownLink
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.route import UnknownRoute
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sid.route_dump import NOTHING, Counters
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.plan.actions import Action, Delete

Counted = Mapping[IPv6Network, Counters]

# What may take routes with it, or have hidden one behind it.
_TAKES_ROUTES = (DummyDevice, VrfDevice, UnknownLink, UnknownRoute)

# Of the network namespace of the thread.
_NET = Path("/proc/thread-self/net")
_RECEIVED, _SENT = "InReceives", "OutRequests"


def packets(net: Path = _NET) -> int | None:
    """IP packets that came in, in any VRF, and that this node sent itself; None where the kernel
    does not say.

    A SID counts IPv6 packets that came in (ip6_rcv_core counts them before it looks a route up),
    and packets that this node encapsulates to it: IPv4 packets that came in (ip_rcv_core), and what
    programs of the node send (__ip_local_out, ip6_xmit).
    """
    try:
        return _of_ipv6((net / "snmp6").read_text()) + _of_ipv4((net / "snmp").read_text())
    except (OSError, ValueError, KeyError):
        return None


def _of_ipv6(text: str) -> int:
    found = dict(line.split() for line in text.splitlines())
    return int(found[f"Ip6{_RECEIVED}"]) + int(found[f"Ip6{_SENT}"])


def _of_ipv4(text: str) -> int:
    """Two lines begin with ``Ip:``, the names and the numbers."""
    names, numbers = (line.split() for line in text.splitlines() if line.startswith("Ip:"))
    found = dict(zip(names, numbers, strict=True))
    return int(found[_RECEIVED]) + int(found[_SENT])


class Traffic:
    """To look at a number is cheap, to dump a hundred thousand routes takes half a second."""

    def __init__(self, packets: Callable[[], int | None] = packets) -> None:
        self._packets = packets
        self._last: int | None = None
        self._settling = False
        self._counted: Counted | None = None

    def counted(self, dump: Callable[[], Counted]) -> Counted:
        """The very mapping of the last time when nothing can have counted since."""
        if self._may_have_counted() or self._counted is None:
            self._counted = None
            self._counted = dump()
        return self._counted

    def forget(self) -> Counted | None:
        """Before something is written. What was known is returned."""
        known, self._counted = self._counted, None
        return known

    def recall(self, known: Counted | None, written: Sequence[Action]) -> None:
        """All of this was written since: a SID that was put in place counts from 0."""
        if known is None or any(isinstance(action.object, _TAKES_ROUTES) for action in written):
            return
        sids = [(a, a.object) for a in written if isinstance(a.object, SidRoute)]
        if not sids:
            self._counted = known
            return
        now = dict(known)
        for action, sid in sids:
            if isinstance(action, Delete) or not sid.counters:
                now.pop(sid.prefix, None)
            else:
                now[sid.prefix] = NOTHING
        self._counted = now

    def _may_have_counted(self) -> bool:
        packets = self._packets()
        if packets is None or packets != self._last:
            self._last, self._settling = packets, True
            return True
        # What came in last may have been on its way to its SID during the dump before.
        settling, self._settling = self._settling, False
        return settling
