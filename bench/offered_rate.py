"""Packets at a rate: how many of them arrive, and the highest rate at which nearly all do.

One core makes packets, another one is the system under test. It takes them out of a queue of 512,
as the ring of a network card (ixgbe) has, and takes each through node and function. What comes
while the queue is full is lost.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.generator import CORE, FIRST, Generator, pinned_map, undisturbed

# The partial drop rate of the paper on proxies: at most half a percent is lost.
LOSS = 0.005
_QUEUE = 512
# Packets that come at once, from the queue's point of view.
_BATCH = 16
# struct pace: interval, next, first, last, stalls, taker
_PACE = struct.Struct("=6Q")
# struct bpf_cpumap_val: qsize, prog_fd
_TAKER = struct.Struct("=Ii")
# Between rates while the highest is not between two yet.
_STEP = 1.15
# Below the first nothing arrives at all, above the second nothing is ever lost: no limit to find.
LOWEST, HIGHEST = 1_000.0, 1e8
# Nobody takes anything any more when nothing arrived for so long.
_QUIET, _LONGEST = 0.002, 1.0


@dataclass(frozen=True, slots=True)
class Trial:
    """Packets in a second, offered and arrived; ``stalls`` is how often the machine stopped."""

    offered: float
    throughput: float
    stalls: int

    @property
    def delivered(self) -> float:
        """The delivery ratio."""
        return self.throughput / self.offered


class PacedGenerator(Generator):
    """Needs two cores."""

    _PROGRAM = "paced"
    _SOURCE = Path(__file__).with_name("paced.bpf.c")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._paces = pinned_map(folder / "paces", _PACE.size)
        cpus = pinned_map(folder / "cpus", _TAKER.size)
        if failure := cpus.put(struct.pack("=I", CORE), _TAKER.pack(_QUEUE, 0)):
            raise RuntimeError(f"cpumap: {failure.message}")
        cpus.close()
        # The kernel's thread on the other core goes before ordinary processes.
        for comm in Path("/proc").glob("[0-9]*/comm"):
            if comm.read_text().startswith("cpumap/"):
                os.sched_setscheduler(int(comm.parent.name), os.SCHED_FIFO, os.sched_param(1))

    def offer(self, ifindex: int, frame: bytes, rate: float, seconds: float) -> Trial:
        """``rate`` packets in a second."""
        packets = max(_BATCH, int(rate * seconds))
        self._load(frame)
        self._paces.put(FIRST, _PACE.pack(round(1e9 / rate), 0, 0, 0, 0, CORE))
        before = self._count()
        with undisturbed(0):
            self._inject(ifindex, frame, packets, _BATCH)
        arrived = self._settled() - before
        _, _, first, last, stalls, _ = _PACE.unpack(self._paces.get(FIRST) or b"")
        took = (last - first) * packets / (packets - 1) / 1e9
        return Trial(packets / took, arrived / took, stalls)

    def _settled(self) -> int:
        """How many arrived, when the queue is empty."""
        count, deadline = self._count(), time.monotonic() + _LONGEST
        while time.monotonic() < deadline:
            time.sleep(_QUIET)
            if (now := self._count()) == count:
                break
            count = now
        return count


def highest_rate(
    delivered: Callable[[float], float], around: float, precision: float = 0.005
) -> float:
    """The highest rate at which no more than LOSS is lost, to ``precision`` of itself: by steps
    away from a guess, then by bisection between a rate that is low enough and one that is not.
    RuntimeError where no rate has a limit."""
    low = high = around
    if delivered(around) >= 1 - LOSS:
        while delivered(high := low * _STEP) >= 1 - LOSS:
            low = high
            if low > HIGHEST:
                raise RuntimeError(f"no packet is lost at {low:.0f} packets per second either")
    else:
        while delivered(low := high / _STEP) < 1 - LOSS:
            high = low
            if high < LOWEST:
                raise RuntimeError(f"packets are lost at {high:.0f} packets per second as well")
    while high - low > precision * high:
        rate = (low + high) / 2
        if delivered(rate) >= 1 - LOSS:
            low = rate
        else:
            high = rate
    return low
