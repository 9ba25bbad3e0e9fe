"""Routes of VRFs that the kernel has flushed, and zebra does not install again.

An interface that loses its carrier takes the routes through it along. When the carrier is back
before bgpd has heard of it, zebra 10.3 installs the nexthop objects again and not the routes of
VRFs that use them (zebra_interface_nhg_reinstall; FRR issue 23295). It looks at all routes of BGP
once more when a route map for them comes or goes (ip_protocol_rm_add): one that permits all does
so, for a moment.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from typing import Protocol

from srv6mgrd.frr import running
from srv6mgrd.frr.blocks import MGMTD
from srv6mgrd.frr.vty import Answer, VtyError
from srv6mgrd.model import names

_LOG = logging.getLogger(__name__)

# Seconds from look to look; and from one attempt for a VRF to the next, doubling.
_LOOK, _FIRST, _LAST = 0.5, 2.0, 60.0
_FAMILIES = ("ip", "ipv6")
_MAP = "route-map srv6mgr-install-again"


class Frr(Protocol):
    """``frr.adapter.FrrSockets``."""

    def show(self, daemon: str, command: str) -> str: ...

    def configure(self, daemon: str, lines: Sequence[str]) -> list[Answer]: ...


class FlushedRoutes:
    """Has zebra install routes again that the kernel lacks."""

    def __init__(
        self,
        frr: Frr,
        lacking: Callable[[], Collection[str]],
        *,
        look: float = _LOOK,
        writer: Executor | None = None,
    ) -> None:
        """``lacking`` are VRFs whose routes zebra has and the kernel lacks; ``writer`` is the
        thread that changes FRR."""
        self._frr = frr
        self._lacking = lacking
        self._look = look
        self._writer = writer
        # By VRF: when it is due again, and the seconds to the attempt after.
        self._attempts: dict[str, tuple[float, float]] = {}

    async def run(self) -> None:
        """Runs forever."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._look)
            if due := list(self.due(loop.time())):
                await loop.run_in_executor(self._writer, self.install_again, due)

    def due(self, now: float) -> Iterator[str]:
        """VRFs that lack routes, and are due for an attempt; ``now`` in seconds."""
        lacking = self._lacking()
        self._attempts = {v: at for v, at in self._attempts.items() if v in lacking}
        for vrf in sorted(lacking):
            due, wait = self._attempts.get(vrf, (now, _FIRST))
            if now >= due:
                self._attempts[vrf] = now + wait, min(2 * wait, _LAST)
                yield vrf

    def install_again(self, vrfs: Collection[str]) -> None:
        """For these VRFs. FRR that can't be asked is asked at the next attempt."""
        try:
            filtered = _filtered(self._frr.show(MGMTD, "show running-config"))
            _LOG.warning(
                "the kernel lost routes of VRF %s; zebra installs them again",
                names.some(sorted(vrfs), 1),
            )
            free = [vrf for vrf in vrfs if vrf not in filtered]
            if len(free) < len(vrfs):
                _LOG.warning(
                    "'ip protocol bgp' is in use in VRF %s; to have its routes installed again:"
                    " vtysh -c 'clear bgp *'", names.some(sorted(set(vrfs) - set(free)), 1),
                )  # fmt: skip
            if free:
                self._configure([f"{_MAP} permit 10", "exit", *_lines(free, "")])
                self._configure([*_lines(free, "no "), f"no {_MAP}"])
        except VtyError as error:
            _LOG.debug("routes that the kernel lost: %s", error)

    def _configure(self, lines: Sequence[str]) -> None:
        for line, answer in zip(lines, self._frr.configure(MGMTD, lines), strict=True):
            if not answer.ok:
                _LOG.error("mgmtd: %s: %s", line, answer.message)


def _filtered(shown: str) -> Collection[str]:
    """VRFs with a map for routes of BGP that is not ours."""
    of_bgp = re.compile(r"ip(?:v6)? protocol bgp (?!" + re.escape(_MAP) + "$)")
    blocks = running.parse(MGMTD, shown).values()
    return {
        block.context[0].removeprefix("vrf ")
        for block in blocks
        if block.context[0].startswith("vrf ") and any(map(of_bgp.match, block.lines))
    }


def _lines(vrfs: Iterable[str], no: str) -> Iterator[str]:
    for vrf in vrfs:
        yield from (
            f"vrf {vrf}",
            *(f"{no}{family} protocol bgp {_MAP}" for family in _FAMILIES),
            "exit",
        )
