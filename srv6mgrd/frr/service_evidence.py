"""What bgpd and zebra report of the parts of VPN services: sessions, exports, next hops, routes.

The questions are those of ``frr.status`` and ``frr.session_states``, which a round asks once. Only
for next hops that bgpd can't resolve it is asked more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from srv6mgrd.frr.blocks import BGPD, ZEBRA
from srv6mgrd.frr.json_shows import show_json
from srv6mgrd.frr.session_states import SUMMARY
from srv6mgrd.frr.status import NEXT_HOPS, UNICAST, VPN, export_problems
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.model.desired import Desired
from srv6mgrd.service_state.evidence import (
    SPEAKER,
    BgpEvidence,
    BgpSession,
    RouteCount,
    UnresolvedNextHop,
)

_DEFAULT = "default"
_FAMILIES = ("ip", "ipv6")
_SUMMARY = "show {} route vrf all summary json"
_OF_BGP = ("ebgp", "ibgp")
# Of so many VRFs, with so many routes, those that are not installed are looked at in one round.
_MOST_VRFS, _MOST_LISTED = 10, 2_000
# bgpd lists all routes of a next hop: those of one that has more are not looked at one by one.
_MOST_ROUTES = 20_000
# So many next hops are asked for in one round.
_MOST_NEXT_HOPS = 10


def bgp_evidence(desired: Desired, frr: Shows) -> BgpEvidence:
    """Evidence of one round."""
    if desired.bgp is None:
        return BgpEvidence()
    in_vpn = any(vrf.bgp is not None for vrf in desired.vrfs.values())
    try:
        return BgpEvidence(
            sessions=dict(_sessions(frr)),
            exports=export_problems(desired, frr) if in_vpn else {},
            unresolved=tuple(_unresolved(desired, frr)) if in_vpn else (),
            routes=_routes(frr) if in_vpn else {},
        )
    except VtyError as error:
        return BgpEvidence(problem=str(error))


def _sessions(frr: Shows) -> Iterator[tuple[tuple[str, str], BgpSession]]:
    """Of several families of a session the one that is established counts."""
    for name, summary in show_json(frr, BGPD, SUMMARY).items():
        vrf, families = (SPEAKER, VPN) if name == _DEFAULT else (name, UNICAST)
        found: dict[str, BgpSession] = {}
        for family in families:
            for peer, entry in summary.get(family, {}).get("peers", {}).items():
                session = _session(entry)
                if peer not in found or session.is_established:
                    found[peer] = session
        for peer, session in found.items():
            yield (vrf, peer), session


def _session(entry: Mapping[str, Any]) -> BgpSession:
    state = str(entry.get("state", "unknown"))
    return BgpSession(state, int(entry.get("connectionsEstablished", 0)) > 0)


def _unresolved(desired: Desired, frr: Shows) -> Iterator[UnresolvedNextHop]:
    """Next hops of routes from other routers, which are resolved in the default VRF."""
    families = show_json(frr, BGPD, NEXT_HOPS).get(_DEFAULT, {})
    invalid = {
        hop: int(entry.get("pathCount", 0))
        for hops in families.values()
        for hop, entry in hops.items()
        if not entry.get("valid") and entry.get("pathCount")
    }
    for hop, count in sorted(invalid.items())[:_MOST_NEXT_HOPS]:
        if routes := _importers(desired, hop, count, frr):
            yield UnresolvedNextHop(hop, routes)


def _routes(frr: Shows) -> Mapping[str, RouteCount]:
    """Routes of BGP that zebra has installed, or should have."""
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


def _importers(desired: Desired, hop: str, count: int, frr: Shows) -> Mapping[str, int]:
    """The VRFs with routes of this next hop, and how many each."""
    if count > _MOST_ROUTES:
        return {name: 1 for name, vrf in desired.vrfs.items() if vrf.bgp is not None}
    found: Counter[str] = Counter()
    for hops in show_json(frr, BGPD, f"show bgp nexthop {hop} json").values():
        for path in hops.get(hop, {}).get("paths", ()):
            if path.get("vrf") in desired.vrfs:
                found[path["vrf"]] += 1
    return found
