"""Whether the core leads to the neighbors that VPN routes are exchanged with, and from them back
to the locators of this router.

They are asked for echoes, from the usual address and from one of each locator. Who answers the
first alone has no route to the locator: packets of its customers do not arrive. Who stopped
answering either is cut off, long before its session ends.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv6Address
from typing import Protocol

from srv6mgrd.kernel.echoes import Probe
from srv6mgrd.model.desired import Desired, Locator
from srv6mgrd.service_state.evidence import ReturnPath, Silence
from srv6mgrd.service_state.scope import exporting_locators, neighbor_addresses
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

# Seconds from one beginning to the next, and from an end to it at least.
_PERIOD, _PAUSE = 0.7, 0.2
# Answers in a row that have to be missing. Of the neighbors so many are asked at once.
_MISSED = 3
_HEARD = 0, 0.0, False
_NEIGHBORS = 16
# Addresses of a locator that are tried for one that is in no SID.
_TRIED = 1000


class Echoes(Protocol):
    """Asks for echoes (``kernel.echoes.Sockets``)."""

    def answered(self, probes: Sequence[Probe]) -> set[Probe]:
        """Those that were answered in time; in a thread. Raises OSError."""
        ...


@one_thread(but=("lost", "silent"))
class ReturnPaths:
    """Lives in the event loop. ``lost`` are the neighbors without a way back to a locator,
    ``silent`` those that answered and do not any more, and since when: references that are
    replaced as a whole."""

    def __init__(self, desired: Callable[[], Desired], echoes: Echoes) -> None:
        self._desired = desired
        # Called when one of them is another.
        self.changed: Callable[[], None] = lambda: None
        self._echoes = echoes
        self._of: Desired | None = None
        self._turns: Iterator[IPv6Address] = iter(())
        self._sources: Mapping[str, IPv6Address] = {}
        self._asked = 0
        self._missed: dict[ReturnPath, int] = {}
        self.lost: frozenset[ReturnPath] = frozenset()
        # Those that have answered: how often they missed since, and when that was first asked.
        # Whether the last time nothing was answered, to a locator neither.
        self._unanswered: dict[IPv6Address, tuple[int, float, bool]] = {}
        self.silent: Mapping[IPv6Address, Silence] = {}

    async def run(self) -> None:
        """Until cancelled; ends at once without CAP_NET_RAW."""
        while True:
            began = time.monotonic()
            try:
                await self.ask()
            except PermissionError as error:
                _LOG.warning("the way back to locators is not watched: %s; CAP_NET_RAW", error)
                return
            except OSError as error:
                _LOG.error("the way back to locators: %s", error)
            await asyncio.sleep(max(_PAUSE, _PERIOD - (time.monotonic() - began)))

    async def ask(self) -> None:
        """The neighbors whose turn it is. Raises OSError."""
        desired = self._desired()
        if desired is not self._of:
            self._take(desired, await asyncio.to_thread(probe_sources, desired))
        turn = list(itertools.islice(self._turns, self._asked))
        probes = [
            Probe(neighbor, name, source)
            for neighbor in turn
            for name, source in (("", None), *self._sources.items())
        ]
        if probes:
            asked = time.monotonic()
            self._judge(probes, await asyncio.to_thread(self._echoes.answered, probes), asked)

    def _take(self, desired: Desired, sources: Mapping[str, IPv6Address]) -> None:
        self._of, self._sources = desired, sources
        neighbors = sorted(neighbor_addresses(desired)) if sources else []
        self._asked = min(len(neighbors), _NEIGHBORS)
        self._turns = itertools.cycle(neighbors)
        asked = {ReturnPath(n, name) for n in neighbors for name in self._sources}
        self._missed = {path: count for path, count in self._missed.items() if path in asked}
        self.lost = self.lost & asked
        self._unanswered = {n: one for n, one in self._unanswered.items() if n in neighbors}
        self._report_silent()

    def _judge(self, probes: Iterable[Probe], answered: set[Probe], asked: float) -> None:
        """A neighbor that answers nothing says nothing of the way back; one that never did may
        answer nobody."""
        heard = {probe.neighbor for probe in answered}
        for probe in probes:
            path = ReturnPath(probe.neighbor, probe.locator)
            if not probe.locator:
                count, since, _ = self._unanswered.get(probe.neighbor, _HEARD)
                if probe in answered:
                    self._unanswered[probe.neighbor] = _HEARD
                elif probe.neighbor in self._unanswered:
                    is_whole = probe.neighbor not in heard
                    self._unanswered[probe.neighbor] = count + 1, since or asked, is_whole
            elif probe in answered:
                self._missed.pop(path, None)
            elif Probe(probe.neighbor) in answered:
                self._missed[path] = self._missed.get(path, 0) + 1
        lost = frozenset(path for path, count in self._missed.items() if count >= _MISSED)
        if lost != self.lost:
            self.lost = lost
            self.changed()
        self._report_silent()

    def _report_silent(self) -> None:
        found = {
            n: Silence(since, is_whole)
            for n, (count, since, is_whole) in self._unanswered.items()
            if count >= _MISSED
        }
        if found != self.silent:
            self.silent = found
            self.changed()


def probe_sources(desired: Desired) -> dict[str, IPv6Address]:
    """By locator an address to ask from. Goes through all SIDs."""
    return {one.name: free_address(one, desired) for one in exporting_locators(desired)}


def free_address(locator: Locator, desired: Desired) -> IPv6Address:
    """The last address of the locator that is in no declared SID."""
    last = locator.prefix.broadcast_address
    sids = [sid for sid in desired.sids if locator.covers(sid)]
    lengths = sorted({sid.prefixlen for sid in sids})
    taken = {(sid.prefixlen, int(sid.network_address)) for sid in sids}
    for number in range(int(last), int(last) - _TRIED, -1):
        if all((n, number >> 128 - n << 128 - n) not in taken for n in lengths):
            return IPv6Address(number)
    return last
