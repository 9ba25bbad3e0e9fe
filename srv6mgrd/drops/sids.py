"""Declared SIDs as the program looks at them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection

from srv6mgrd.model import domain
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.model.desired import Desired, Sid
from srv6mgrd.model.drops import How, WatchedLink, WatchedSid
from srv6mgrd.model.reserved import OWN_DEVICES
from srv6mgrd.plan.observed import Links

_HOW = {
    Behavior.END: How.NEXT_SEGMENT,
    Behavior.END_X: How.TO_NEXT_HOP,
    Behavior.END_T: How.IN_TABLE,
    Behavior.END_DX2: How.TO_INTERFACE,
    Behavior.END_DX4: How.TO_NEXT_HOP,
    Behavior.END_DX6: How.TO_NEXT_HOP,
    Behavior.END_DT4: How.IN_TABLE,
    Behavior.END_DT6: How.IN_TABLE,
    Behavior.END_DT46: How.IN_TABLE,
}
# What behaviors decapsulate.
_FAMILIES = {
    Behavior.END_DT4: (Family.IPV4,),
    Behavior.END_DT6: (Family.IPV6,),
    Behavior.END_DT46: (Family.IPV4, Family.IPV6),
    Behavior.END_DX4: (Family.IPV4,),
    Behavior.END_DX6: (Family.IPV6,),
    Behavior.END_DX2: (Family.ETHERNET,),
}
# Reads a sysctl by its path below /proc/sys; None when there is none.
Sysctls = Callable[[str], int | None]


def watched_sid(sid: Sid, desired: Desired, links: Links, sysctl: Sysctls) -> WatchedSid | None:
    """None for behaviors that no check knows."""
    how = _HOW.get(sid.behavior)
    if how is None:
        return None
    vrf = desired.vrfs.get(sid.vrf or "")
    locator = desired.locators.get(sid.locator)
    csid = None
    if Flavor.NEXT_CSID in sid.flavors and locator is not None:
        block = locator.block_length
        csid = block // 8, (sid.prefix.prefixlen - block) // 8
    found = _FAMILIES.get(sid.behavior, ())
    return WatchedSid(
        sid.prefix,
        how,
        found,
        table=vrf.table if vrf is not None and how is How.IN_TABLE else 0,
        next_hop=sid.next_hop,
        interface=links.indexes.get(sid.interface or "", 0),
        mtu=links.mtus.get(sid.interface or "", 0),
        psp=Flavor.PSP in sid.flavors,
        csid=csid,
        vrf_gone=bool(found) and vrf is not None and vrf.name not in links.indexes,
        rp_filter=_rp_filter(sid.vrf, sysctl) if Family.IPV4 in found else 0,
    )


def _rp_filter(vrf: str | None, sysctl: Sysctls) -> int:
    """IN_DEV_RPFILTER: the greater one of all interfaces and this one."""
    names = ("all", vrf) if vrf else ("all",)
    return max(sysctl(f"net/ipv4/conf/{name}/rp_filter") or 0 for name in names)


def outside(desired: Desired, receivers: Collection[str]) -> set[str]:
    """Interfaces from which the boundary's filter lets nothing to SIDs; ``receivers`` are those
    on which the stack gets packets at all."""
    if not domain.is_guarded(desired):
        return set()
    ports = {name for vrf in desired.vrfs.values() for name in vrf.interfaces}
    found = (ports | set(receivers)) - OWN_DEVICES
    if domain.is_closed(desired):
        return found - domain.core(desired)
    return found & domain.customers(desired)


def watched_links(
    links: Links, cores: Collection[str], strangers: Collection[str], sysctl: Sysctls
) -> dict[int, WatchedLink]:
    """By ifindex, those in a state that drops packets; ``cores`` are the interfaces to the core,
    and ``strangers`` those to the outside."""
    found = {}
    for name, index in links.indexes.items():
        hmac = 0
        if name in cores:
            hmac = sysctl(f"net/ipv6/conf/{name}/seg6_require_hmac") or 0
        state = WatchedLink(name in links.stopped, hmac, name in strangers)
        if state != WatchedLink():
            found[index] = state
    return found
