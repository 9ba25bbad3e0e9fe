"""Which services depend on what, by their declaration."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.model.bgp import Neighbor, PeerKind
from srv6mgrd.model.desired import Desired, Locator, Role, Sid, Vrf


@dataclass(frozen=True, slots=True)
class Scope:
    """What is declared, with what is looked up in it again and again. ``exporters`` are VRFs whose
    routes other routers get, ``importers`` those that take routes of other routers, ``vpn`` all of
    these, ``tunnelled`` those with steered routes, too; ``core`` are the interfaces to the core
    that are to be up; ``adjacent`` are SIDs that send to an interface."""

    desired: Desired
    exporters: tuple[Vrf, ...]
    importers: tuple[Vrf, ...]
    vpn: tuple[str, ...]
    tunnelled: tuple[str, ...]
    core: tuple[str, ...]
    adjacent: tuple[Sid, ...]

    @staticmethod
    def of(desired: Desired) -> Scope:
        vrfs = desired.vrfs.values()
        exporters = tuple(v for v in vrfs if v.bgp is not None and v.bgp.export_sids)
        importers = tuple(v for v in vrfs if _imports(v))
        vpn = dict.fromkeys(v.name for v in (*exporters, *importers))
        steered = dict.fromkeys(r.vrf for r in desired.routes.values() if r.vrf is not None)
        return Scope(
            desired,
            exporters,
            importers,
            tuple(vpn),
            tuple({**vpn, **steered}),
            tuple(_core(desired)),
            tuple(s for s in desired.sids.values() if s.interface is not None),
        )

    def sids_of(self, vrf: str) -> tuple[IPv6Network, ...]:
        """The SIDs that routes of the VRF are exported with."""
        bgp = self.desired.vrfs[vrf].bgp
        return bgp.export_sids if bgp is not None else ()

    def node_of(self, sid: IPv6Address) -> IPv6Network:
        """The locator of another node in a SID block of ours, as long as ours is (RFC 8986 section
        3.1); elsewhere the SID alone."""
        for locator in self.desired.locators.values():
            if sid in locator.block:
                return IPv6Network((sid, locator.prefix.prefixlen), strict=False)
        return IPv6Network(sid)


def expected(neighbors: Collection[Neighbor]) -> list[Neighbor]:
    """Those that are to have a session: who connects by itself may be away."""
    return [n for n in neighbors if n.enabled and n.kind is not PeerKind.DYNAMIC]


def neighbor_addresses(desired: Desired) -> set[IPv6Address]:
    """Those of the neighbors that VPN routes are exchanged with."""
    neighbors = expected(desired.bgp.neighbors) if desired.bgp is not None else ()
    return {
        IPv6Address(n.address)
        for n in neighbors
        if n.kind is PeerKind.NEIGHBOR and ":" in n.address
    }


def exporting_locators(desired: Desired) -> list[Locator]:
    """Those that SIDs are from which routes of VRFs are exported with."""
    exports = (v.bgp.export_sids for v in desired.vrfs.values() if v.bgp is not None)
    sids = [sid for each in exports for sid in each]
    return [one for one in desired.locators.values() if any(map(one.covers, sids))]


def is_to_be_up(name: str, desired: Desired) -> bool:
    """Not so an interface that is declared to be down."""
    one = desired.interfaces.get(name)
    return one is None or one.enabled is not False


def _imports(vrf: Vrf) -> bool:
    return vrf.bgp is not None and any(vrf.bgp.of_family(f).import_rts for f in (4, 6))


def _core(desired: Desired) -> list[str]:
    found = {name for name, role in desired.roles.items() if role is Role.CORE}
    if desired.isis is not None:
        found.update(i.name for i in desired.isis.interfaces if not i.passive)
    loopbacks = {name for name, one in desired.interfaces.items() if one.loopback}
    return sorted(n for n in found - loopbacks - {"lo"} if is_to_be_up(n, desired))
