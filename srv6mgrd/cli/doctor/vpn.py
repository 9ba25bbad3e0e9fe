"""Whether the services of VRFs and SIDs work, as srv6mgrd judges it all the time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from srv6mgrd.cli import services
from srv6mgrd.cli.doctor.finding import Finding, fail, note, ok, skip, warn
from srv6mgrd.cli.units import counted

_CHECK = "service"
_LEVELS = {"warning": note, "minor": warn, "major": fail, "critical": fail}


def vpn(observed: Mapping[str, Any]) -> Iterator[Finding]:
    """``observed`` as ``State.observed`` has it: nothing when srv6mgrd does not report."""
    vrfs = services.of_vrfs(observed)
    for one in services.conditions(observed):
        yield _LEVELS[one["severity"]](_CHECK, f"{one['object']}: {one['cause']}", one["remedy"])
    states = [services.state(service) for service in vrfs.values()]
    unknown = states.count("unknown")
    if unknown:
        message = f"the state of {counted(unknown, 'VRF')} is not known yet"
        yield skip(_CHECK, message, "srv6ctl doctor again after half a minute")
    if up := states.count("up"):
        yield ok(_CHECK, f"{counted(up, 'VRF')} up")
