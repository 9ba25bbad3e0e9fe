"""BGP sessions whose next hop went with an address that has come back.

When an IPv6 address is removed, bgpd 10.3 takes it out of the next hops of its sessions, which stay
up, and announces all routes again with an IPv4-mapped address (bgp_interface_address_delete). When
it is added again, bgpd restores that for unnumbered neighbors alone (bgp_interface_address_add).
Peers hold all routes invalid until the session begins again, so it is reset.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Protocol

from srv6mgrd.frr.blocks import BGPD
from srv6mgrd.frr.json_shows import show_json
from srv6mgrd.frr.neighbors import peer
from srv6mgrd.frr.vty import Answer, VtyError
from srv6mgrd.model.bgp import Neighbor
from srv6mgrd.model.desired import Desired

_LOG = logging.getLogger(__name__)

# Seconds until bgpd has heard of an address from zebra.
_SETTLE = 1.0


class Frr(Protocol):
    """``frr.adapter.FrrSockets``."""

    def show(self, daemon: str, command: str) -> str: ...

    def run(self, daemon: str, commands: Sequence[str]) -> list[Answer]: ...


class LostNextHops:
    """Resets sessions that announce another next hop than the address they are bound to."""

    def __init__(
        self,
        frr: Frr,
        desired: Callable[[], Desired],
        present: Callable[[], Collection[IPv6Address]],
        *,
        settle: float = _SETTLE,
        writer: Executor | None = None,
    ) -> None:
        """``present`` are the addresses of this router; ``writer`` is the thread that changes
        FRR."""
        self._frr = frr
        self._desired = desired
        self._present = present
        self._settle = settle
        self._writer = writer

    async def run(self, added: AsyncIterator[Collection[str]]) -> None:
        """Look after each address that an interface gets; runs forever."""
        async for interfaces in added:
            await asyncio.sleep(self._settle)
            await asyncio.get_running_loop().run_in_executor(self._writer, self.look, interfaces)

    def look(self, interfaces: Collection[str]) -> None:
        """Reset what these interfaces' addresses concern. What can't be asked is left: FRR that
        comes back has new sessions."""
        try:
            for vrf, neighbors in _instances(self._desired(), interfaces):
                self._reset(vrf, neighbors)
        except VtyError as error:
            _LOG.debug("next hops of BGP: %s", error)

    def _reset(self, vrf: str, neighbors: Sequence[Neighbor]) -> None:
        of_vrf = f"vrf {vrf} " if vrf else ""
        shown = show_json(self._frr, BGPD, f"show bgp {of_vrf}neighbors json")
        # Those of an operator are his to clear.
        shown = {name: entry for name, entry in shown.items() if _is_declared(name, neighbors)}
        for neighbor in lost(shown, self._present()):
            _LOG.warning(
                "BGP neighbor %s%s: routes were announced with next hop %s, since an address was"
                " removed and added again; its session is reset",
                neighbor, f" of VRF {vrf}" if vrf else "", shown[neighbor].get("nexthopGlobal"),
            )  # fmt: skip
            self._frr.run(BGPD, ["enable", f"clear bgp {of_vrf}{neighbor}"])


def _instances(
    desired: Desired, interfaces: Collection[str]
) -> Iterator[tuple[str, Sequence[Neighbor]]]:
    """The VRFs with BGP in which these interfaces are, with their neighbors; "" is the instance of
    the router."""
    left = set(interfaces)
    for vrf in desired.vrfs.values():
        ports = left.intersection((*vrf.interfaces, vrf.name))
        left -= ports
        if ports and vrf.bgp is not None and vrf.bgp.neighbors:
            yield vrf.name, vrf.bgp.neighbors
    if left and desired.bgp is not None:
        yield "", desired.bgp.neighbors


def _is_declared(name: str, neighbors: Sequence[Neighbor]) -> bool:
    """Whether bgpd has a neighbor of this name because it is declared, or of a declared prefix."""
    address = _address(name)
    return any(
        name == peer(neighbor)
        or (address is not None and any(address in ip_network(p) for p in neighbor.prefixes))
        for neighbor in neighbors
    )


def lost(shown: Mapping[str, Any], present: Collection[IPv6Address]) -> list[str]:
    """Neighbors of ``show bgp neighbors json`` whose session is up, and bound to an address of this
    router that it does not announce as next hop."""
    return [
        neighbor
        for neighbor, entry in shown.items()
        if isinstance(entry, dict)
        and entry.get("bgpState") == "Established"
        and (local := _address(entry.get("hostLocal"))) in present
        and local is not None
        and not local.is_link_local
        and _address(entry.get("nexthopGlobal")) not in (local, None)
    ]


def _address(text: object) -> IPv6Address | None:
    try:
        address = ip_address(str(text))
    except ValueError:
        return None
    return address if isinstance(address, IPv6Address) else None
