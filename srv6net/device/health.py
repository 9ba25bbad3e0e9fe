"""What a router reports of entries that it accepted. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from srv6net.compile.configuration import named

# Conditions (docs/service-state.md) under which the router did not do its own part. Others, such as
# a customer's cable that is not there yet, are no reason to reject a service.
_OWN = frozenset(
    {"not-installed", "export-incomplete", "route-not-in-kernel", "routing-daemon-down"}
)
_BGP = "srv6mgr-bgp:bgp"


def faults(path: str, state: Mapping[str, Any]) -> list[str]:
    """Reasons why an entry does not work, as far as it is the router's own part."""
    found = list(_statuses(path, state))
    if not found:
        found = [
            f"{named(path)}: {condition.get('cause', condition['type'])}"
            for condition in conditions(state)
            if condition["type"] in _OWN
        ]
    return found


def service_state(state: Mapping[str, Any]) -> str:
    """``up``, ``degraded``, ``down`` or ``unknown``; empty for what is no service."""
    return str(state.get("service", {}).get("service-state", ""))


def remote_sids(state: Mapping[str, Any]) -> int:
    """To how many SIDs of other routers the routes of a VRF lead."""
    return int(state.get("service", {}).get("remote-sids", 0))


def conditions(state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The worst first, as the router has them."""
    return list(state.get("service", {}).get("condition", ()))


def _statuses(path: str, state: Mapping[str, Any]) -> Iterator[str]:
    """Of the entry, and of its export to BGP."""
    reported = [("", state.get("state", {})), (" in BGP", state.get(_BGP, {}).get("state", {}))]
    if not reported[0][1].get("install-status"):
        yield f"{named(path)}: its status is not reported"
        return
    for where, one in reported:
        status = one.get("install-status", "installed")
        if status != "installed":
            reason = one.get("reason") or "no reason is reported"
            yield f"{named(path)}: it is {status}{where}: {reason}"
