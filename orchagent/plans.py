"""What each row asks for, and each node that follows from rows. Pure.

Names of nodes that follow from others hold all that they are made of, parted by blanks and bars.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from ipaddress import ip_network

from orchagent import sai
from orchagent import sai_tunnels as tunnels
from orchagent.decap import DecapModes
from orchagent.nodes import (
    ROUTER,
    Fields,
    Kind,
    Node,
    Plan,
    State,
    Status,
    reference,
)
from orchagent.sai import Reference, SaiError

_SWITCH_ROUTER = Reference(int(Kind.VRF), ROUTER)
# Of the overlay side of a tunnel that decapsulates, and of the underlay of all tunnels.
_OVERLAY, _UNDERLAY = "|overlay ", "|underlay"
# Of the actions that Srv6Orch decapsulates with a DSCP mode for (mySidTunnelRequired).
_WITH_MODE = frozenset({"un", "udt46"})
# Longer names are cut in messages.
_MOST = 80
_NAME = re.compile(r"[^\s|]+")
_ANY = ("0.0.0.0", "::")
_COUNTER = Plan(attributes=sai.COUNTER)


class Neighbors:
    """Neighbors that rows declare, and those that the kernel knows beside them."""

    def __init__(self) -> None:
        self._rows: dict[Node, Fields] = {}
        self._seen: Mapping[Node, Fields] = {}
        self._at: dict[str, set[Node]] = {}

    def put(self, node: Node, fields: Fields) -> None:
        self._rows[node] = fields
        self._at.setdefault(address(node), set()).add(node)

    def drop(self, node: Node) -> None:
        self._rows.pop(node, None)
        self._tidy(node)

    def see(self, neighbors: Mapping[Node, Fields]) -> Iterator[Node]:
        """The kernel knows these, and none but these; those of which it did otherwise before."""
        before, self._seen = self._seen, neighbors
        for node in neighbors:
            self._at.setdefault(address(node), set()).add(node)
        for node in before:
            self._tidy(node)
        return (n for n in before.keys() | neighbors if before.get(n) != neighbors.get(n))

    def fields(self, node: Node) -> Fields | None:
        return self._rows.get(node, self._seen.get(node))

    def at(self, text: str) -> Node | None:
        """The neighbor that an adjacency means: of one without interface, if there is only one."""
        if "@" in text:
            node = Node(Kind.NEIGHBOR, text)
            return node if self.fields(node) is not None else None
        found = self._at.get(text, set())
        return next(iter(found)) if len(found) == 1 else None

    def _tidy(self, node: Node) -> None:
        if self.fields(node) is None and (found := self._at.get(address(node))):
            found.discard(node)
            if not found:
                del self._at[address(node)]


def address(node: Node) -> str:
    """Address of a neighbor or next hop."""
    return node.name.partition("@")[0]


def decapsulates(fields: Fields) -> bool:
    """Whether a DSCP mode may be configured for a SID of this row."""
    return fields.get("action") in _WITH_MODE


def of_row(node: Node, fields: Fields, modes: DecapModes) -> Plan:
    """Of a row."""
    try:
        match node.kind:
            case Kind.VRF:
                return Plan(attributes=sai.VIRTUAL_ROUTER)
            case Kind.INTERFACE:
                return Plan((Node(Kind.ROUTER_INTERFACE, node.name),))
            case Kind.NEIGHBOR:
                return _neighbor(node)
            case Kind.SID_LIST:
                return Plan(attributes=sai.sid_list(fields))
            case Kind.SID:
                return _sid(node.name, fields, modes)
            case Kind.NEXT_HOP_GROUP:
                return _group(_named(node.name), _hops(fields))
            case Kind.PIC_CONTEXT:
                return _pic_context(_named(node.name), fields)
            case _:
                return _route(node.name, fields)
    except sai.UnsupportedError as error:
        return Plan(fault=State(Status.UNSUPPORTED, str(error)))
    except SaiError as error:
        return Plan(fault=State(Status.FAILED, str(error)))


def derived(node: Node, neighbors: Neighbors, vrfs: Mapping[str, str]) -> Plan:
    """Of a node that follows from its users. ``vrfs`` are those of interfaces."""
    match node.kind:
        case Kind.ROUTER_INTERFACE:
            return _router_interface(node.name, vrfs.get(node.name, ""))
        case Kind.NEIGHBOR_ENTRY:
            fields = neighbors.fields(Node(Kind.NEIGHBOR, node.name)) or {}
            attributes = tunnels.neighbor_entry(fields.get("neigh", ""), address(node))
            return Plan((_interface_of(node),), attributes)
        case Kind.NEXT_HOP:
            interface = _interface_of(node)
            made = sai.next_hop(address(node), reference(interface))
            return Plan((interface, Node(Kind.NEIGHBOR_ENTRY, node.name)), made)
        case Kind.ADJACENCY:
            return _adjacency(node.name, neighbors)
        case Kind.COUNTER:
            return _COUNTER
        case Kind.TUNNEL_MAP:
            return Plan(attributes=tunnels.TUNNEL_MAP)
        case Kind.TUNNEL:
            return _tunnel(*node.name.split(" "))
        case Kind.TUNNEL_MAP_ENTRY:
            return _tunnel_map_entry(*node.name.split(" ", 2))
        case Kind.SRV6_NEXT_HOP:
            return _srv6_next_hop(*node.name.split("|"))
        case Kind.GROUP:
            return Plan(attributes=tunnels.GROUP)
        case Kind.GROUP_MEMBER:
            return _group_member(*node.name.rsplit(" ", 2))
        case Kind.TUNNEL_TERM:
            mode, _, text = node.name.partition(" ")
            tunnel = Node(Kind.TUNNEL, f"decap {mode}")
            made = tunnels.tunnel_term(text, reference(tunnel), _SWITCH_ROUTER)
            return Plan((tunnel,), made)
        case _:
            return Plan()


def missing(need: Node) -> str:
    """That a row's need is not there yet."""
    sources = {
        Kind.VRF: "VRF_TABLE",
        Kind.SID_LIST: "SRV6_SID_LIST_TABLE",
        Kind.NEXT_HOP_GROUP: "NEXTHOP_GROUP_TABLE",
        Kind.PIC_CONTEXT: "PIC_CONTEXT_TABLE",
    }
    return f"{words(need)} is not there yet ({sources.get(need.kind, 'APPL_DB')})"


