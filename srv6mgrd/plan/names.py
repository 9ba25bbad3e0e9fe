"""Names of objects in the kernel and in FRR, as messages, logs and status show them. Pure."""

from __future__ import annotations

from srv6mgrd.model import names
from srv6mgrd.plan.link_objects import AdminState, InterfaceAddress, LinkMtu, VlanDevice
from srv6mgrd.plan.objects import (
    BOUNDARY_TABLE,
    MAIN_TABLE,
    Boundary,
    DummyDevice,
    EncapRoute,
    EncapSource,
    FrrBlock,
    NextHopRoute,
    Object,
    ProxyEntry,
    ProxyHook,
    ProxyPrograms,
    Rule,
    SidRoute,
    Sysctl,
    UnknownBoundary,
    UnknownLink,
    UnknownRoute,
    UnknownRule,
    UnreachableDefault,
    UnreachableSid,
    VrfDevice,
    VrfPort,
)


def name(obj: Object) -> str:
    """What an operator calls it."""
    match obj:
        case SidRoute():
            return names.sid(obj.prefix)
        case ProxyEntry():
            return f"proxy SID {obj.prefix}"
        case VrfDevice():
            return names.vrf(obj.name)
        case VrfPort():
            return f"{names.interface(obj.interface)} of {names.vrf(obj.vrf)}"
        case UnreachableDefault():
            return f"unreachable IPv{obj.family} default of table {obj.table}"
        case UnreachableSid():
            return f"unreachable route to SID {obj.prefix}{_in_table(obj.table)}"
        case DummyDevice():
            return f"device {obj.name}"
        case Sysctl():
            return f"sysctl {obj.path}"
        case EncapSource():
            return f"encapsulation source {obj.address}"
        case EncapRoute():
            return f"route {obj.prefix}{_in_table(obj.table)}"
        case NextHopRoute():
            return f"route to next hop {obj.via} on {obj.device}"
        case Rule():
            return f"rule {obj.priority} that looks up {obj.to} in table {obj.table}"
        case UnknownLink():
            return f"device {obj.name}, {obj.description}"
        case UnknownRule():
            return f"rule {obj.priority} to {obj.to}, {obj.description}"
        case UnknownRoute():
            return f"route {obj.prefix}{_in_table(obj.table)}, {obj.description}"
        case Boundary() | UnknownBoundary():
            other = f" {obj.description}" if isinstance(obj, UnknownBoundary) else ""
            return f"nftables table ip6 {BOUNDARY_TABLE}{other}"
        case ProxyPrograms():
            return "programs of the proxies"
        case VlanDevice():
            return f"{names.interface(obj.name)} (VLAN {obj.id} of {obj.parent})"
        case AdminState():
            return f"{names.interface(obj.interface)}, {'up' if obj.up else 'down'}"
        case InterfaceAddress():
            return f"address {obj.address} of interface {obj.interface}"
        case LinkMtu():
            return f"MTU {obj.mtu} of interface {obj.interface}"
        case ProxyHook():
            return f"{obj.side} hook of the proxies on {obj.interface}"
        case FrrBlock(part=part) if part:
            vrf = obj.context[0].removeprefix("vrf ")
            return names.static_route(part.split()[-1], vrf)
        case FrrBlock():
            return f"FRR {obj.daemon} '{obj.place}'"


def _in_table(table: int) -> str:
    return "" if table == MAIN_TABLE else f" in table {table}"


def short_name(obj: Object) -> str:
    """The same where a SID, a VRF or an interface tells of it, and what it holds follows."""
    match obj:
        case SidRoute():
            return "SID route"
        case VrfDevice():
            return f"VRF device {obj.name}"
        case Rule():
            return f"rule {obj.priority} to {obj.to}"
        case NextHopRoute():
            return f"route to next hop {obj.address}"
        case EncapSource():
            return "encapsulation source"
        case Sysctl():
            return obj.path.replace("/", ".")
        case Boundary() | UnknownBoundary():
            return f"nftables table ip6 {BOUNDARY_TABLE}"
        case ProxyEntry():
            return f"proxy on {obj.interface}"
        case VlanDevice():
            return names.interface(obj.name)
        case AdminState():
            return f"administrative state of {obj.interface}"
        case InterfaceAddress():
            return f"address {obj.address} of {obj.interface}"
        case LinkMtu():
            return f"MTU of {obj.interface}"
        case FrrBlock():
            return f"FRR {obj.daemon} '{obj.place}'"
    return name(obj)
