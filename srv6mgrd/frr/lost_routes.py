"""Static routes that mgmtd 10.3 has in its configuration and staticd has not.

A session with mgmtd that ends while another one's transaction is on its way undoes the change in
mgmtd alone (see ``kept``): ``no ip route`` in vtysh, while any other vtysh ends, takes a route from
staticd, and mgmtd goes on showing its line. To enter the line again changes nothing then, so it is
removed from mgmtd, and a compare writes it again.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Protocol

from srv6mgrd.frr import running
from srv6mgrd.frr.blocks import MGMTD, STATICD
from srv6mgrd.frr.static_routes import SPECIAL, apart, line, route_block
from srv6mgrd.frr.vty import Answer, VtyError
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.static_routes import NextHop, StaticRoute

_LOG = logging.getLogger(__name__)

# Seconds from look to look, doubling while nothing is found. What is lost in two of them is not
# on its way only.
_FIRST, _LAST = 2.0, 60.0
# What staticd prints where a next hop has no interface.
_NONE = ("", "(null)")

_Route = tuple[str, IPv4Network | IPv6Network]
# Address, interface, "blackhole" or "reject", preference, and the tag of the route.
_Hop = tuple[IPv4Address | IPv6Address | None, str | None, str | None, int, int | None]
Held = Mapping[_Route, Collection[_Hop]]


class Frr(Protocol):
    """``frr.adapter.FrrSockets``."""

    def show(self, daemon: str, command: str) -> str: ...

    def configure(self, daemon: str, lines: Sequence[str]) -> list[Answer]: ...


class LostRoutes:
    """Looks after declared routes that don't forward as declared."""

    def __init__(
        self,
        frr: Frr,
        desired: Callable[[], Desired],
        idle: Callable[[], Collection[str]],
        compare: Callable[[], None],
        *,
        first: float = _FIRST,
        writer: Executor | None = None,
    ) -> None:
        """``idle`` are names of static routes that FRR has not wholly in place; ``compare`` asks
        for a compare with FRR; ``writer`` is the thread that changes it."""
        self._writer = writer
        self._frr = frr
        self._desired = desired
        self._idle = idle
        self._compare = compare
        self._first = first
        self._suspected: frozenset[str] = frozenset()

    async def run(self) -> None:
        """Runs forever."""
        time = asyncio.get_running_loop().time
        before, wait, due = frozenset[str](), self._first, 0.0
        while True:
            await asyncio.sleep(self._first)
            idle = frozenset(self._idle())
            if idle != before:
                before, wait, due = idle, self._first, 0.0
            if not idle:
                self._suspected = frozenset()
            elif time() >= due:
                found = await asyncio.get_running_loop().run_in_executor(
                    self._writer, self._looked, idle
                )
                if found:
                    self._compare()
                wait = self._first if found or self._suspected else min(2 * wait, _LAST)
                due = time() + wait

    def _looked(self, names: Iterable[str]) -> bool:
        try:
            return self.look(names)
        except (VtyError, ValueError, KeyError) as error:
            # Status shows that the daemons can't be asked.
            _LOG.debug("static routes: %s", error)
            return False

    def look(self, names: Iterable[str]) -> bool:
        """Whether a compare finds something to do for these routes; the lines that were lost are
        removed from mgmtd before. Raises VtyError."""
        known = self._desired().static_routes
        routes = [known[name] for name in names if name in known]
        shown = self._frr.show(MGMTD, "show running-config")
        blocks = apart(running.parse(MGMTD, shown).values())
        staticds = held(self._frr.show(STATICD, "show configuration running json"))
        absent, lost = False, set()
        for route in routes:
            block = blocks.get(route_block(route).key)
            for hop in route.next_hops:
                text = line(route, hop)
                if block is None or text not in block.lines:
                    absent = True
                elif _hop(route, hop) not in staticds.get((route.vrf, route.prefix), ()):
                    lost.add(f"{text} vrf {route.vrf}")
        sure = sorted(lost & self._suspected)
        self._suspected = frozenset(lost)
        if sure:
            more = f" and {len(sure) - 1} more" if len(sure) > 1 else ""
            _LOG.warning("staticd has lost '%s'%s, which mgmtd still shows; removed from mgmtd, and"
                         " written again", sure[0], more)  # fmt: skip
            self._frr.configure(MGMTD, [f"no {one}" for one in sure])
        return absent or bool(sure)


def held(text: str) -> Held:
    """What staticd itself has: its ``show configuration running json``."""
    found: dict[_Route, set[_Hop]] = {}
    protocols = json.loads(text).get("frr-routing:routing", {}).get("control-plane-protocols", {})
    for one in protocols.get("control-plane-protocol", ()):
        for route in one.get("frr-staticd:staticd", {}).get("route-list", ()):
            hops = found.setdefault((one["vrf"], ip_network(route["prefix"])), set())
            for path in route.get("path-list", ()):
                hops.update(_held(path, hop) for hop in path["frr-nexthops"]["nexthop"])
    return found


def _held(path: Mapping[str, Any], hop: Mapping[str, Any]) -> _Hop:
    gateway, interface = hop.get("gateway", ""), hop.get("interface", "")
    special = None
    if hop["nh-type"] == "blackhole":
        special = "reject" if hop.get("bh-type") == "reject" else "blackhole"
    return (
        ip_address(gateway) if gateway not in _NONE else None,
        interface if interface not in _NONE else None,
        special,
        path["distance"],
        path.get("tag") or None,
    )


def _hop(route: StaticRoute, hop: NextHop) -> _Hop:
    special = SPECIAL[hop.special] if hop.special is not None else None
    return hop.address, hop.interface, special, hop.preference, route.tag or None
