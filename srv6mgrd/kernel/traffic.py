"""Whether SIDs can have counted anything since they were last read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

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
        self._last: object = None
        self._settling = False

    def may_have_counted(self, writes: int) -> bool:
        """Whether a dump is worth its while. ``writes``: how often we wrote, which makes SIDs
        count from 0."""
        received = self._received()
        now = received, writes
        if received is None or now != self._last:
            self._last, self._settling = now, True
            return True
        # What came in last may have been on its way to its SID during the dump before.
        settling, self._settling = self._settling, False
        return settling
