"""State of services, as srv6mgrd judges it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from srv6mgrd.cli.output import Cell
from srv6mgrd.model.status import InstallStatus, ObjectStatus

# The container ``service`` of an object.
Service = Mapping[str, Any]
# That of objects by their keys.
Services = Mapping[str, Service]

_STYLES = {"up": "good", "degraded": "warn", "down": "bad", "unknown": "warn"}
UP, DOWN, UNKNOWN = ({"service-state": state} for state in ("up", "down", "unknown"))


def of_vrfs(observed: Mapping[str, Any]) -> Services:
    """``observed`` are members of ``/srv6mgr-srv6:srv6`` (``State.observed``)."""
    listed = observed.get("vrfs", {}).get("vrf", ())
    return {entry["name"]: entry["service"] for entry in listed if "service" in entry}


def of_sids(observed: Mapping[str, Any]) -> Services:
    """Those that are not up."""
    listed = observed.get("local-sids", {}).get("sid", ())
    return {entry["prefix"]: entry["service"] for entry in listed if "service" in entry}


def of_sid(services: Services, prefix: str, status: ObjectStatus) -> Service:
    """One that is installed, and of which nothing else is known, is up."""
    if (found := services.get(prefix)) is not None:
        return found
    if status.status is InstallStatus.INSTALLED:
        return UP
    return UNKNOWN if status.status is InstallStatus.UNKNOWN else DOWN


def state(service: Service) -> str:
    return str(service["service-state"])


def cell(service: Service) -> Cell:
    """The state in its colour."""
    return Cell(state(service), _STYLES.get(state(service), ""))


def reason(service: Service) -> str:
    """The cause of the worst condition."""
    listed = service.get("condition", ())
    if not listed:
        return ""
    more = f" (and {len(listed) - 1} more: srv6ctl doctor)" if len(listed) > 1 else ""
    return f"{listed[0]['cause']}{more}"


def conditions(observed: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Each condition of any service once."""
    seen: set[tuple[str, str]] = set()
    for service in (*of_vrfs(observed).values(), *of_sids(observed).values()):
        for one in service.get("condition", ()):
            if (key := (one["type"], one["resource"])) not in seen:
                seen.add(key)
                yield one
