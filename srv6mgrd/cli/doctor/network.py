"""Links, rules, routes, sysctls and the boundary: observed and desired. Pure, but for the
sysctls and the boundary's table, which are handed in."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from ipaddress import IPv6Network

from srv6mgrd.cli import host
from srv6mgrd.cli.doctor.finding import SELF_REPAIR, Finding, fail, note, or_ok, skip, warn
from srv6mgrd.cli.units import counted
from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.boundary.object import Boundary, UnknownBoundary
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.route import UnknownRoute
from srv6mgrd.kinds.rule.object import Rule, UnknownRule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model import domain
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.reserved import LINK_ALIAS, ROUTE_PROTOCOL
from srv6mgrd.plan.shadow import shadows

_REPAIRS = SELF_REPAIR
_SHOWN = 3
_OF_DEVICE = re.compile(r"net/ipv[46]/conf/([^/]+)/\w+")


def devices(wanted: Iterable[Object], seen: host.Host) -> list[Finding]:
    """Ours are there and up, VRFs on their tables, interfaces in their VRFs."""
    wanted = list(wanted)
    found = [*_devices(wanted, seen.links), *_declared(wanted, seen)]
    return or_ok("links", "the devices of srv6mgr exist", found)


def _declared(wanted: Iterable[Object], seen: host.Host) -> Iterator[Finding]:
    """VLANs, MTU, state and addresses are as declared."""
    for obj in wanted:
        match obj:
            case VlanDevice():
                link = seen.links.get(obj.name)
                if link is None:
                    yield fail("links", f"{obj.name} does not exist", _REPAIRS)
                elif link.kind != "vlan":
                    message = f"{obj.name} is {link.kind or 'a device'} of somebody else"
                    yield fail("links", message, f"rename it: ip link set {obj.name} name OTHER")
            case LinkMtu() if (link := seen.links.get(obj.interface)) and link.mtu != obj.mtu:
                message = f"{obj.interface} has MTU {link.mtu}, declared is {obj.mtu}"
                yield fail("links", message, _REPAIRS)
            case AdminState() if (link := seen.links.get(obj.interface)) and link.up != obj.up:
                message = f"{obj.interface} is {'up' if link.up else 'down'}, which is not declared"
                yield fail("links", message, _REPAIRS)
            case InterfaceAddress() if obj.interface in seen.links:
                if obj.address not in seen.addresses_of.get(obj.interface, ()):
                    message = f"{obj.interface} lacks its address {obj.address}"
                    yield fail("addresses", message, _REPAIRS)


def interfaces(desired: Desired, seen: host.Host) -> list[Finding]:
    """Those declared exist, and have a carrier unless they are to be down; ports of VRFs are
    looked at with these."""
    ports = {port for vrf in desired.vrfs.values() for port in vrf.interfaces}
    names = [name for name in sorted({**desired.roles, **desired.interfaces}) if name not in ports]
    if not names:
        return []
    found = (_interface(name, desired, seen.links.get(name)) for name in names)
    return or_ok("interfaces", "those declared are up", [f for f in found if f is not None])


def _interface(name: str, desired: Desired, link: host.Link | None) -> Finding | None:
    one = desired.interfaces.get(name)
    if link is None:
        if one is not None and one.is_created:
            return None  # it is reported with the devices of srv6mgr
        return warn("interfaces", f"{name} does not exist", "create it, or remove it here")
    if one is not None and one.enabled is False:
        return None
    if not link.up:
        return warn("interfaces", f"{name} is down", f"ip link set {name} up, or declare enabled")
    if not link.carrier:
        message = f"{name} has no carrier"
        return warn("interfaces", message, "see its cable, and the interface at the other end")
    return None


def _devices(wanted: Iterable[Object], links: Mapping[str, host.Link]) -> Iterator[Finding]:
    for obj in wanted:
        if isinstance(obj, DummyDevice | VrfDevice):
            yield from _device(obj, links.get(obj.name))
        elif isinstance(obj, VrfPort):
            port = links.get(obj.interface)
            if port is None:
                message = f"{obj.interface} does not exist, which VRF {obj.vrf} has"
                yield warn("links", message, "create it, or take it out of the VRF")
            elif port.master != obj.vrf:
                message = f"{obj.interface} is in {port.master or 'no VRF'}, not in {obj.vrf}"
                yield fail("links", message, _REPAIRS)
            elif not (port.up and port.carrier):
                state = "has no carrier" if port.up else "is down"
                yield warn("links", f"{port.name} {state}", f"ip link set {port.name} up, or cable")


def _device(obj: DummyDevice | VrfDevice, link: host.Link | None) -> Iterator[Finding]:
    if link is None:
        yield fail("links", f"{obj.name} does not exist", _REPAIRS)
        return
    kind = "vrf" if isinstance(obj, VrfDevice) else "dummy"
    if link.kind != kind or link.alias != LINK_ALIAS:
        message = f"{obj.name} is {link.kind or 'a device'} of somebody else"
        yield fail("links", message, f"rename it: ip link set {obj.name} name OTHER")
    elif isinstance(obj, VrfDevice) and link.table != obj.table:
        yield fail("links", f"{obj.name} is on table {link.table}, not {obj.table}", _REPAIRS)
    elif not link.up:
        yield fail("links", f"{obj.name} is down", f"ip link set {obj.name} up; or {_REPAIRS}")


def shared_tables(seen: host.Host) -> Iterator[Finding]:
    """With strict_mode no two VRF devices may share a table (net/vrf/strict_mode)."""
    by_table: dict[int, list[str]] = {}
    for link in seen.links.values():
        if link.table is not None:
            by_table.setdefault(link.table, []).append(link.name)
    for table, names in by_table.items():
        if len(names) > 1:
            message = f"VRF devices {' and '.join(names)} share table {table}, so that"
            message += " strict_mode can't be set"
            yield fail("links", message, f"ip link del one of {', '.join(names)}")


def sysctls(
    wanted: Iterable[Object], seen: host.Host, read: Callable[[str], str | None]
) -> list[Finding]:
    """Those that what is declared needs have their values."""
    return or_ok("sysctls", "are set as needed", _sysctls(wanted, seen.links, read))


def _sysctls(
    wanted: Iterable[Object], links: Container[str], read: Callable[[str], str | None]
) -> Iterator[Finding]:
    for obj in wanted:
        if not isinstance(obj, Sysctl):
            continue
        device = _OF_DEVICE.fullmatch(obj.path)
        if device and device[1] != "all" and device[1] not in links:
            continue  # it is notified that the device is absent
        name, value = obj.path.replace("/", "."), read(obj.path)
        if value is None:
            yield fail("sysctls", f"{name} does not exist", "see that the kernel has the feature")
        elif value.split() != obj.value.split():
            message = f"{name} is {value}, and has to be {obj.value}"
            yield fail("sysctls", message, f"sysctl -w {name}={obj.value}; or {_REPAIRS}")


def rp_filter(wanted: Iterable[Object], value: str | None) -> Iterator[Finding]:
    """The one for all outweighs those of the VRFs (IN_DEV_RPFILTER)."""
    concerned = any(isinstance(o, Sysctl) and o.path.endswith("/rp_filter") for o in wanted)
    if concerned and value not in {None, "0"}:
        message = f"net.ipv4.conf.all.rp_filter is {value}: IPv4 out of tunnels is dropped"
        yield fail("sysctls", message, "set it to 0, and those of interfaces instead")


def rules(wanted: Mapping[str, Object], seen: host.Host) -> list[Finding]:
    """Ours are installed, and no foreign one takes their packets."""
    found = [*_rules(wanted, seen.rules)]
    return or_ok("rules", "those to the SIDs exist, and none takes precedence", found)


def _rules(wanted: Mapping[str, Object], seen: Iterable[host.Rule]) -> Iterator[Finding]:
    listed = list(seen)
    standing = {
        (r.priority, r.to, r.source, r.table) for r in listed if r.protocol == ROUTE_PROTOCOL
    }
    ours = [o for o in wanted.values() if isinstance(o, Rule)]
    for rule in ours:
        source = IPv6Network(rule.source or "::/0")
        if (rule.priority, rule.to, source, rule.table) not in standing:
            message = f"rule {rule.priority} to {rule.to} lookup {rule.table} is not there"
            yield fail("rules", message, _REPAIRS)
    observed = [(f"{at} {rule}", rule) for at, rule in enumerate(listed)]
    keys = [_key(name, rule) for name, rule in observed]
    foreign = {
        key: UnknownRule(
            key, r.priority, r.to, str(r), r.source if r.source.prefixlen else None, r.table
        )
        for key, (_, r) in zip(keys, observed, strict=True)
        if r.protocol != ROUTE_PROTOCOL and r.to.prefixlen
    }
    behind: dict[UnknownRule, list[int]] = {}
    for shadow in shadows(wanted, keys, foreign):
        if isinstance(shadow.by, UnknownRule) and isinstance(shadow.wanted, Rule):
            behind.setdefault(shadow.by, []).append(shadow.wanted.priority)
    for other, hidden in behind.items():
        ours_behind = ", ".join(map(str, sorted(hidden)))
        message = f"foreign rule {other.description}, in front of ours ({ours_behind})"
        yield fail("rules", message, f"ip -6 rule del pref {other.priority} to {other.to}")


def _key(name: str, rule: host.Rule) -> str:
    return f"rule {rule.priority} to {rule.to}" if rule.protocol == ROUTE_PROTOCOL else name


def routes(wanted: Mapping[str, Object], seen: host.Host) -> list[Finding]:
    """Those of the SIDs are installed, and no foreign one takes their packets."""
    sids = [o for o in wanted.values() if isinstance(o, SidRoute)]
    found = [*_routes(wanted, sids, seen.routes)]
    return or_ok("routes", f"{counted(len(sids), 'SID')} in table {SID_TABLE}", found)


def _routes(
    wanted: Mapping[str, Object], sids: Iterable[SidRoute], seen: Iterable[host.Route]
) -> Iterator[Finding]:
    ours = {r.prefix for r in seen if r.protocol == ROUTE_PROTOCOL and r.encap == "seg6local"}
    absent = [sid for sid in sids if sid.prefix not in ours]
    for sid in absent[:_SHOWN]:
        yield fail("routes", f"SID {sid.prefix} is not in table {SID_TABLE}", _REPAIRS)
    if len(absent) > _SHOWN:
        yield fail("routes", f"... nor are {len(absent) - _SHOWN} more SIDs", _REPAIRS)
    foreign = {}
    for route in seen:
        if route.table == SID_TABLE and route.protocol != ROUTE_PROTOCOL and _matters(route):
            key = f"foreign {route.prefix} {route.metric}"
            message = f"{route.type} {route.prefix} metric {route.metric}"
            foreign[key] = UnknownRoute(key, 6, SID_TABLE, route.prefix, route.metric, message)
    hiding = set()
    for shadow in shadows(wanted, (), foreign):
        if isinstance(shadow.by, UnknownRoute) and isinstance(shadow.wanted, SidRoute):
            hiding.add(shadow.by.key)
            message = f"foreign route {shadow.by.description} takes packets of SID"
            message += f" {shadow.wanted.prefix}"
            remedy = f"ip -6 route del {shadow.by.prefix} table {SID_TABLE}"
            yield fail("routes", message, f"{remedy} metric {shadow.by.metric}")
    if others := sorted(foreign.keys() - hiding):
        message = f"{counted(len(others), 'foreign route')} in table {SID_TABLE}, in nobody's way"
        yield note("routes", message)


def _matters(route: host.Route) -> bool:
    # Link-locals of the device come by themselves.
    return not route.prefix.subnet_of(IPv6Network("fe80::/10"))


def boundary(wanted: Iterable[Object], found: Boundary | UnknownBoundary | None) -> list[Finding]:
    """The filter that keeps customers from the SIDs is in place (RFC 8754 section 5.1)."""
    filters = [o for o in wanted if isinstance(o, Boundary)]
    if not filters:
        return [skip("boundary", "there are no customers to keep out")]
    if found == filters[0]:
        return or_ok("boundary", "nftables table ip6 srv6mgr keeps customers from the SIDs", ())
    state = "is not there" if found is None else "is not as it has to be"
    message = f"nftables table ip6 srv6mgr {state}: customers can reach SIDs"
    return [fail("boundary", message, _REPAIRS)]


def domain_of(desired: Desired, seen: host.Host) -> Iterator[Finding]:
    """Each interface is declared core or customer as it leads to one."""
    for text in domain.warnings(desired, seen.links):
        cause, _, remedy = text.removeprefix("boundary: ").partition("; ")
        yield warn("boundary", cause, remedy)


def source(desired: Desired, seen: host.Host) -> Iterator[Finding]:
    """What encapsulated packets have as their source is an address of this node."""
    address = desired.encapsulation_source
    if address is not None and address not in seen.addresses:
        yield warn(
            "addresses",
            f"the encapsulation source {address} is no address of this node: errors that routers"
            " on the way tell don't arrive",
            f"ip address add {address}/128 dev lo",
        )