def words(node: Node) -> str:
    """A node, as messages name it."""
    kinds = {
        Kind.VRF: "VRF",
        Kind.SID_LIST: "segment list",
        Kind.NEXT_HOP_GROUP: "next hop group",
        Kind.PIC_CONTEXT: "PIC context",
        Kind.ADJACENCY: "next hop",
        Kind.NEXT_HOP: "next hop",
    }
    word = kinds.get(node.kind, node.kind.name.lower().replace("_", " "))
    return f"{word} {node.name if len(node.name) <= _MOST else sai.shown(node.name)}"


def _neighbor(node: Node) -> Plan:
    try:
        sai.plain_address(address(node))
    except ValueError:
        raise SaiError(
            f"neighbor {sai.shown(address(node))} is no address; remove the row"
        ) from None
    return Plan((Node(Kind.NEXT_HOP, node.name),))


def _sid(name: str, fields: Fields, modes: DecapModes) -> Plan:
    entry = sai.my_sid(name, fields)
    attributes: dict[str, str | Reference] = dict(entry.attributes)
    needs = []
    if entry.vrf is not None:
        if entry.vrf != ROUTER:
            needs.append(Node(Kind.VRF, entry.vrf))
        attributes[sai.VRF] = Reference(int(Kind.VRF), entry.vrf)
    if entry.next_hop is not None:
        hop = Node(Kind.ADJACENCY, entry.next_hop)
        needs.append(hop)
        attributes[sai.NEXT_HOP_ID] = reference(hop)
    if decapsulates(fields) and (mode := modes.of(name)) is not None:
        tunnel = Node(Kind.TUNNEL, f"decap {mode}")
        needs += [tunnel, Node(Kind.TUNNEL_TERM, f"{mode} {sai.lengths(name)[4]}")]
        attributes |= sai.decapsulating(reference(tunnel))
    counter = Node(Kind.COUNTER, name)
    needs.append(counter)
    attributes[sai.COUNTER_ID] = reference(counter)
    return Plan(tuple(needs), attributes)


