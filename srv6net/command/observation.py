"""How a router is: what it has of what was decided, and the state of its services."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from srv6net.compile.configuration import Entries
from srv6net.device import health
from srv6net.transaction.ports import DeviceError
from srv6net.transaction.presence import missing


class Observable(Protocol):
    """One router, read only. Each method raises DeviceError."""

    def read(self, paths: Iterable[str]) -> Entries: ...

    def states(self, paths: Iterable[str]) -> Mapping[str, Mapping[str, Any]]: ...


@dataclass(frozen=True, slots=True)
class Observation:
    """``missing``: entries that are not there, or are others. ``services``: state by path of the
    VRF. ``reasons``: everything that is not as it should be."""

    router: str
    problem: str = ""
    missing: Sequence[str] = ()
    services: Mapping[str, str] = field(default_factory=dict)
    reasons: Sequence[str] = ()

    @property
    def is_well(self) -> bool:
        return not (self.problem or self.missing or self.reasons)


def observe(router: str, device: Observable | None, wanted: Entries) -> Observation:
    if device is None:
        return Observation(router, "the inventory lacks it; add it again")
    try:
        absent = sorted(missing(wanted, device.read(wanted)))
        states = device.states(path for path in wanted if path not in absent)
    except DeviceError as error:
        return Observation(router, str(error))
    services, reasons = {}, []
    for path, state in states.items():
        if name := health.service_state(state):
            services[path] = name
        found = health.faults(path, state)
        if not found:
            found = [str(c.get("cause", c["type"])) for c in health.conditions(state)]
        reasons += found
    return Observation(router, "", absent, services, reasons)
