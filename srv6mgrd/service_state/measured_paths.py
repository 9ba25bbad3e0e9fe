"""Measured paths. One that is measured within a VRF is that VRF's; which VRFs another one carries
is not declared: each that is in VPNs may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from srv6mgrd.model.condition import ConditionType
from srv6mgrd.model.paths import measurement_session_path
from srv6mgrd.model.service import ServiceState
from srv6mgrd.service_state.evidence import PathEvidence
from srv6mgrd.service_state.finding import Finding
from srv6mgrd.service_state.scope import Scope

_TYPES = {"down": ConditionType.PATH_DOWN, "degraded": ConditionType.PATH_DEGRADED}


def measured_paths(scope: Scope, paths: Mapping[str, PathEvidence]) -> Iterator[Finding]:
    """One that is down degrades a service only: it may be the reflector that does not run."""
    for name, session in scope.desired.path_measurement.sessions.items():
        found = paths.get(name)
        if found is None or found.state not in _TYPES:
            continue
        yield Finding(
            _TYPES[found.state],
            measurement_session_path(name),
            f"the path to {session.destination} (measurement session {name}) is {found.state}:"
            f" {found.reason}",
            f"srv6ctl show paths; see that {session.destination} is reachable, and that a STAMP"
            f" reflector runs there on port {session.port}",
            dict.fromkeys(
                scope.vpn if session.vrf is None else (session.vrf,), ServiceState.DEGRADED
            ),
        )
