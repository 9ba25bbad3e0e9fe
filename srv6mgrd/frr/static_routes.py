"""Static routes of VRFs: lines of mgmtd for FRR's staticd, and which of them forward.

Each route is a block of its own, so that one that is rejected or was changed is reported alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from ipaddress import IPv4Network, IPv6Network
from typing import Any

from srv6mgrd.frr.blocks import BFDD, MGMTD, RESOLUTION_VIA_DEFAULT, ZEBRA, block
from srv6mgrd.frr.json_shows import show_json
from srv6mgrd.frr.neighbors import address
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.static_routes import NextHop, SpecialNextHop, StaticRoute
from srv6mgrd.model.status import Kind, ObjectRef

# Whether the route forwards, and why not; beside one that does the next hops that it lacks.
Verdict = tuple[bool, str]

_VRF = re.compile(r"vrf \S+")
_ROUTE = re.compile(r"ip(?:v6)? route \S+(?= )")
SPECIAL = {SpecialNextHop.BLACKHOLE: "blackhole", SpecialNextHop.UNREACHABLE: "reject"}
# FRR's own, which it does not print.
_PREFERENCE = 1


# Each VRF has an unreachable default, by which zebra else resolves every next hop: no other one
# would take over from one that can't be reached. The profile datacenter implies that.
_RESOLUTION = tuple(f"no {line}" for line in RESOLUTION_VIA_DEFAULT)


def blocks(desired: Desired) -> list[FrrBlock]:
    """A block for each VRF with static routes, and for each route, in exactly the lines that FRR
    10.3 prints it with."""
    routes = [route for _, route in sorted(desired.static_routes.items())]
    vrfs: dict[str, list[ObjectRef]] = {}
    for route in routes:
        vrfs.setdefault(route.vrf, []).append(_ref(route))
    return [
        *(block(MGMTD, (f"vrf {v}",), _RESOLUTION, tuple(refs)) for v, refs in vrfs.items()),
        *map(route_block, routes),
    ]


def _ref(route: StaticRoute) -> ObjectRef:
    return ObjectRef(Kind.STATIC_ROUTE, route.name)


def route_block(route: StaticRoute) -> FrrBlock:
    """In the context of its VRF."""
    # A next hop that is there twice is one.
    lines = dict.fromkeys(line(route, hop) for hop in route.next_hops)
    part = _part(route)
    return replace(block(MGMTD, (f"vrf {route.vrf}",), lines, (_ref(route),)), part=part)


def line(route: StaticRoute, hop: NextHop) -> str:
    """Of a next hop, in the context of the VRF."""
    return f"{_part(route)} {_next_hop(hop, route.tag)}"


def _part(route: StaticRoute) -> str:
    return f"{'ip' if route.prefix.version == 4 else 'ipv6'} route {_prefix(route.prefix)}"


def _next_hop(hop: NextHop, tag: int | None) -> str:
    words = [SPECIAL[hop.special]] if hop.special is not None else []
    words += [address(hop.address)] if hop.address is not None else []
    words += [hop.interface] if hop.interface is not None else []
    words += [f"tag {tag}"] if tag is not None else []
    words += [str(hop.preference)] if hop.preference != _PREFERENCE else []
    words += ["bfd"] if hop.bfd else []
    return " ".join(words)


def _prefix(prefix: IPv4Network | IPv6Network) -> str:
    return f"{address(prefix.network_address)}/{prefix.prefixlen}"


def apart(found: Iterable[FrrBlock]) -> dict[str, FrrBlock]:
    """What mgmtd runs, with the static routes of a VRF each as a block of its own."""
    parts: dict[str, FrrBlock] = {}
    for one in found:
        of_vrf = len(one.context) == 1 and _VRF.fullmatch(one.context[0])
        routes: dict[str, list[str]] = {}
        rest = []
        for text in one.lines:
            if of_vrf and (route := _ROUTE.match(text)):
                routes.setdefault(route.group(), []).append(text)
            else:
                rest.append(text)
        made = [replace(one, lines=tuple(rest))]
        made += [replace(one, lines=tuple(lines), part=part) for part, lines in routes.items()]
        parts |= {each.key: each for each in made}
    return parts


def status(desired: Desired, frr: Shows) -> dict[ObjectRef, Verdict]:
    """Of each declared static route whether zebra has it installed."""
    routes = sorted(desired.static_routes.values(), key=lambda r: (r.vrf, r.prefix.version))
    rib: dict[tuple[str, int], Mapping[str, Any]] = {}
    found: dict[ObjectRef, Verdict] = {}
    for route in routes:
        table = (route.vrf, route.prefix.version)
        try:
            if table not in rib:
                rib[table] = show_json(
                    frr, ZEBRA, f"show {_family(route)} route vrf {route.vrf} static json"
                )
            verdict = _verdict(route, rib[table].get(_prefix(route.prefix), ()), frr)
        except VtyError as error:
            verdict = (False, str(error))
        found[_ref(route)] = verdict
    return found


def _verdict(route: StaticRoute, entries: Iterable[Mapping[str, Any]], frr: Shows) -> Verdict:
    static = list(entries)
    idle = [hop for hop in route.next_hops if not any(_uses(entry, hop) for entry in static)]
    why = "; ".join(_unused(route, idle, frr))
    if any(entry.get("selected") and entry.get("installed") for entry in static):
        return True, why
    if not static:
        return False, why or "staticd has not given it to zebra yet"
    return False, _preferred(route, frr) or "zebra could not install it; see its log"


def _uses(entry: Mapping[str, Any], hop: NextHop) -> bool:
    """Whether an entry of the RIB has this next hop, ready to be used."""
    if entry.get("distance") != hop.preference:
        return False
    for seen in entry.get("nexthops", ()):
        if hop.special is not None:
            alike = bool(seen.get(SPECIAL[hop.special]))
        else:
            via = hop.address is None or seen.get("ip") == address(hop.address)
            out = hop.interface in (None, seen.get("interfaceName"))
            alike = via and out and not seen.get("unreachable")
        if alike and seen.get("active"):
            return True
    return False


def _unused(route: StaticRoute, hops: Iterable[NextHop], frr: Shows) -> Iterator[str]:
    """Why next hops can't be used."""
    peers: Mapping[str, str] | None = None
    for hop in hops:
        if hop.bfd and hop.address is not None:
            if peers is None:
                peers = _bfd(route.vrf, frr)
            state = peers.get(address(hop.address), peers.get("", "not there yet"))
            if state != "up":
                yield f"next hop {hop.address} is not used: its BFD session is {state}"
                continue
        if hop.address is not None:
            at = f" on {hop.interface}" if hop.interface is not None else ""
            yield f"next hop {hop.address}{at} is not used: VRF {route.vrf} has no route to it"
        elif hop.interface is not None:
            yield f"interface {hop.interface} is not used: it is down, or not in VRF {route.vrf}"
        else:
            yield f"next hop {hop.special} is not used yet"


def _bfd(vrf: str, frr: Shows) -> dict[str, str]:
    """State of each BFD session of a VRF by its peer; where nobody keeps them, by no name."""
    try:
        text = frr.show(BFDD, f"show bfd vrf {vrf} peers brief json").strip()
        return {peer["peer"]: peer["status"] for peer in json.loads(text or "[]")}
    except (VtyError, ValueError):
        return {"": "not kept, since bfdd does not run"}


def _preferred(route: StaticRoute, frr: Shows) -> str:
    """The route of another protocol that zebra uses instead."""
    prefix = _prefix(route.prefix)
    shown = show_json(frr, ZEBRA, f"show {_family(route)} route vrf {route.vrf} {prefix} json")
    for entry in shown.get(prefix, ()):
        if entry.get("selected") and entry.get("protocol") != "static":
            other = f"{entry.get('protocol')} route to the prefix, of preference"
            return f"a {other} {entry.get('distance')}, is used instead"
    return ""


def _family(route: StaticRoute) -> str:
    return "ip" if route.prefix.version == 4 else "ipv6"
