"""Where the SRv6 domain ends (RFC 8754 section 5.1): who is outside, what is out of reach. Pure.

An interface is core when it is declared so, or when IS-IS speaks on it; it is a customer when it is
declared so, in a VRF, or of a cross-connect. All others have the default role.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Desired, Role, Vrf
from srv6mgrd.model.reserved import DEFAULT_VRF_DEVICE, SID_DEVICE

# What comes in on these the router itself has sent, or taken out of a tunnel.
_OWN = frozenset({"lo", SID_DEVICE})
_CROSS_CONNECTS = frozenset({Behavior.END_DX2, Behavior.END_DX4, Behavior.END_DX6})


def is_closed(desired: Desired) -> bool:
    """Whether every interface is a customer until it is declared core."""
    return desired.default_role is Role.CUSTOMER


def customers(desired: Desired) -> set[str]:
    """Devices whose packets come from outside, whatever the default role: interfaces with this
    role, attachment circuits, and VRFs, through which packets of any port pass. Not so a VRF that
    has an interface to the core: what comes through it may be of the domain."""
    found = {name for name, role in desired.roles.items() if role is Role.CUSTOMER}
    found |= attachment_circuits(desired)
    for vrf in desired.vrfs.values():
        if is_outside(vrf, desired):
            found.add(vrf.name)
    return found


def attachment_circuits(desired: Desired) -> set[str]:
    """Interfaces that lead to a customer by what they are declared for, unless their role is
    core: ports of VRFs, and those that a cross-connect sends to."""
    found = {name for vrf in desired.vrfs.values() for name in vrf.interfaces}
    found.update(
        sid.interface
        for sid in desired.sids.values()
        if sid.interface is not None and sid.behavior in _CROSS_CONNECTS
    )
    return {name for name in found if desired.roles.get(name) is not Role.CORE}


def core(desired: Desired) -> set[str]:
    """Devices whose packets come from inside where all others are customers: interfaces with this
    role, those that IS-IS speaks on, those behind which service functions are (a proxy puts their
    packets back into tunnels before the filter sees them), and the router's own."""
    found = set(_OWN)
    if desired.isis is not None:
        found.update(i.name for i in desired.isis.interfaces if not i.passive)
    for sid in desired.sids.values():
        if sid.proxy is not None:
            found |= {sid.proxy.interface, sid.proxy.return_interface}
        if sid.default_vrf:
            found.add(DEFAULT_VRF_DEVICE)
    found -= customers(desired)
    found |= {name for name, role in desired.roles.items() if role is Role.CORE}
    found |= {vrf.name for vrf in desired.vrfs.values() if not is_outside(vrf, desired)}
    return found


def is_outside(vrf: Vrf, desired: Desired) -> bool:
    """Whether all that comes through the VRF is of customers."""
    return not any(desired.roles.get(name) is Role.CORE for name in vrf.interfaces)


def sids(desired: Desired) -> set[IPv6Network]:
    """Where SIDs are, local and remote: the blocks of the locators, and segments elsewhere."""
    blocks = {locator.block for locator in desired.locators.values()}
    segments = {s for path in desired.segment_lists.values() for s in path.segments}
    segments |= {s for f in desired.chains.functions.values() for s in f.segments.values()}
    for chain in desired.chains.chains.values():
        segments |= {s for egress in chain.egresses.values() for s in egress.segments}
    return blocks | {IPv6Network(s) for s in segments if not any(s in block for block in blocks)}


def sources(desired: Desired) -> set[IPv6Address]:
    """Addresses that packets have which this router encapsulates."""
    found = {route.source for route in desired.routes.values()} | {desired.encapsulation_source}
    return {source for source in found if source is not None}


def is_guarded(desired: Desired) -> bool:
    """Whether there is somebody to keep out, something to keep him from, and use of it."""
    used = desired.sids or desired.vrfs or desired.routes or desired.chains.chains
    somebody = is_closed(desired) or customers(desired)
    return bool(used and sids(desired) and somebody)


def warnings(desired: Desired, interfaces: Iterable[str]) -> Iterator[str]:
    """What an operator should declare of the interfaces that exist, with the lines to add."""
    if not (desired.sids or desired.vrfs or desired.routes) or not sids(desired):
        return
    known = core(desired) | customers(desired) | desired.vrfs.keys()
    # Nothing comes in on these.
    known |= {one.name for one in desired.interfaces.values() if one.loopback}
    others = sorted(name for name in interfaces if name not in known)
    if is_closed(desired):
        if not (core(desired) - _OWN) and others:
            yield (
                "boundary: no interface is core, so packets from other routers of the SRv6 domain"
                f" are dropped; set {_line('core')} for each that leads to one"
                f" (candidates: {', '.join(others)})"
            )
    elif others:
        yield (
            f"boundary: {', '.join(others)} can reach SIDs, since default-role is core (RFC 8754"
            f" section 5.1); set {_line('core')} for each that leads to a router of the SRv6"
            " domain, then boundary/default-role to customer"
        )


def _line(role: str) -> str:
    return f"interfaces/interface[name=...]/role to {role}"