def _router_interface(name: str, vrf: str) -> Plan:
    if name.startswith("|"):
        made = tunnels.loopback(_SWITCH_ROUTER, overlay=name.startswith(_OVERLAY))
        return Plan(attributes=made)
    router = Node(Kind.VRF, vrf or ROUTER)
    needs = () if router.name == ROUTER else (router,)
    return Plan(needs, tunnels.router_interface(name, reference(router)))


def _interface_of(node: Node) -> Node:
    return Node(Kind.ROUTER_INTERFACE, node.name.partition("@")[2])


def _adjacency(text: str, neighbors: Neighbors) -> Plan:
    found = neighbors.at(text)
    if found is None:
        reason = f"{words(Node(Kind.ADJACENCY, text))} is not resolved yet (NEIGH_TABLE, kernel)"
        return Plan(fault=State(Status.PENDING, reason))
    hop = Node(Kind.NEXT_HOP, found.name)
    return Plan((hop,), stands_for=reference(hop))


def _tunnel(kind: str, text: str, source: str = "") -> Plan:
    underlay = Node(Kind.ROUTER_INTERFACE, _UNDERLAY)
    if kind == "decap":
        overlay = Node(Kind.ROUTER_INTERFACE, _OVERLAY + text)
        made = tunnels.decap_tunnel(text, reference(overlay), reference(underlay))
        return Plan((overlay, underlay), made)
    if kind == "from":
        return Plan((underlay,), tunnels.source_tunnel(text, reference(underlay)))
    tunnel_map = Node(Kind.TUNNEL_MAP, text)
    made = tunnels.peer_tunnel(source, text, reference(tunnel_map), reference(underlay))
    return Plan((tunnel_map, underlay), made)


def _tunnel_map_entry(endpoint: str, vpn_sid: str, agg: str) -> Plan:
    tunnel_map, number = Node(Kind.TUNNEL_MAP, endpoint), Node(Kind.PREFIX_AGG, agg)
    made = tunnels.tunnel_map_entry(reference(tunnel_map), reference(number), vpn_sid)
    return Plan((tunnel_map, number), made)


def _srv6_next_hop(segments: str, source: str, endpoint: str) -> Plan:
    tunnel = Node(Kind.TUNNEL, f"to {endpoint} {source}" if endpoint else f"from {source}")
    if not segments:
        return Plan((tunnel,), tunnels.srv6_next_hop(None, reference(tunnel)))
    listed = Node(Kind.SID_LIST, segments)
    made = tunnels.srv6_next_hop(reference(listed), reference(tunnel))
    return Plan((listed, tunnel), made)


def _group_member(group: str, next_hop: str, weight: str) -> Plan:
    of, hop = Node(Kind.GROUP, group), Node(Kind.SRV6_NEXT_HOP, next_hop)
    return Plan((of, hop), tunnels.group_member(reference(of), reference(hop), weight))


def _group(name: str, hops: list[tuple[str, str]]) -> Plan:
    """Of one next hop there is no group (sonic-swss orchagent/nhgorch.cpp)."""
    if len(hops) == 1:
        hop = Node(Kind.SRV6_NEXT_HOP, hops[0][0])
        return Plan((hop,), stands_for=reference(hop))
    members = [Node(Kind.GROUP_MEMBER, f"{name} {hop} {weight}") for hop, weight in hops]
    group = Node(Kind.GROUP, name)
    return Plan((group, *members), stands_for=reference(group))


def _pic_context(name: str, fields: Fields) -> Plan:
    endpoints, vpn_sids = _addresses(fields, "nexthop"), _addresses(fields, "vpn_sid")
    if len(endpoints) != len(vpn_sids) or not endpoints:
        raise SaiError(
            f"{len(endpoints)} nexthop and {len(vpn_sids)} vpn_sid are no pairs; write as many of"
            " each"
        )
    agg = f"pic {name}"
    pairs = zip(endpoints, vpn_sids, strict=True)
    entries = (Node(Kind.TUNNEL_MAP_ENTRY, f"{e} {sid} {agg}") for e, sid in pairs)
    number = Node(Kind.PREFIX_AGG, agg)
    return Plan((number, *dict.fromkeys(entries)), stands_for=reference(number))


