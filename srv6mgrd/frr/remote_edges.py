"""Which edges the SIDs of BGP's routes are of: the next hops of these routes.

bgpd 10.3 resolves the SID in place of the next hop, and does not list the routes of a next hop.
zebra's routes have both, and it prints all routes of a VRF, so few VRFs are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv6Address
from typing import Any

from srv6mgrd.frr.blocks import ZEBRA
from srv6mgrd.frr.json_shows import show_json
from srv6mgrd.frr.vty import Shows
from srv6mgrd.service_state.evidence import RouteCount

_MOST_VRFS, _MOST_ROUTES = 10, 2_000


def next_hops(frr: Shows, routes: Mapping[str, RouteCount]) -> Mapping[IPv6Address, frozenset[str]]:
    """By SID. ``routes`` says which VRFs can be asked for; raises VtyError."""
    found: dict[IPv6Address, set[str]] = {}
    asked = [v for v, count in routes.items() if 0 < count.ipv4 + count.ipv6 <= _MOST_ROUTES]
    for vrf in asked[:_MOST_VRFS]:
        for family, count in (("ip", routes[vrf].ipv4), ("ipv6", routes[vrf].ipv6)):
            if count:
                shown = show_json(frr, ZEBRA, f"show {family} route vrf {vrf} bgp json")
                for sid, hop in _pairs(shown):
                    found.setdefault(sid, set()).add(hop)
    return {sid: frozenset(hops) for sid, hops in found.items()}


def _pairs(shown: Mapping[str, Any]) -> Iterator[tuple[IPv6Address, str]]:
    """SID and next hop. The gateways that a next hop is resolved to follow it; a list of segments,
    which no route of BGP has, is no object (nexthop_json_helper)."""
    for listed in shown.values():
        for route in listed:
            for hop in route.get("nexthops", ()):
                tunnel = hop.get("seg6")
                if isinstance(tunnel, dict) and "ip" in hop and not hop.get("resolver"):
                    yield IPv6Address(tunnel["segs"]), hop["ip"]
