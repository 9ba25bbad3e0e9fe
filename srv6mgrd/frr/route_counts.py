"""How many routes of BGP each VRF has in zebra, which walks all of its routes to count them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.frr.blocks import ZEBRA
from srv6mgrd.frr.json_shows import show_json
from srv6mgrd.frr.vty import Shows
from srv6mgrd.service_state.evidence import RouteCount

_FAMILIES = ("ip", "ipv6")
_SUMMARY = "show {} route vrf all summary json"
_OF_BGP = ("ebgp", "ibgp")
# Of so many VRFs, with so many routes, those that are not installed are looked at in one round.
_MOST_VRFS, _MOST_LISTED = 10, 2_000


def route_counts(frr: Shows) -> Mapping[str, RouteCount]:
    """By VRF: those that zebra has installed, or should have. Raises VtyError."""
    ipv4, ipv6 = (_routes_of(family, frr) for family in _FAMILIES)
    return {vrf: RouteCount(ipv4.get(vrf, 0), ipv6.get(vrf, 0)) for vrf in {**ipv4, **ipv6}}


def _routes_of(family: str, frr: Shows) -> Mapping[str, int]:
    found, looked_at = {}, 0
    for vrf, summary in show_json(frr, ZEBRA, _SUMMARY.format(family)).items():
        of_bgp = [one for one in summary["routes"] if one["type"] in _OF_BGP]
        known, found[vrf] = (sum(one[of] for one in of_bgp) for of in ("rib", "fib"))
        if found[vrf] < known <= _MOST_LISTED and looked_at < _MOST_VRFS:
            looked_at += 1
            listed = show_json(frr, ZEBRA, f"show {family} route vrf {vrf} bgp json")
            found[vrf] += sum(_is_lost(route) for routes in listed.values() for route in routes)
    return found


def _is_lost(route: Mapping[str, Any]) -> bool:
    """Whether it should be installed and is not: zebra failed to, or has no next hop for it. One
    that another protocol's route is preferred to is in its place."""
    active = any(hop.get("active") for hop in route.get("nexthops", ()))
    return not route.get("installed") and (bool(route.get("selected")) or not active)


def is_counting(daemon: str, command: str) -> bool:
    """Whether it is a question of ``route_counts``."""
    return daemon == ZEBRA and command.startswith(tuple(f"show {ip} route vrf" for ip in _FAMILIES))
