"""Interfaces: their roles, VLAN subinterfaces, MTU."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.model import names
from srv6mgrd.model.checks.sids import taken
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.interfaces import IPV6_MTU, Interface, Vlan, mtu_of
from srv6mgrd.model.paths import interface_path
from srv6mgrd.model.rejection import Rejection


def check(desired: Desired) -> Iterator[Rejection]:
    for name in desired.roles:
        if why := taken(desired, name):
            yield _rejection(
                name, f"it {why}", "give roles to interfaces that others connect to", _RESERVED
            )
    for one in desired.interfaces.values():
        yield from _reserved(desired, one)
        if one.vlan is not None:
            yield from _parent(desired, one.name, one.vlan)
            yield from _mtu_of_parent(desired, one, one.vlan)
    yield from _vlans(desired)
    yield from _mtus_of_proxies(desired)


_RESERVED = "interface-reserved"


def _reserved(desired: Desired, one: Interface) -> Iterator[Rejection]:
    """The router's own devices: addresses alone can be declared of the loopback and of VRFs."""
    why = taken(desired, one.name)
    if not why:
        return
    if desired.roles.get(one.name) is not None:
        return  # said above
    if one.name not in desired.vrfs and one.name != "lo":
        yield _rejection(one.name, f"it {why}", "remove it", _RESERVED)
    elif one.is_created or one.enabled is not None or one.mtu is not None:
        yield _rejection(one.name, f"it {why}", "declare nothing but addresses of it", _RESERVED)


def _parent(desired: Desired, name: str, vlan: Vlan) -> Iterator[Rejection]:
    if why := taken(desired, vlan.parent):
        yield _rejection(
            name,
            f"parent-interface {vlan.parent} {why}",
            "name the interface that carries the tagged frames",
            "interface-vlan-parent",
        )
    elif name in _parents(desired, vlan.parent):
        yield _rejection(
            name,
            f"parent-interface {vlan.parent} is a VLAN of {name} itself"
            if vlan.parent != name
            else f"parent-interface {vlan.parent} is the interface itself",
            "name the interface that carries the tagged frames",
            "interface-vlan-parent",
        )


def _parents(desired: Desired, name: str) -> set[str]:
    """An interface and what it is stacked on."""
    found: set[str] = set()
    while name not in found:
        found.add(name)
        one = desired.interfaces.get(name)
        if one is None or one.vlan is None:
            break
        name = one.vlan.parent
    return found


def _mtu_of_parent(desired: Desired, one: Interface, vlan: Vlan) -> Iterator[Rejection]:
    """vlan_dev_change_mtu: a VLAN's MTU is at most that of its parent."""
    limit = mtu_of(vlan.parent, desired.interfaces)
    if limit is None:
        return
    if one.mtu is not None and one.mtu > limit:
        yield _rejection(
            one.name,
            f"mtu {one.mtu} is larger than mtu {limit} of parent-interface {vlan.parent}",
            "lower it, or raise that of the parent",
            "interface-vlan-mtu",
        )
    elif limit < IPV6_MTU and any(address.version == 6 for address in one.addresses):
        yield _rejection(
            one.name,
            f"mtu {limit} of parent-interface {vlan.parent} is below {IPV6_MTU}, where the"
            " kernel takes IPv6 off",
            "raise it or remove the IPv6 addresses",
            "interface-mtu-ipv6",
        )


def _vlans(desired: Desired) -> Iterator[Rejection]:
    users: dict[Vlan, str] = {}
    for one in sorted(desired.interfaces.values(), key=lambda i: i.name):
        if one.vlan is None:
            continue
        if (first := users.setdefault(one.vlan, one.name)) != one.name:
            yield _rejection(
                one.name,
                f"VLAN {one.vlan.id} of {one.vlan.parent} is already interface {first}",
                "choose another vlan-id or parent-interface",
                "interface-vlan-in-use",
            )


def _mtus_of_proxies(desired: Desired) -> Iterator[Rejection]:
    """A link has one MTU, in all places that set it."""
    for sid in desired.sids.values():
        proxy = sid.proxy
        if proxy is None or proxy.mtu is None:
            continue
        for name in sorted({proxy.interface, proxy.return_interface}):
            one = desired.interfaces.get(name)
            if one is not None and one.mtu not in (None, proxy.mtu):
                yield _rejection(
                    name,
                    f"mtu {one.mtu} is {proxy.mtu} for the proxy of SID {sid.prefix}",
                    "declare one mtu for an interface",
                    "interface-mtu-differs",
                )


def _rejection(name: str, cause: str, remedy: str, tag: str) -> Rejection:
    return Rejection(names.interface(name), cause, remedy, tag, interface_path(name))
