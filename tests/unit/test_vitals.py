"""How a daemon itself does: what is measured, and how it is shown."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from lab.waiting import wait_until_async
from srv6mgrd.counters.node import DAEMONS
from srv6mgrd.stages import Stage, Taken
from srv6mgrd.vitals import Vitals


class Node:
    """Keeps what it is to show."""

    def __init__(self) -> None:
        self.shown: list[Mapping[str, Any]] = []

    def show(self, member: str, data: Mapping[str, Any]) -> None:
        assert member == DAEMONS
        (daemon,) = data["daemon"]
        self.shown.append(daemon)


def test_gaps_stages_and_queues() -> None:
    node, waiting = Node(), [0]
    taken = {Stage.WRITE_KERNEL: Taken(2, 0.003, 0.001, 0.002)}
    vitals = Vitals("srv6mgrd", node, lambda: taken, {"commits": lambda: waiting[0]}, now=lambda: 0)

    for late, waits in ((0.001, 3), (0.25, 1), (0.002, 0)):
        waiting[0] = waits
        vitals.ticked(late)
    vitals.publish()
    vitals.ticked(0.004)
    vitals.publish()

    assert node.shown[0] == {
        "name": "srv6mgrd",
        "started": "1970-01-01T00:00:00.000000000+00:00",
        "longest-gap": 250,
        "recent-gap": 250,
        "stage": [
            {
                "name": "write-kernel",
                "count": "2",
                "total-time": "3000",
                "last-time": "1000",
                "longest-time": "2000",
            }
        ],
        "queue": [{"name": "commits", "length": 0, "longest": 3}],
    }
    assert (node.shown[1]["longest-gap"], node.shown[1]["recent-gap"]) == (250, 4)


async def test_an_event_loop_that_is_kept_busy_shows_a_gap() -> None:
    node = Node()
    vitals = Vitals("srv6mgrd", node, dict, {})
    running = asyncio.create_task(vitals.run(interval=0.0))
    # Until it ticks.
    while len(node.shown) < 2:
        await asyncio.sleep(0)
    busy = time.monotonic() + 0.2
    while time.monotonic() < busy:
        pass
    await wait_until_async(lambda: max(d["longest-gap"] for d in node.shown) >= 150)
    running.cancel()
    assert "stage" not in node.shown[0]
    assert "queue" not in node.shown[0]
