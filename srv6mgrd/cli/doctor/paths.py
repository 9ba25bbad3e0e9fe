"""Measured paths, and the reflector: what srv6-stampd found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from srv6mgrd.cli.doctor.finding import Finding, fail, ok, skip, warn
from srv6mgrd.cli.units import counted
from srv6mgrd.model import path_measurement

_MEMBER = "srv6mgr-path-measurement:path-measurement"
_LOG = "journalctl -u srv6-stampd says more"


def paths(
    declared: path_measurement.PathMeasurement, observed: Mapping[str, Any]
) -> Iterator[Finding]:
    """Each path is up, and the reflector answers; nothing where nothing is declared."""
    found = observed.get(_MEMBER, {})
    if declared.sessions:
        states = {one["name"]: one["state"] for one in found.get("session", ())}
        number = counted(len(declared.sessions), "path")
        judged = list(_sessions(declared, states))
        yield from judged or [ok("paths", f"{number} measured, up")]
    if declared.answers:
        state = found.get("reflector", {}).get("state", {})
        if state.get("oper-status") != "up":
            cause, _, remedy = state.get("reason", "").partition("; ")
            yield fail(
                "paths",
                f"the reflector does not answer: {cause or 'srv6mgrd has not reported it yet'}",
                remedy or _LOG,
            )
        elif reason := state.get("reason"):
            yield warn("paths", f"the reflector does not answer everywhere: {reason}", _LOG)


def _sessions(
    declared: path_measurement.PathMeasurement, states: Mapping[str, Mapping[str, Any]]
) -> Iterator[Finding]:
    for name, one in declared.sessions.items():
        state = states.get(name, {})
        cause, _, remedy = state.get("reason", "").partition("; ")
        path = f"path {name} to {one.destination}"
        match state.get("path-state"):
            case "up":
                continue
            case "down":
                route = f"ip -6 route get {one.destination}"
                yield fail(
                    "paths",
                    f"{path} is down: {cause}",
                    f"see {route}, and whether srv6-stampd runs there and is to answer this router",
                )
            case "degraded":
                yield warn("paths", f"{path} is degraded: {state['reason']}", "srv6ctl show paths")
            case "unknown" if remedy:
                yield warn("paths", f"{path} is not measured: {cause}", remedy)
            case _:
                yield skip("paths", f"nothing is known of {path} yet", "look again in a minute")
