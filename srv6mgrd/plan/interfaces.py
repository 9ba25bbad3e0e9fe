"""Declared interfaces as objects, and why some can't be put in place yet. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace

from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.interfaces import Interface, Vlan, depth, mtu_of
from srv6mgrd.plan.observed import Links


@dataclass(slots=True)
class Wanted:
    """What an interface needs; ``pending`` is what it waits for."""

    objects: list[Object] = field(default_factory=list)
    pending: str = ""


def existing(
    desired: Desired, indexes: Mapping[str, int], *, borrowed: bool = False
) -> Mapping[str, int]:
    """The interfaces that exist, and those that srv6mgrd creates before all that needs them;
    VRFs not if they are ``borrowed``."""
    found = dict(indexes)
    if not borrowed:
        found = {**dict.fromkeys(desired.vrfs, 0), **found}
    for one in _in_order(desired):
        if one.loopback or (one.vlan is not None and one.vlan.parent in found):
            found.setdefault(one.name, 0)
    return found


def without_leaving(desired: Desired, links: Links, journal: Container[str]) -> Links:
    """Less devices of ours but VRFs that stay: nothing can be put on those that are no longer
    declared, and ``existing`` knows the others."""
    gone = {name for name in links.ours - desired.vrfs.keys() if f"link {name}" in journal}
    if not gone:
        return links
    return replace(links, indexes={n: i for n, i in links.indexes.items() if n not in gone})


def _in_order(desired: Desired) -> list[Interface]:
    """Parents before their VLANs."""
    known = desired.interfaces
    return sorted(known.values(), key=lambda one: (depth(one.name, known), one.name))


def parents(desired: Desired) -> set[str]:
    return {one.vlan.parent for one in desired.interfaces.values() if one.vlan is not None}


def unusable(desired: Desired, name: str, indexes: Mapping[str, int]) -> str:
    """Why nothing can be sent out of an interface; empty when it can."""
    if name not in indexes:
        return f"interface {name} does not exist yet"
    one = desired.interfaces.get(name)
    if one is not None and one.enabled is False:
        return f"interface {name} is declared down (enabled false)"
    if one is not None and one.vlan is not None and one.vlan.parent != name:
        return unusable(desired, one.vlan.parent, indexes)
    return ""


def wanted(desired: Desired, one: Interface, indexes: Mapping[str, int], links: Links) -> Wanted:
    """``indexes`` are those of ``existing``; ``links`` what is known of them."""
    found = Wanted()
    order = depth(one.name, desired.interfaces)
    if one.vlan is not None:
        if one.vlan.parent not in indexes:
            found.pending = f"parent-interface {one.vlan.parent} does not exist yet"
            return found
        found.objects.append(VlanDevice(one.name, one.vlan.parent, one.vlan.id, order))
    elif one.loopback:
        found.objects.append(DummyDevice(one.name))
    elif one.name not in indexes:
        found.pending = f"interface {one.name} does not exist yet"
        return found
    if (mtu := mtu_of(one.name, desired.interfaces)) is not None:
        found.objects.append(LinkMtu(one.name, mtu, order))
    up = True if one.enabled is None and one.vlan is not None else one.enabled
    if up and one.vlan is not None and not _is_up(desired, one.vlan, links):
        found.pending = f"parent-interface {one.vlan.parent} is down"
    elif up is not None:
        found.objects.append(AdminState(one.name, up, order))
    if one.addresses and (master := links.bridged.get(one.name)) is not None:
        found.pending = f"interface {one.name} is a port of {master}, which takes its packets"
    else:
        found.objects += _addresses(one)
    return found


def _is_up(desired: Desired, vlan: Vlan, links: Links) -> bool:
    """Whether the parent of a VLAN is up once all is installed as declared."""
    parent = desired.interfaces.get(vlan.parent)
    if parent is None or (parent.enabled is None and not parent.is_created):
        return vlan.parent not in links.down
    if parent.enabled is False:
        return False
    return parent.vlan is None or _is_up(desired, parent.vlan, links)


def _addresses(one: Interface) -> Iterator[Object]:
    versions = {address.version for address in one.addresses}
    if 4 in versions:
        # Else the kernel takes others of a subnet along when the first one goes
        # (__inet_del_ifa).
        yield Sysctl(f"net/ipv4/conf/{one.name}/promote_secondaries", "1")
    if 6 in versions:
        yield Sysctl(f"net/ipv6/conf/{one.name}/disable_ipv6", "0")
        yield keep_addresses(one.name)
    for address in one.addresses:
        yield InterfaceAddress(one.name, address)


def keep_addresses(interface: str) -> Sysctl:
    """IPv6 addresses stay on an interface that goes down, as it does when it enters a VRF
    (cycle_netdev); not so link-local ones (addrconf_ifdown)."""
    return Sysctl(f"net/ipv6/conf/{interface}/keep_addr_on_down", "1")
