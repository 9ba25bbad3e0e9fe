"""Aggregates of VRFs: whether bgpd has made them, and whether other routers get them.

bgpd 10.3 aggregates in a VRF, but does not export what it makes (``bgp_aggregate_install`` leaves
out ``vpn_leak_from_vrf_update``); 10.4 does, and 10.3 with patch 09. What bgpd has is asked of it
rather than guessed from its version.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

from srv6mgrd.frr.blocks import BGPD
from srv6mgrd.frr.json_shows import show_json
from srv6mgrd.frr.neighbors import address
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.model.bgp import Aggregate, VrfBgp
from srv6mgrd.model.desired import Vrf


def line(aggregate: Aggregate) -> str:
    """As bgpd prints it."""
    return f"aggregate-address {_text(aggregate)}{' summary-only' * aggregate.summary_only}"


def shortcomings(vrfs: Mapping[str, Vrf], frr: Shows) -> dict[str, str]:
    """By VRF, what is missing of its aggregates. Raises VtyError."""
    found = {}
    for name, vrf in vrfs.items():
        vpn = vrf.bgp
        if vpn is None:
            continue
        reasons = (_shortcoming(name, vpn, aggregate, frr) for aggregate in vpn.aggregates)
        if reason := "; ".join(filter(None, reasons)):
            found[name] = reason
    return found


def _shortcoming(vrf: str, vpn: VrfBgp, aggregate: Aggregate, frr: Shows) -> str:
    prefix, family = _text(aggregate), aggregate.prefix.version
    made = _shown(frr, f"show bgp vrf {vrf} ipv{family} unicast {prefix} json")
    if not any(path.get("aggregated") for path in made.get("paths", [])):
        return f"VRF {vrf} has no route that is more specific than aggregate {prefix}"
    if vpn.export_sid_of(family) is None:
        return ""
    exported = _shown(frr, f"show bgp ipv{family} vpn {prefix} json")
    if _is_valid(exported.get(str(vpn.of_family(family).rd), {})):
        return ""
    cause = "stock FRR before 10.4 exports none"
    if vpn.apply_policy.export_policy is not None:
        cause += f", and policy {vpn.apply_policy.export_policy} may reject it"
    return f"bgpd does not export aggregate {prefix}: {cause}"


def _shown(frr: Shows, command: str) -> dict[str, Any]:
    try:
        return show_json(frr, BGPD, command)
    except VtyError as error:
        if error.errno != errno.EPROTO:
            raise
        return {}  # words instead, while there is no such instance


def _is_valid(destination: Mapping[str, Any]) -> bool:
    """A path of this router is."""
    paths = destination.get("paths", [])
    return any(path.get("valid") and path.get("local") for path in paths)


def _text(aggregate: Aggregate) -> str:
    return f"{address(aggregate.prefix.network_address)}/{aggregate.prefix.prefixlen}"
