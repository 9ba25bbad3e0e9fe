"""How a daemon itself does, as state: its event loop, the stages of its work, its queues."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from srv6mgrd.counters.node import DAEMONS
from srv6mgrd.model.times import time_text
from srv6mgrd.stages import Stage, Taken

# A gap is what a tick comes late by, while there is work and while there is none: 50 ticks a second
# cost up to 1 % of a CPU.
_TICK, _IDLE_TICK = 0.02, 0.25
# Seconds between updates of the state.
INTERVAL = 30.0


class Node(Protocol):
    """Where it is made known (``counters.node.NodeWriter``)."""

    def show(self, member: str, data: Mapping[str, Any]) -> None: ...


class Vitals:
    """Runs in the event loop that it measures."""

    def __init__(
        self,
        name: str,
        node: Node,
        stages: Callable[[], Mapping[Stage, Taken]],
        queues: Mapping[str, Callable[[], int]],
        *,
        is_busy: Callable[[], bool] = lambda: True,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        """``queues`` report their lengths."""
        self._is_busy = is_busy
        self._name = name
        self._node = node
        self._stages = stages
        self._queues = queues
        self._started = now()
        self._longest = self._recent = 0.0
        self._waited = dict.fromkeys(queues, 0)

    async def run(self, interval: float = INTERVAL) -> None:
        """Measure, and make known every ``interval`` seconds; runs forever."""
        loop = asyncio.get_running_loop()
        published = loop.time()
        self.publish()
        while True:
            tick = _TICK if self._is_busy() else _IDLE_TICK
            due = loop.time() + tick
            await asyncio.sleep(tick)
            self.ticked(loop.time() - due)
            if loop.time() - published >= interval:
                published = loop.time()
                self.publish()

    def ticked(self, late: float) -> None:
        """A tick came so many seconds late."""
        self._recent = max(self._recent, late)
        self._longest = max(self._longest, late)
        for name, length in self._queues.items():
            self._waited[name] = max(self._waited[name], length())

    def publish(self) -> None:
        """Make known what was measured."""
        daemon: dict[str, Any] = {
            "name": self._name,
            "started": time_text(self._started),
            "longest-gap": round(1e3 * self._longest),
            "recent-gap": round(1e3 * self._recent),
        }
        if stages := [_stage(stage, taken) for stage, taken in sorted(self._stages().items())]:
            daemon["stage"] = stages
        if self._queues:
            daemon["queue"] = [
                {"name": name, "length": length(), "longest": self._waited[name]}
                for name, length in sorted(self._queues.items())
            ]
        self._recent = 0.0
        self._node.show(DAEMONS, {"daemon": [daemon]})


def _stage(stage: Stage, taken: Taken) -> dict[str, Any]:
    # RFC 7951 section 6.1: 64-bit numbers are strings.
    return {
        "name": stage.value,
        "count": str(taken.count),
        "total-time": str(round(1e6 * taken.total)),
        "last-time": str(round(1e6 * taken.last)),
        "longest-time": str(round(1e6 * taken.longest)),
    }
