"""SIDs of VRFs move without a withdrawal in between.

bgpd 10.3 frees the SIDs of all VRFs with its locator, that of a VRF with its index, withdraws their
VPN routes, and announces them again when zebra has given it new ones: packets on the way to such
a VRF are lost meanwhile. While the minimum route advertisement interval of a neighbor runs, bgpd
keeps withdrawals back as well (bgp_generate_updgrp_packets: t_routeadv), and a withdrawal that is
followed by an announcement is never sent. An announcement starts it that comes soon after another
one, but no withdrawal does (bgp_adjust_routeadv): so all is announced once more. The interval goes
when it has run out: before, withdrawals that are still kept back would go with it
(update_subgroup_split_peer copies what was announced, not what is to be withdrawn).
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from srv6mgrd.frr.blocks import BGPD, LOCATORS
from srv6mgrd.frr.status import segment_routing
from srv6mgrd.frr.vty import Answer, Shows
from srv6mgrd.frr.waiting import comes_true
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.plan.actions import Action, Delete, Replace

_LOG = logging.getLogger(__name__)

_SIDS = ("sid vpn per-vrf export ", "sid vpn export ")
_OWN = re.compile(r"router bgp \S+")
_VPN = ("address-family ipv4 vpn", "address-family ipv6 vpn")
# Seconds that updates are kept back, and for so many VRFs one more: SIDs come one by one.
_SECONDS, _VRFS = 5, 40
# Seconds until an update is on its way; those that bgpd may take at the end of the interval.
_BEGIN, _END = 5.0, 3.0
# Of a neighbor whose interval runs.
_TIMER = "mraiTimerExpireInMsecs"


class Daemons(Shows, Protocol):
    """``adapter.FrrSockets``."""

    def run(self, daemon: str, commands: Sequence[str]) -> list[Answer]: ...


def moves_sids(actions: Iterable[Action]) -> bool:
    """Whether bgpd frees SIDs that it has for VRFs that stay: by another locator or index, or when
    zebra loses a locator, whichever that is (bgp_zebra_process_srv6_locator_delete)."""
    actions = list(actions)
    if any(isinstance(a, Delete) and _is_own(a.object) for a in actions):
        return False  # the sessions end, and no VRF is left to export
    for action in actions:
        obj = action.object
        if not isinstance(obj, FrrBlock):
            continue
        if obj.context[: len(LOCATORS)] == LOCATORS:
            if not isinstance(action, Delete | Replace):
                continue
            if isinstance(action, Delete) or action.before != obj:
                return True
        elif obj.daemon == BGPD and isinstance(action, Replace):
            assert isinstance(action.before, FrrBlock)
            gone = [line for line in action.before.lines if line not in obj.lines]
            if any(line.startswith((*_SIDS, "locator ")) for line in gone):
                return True
    return False


class Hold:
    """Updates to the neighbors that VPN routes are announced to are kept back from ``begin`` to
    ``end``. Raises VtyError."""

    def __init__(self, daemons: Daemons, running: Mapping[str, FrrBlock]) -> None:
        self._daemons = daemons
        blocks = [b for b in running.values() if b.daemon == BGPD]
        roots = [b for b in blocks if _is_own(b)]
        self._root = roots[0] if roots else None
        self._peers: list[str] = []
        self._vrfs = set(self._exports()[1]) if roots else set()
        if not self._vrfs:
            return
        neighbors = self._neighbors()
        active = {
            line.split()[1]
            for b in blocks
            if b.context[:1] == roots[0].context and b.context[-1] in _VPN
            for line in b.lines
            if line.endswith(" activate")
        }
        self._peers = sorted(p for p in active if _is_up(neighbors.get(p)))
        self._seconds = _SECONDS + len(self._vrfs) // _VRFS

    def begin(self) -> None:
        """Return when updates are kept back; or when there is nothing to keep back."""
        if not self._peers:
            return
        lines = (f"neighbor {p} advertisement-interval {self._seconds}" for p in self._peers)
        self._configure(lines)
        if not comes_true(self._is_kept_back, _BEGIN):
            _LOG.debug("bgpd announces nothing to some of %s", ", ".join(self._peers))

    def _is_kept_back(self) -> bool:
        """Whether the interval runs. The first announcement is sent, if there was none for so
        long; the second one starts the interval."""
        now = self._neighbors()
        idle = [p for p in self._peers if _is_up(now.get(p)) and _TIMER not in now[p]]
        if idle:
            clears = [f"clear bgp {f} vpn {p} soft out" for p in idle for f in ("ipv4", "ipv6")]
            self._daemons.run(BGPD, clears)
        return not idle

    def end(self) -> None:
        """Return when the VRFs have their SIDs again and what was kept back is sent."""
        if not self._peers:
            return
        comes_true(self._moved, self._seconds)
        comes_true(self._is_sent, self._seconds + _END)
        assert self._root is not None
        lines: list[str] = []
        # To enter an instance that has gone would make it again.
        for peer in filter(self._neighbors().__contains__, self._peers):
            line = f"neighbor {peer} advertisement-interval"
            own = [ln for ln in self._root.lines if ln.startswith(f"{line} ")]
            lines += own or [f"no {line}"]
        if lines:
            self._configure(lines)

    def _moved(self) -> bool:
        prefix, sids = self._exports()
        return prefix is not None and self._vrfs <= sids.keys()

    def _is_sent(self) -> bool:
        now = self._neighbors()
        return not any(_TIMER in now.get(peer, {}) for peer in self._peers)

    def _exports(self) -> tuple[str | None, Mapping[str, Any]]:
        return segment_routing(self._daemons.show(BGPD, "show bgp segment-routing srv6"))

    def _neighbors(self) -> dict[str, dict[str, Any]]:
        shown = json.loads(self._daemons.show(BGPD, "show bgp neighbors json") or "{}")
        return {peer: entry for peer, entry in shown.items() if isinstance(entry, dict)}

    def _configure(self, lines: Iterable[str]) -> None:
        assert self._root is not None
        self._daemons.run(BGPD, ["configure terminal", *self._root.context, *lines, "end"])


def _is_own(obj: object) -> bool:
    """Whether it is the router's own instance."""
    return (
        isinstance(obj, FrrBlock)
        and len(obj.context) == 1
        and _OWN.fullmatch(obj.context[0]) is not None
    )


def _is_up(neighbor: Mapping[str, Any] | None) -> bool:
    return neighbor is not None and neighbor.get("bgpState") == "Established"
