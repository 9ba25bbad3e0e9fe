"""Ends a loop of stock FRR 10.3 over the SID of a VRF.

On ZAPI_SRV6_SID_RELEASED bgpd drops the SID and asks for it again; since it has announced one, it
releases that, too (vpn_leak_postchange, vpn_leak_zebra_vrf_sid_withdraw). zebra answers ALLOCATED
and RELEASED, and it begins again, forever: the VRF's VPN routes are withdrawn and advertised some
20 times a second. A VRF device that goes and comes back before bgpd has read RELEASED starts it.
Without the line that gives the VRF its SID bgpd asks no more; a compare writes the line again.
``frr-patches/05`` removes the cause.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from concurrent.futures import Executor
from ipaddress import IPv6Address
from typing import Protocol

from srv6mgrd.frr.vty import VtyError
from srv6mgrd.model.desired import Desired

_LOG = logging.getLogger(__name__)

# A SID that zebra removes so often within so many seconds is in a loop; a commit removes it once.
_REMOVALS, _SECONDS = 10, 5.0
# Seconds until bgpd has read what zebra had under way for it.
_DRAIN = 1.0


class Withdrawing(Protocol):
    """``frr.adapter.FrrSockets``."""

    def withdraw_sids(self, vrfs: Collection[str]) -> None: ...


class SidLoops:
    """Watches the SIDs that VRFs export."""

    def __init__(
        self,
        frr: Withdrawing,
        desired: Callable[[], Desired],
        compare: Callable[[], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        drain: float = _DRAIN,
        writer: Executor | None = None,
    ) -> None:
        """``compare`` asks for a compare with FRR; ``writer`` is the thread that changes it."""
        self._writer = writer
        self._frr = frr
        self._desired = desired
        self._compare = compare
        self._clock = clock
        self._drain = drain
        self._removals: dict[IPv6Address, deque[float]] = {}
        # What was declared when it was looked at last, and the VRF of each SID in it.
        self._known: tuple[Desired, dict[IPv6Address, str]] = Desired(), {}

    async def run(self, removed: AsyncIterator[Iterable[IPv6Address]]) -> None:
        """End each loop that shows in the removed routes; runs forever."""
        async for addresses in removed:
            if vrfs := self.looping(addresses):
                await self._end(vrfs)

    def looping(self, removed: Iterable[IPv6Address]) -> dict[str, IPv6Address]:
        """VRFs, each with its SID, that are in a loop after these removals."""
        now, desired = self._clock(), self._desired()
        if desired is not self._known[0]:
            self._known = desired, _exporters(desired)
        exporters = self._known[1]
        for address in [a for a, times in self._removals.items() if now - times[-1] > _SECONDS]:
            del self._removals[address]
        found = {}
        for address in removed:
            if address not in exporters:
                continue
            times = self._removals.setdefault(address, deque(maxlen=_REMOVALS))
            times.append(now)
            if len(times) == _REMOVALS and now - times[0] <= _SECONDS:
                found[exporters[address]] = address
                del self._removals[address]
        return found

    async def _end(self, vrfs: dict[str, IPv6Address]) -> None:
        for vrf, address in vrfs.items():
            _LOG.warning(
                "VRF %s: bgpd and zebra allocate and release SID %s in a loop; its line is removed"
                " from bgpd and written again (frr-patches/05 removes the cause)", vrf, address,
            )  # fmt: skip
        try:
            await asyncio.get_running_loop().run_in_executor(
                self._writer, self._frr.withdraw_sids, tuple(vrfs)
            )
        except VtyError as error:
            # It goes on, and shows again.
            _LOG.error("%s", error)
            return
        await asyncio.sleep(self._drain)
        self._compare()


def _exporters(desired: Desired) -> dict[IPv6Address, str]:
    """The VRF of each exported SID."""
    return {
        prefix.network_address: name
        for name, vrf in desired.vrfs.items()
        if vrf.bgp is not None
        for prefix in (vrf.bgp.export_sid, vrf.bgp.export_sid_ipv4, vrf.bgp.export_sid_ipv6)
        if prefix is not None
    }
