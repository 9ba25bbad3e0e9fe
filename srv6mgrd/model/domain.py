"""Where the SRv6 domain ends (RFC 8754 section 5.1): who is outside, what is out of reach. Pure."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.model.desired import Desired, Role, Vrf


def customers(desired: Desired) -> set[str]:
    """Devices whose packets come from outside: interfaces with this role, and of VRFs those without
    a role and the VRF itself, through which packets of any port pass. Not so a VRF that has an
    interface to the core: what comes through it may be of the domain."""
    found = {name for name, role in desired.roles.items() if role is Role.CUSTOMER}
    for vrf in desired.vrfs.values():
        found.update(name for name in vrf.interfaces if desired.roles.get(name) is not Role.CORE)
        if is_outside(vrf, desired):
            found.add(vrf.name)
    return found


def is_outside(vrf: Vrf, desired: Desired) -> bool:
    """Whether all that comes through the VRF is of customers."""
    return not any(desired.roles.get(name) is Role.CORE for name in vrf.interfaces)


def sids(desired: Desired) -> set[IPv6Network]:
    """Where SIDs are, local and remote: the blocks of the locators, and segments elsewhere."""
    blocks = {
        locator.prefix.supernet(new_prefix=locator.block_length)
        for locator in desired.locators.values()
    }
    segments = {s for path in desired.segment_lists.values() for s in path.segments}
    return blocks | {IPv6Network(s) for s in segments if not any(s in block for block in blocks)}


def sources(desired: Desired) -> set[IPv6Address]:
    """Addresses that packets have which this router encapsulates."""
    found = {route.source for route in desired.routes.values()} | {desired.encapsulation_source}
    return {source for source in found if source is not None}


def is_guarded(desired: Desired) -> bool:
    """Whether there is somebody to keep out, something to keep him from, and use of it."""
    used = desired.sids or desired.vrfs or desired.routes
    return bool(used and sids(desired) and customers(desired))
