"""What became of the configuration: which SID is advertised for a VRF, and if none, why."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import Any, Protocol

from srv6mgrd.frr.blocks import BGPD, ZEBRA
from srv6mgrd.frr.render import locator_of
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.model.desired import Desired, Vrf, VrfBgp

Verdict = tuple[IPv6Address | None, str]

_NULL = "(null)"
_SID = "per-vrf tovpn_sid"


class Shows(Protocol):
    """What ``FrrSockets`` offers: the output of a show command, or ``VtyError``."""

    def show(self, daemon: str, command: str) -> str: ...


@dataclass(slots=True)
class _Facts:
    """Read from the daemons in one go."""

    zebra_locators: Mapping[str, str] = field(default_factory=dict)
    bgp_locator: str | None = None
    sids: Mapping[str, IPv6Address | None] = field(default_factory=dict)
    known_vrfs: Mapping[str, bool] = field(default_factory=dict)
    sessions: Mapping[str, str] = field(default_factory=dict)


def vrf_status(desired: Desired, frr: Shows) -> dict[str, Verdict]:
    """Per VRF with BGP: the SID advertised, or None with the reason in plain words.

    The reason of a VRF that exports nothing by declaration is empty too: nothing is missing.
    """
    vrfs = {n: v for n, v in desired.vrfs.items() if v.bgp is not None}
    if not vrfs:
        return {}
    try:
        facts = _read(frr)
    except VtyError as error:
        return dict.fromkeys(vrfs, (None, str(error)))
    return {name: _verdict(desired, vrf, facts) for name, vrf in vrfs.items()}


def vpn_routes(frr: Shows, family: int = 4) -> dict[str, Any]:
    """``show bgp ipv4|ipv6 vpn json``."""
    return _json(frr, BGPD, f"show bgp ipv{family} vpn json")


def has_sid(frr: Shows, vrf: str) -> bool:
    """Whether bgpd holds a SID for the VRF, be it advertised or not. Cheap with many VRFs."""
    text = frr.show(BGPD, "show bgp segment-routing srv6")
    start = text.find(f"- name: {vrf}\n")
    value = text[start:].partition(f"{_SID}: ")[2].partition("\n")[0] if start >= 0 else _NULL
    return value not in (_NULL, "::", "")


def _verdict(desired: Desired, vrf: Vrf, facts: _Facts) -> Verdict:
    vpn = vrf.bgp
    if vpn is None or vpn.export_sid is None:
        return None, ""
    locator = locator_of(desired, vpn)
    allocated = facts.sids.get(vrf.name)
    reason = ""
    if locator is None:
        reason = f"export SID {vpn.export_sid} is not declared in a locator"
    elif locator.name not in facts.zebra_locators:
        reason = f"zebra has no locator {locator.name} yet"
    elif facts.bgp_locator is None:
        reason = f"bgpd has not received locator {locator.name} from zebra yet"
    elif vrf.name not in facts.known_vrfs:
        reason = f"bgpd has no instance for VRF {vrf.name} yet"
    elif not facts.known_vrfs[vrf.name]:
        reason = f"FRR does not see the device of VRF {vrf.name} yet"
    elif allocated is None:
        reason = f"zebra has not given SID {vpn.export_sid} to bgpd yet; see its log if that lasts"
    else:
        reason = _mismatch(vpn, allocated) or _no_session(desired, facts)
    return (None, reason) if reason else (allocated, "")


def _mismatch(vpn: VrfBgp, allocated: IPv6Address) -> str:
    assert vpn.export_sid is not None
    if allocated == vpn.export_sid.network_address:
        return ""
    return f"bgpd holds SID {allocated} instead of {vpn.export_sid.network_address}"


def _no_session(desired: Desired, facts: _Facts) -> str:
    if "Established" in facts.sessions.values():
        return ""
    neighbors = desired.bgp.neighbors if desired.bgp is not None else ()
    if not neighbors:
        return "no BGP neighbor is configured"
    states = (f"{n.address} is {facts.sessions.get(n.address, 'unknown')}" for n in neighbors)
    return f"no BGP session for VPN routes is established: {', '.join(states)}"


def _read(frr: Shows) -> _Facts:
    locators = _json(frr, ZEBRA, "show segment-routing srv6 locator json").get("locators", [])
    prefix, sids = _segment_routing(frr.show(BGPD, "show bgp segment-routing srv6"))
    vrfs = _json(frr, BGPD, "show bgp vrfs json").get("vrfs", {})
    return _Facts(
        zebra_locators={e["name"]: e.get("prefix", "") for e in locators},
        bgp_locator=prefix,
        sids=sids,
        known_vrfs={name: _has_device(e) for name, e in vrfs.items()},
        sessions=sessions(frr),
    )


def _has_device(entry: Mapping[str, Any]) -> bool:
    return int(entry.get("vrfId", -1)) >= 0


def sessions(frr: Shows) -> dict[str, str]:
    """State per neighbor; established in one of the VPN families is enough. Raises VtyError."""
    found: dict[str, str] = {}
    summary = _json(frr, BGPD, "show bgp summary json")
    for family in ("ipv4Vpn", "ipv6Vpn"):
        for peer, entry in summary.get(family, {}).get("peers", {}).items():
            if found.get(peer) != "Established":
                found[peer] = entry.get("state", "unknown")
    return found


def _segment_routing(text: str) -> tuple[str | None, dict[str, IPv6Address | None]]:
    """``show bgp segment-routing srv6``, which has no JSON: bgpd's locator and each VRF's SID."""
    prefix = re.search(r"^  prefix: (\S+)$", text, re.MULTILINE)
    sids: dict[str, IPv6Address | None] = {}
    name = ""
    for line in text.splitlines():
        head, _, value = line.strip().partition(": ")
        if head == "- name":
            name = value
        elif head == _SID and name:
            sids[name] = None if value in (_NULL, "::", "") else IPv6Address(value)
    return prefix.group(1) if prefix else None, sids


def _json(frr: Shows, daemon: str, command: str) -> dict[str, Any]:
    text = frr.show(daemon, command).strip()
    found = json.loads(text) if text else {}
    return found if isinstance(found, dict) else {}