def _route(name: str, fields: Fields) -> Plan:
    vrf, _ = destination(name)
    needs = [] if vrf == ROUTER else [Node(Kind.VRF, vrf)]
    attributes: dict[str, str | Reference] = {}
    if context := fields.get("pic_context_id"):
        group = Node(Kind.NEXT_HOP_GROUP, fields.get("nexthop_group", ""))
        pic = Node(Kind.PIC_CONTEXT, context)
        if not group.name:
            raise SaiError("pic_context_id without nexthop_group; add nexthop_group")
        attributes[tunnels.ROUTE_NEXT_HOP] = reference(group)
        attributes[tunnels.ROUTE_AGG] = reference(pic)
        return Plan((*needs, group, pic), attributes)
    hops = _hops(fields)
    # All routes to the same next hops are in one group, and in one aggregate.
    key = ",".join(hop if weight == "0" else f"{hop}*{weight}" for hop, weight in hops)
    if vpn_sids := _addresses(fields, "vpn_sid"):
        endpoints = _addresses(fields, "nexthop")
        if not len(vpn_sids) == len(endpoints) == len(hops):
            raise SaiError("vpn_sid, nexthop and seg_src differ in number; write as many of each")
        agg = f"{key},{','.join(vpn_sids)}"
        pairs = zip(endpoints, vpn_sids, strict=True)
        entries = (Node(Kind.TUNNEL_MAP_ENTRY, f"{e} {sid} {agg}") for e, sid in pairs)
        needs += [Node(Kind.PREFIX_AGG, agg), *dict.fromkeys(entries)]
        attributes[tunnels.ROUTE_AGG] = Reference(int(Kind.PREFIX_AGG), agg)
    group_plan = _group(key, hops)
    if group_plan.stands_for is not None:
        attributes[tunnels.ROUTE_NEXT_HOP] = group_plan.stands_for
    return replace(
        group_plan, needs=(*needs, *group_plan.needs), attributes=attributes, stands_for=None
    )


def destination(key: str) -> tuple[str, str]:
    """VRF and prefix of a key of ROUTE_TABLE. Raises SaiError."""
    vrf, prefix = ROUTER, key
    if key.startswith("Vrf"):
        vrf, _, prefix = key.partition(":")
    try:
        if "%" in prefix:  # a zone
            raise ValueError(prefix)
        return vrf, str(ip_network(prefix, strict=False))
    except ValueError:
        raise SaiError(f"key {sai.shown(key)} is not [<VRF>:]<prefix>; remove the row") from None


def is_srv6(kind: Kind, fields: Fields) -> bool:
    """Whether a row of routes or next hops has to do with SRv6; others are not of this view."""
    if kind is Kind.NEXT_HOP_GROUP:
        return bool(fields.get("seg_src"))
    if kind is Kind.ROUTE:
        return any(fields.get(name) for name in ("segment", "vpn_sid", "pic_context_id"))
    return True


def _hops(fields: Fields) -> list[tuple[str, str]]:
    """Names and weights of the next hops of a route or group."""
    sources = _addresses(fields, "seg_src")
    count = len(sources)
    if not count:
        raise SaiError("seg_src is empty; write the source of each next hop")
    segments = _list(fields, "segment") or [""] * count
    endpoints = _addresses(fields, "nexthop") or [""] * count
    weights = _list(fields, "weight") or ["0"] * count
    if not len(segments) == len(endpoints) == len(weights) == count:
        raise SaiError(
            "seg_src, segment, nexthop and weight differ in number; write as many of each"
        )
    if any(not weight.isdecimal() for weight in weights):
        raise SaiError("weight is no number; correct it")
    segments = [s and _named(s) for s in segments]
    endpoints = ["" if e in _ANY else e for e in endpoints]
    hops = zip(segments, sources, endpoints, weights, strict=True)
    return list({f"{s}|{source}|{e}": weight for s, source, e, weight in hops}.items())


def _list(fields: Fields, name: str) -> list[str]:
    text = fields.get(name, "")
    return [part.strip() for part in text.split(",")] if text.strip(", ") else []


def _addresses(fields: Fields, name: str) -> list[str]:
    try:
        return [sai.plain_address(text) for text in _list(fields, name)]
    except ValueError:
        raise SaiError(
            f"{name} {sai.shown(fields[name])} holds something else than addresses; correct it"
        ) from None


def _named(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise SaiError(f"name {sai.shown(name)} holds blanks or bars; rename it")
    return name
