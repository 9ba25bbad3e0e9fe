"""What SIDs have counted, read anew only where it can be otherwise than it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv6Network
from pathlib import Path

from srv6mgrd.kernel.route_dump import NOTHING, Counters
from srv6mgrd.plan.actions import Action, Delete
from srv6mgrd.plan.objects import DummyDevice, SidRoute, UnknownLink, UnknownRoute, VrfDevice

Counted = Mapping[IPv6Network, Counters]

# What may take routes with it, or have hidden one behind it.
_TAKES_ROUTES = (DummyDevice, VrfDevice, UnknownLink, UnknownRoute)

# Of the network namespace of the thread.
_SNMP6 = Path("/proc/thread-self/net/snmp6")
_RECEIVED = "Ip6InReceives"


def received() -> int | None:
    """IPv6 packets that came in, in any VRF (ip6_rcv_core counts before it looks a route up); None
    where the kernel does not tell."""
    try:
        for line in _SNMP6.read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == _RECEIVED:
                return int(value)
    except OSError:
        pass
    return None


class Traffic:
    """To look at a number is cheap, to dump a hundred thousand routes takes half a second."""

    def __init__(self, received: Callable[[], int | None] = received) -> None:
        self._received = received
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
        received = self._received()
        if received is None or received != self._last:
            self._last, self._settling = received, True
            return True
        # What came in last may have been on its way to its SID during the dump before.
        settling, self._settling = self._settling, False
        return settling
