"""What bgpd and zebra report of the parts of VPN services: sessions, exports, next hops, routes.

The questions are those of ``frr.status`` and ``frr.session_states``, which a round asks once. Only
for next hops that bgpd can't resolve it is asked more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from srv6mgrd.frr.blocks import BGPD
from srv6mgrd.frr.json_shows import show_json
from srv6mgrd.frr.route_counts import route_counts
from srv6mgrd.frr.session_states import SUMMARY
from srv6mgrd.frr.status import NEXT_HOPS, UNICAST, VPN, export_problems
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.model.desired import Desired
from srv6mgrd.service_state.evidence import (
    SPEAKER,
    BgpEvidence,
    BgpSession,
    UnresolvedNextHop,
)

_DEFAULT = "default"
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
            routes=route_counts(frr) if in_vpn else {},
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
