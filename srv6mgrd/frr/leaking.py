"""Routes between VRFs of one router, in bgpd's words.

bgpd 10.3 imports VPN routes of its own router like those of others, but forwards into their VRF
without a tunnel; so a VRF exports with a route target of its own, and others import it. ``import
vrf`` of FRR can't be used beside ``import vpn``. An import has one policy for all that comes; where
those of a VRF have one of their own, a route map matches each and calls it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from srv6mgrd.frr.blocks import BGPD, block
from srv6mgrd.frr.policies import name_in_frr
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.leaking import DEFAULT_VRF, Leak
from srv6mgrd.model.leaking_targets import local_target, number
from srv6mgrd.model.status import Kind, ObjectRef

# Entry of the route map for what comes from other routers, after those for VRFs of this one.
_OTHERS = 65535


@dataclass(frozen=True, slots=True)
class Leaking:
    """What an address family of a VRF says of it beside its own: targets, and the route map of its
    import."""

    imports: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    import_map: str | None = None


NOTHING = Leaking()


def of_vrf(desired: Desired, vrf: str, import_policy: str | None = None) -> Leaking:
    """``import_policy`` is that of the VRF for all that it imports."""
    imported = _imports(desired, vrf)
    targets = (local_target(desired, leak.source) for leak in imported)
    own = local_target(desired, vrf)
    leaked = own is not None and any(leak.source == vrf for leak in desired.leaks.values())
    import_map = name_in_frr(import_policy) if import_policy is not None else None
    if _is_composed(imported):
        import_map = _map(vrf)
    return Leaking(
        tuple(target for target in targets if target is not None),
        (own,) if leaked and own is not None else (),
        import_map,
    )


def blocks(desired: Desired) -> list[FrrBlock]:
    """Route maps of imports, and the address families of the default VRF."""
    if desired.bgp is None or not desired.leaks:
        return []
    found: list[FrrBlock] = []
    importers = sorted({leak.importer for leak in desired.leaks.values()})
    for importer in importers:
        if _is_composed(_imports(desired, importer)):
            found += _composed(desired, importer)
    # A list that several imports name is one.
    lists = {b.key: b for b in found}
    return [*lists.values(), *_default(desired)]


def _imports(desired: Desired, vrf: str) -> list[Leak]:
    found = (leak for leak in desired.leaks.values() if leak.importer == vrf)
    return sorted(found, key=lambda leak: leak.source)


def _is_composed(imported: list[Leak]) -> bool:
    return any(leak.policy is not None for leak in imported)


def _map(vrf: str) -> str:
    # No name of a policy has a colon.
    return name_in_frr(f"import:{vrf}")


def _composed(desired: Desired, importer: str) -> Iterator[FrrBlock]:
    name = _map(importer)
    imported = _imports(desired, importer)
    refs = tuple(ObjectRef(Kind.ROUTE_LEAK, leak.name) for leak in imported)
    for leak in imported:
        own, target = number(desired, leak.source), local_target(desired, leak.source)
        if own is None or target is None or leak.policy is None:
            continue
        known = name_in_frr(f"from:{leak.source}")
        serves = (ObjectRef(Kind.ROUTE_LEAK, leak.name),)
        context = (f"bgp extcommunity-list standard {known}",)
        yield block(BGPD, context, [f"permit rt {target}"], refs)
        lines = [f"match extcommunity {known}", f"call {name_in_frr(leak.policy)}"]
        yield block(BGPD, (f"route-map {name} permit {own + 1}",), lines, serves)
    vrf = desired.vrfs.get(importer)
    apply = vrf.bgp.apply_policy.import_policy if vrf is not None and vrf.bgp is not None else None
    rest = [f"call {name_in_frr(apply)}"] if apply is not None else []
    yield block(BGPD, (f"route-map {name} permit {_OTHERS}",), rest, refs)


def _default(desired: Desired) -> Iterator[FrrBlock]:
    """The default VRF as one that exports and imports; its routes have no SID, so no other router
    gets them."""
    bgp, leaking = desired.bgp, of_vrf(desired, DEFAULT_VRF)
    refs = tuple(
        ObjectRef(Kind.ROUTE_LEAK, leak.name)
        for leak in desired.leaks.values()
        if DEFAULT_VRF in (leak.importer, leak.source)
    )
    if bgp is None or not refs:
        return
    lines = [f"redistribute {source}" for source in desired.main_redistribute]
    lines.append(f"rd vpn export {local_target(desired, DEFAULT_VRF)}")
    if leaking.imports:
        lines += [f"rt vpn import {' '.join(leaking.imports)}"]
    if leaking.exports:
        lines += [f"rt vpn export {' '.join(leaking.exports)}", "export vpn"]
    if leaking.imports:
        lines += ["import vpn", f"route-map vpn import {leaking.import_map}"]
    for family in ("ipv4", "ipv6"):
        path = (f"router bgp {bgp.as_number}", f"address-family {family} unicast")
        yield block(BGPD, path, lines, refs)
