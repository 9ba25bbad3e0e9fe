"""The node's capabilities, kept current while srv6mgrd runs; reports those that are lost."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Protocol

from srv6mgrd import notifications
from srv6mgrd.frr.vty import Instances, VtyError
from srv6mgrd.in_loop import InLoop
from srv6mgrd.model.capabilities import EVERYTHING, Capabilities, FrrCapabilities
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.notifications import Notifier
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

# Not oftener than this, whatever the reason; a try takes tens of milliseconds.
_AT_LEAST = 2.0
_FRR_POLL = 2.0


class Frr(Protocol):
    """What is asked of FRR (``frr.adapter.FrrSockets``)."""

    def instances(self) -> Instances: ...

    def capabilities(self) -> FrrCapabilities: ...


class Node(Protocol):
    """Where it is made known (``counters.node.NodeWriter``)."""

    def set_capabilities(self, found: Capabilities, frr: FrrCapabilities) -> None: ...


@one_thread(but=("probe",))
class CapabilityMonitor:
    """``kernel`` is what the kernel offers. Lives in the event loop."""

    def __init__(
        self,
        probe: Callable[[], Capabilities],
        frr: Frr,
        *,
        node: Node,
        notifier: Notifier,
        in_loop: InLoop | None = None,
    ) -> None:
        """Try out the kernel; FRR is asked by ``follow_frr``. When the kernel can't be tried out
        nothing is ruled out: it rejects what it doesn't know in any case."""
        self._probe = probe
        self._frr = frr
        self._node = node
        self._notifier = notifier
        self._in_loop = in_loop or InLoop()
        self._asked = FrrCapabilities()
        self._tried = time.monotonic()
        try:
            self.kernel = probe()
        except KernelError as error:
            _LOG.error("what the kernel offers can't be tried out (%s); all is allowed", error)
            self.kernel = EVERYTHING
        self._publish()

    def probe(self) -> bool:
        """Try out the kernel again, unless that was just done; whether it offers otherwise. Not in
        the event loop, since it takes a while."""
        if not self._in_loop.ask(self._is_due):
            return False
        try:
            found = self._probe()
        except KernelError as error:
            _LOG.error("what the kernel offers can't be tried out again: %s", error)
            return False
        return self._in_loop.ask(self._adopt, found)

    def _is_due(self) -> bool:
        now = time.monotonic()
        if now - self._tried < _AT_LEAST:
            return False
        self._tried = now
        return True

    def _adopt(self, found: Capabilities) -> bool:
        before, self.kernel = self.kernel, found
        self._notifier.put(notifications.lost(before.missing, found.missing))
        self._publish()
        return found.missing != before.missing

    async def follow_frr(self, changed: Callable[[], None]) -> None:
        """Ask FRR whenever its daemons are others than before; runs forever. ``changed`` is called
        when it came back and when it is gone."""
        known: Instances | None = None
        while True:
            found, before = self._frr.instances(), self._asked
            if found != known and await self._ask():
                known = found
                if self._asked.version or before.version:
                    changed()
            await asyncio.sleep(_FRR_POLL)

    async def _ask(self) -> bool:
        """Whether FRR answered, or can't be reached; one that is silent is asked again."""
        try:
            asked = await asyncio.to_thread(self._frr.capabilities)
        except VtyError as error:
            _LOG.warning("what FRR offers is not known: %s", error)
            return False
        # What is not known of a daemon that has not been met yet is not lost.
        if self._asked.version:
            self._notifier.put(notifications.lost(self._asked.missing, asked.missing))
        self._asked = asked
        self._publish()
        return True

    def _publish(self) -> None:
        self._node.set_capabilities(self.kernel, self._asked)
