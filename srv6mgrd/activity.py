"""The commit or repair that is carried out now, as state."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from srv6mgrd.counters.node import ACTIVITY
from srv6mgrd.model.times import time_text
from srv6mgrd.progress import Progress, Work

# Seconds between updates. What takes less is not shown.
_INTERVAL = 1.0
_NS = 1_000_000_000


class Node(Protocol):
    """Where it is made known (``counters.node.NodeWriter``)."""

    def show(self, member: str, data: Mapping[str, Any]) -> None: ...


class Activity:
    """Runs in the event loop, beside the writer whose ``progress`` it shows."""

    def __init__(
        self, progress: Progress, node: Node, now: Callable[[], int] = time.time_ns
    ) -> None:
        self._progress = progress
        self._node = node
        self._now = now
        # The work that was seen last; and whether readers see any.
        self._seen: int | None = None
        self._shown = False

    async def run(self) -> None:
        """Runs forever."""
        while True:
            await asyncio.sleep(_INTERVAL)
            self.update()

    def update(self) -> None:
        """Show what is the same work as at the last call."""
        work = self._progress.work
        before, self._seen = self._seen, work.since if work is not None else None
        if work is not None and work.since == before:
            self._node.show(ACTIVITY, _activity(work, self._now()))
            self._shown = True
        elif self._shown:
            self._node.show(ACTIVITY, {})
            self._shown = False


def _activity(work: Work, now: int) -> dict[str, Any]:
    """The container ``activity``."""
    data = {
        "kind": work.name,
        "started": time_text(work.since),
        "elapsed": max(0, now - work.since) // _NS,
        "stage": work.stage,
        "done": work.done,
        "total": work.total,
        "object": work.object,
    }
    return {name: value for name, value in data.items() if value != ""}
