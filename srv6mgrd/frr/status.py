"""What became of the configuration: which SID is advertised for a VRF, and if none, why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network
from typing import Any

from srv6mgrd.frr import aggregates, isis_status, ospf, static_routes
from srv6mgrd.frr.bfd_peers import bfd_states
from srv6mgrd.frr.blocks import BGPD, ZEBRA
from srv6mgrd.frr.json_shows import show_json
from srv6mgrd.frr.neighbors import address, peer
from srv6mgrd.frr.render import locator_of
from srv6mgrd.frr.session_states import SUMMARY
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.model.bgp import Neighbor, PeerKind, VrfBgp
from srv6mgrd.model.desired import Desired, Vrf
from srv6mgrd.model.leaking import DEFAULT_VRF
from srv6mgrd.model.status import Kind, ObjectRef

Verdict = tuple[IPv6Address | None, str]

_NULL = "(null)"
# How bgpd shows the SID of a VRF for both families, and for one.
_SID = "per-vrf tovpn_sid"
_FAMILY_SID = {4: "vpn_policy[AFI_IP].tovpn_sid", 6: "vpn_policy[AFI_IP6].tovpn_sid"}
_LENGTHS = ("block", "node", "func")
_UP = "Established"
VPN = ("ipv4Vpn", "ipv6Vpn")
UNICAST = ("ipv4Unicast", "ipv6Unicast")
NEXT_HOPS = "show bgp vrf all nexthop json"


@dataclass(slots=True)
class _Facts:
    """Read from the daemons in one go."""

    zebra_locators: Mapping[str, str] = field(default_factory=dict)
    bgp_locator: str | None = None
    sids: Mapping[str, Mapping[int | None, IPv6Address]] = field(default_factory=dict)
    known_vrfs: Mapping[str, bool] = field(default_factory=dict)
    # Of the router itself, for VPN routes; and of each VRF.
    sessions: Mapping[str, str] = field(default_factory=dict)
    customers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # By VRF and next hop: how many routes bgpd holds invalid because of it.
    unresolved: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    # Whether bfdd reports its sessions, where neighbors are to be watched.
    has_bfd: bool = True
    # By VRF, what is missing of its aggregates.
    aggregates: Mapping[str, str] = field(default_factory=dict)


Reported = dict[ObjectRef, Verdict | static_routes.Verdict]


def reported(desired: Desired, frr: Shows) -> Reported:
    """All that FRR says of declared objects."""
    found: Reported = {ObjectRef(Kind.VRF_BGP, n): v for n, v in vrf_status(desired, frr).items()}
    found |= leak_status(desired, frr)
    found |= isis_status.status(desired, frr)
    return found | static_routes.status(desired, frr) | ospf.status(desired, frr)


def vrf_status(desired: Desired, frr: Shows) -> dict[str, Verdict]:
    """Per VRF with BGP: the SID advertised, or None with the reason in plain words. Of a VRF with
    a SID for each family it is that of the first one, when both are advertised.

    Beside a SID the words name the neighbors without a session, those for VPN routes and those in
    the VRF, and aggregates that are not made or not exported; of a VRF that exports nothing by
    declaration the latter two. They are empty when nothing is missing.
    """
    vrfs = {n: v for n, v in desired.vrfs.items() if v.bgp is not None}
    if not vrfs:
        return {}
    try:
        facts = _read(frr, vrfs, watched=any(n.bfd for n in _neighbors(desired)))
    except VtyError as error:
        return dict.fromkeys(vrfs, (None, str(error)))
    return {name: _verdict(desired, vrf, facts) for name, vrf in vrfs.items()}


def export_problems(desired: Desired, frr: Shows) -> dict[str, str]:
    """Per VRF that exports: why bgpd does not export its routes with the declared SIDs, to
    any neighbor; empty where it does. Raises VtyError."""
    facts = _read(frr, {}, watched=False)
    return {
        name: "; ".join(filter(None, _export_problems(desired, vrf, facts)))
        for name, vrf in desired.vrfs.items()
        if vrf.bgp is not None and vrf.bgp.export_sids
    }


def _export_problems(desired: Desired, vrf: Vrf, facts: _Facts) -> Iterator[str]:
    for family, sid in _exported(vrf):
        yield _allocation(desired, vrf, family, sid, facts)[1] or _invalid(vrf, sid, facts)


def _exported(vrf: Vrf) -> list[tuple[int | None, IPv6Network]]:
    """The SID of each family, None for both, that a VRF exports."""
    if vrf.bgp is None:
        return []
    found = {None: vrf.bgp.export_sid, 4: vrf.bgp.export_sid_ipv4, 6: vrf.bgp.export_sid_ipv6}
    return [(family, sid) for family, sid in found.items() if sid is not None]


def leak_status(desired: Desired, frr: Shows) -> dict[ObjectRef, static_routes.Verdict]:
    """Of each import from another VRF of the router whether bgpd can carry it out: it needs both
    instances, and the SID of the one that is imported from, without which that exports nothing."""
    refs = {ObjectRef(Kind.ROUTE_LEAK, name): leak for name, leak in desired.leaks.items()}
    if not refs:
        return {}
    try:
        facts = _read(frr, {}, watched=False)
    except VtyError as error:
        return dict.fromkeys(refs, (False, str(error)))
    found = {}
    for ref, leak in refs.items():
        missing = (_instance(leak.importer, facts), _source(desired, leak.source, facts))
        reason = next(filter(None, missing), "")
        found[ref] = (not reason, reason)
    return found


def _instance(name: str, facts: _Facts) -> str:
    if name == DEFAULT_VRF:
        return ""
    if name not in facts.known_vrfs:
        return f"bgpd has no instance for VRF {name} yet"
    return "" if facts.known_vrfs[name] else f"FRR does not see the device of VRF {name} yet"


def _source(desired: Desired, name: str, facts: _Facts) -> str:
    vrf = desired.vrfs.get(name)
    if vrf is None or vrf.bgp is None:
        return ""
    found = (_allocation(desired, vrf, family, sid, facts)[1] for family, sid in _exported(vrf))
    reason = next(filter(None, found), "")
    return f"VRF {name} exports nothing: {reason}" if reason else ""


def sid_layout(frr: Shows) -> tuple[IPv6Address, int] | None:
    """How bgpd composes SIDs: the address of its locator, and how far to the left of its end the
    function begins. None while bgpd has no locator."""
    text = frr.show(BGPD, "show bgp segment-routing srv6")
    prefix = re.search(r"^  prefix: (\S+)/\d+$", text, re.MULTILINE)
    lengths = [re.search(rf"^  {n}-length: (\d+)$", text, re.MULTILINE) for n in _LENGTHS]
    if prefix is None:
        return None
    return IPv6Address(prefix[1]), 128 - sum(int(found[1]) for found in lengths if found)


def _verdict(desired: Desired, vrf: Vrf, facts: _Facts) -> Verdict:
    vpn = vrf.bgp
    if vpn is None:
        return None, ""
    aggregated = facts.aggregates.get(vrf.name, "")
    if not vpn.export_sids:
        reasons = (_silent_customers(vrf, facts), _unwatched(vrf, facts), aggregated)
        return None, "; ".join(filter(None, reasons))
    found = [_export(desired, vrf, family, sid, facts) for family, sid in _exported(vrf)]
    reason = next((reason for _, reason in found if reason), "")
    if reason:
        return None, reason
    silent = (
        _unadvertised_locator(desired, vpn),
        _silent_speakers(desired, facts),
        _silent_customers(vrf, facts),
        _unwatched(vrf, facts),
        aggregated,
    )
    return found[0][0], "; ".join(filter(None, silent))


def _export(
    desired: Desired, vrf: Vrf, family: int | None, sid: IPv6Network, facts: _Facts
) -> Verdict:
    """Of one SID that the VRF exports, for a family or, with None, for both."""
    allocated, reason = _allocation(desired, vrf, family, sid, facts)
    return allocated, reason or _no_session(desired, facts) or _invalid(vrf, sid, facts)


def _allocation(
    desired: Desired, vrf: Vrf, family: int | None, sid: IPv6Network, facts: _Facts
) -> Verdict:
    """The SID that bgpd has for the VRF, and why it is not this one."""
    locator = locator_of(desired, sid)
    allocated = facts.sids.get(vrf.name, {}).get(family)
    if locator is None:
        reason = f"export SID {sid} is not declared in a locator"
    elif locator.name not in facts.zebra_locators:
        reason = f"zebra has no locator {locator.name} yet"
    elif facts.bgp_locator is None:
        reason = f"bgpd has not received locator {locator.name} from zebra yet"
    elif without := _instance(vrf.name, facts):
        reason = without
    elif allocated is None:
        reason = f"zebra has not given SID {sid} to bgpd yet; see its log if that lasts"
    elif allocated != sid.network_address:
        reason = f"bgpd holds SID {allocated} instead of {sid.network_address}"
    else:
        reason = ""
    return allocated, reason


def _invalid(vrf: Vrf, sid: IPv6Network, facts: _Facts) -> str:
    """Whether bgpd holds VPN routes of the VRF invalid. Exported routes depend on their next hop
    in the VRF; that of an IPv6 route of a customer is the SID (``kinds.unreachable``)."""
    count = facts.unresolved.get(vrf.name, {}).get(address(sid.network_address), 0)
    if not count:
        return ""
    routes = "1 VPN route" if count == 1 else f"{count} VPN routes"
    return (
        f"bgpd holds {routes} of VRF {vrf.name} invalid: zebra knows no route to SID {sid}"
        f" in table {vrf.table}"
    )


def _no_session(desired: Desired, facts: _Facts) -> str:
    if _UP in facts.sessions.values():
        return ""
    neighbors = desired.bgp.neighbors if desired.bgp is not None else ()
    if not neighbors:
        return "no BGP neighbor is configured"
    return f"no BGP session for VPN routes is established: {_silent(neighbors, facts.sessions)}"


def _unadvertised_locator(desired: Desired, vpn: VrfBgp) -> str:
    """The locator of the SIDs, where IS-IS advertises another one."""
    if desired.isis is None:
        return ""
    locators = (locator_of(desired, sid) for sid in vpn.export_sids)
    others = {one.name for one in locators if one is not None} - {desired.isis.locator}
    if not others:
        return ""
    name = ", ".join(sorted(others))
    return f"IS-IS advertises locator {desired.isis.locator}; other routers need a route to {name}"


def _silent_speakers(desired: Desired, facts: _Facts) -> str:
    """Of several neighbors that VPN routes are exchanged with, those without a session."""
    neighbors = desired.bgp.neighbors if desired.bgp is not None else ()
    silent = _silent(neighbors, facts.sessions)
    return f"no BGP session for VPN routes with some neighbors: {silent}" if silent else ""


def _silent_customers(vrf: Vrf, facts: _Facts) -> str:
    neighbors = vrf.bgp.neighbors if vrf.bgp is not None else ()
    silent = _silent(neighbors, facts.customers.get(vrf.name, {}))
    return f"no BGP session with neighbors in the VRF: {silent}" if silent else ""


def _unwatched(vrf: Vrf, facts: _Facts) -> str:
    """The neighbors that BFD should watch, where nothing does: bgpd goes on without it."""
    neighbors = vrf.bgp.neighbors if vrf.bgp is not None else ()
    names = [n.address for n in neighbors if n.bfd]
    if facts.has_bfd or not names:
        return ""
    return f"BFD does not watch {', '.join(names)}, since bfdd does not run"


def _silent(neighbors: Iterable[Neighbor], states: Mapping[str, str]) -> str:
    """The neighbors without a session, each with its state."""
    expected = (n for n in neighbors if n.enabled and n.kind is not PeerKind.DYNAMIC)
    found = ((n.address, states.get(peer(n), "unknown")) for n in expected)
    return ", ".join(f"{name} is {state}" for name, state in found if state != _UP)


def _neighbors(desired: Desired) -> Iterator[Neighbor]:
    if desired.bgp is not None:
        yield from desired.bgp.neighbors
    for vrf in desired.vrfs.values():
        yield from vrf.bgp.neighbors if vrf.bgp is not None else ()


def _read(frr: Shows, declared: Mapping[str, Vrf], *, watched: bool) -> _Facts:
    locators = show_json(frr, ZEBRA, "show segment-routing srv6 locator json").get("locators", [])
    prefix, sids = segment_routing(frr.show(BGPD, "show bgp segment-routing srv6"))
    vrfs = show_json(frr, BGPD, "show bgp vrfs json").get("vrfs", {})
    summaries = show_json(frr, BGPD, SUMMARY)
    return _Facts(
        zebra_locators={e["name"]: e.get("prefix", "") for e in locators},
        bgp_locator=prefix,
        sids=sids,
        known_vrfs={name: _has_device(e) for name, e in vrfs.items()},
        sessions=_states(summaries.get("default", {}), VPN),
        customers={name: _states(summary, UNICAST) for name, summary in summaries.items()},
        unresolved=_unresolved(show_json(frr, BGPD, NEXT_HOPS)),
        has_bfd=not watched or _has_bfd(frr),
        aggregates=aggregates.shortcomings(declared, frr),
    )


def _has_bfd(frr: Shows) -> bool:
    try:
        bfd_states(frr)
    except VtyError:
        return False
    return True


def _has_device(entry: Mapping[str, Any]) -> bool:
    return int(entry.get("vrfId", -1)) >= 0


def sessions(frr: Shows) -> dict[str, str]:
    """State per neighbor; established in one of the VPN families is enough. Raises VtyError."""
    return _states(show_json(frr, BGPD, "show bgp summary json"), VPN)


def _states(summary: Mapping[str, Any], families: Iterable[str]) -> dict[str, str]:
    """State per neighbor in the summary of an instance, by any of these families."""
    found: dict[str, str] = {}
    for family in families:
        for neighbor, entry in summary.get(family, {}).get("peers", {}).items():
            if found.get(neighbor) != _UP:
                found[neighbor] = entry.get("state", "unknown")
    return found


def _unresolved(instances: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Next hops that bgpd knows no route to, with their dependents, by instance. Far fewer than
    routes: one for each neighbor and SID."""
    return {
        name: hops
        for name, families in instances.items()
        if (
            hops := {
                hop: entry["pathCount"]
                for entries in families.values()
                for hop, entry in entries.items()
                if not entry["valid"] and entry["pathCount"]
            }
        )
    }


@lru_cache(maxsize=1)
def segment_routing(
    text: str,
) -> tuple[str | None, dict[str, dict[int | None, IPv6Address]]]:
    """``show bgp segment-routing srv6``, which has no JSON: bgpd's locator and the VRFs' SIDs.
    Mostly it is what it was."""
    prefix = re.search(r"^  prefix: (\S+)$", text, re.MULTILINE)
    families = {_SID: None} | {head: family for family, head in _FAMILY_SID.items()}
    sids: dict[str, dict[int | None, IPv6Address]] = {}
    name = ""
    for line in text.splitlines():
        head, _, value = line.strip().partition(": ")
        if head == "- name":
            name = value
        elif head in families and name and value not in (_NULL, "::", ""):
            sids.setdefault(name, {})[families[head]] = IPv6Address(value)
    return prefix.group(1) if prefix else None, sids
