"""Operations as commands of iproute2, nft, sysctl and vtysh, for an operator to read. Pure.

They say what srv6mgrd does through netlink and FRR's sockets; they are not what is run.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.plan.link_objects import AdminState, InterfaceAddress, LinkMtu, VlanDevice
from srv6mgrd.plan.objects import (
    BOUNDARY_TABLE,
    LINK_ALIAS,
    PROXY_FOLDER,
    PROXY_OBJECT,
    ROUTE_PROTOCOL,
    UNREACHABLE_METRIC,
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
    UnreachableDefault,
    UnreachableSid,
    VrfDevice,
    VrfPort,
    without_secret,
)

_MODES = {
    Headend.H_ENCAPS: "encap",
    Headend.H_ENCAPS_RED: "encap.red",
    Headend.H_ENCAPS_L2: "l2encap",
    Headend.H_ENCAPS_L2_RED: "l2encap.red",
}
# What follows a lookup table or next hop in iproute2, by behavior.
_NEXT_HOPS = {Behavior.END_X: "nh6", Behavior.END_DX6: "nh6", Behavior.END_DX4: "nh4"}


def verb(action: Action) -> str:
    """The YANG enum of an operation."""
    match action:
        case Create():
            return "create"
        case Replace():
            return "replace"
        case Delete():
            return "delete"


def command(action: Action) -> str:
    """An operation as a command; several are joined by ``&&``. Empty for what is only observed."""
    render = _RENDERERS.get(type(action.object))
    return "" if render is None else render(action)


def _sysctl(action: Action) -> str:
    obj: Sysctl = _object(action)
    return f"sysctl -w {obj.path.replace('.', '%').replace('/', '.').replace('%', '/')}={obj.value}"


def _dummy(action: Action) -> str:
    obj: DummyDevice = _object(action)
    if isinstance(action, Delete):
        return f"ip link delete {obj.name}"
    return f"ip link add {obj.name} alias {LINK_ALIAS} type dummy && ip link set {obj.name} up"


def _vrf(action: Action) -> str:
    obj: VrfDevice = _object(action)
    state = "up" if obj.up else "down"
    if isinstance(action, Delete):
        return f"ip link delete {obj.name}"
    if isinstance(action, Replace):
        return f"ip link set {obj.name} {state}"
    return (
        f"ip link add {obj.name} index {obj.ifindex} alias {LINK_ALIAS} type vrf table {obj.table}"
        f" && ip link set {obj.name} {state}"
    )


def _port(action: Action) -> str:
    obj: VrfPort = _object(action)
    master = "nomaster" if isinstance(action, Delete) else f"vrf {obj.vrf}"
    return f"ip link set {obj.interface} {master}"


def _rule(action: Action) -> str:
    old = [action.before] if isinstance(action, Replace) else []
    obj: Rule = _object(action)
    done = "delete" if isinstance(action, Delete) else "add"
    words = [f"ip -6 rule {done} {_selectors(obj)}"]
    # Rules can't be changed: the new one is there before the old one goes.
    words += [f"ip -6 rule delete {_selectors(r)}" for r in old if isinstance(r, Rule)]
    return " && ".join(words)


def _selectors(rule: Rule) -> str:
    source = f"from {rule.source} " if rule.source is not None else ""
    return (
        f"priority {rule.priority} {source}to {rule.to} table {rule.table}"
        f" protocol {ROUTE_PROTOCOL}"
    )


def _unreachable(action: Action) -> str:
    obj: UnreachableDefault = _object(action)
    return _route(
        action, obj.family, f"unreachable default table {obj.table}", UNREACHABLE_METRIC, ""
    )


def _unreachable_sid(action: Action) -> str:
    obj: UnreachableSid = _object(action)
    what = f"unreachable {obj.prefix} table {obj.table}"
    return _route(action, 6, what, UNREACHABLE_METRIC, "")


def _sid(action: Action) -> str:
    obj: SidRoute = _object(action)
    what = f"{obj.prefix} table {obj.table}"
    return _route(action, 6, what, obj.metric, f" encap seg6local {_action(obj)} dev {obj.device}")


def _action(sid: SidRoute) -> str:
    words = [f"action {sid.action}"]
    if sid.next_hop is not None:
        words.append(f"{_NEXT_HOPS.get(sid.action, 'nh6')} {sid.next_hop}")
    if sid.vrf_table is not None:
        words.append(f"vrftable {sid.vrf_table}")
    if sid.lookup_table is not None:
        words.append(f"table {sid.lookup_table}")
    if sid.interface is not None:
        words.append(f"oif {sid.interface}")
    if sid.segments:
        words.append(f"srh segs {_segments(sid.segments)}")
    if sid.bpf_program is not None:
        words.append(f"endpoint pinned {shlex.quote(sid.bpf_program)}")
    if sid.flavors:
        words.append("flavors " + ",".join(sorted(sid.flavors)))
    if sid.csid_lengths is not None and Flavor.NEXT_CSID in sid.flavors:
        words.append("lblen {} nflen {}".format(*sid.csid_lengths))
    if sid.counters:
        words.append("count")
    return " ".join(words)


def _segments(segments: tuple[IPv6Address, ...]) -> str:
    return ",".join(map(str, segments))


def _encap(action: Action) -> str:
    obj: EncapRoute = _object(action)
    source = f" tunsrc {obj.source}" if obj.source is not None else ""
    hops = f" ttl {obj.hop_limit}" if obj.hop_limit is not None else ""
    lookup = f" lookup {obj.lookup_table}" if obj.lookup_table is not None else ""
    how = f" encap seg6 mode {_MODES[obj.behavior]} segs {_segments(obj.segments)}"
    how += source + lookup + hops
    what = f"{obj.prefix} table {obj.table}"
    return _route(action, obj.prefix.version, what, obj.metric, f"{how} dev {obj.device}")


def _next_hop(action: Action) -> str:
    obj: NextHopRoute = _object(action)
    via = (
        f"inet6 {obj.via}"
        if isinstance(obj.address, IPv4Address) != isinstance(obj.via, IPv4Address)
        else f"{obj.via}"
    )
    family = 4 if isinstance(obj.address, IPv4Address) else 6
    what = f"{obj.prefix} table {obj.table}"
    return _route(action, family, what, obj.metric, f" via {via} dev {obj.device} onlink")


def _route(action: Action, family: int, what: str, metric: int, how: str) -> str:
    """``how`` is left out of a deletion: what is ours at this place goes, however it is."""
    done = "add" if isinstance(action, Create) else verb(action)
    how = "" if isinstance(action, Delete) else how
    return f"ip -{family} route {done} {what} metric {metric} protocol {ROUTE_PROTOCOL}{how}"


def _source(action: Action) -> str:
    obj: EncapSource = _object(action)
    return f"ip sr tunsrc set {'::' if isinstance(action, Delete) else obj.address}"


def _boundary(action: Action) -> str:
    obj: Boundary = _object(action)
    if isinstance(action, Delete):
        return f"nft delete table ip6 {BOUNDARY_TABLE}"
    sets = (
        (obj.set_name, "type ifname;", (f'"{name}"' for name in obj.interfaces)),
        ("sids", "type ipv6_addr; flags interval;", map(str, obj.sids)),
        ("sources", "type ipv6_addr;", map(str, obj.sources)),
    )
    lines = [f'comment "{LINK_ALIAS}";']
    for name, kind, elements in sets:
        listed = ", ".join(elements)
        listed = f" elements = {{ {listed} }};" if listed else ""
        lines.append(f"set {name} {{ {kind}{listed} }};")
    lines += [
        'chain customer { ip6 daddr @sids counter drop comment "to a SID";'
        ' rt type 4 counter drop comment "source routing";'
        ' ip6 saddr @sources counter drop comment "as if encapsulated here"; };',
        "chain boundary { type filter hook prerouting priority raw; policy accept;"
        f" iifname {'!= ' if obj.closed else ''}@{obj.set_name} jump customer"
        ' comment "from a customer"; };',
    ]
    old = f"delete table ip6 {BOUNDARY_TABLE}; " if isinstance(action, Replace) else ""
    table = f"{old}table ip6 {BOUNDARY_TABLE} {{ {' '.join(lines)} }}"
    return f"nft {shlex.quote(table)}"


def _programs(action: Action) -> str:
    if isinstance(action, Delete):
        return f"rm -r {PROXY_FOLDER}"
    return f"bpftool prog loadall {PROXY_OBJECT} {PROXY_FOLDER} pinmaps {PROXY_FOLDER}/maps"


def _proxy(action: Action) -> str:
    obj: ProxyEntry = _object(action)
    place = f"pinned {PROXY_FOLDER}/maps/proxies key {obj.prefix}"
    if isinstance(action, Delete):
        return f"bpftool map delete {place}"
    words = [obj.behavior, obj.inner_type, f"dev {obj.interface}"]
    words += [f"via {obj.next_hop}"] if obj.next_hop is not None else []
    words += [f"back {obj.return_interface}"]
    words += [f"src {obj.source} segs {_segments(obj.segments)}"] if obj.segments else []
    words += [f"age {obj.age}"] if obj.age else []
    words += ["per-flow"] if obj.per_flow else []
    words += ["transparent"] if not obj.decrement_hop_limit else []
    words += [f"pass {','.join(obj.passes)}"] if obj.passes else []
    return f"bpftool map update {place} value {' '.join(words)}"


def _mtu(action: Action) -> str:
    obj: LinkMtu = _object(action)
    return f"ip link set dev {obj.interface} mtu {obj.mtu}"


def _vlan(action: Action) -> str:
    obj: VlanDevice = _object(action)
    if isinstance(action, Delete):
        return f"ip link delete {obj.name}"
    tag = f"type vlan id {obj.id}"
    return f"ip link add link {obj.parent} name {obj.name} alias {LINK_ALIAS} {tag}"


def _admin_state(action: Action) -> str:
    obj: AdminState = _object(action)
    return f"ip link set dev {obj.interface} {'up' if obj.up else 'down'}"


def _address(action: Action) -> str:
    obj: InterfaceAddress = _object(action)
    where = f"dev {obj.interface}"
    if isinstance(action, Delete):
        return f"ip address delete {obj.address} {where}"
    nodad = " nodad" if obj.address.version == 6 else ""
    put = f"ip address replace {obj.address} {where}{nodad} proto {ROUTE_PROTOCOL}"
    before = action.before if isinstance(action, Replace) else None
    if isinstance(before, InterfaceAddress) and before != obj:
        return f"ip address delete {before.address} {where} && {put}"
    return put


def _hook(action: Action) -> str:
    obj: ProxyHook = _object(action)
    place = f"dev {obj.interface}"
    if isinstance(action, Delete):
        return f"bpftool net detach tcx_{obj.side} {place}"
    return f"bpftool net attach tcx_{obj.side} pinned {PROXY_FOLDER}/{obj.program} {place}"


def _frr(action: Action) -> str:
    """The lines that come and go, in their context."""
    obj: FrrBlock = _object(action)
    before = action.before if isinstance(action, Replace) else None
    old = before.lines if isinstance(before, FrrBlock) else ()
    if isinstance(action, Delete):
        gone, come = obj.lines, old
    else:
        gone = tuple(line for line in old if line not in obj.lines)
        come = tuple(line for line in obj.lines if line not in old)
    lines = ["configure", *obj.context, *map(without_secret, [*map(_undone, gone), *come])]
    return "vtysh " + " ".join(f"-c {shlex.quote(line)}" for line in lines)


def _undone(line: str) -> str:
    return line.removeprefix("no ") if line.startswith("no ") else f"no {line}"


def _object(action: Action) -> Any:
    return action.object


_RENDERERS: dict[type[Object], Callable[[Action], str]] = {
    Sysctl: _sysctl,
    DummyDevice: _dummy,
    VrfDevice: _vrf,
    VrfPort: _port,
    Rule: _rule,
    UnreachableDefault: _unreachable,
    UnreachableSid: _unreachable_sid,
    SidRoute: _sid,
    EncapRoute: _encap,
    NextHopRoute: _next_hop,
    EncapSource: _source,
    Boundary: _boundary,
    ProxyPrograms: _programs,
    ProxyEntry: _proxy,
    LinkMtu: _mtu,
    VlanDevice: _vlan,
    AdminState: _admin_state,
    InterfaceAddress: _address,
    ProxyHook: _hook,
    FrrBlock: _frr,
}
