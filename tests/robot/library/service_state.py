"""State of services as srv6mgrd reports it: which conditions there are, and how soon."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from robot.api import logger
from robot.api.deco import library

from lab.problem import LabError
from lab.waiting import wait_until
from srv6mgrd.cli import services
from tests.robot.library.network import node

_FILE = "/run/srv6mgr/observed.json"
# A breakage is reported within so many seconds.
_REPORTED = 5.0


def observed(name: str) -> dict[str, Any]:
    found: dict[str, Any] = node(name).json(["cat", _FILE])
    return found


def states(name: str) -> dict[str, str]:
    """State of the service of each VRF."""
    found = services.of_vrfs(observed(name))
    return {vrf: services.state(service) for vrf, service in found.items()}


@library(scope="GLOBAL", auto_keywords=True)
class ServiceStates:
    """Conditions and states of services on a router."""

    def __init__(self) -> None:
        self._slowest = 0.0

    def condition_is_reported(self, name: str, kind: str, severity: str, **vrfs: str) -> None:
        """Within the time that is promised; with the state of each VRF, and a remedy."""
        began = time.monotonic()

        def found() -> Mapping[str, Any] | None:
            listed = services.conditions(observed(name))
            return next((c for c in listed if (c["type"], c["severity"]) == (kind, severity)), None)

        def is_so() -> bool:
            reported = states(name)
            return found() is not None and all(reported.get(v) == s for v, s in vrfs.items())

        wait_until(
            is_so,
            f"{name}: {kind} {severity} {vrfs}",
            _REPORTED,
            0.05,
            seen=lambda: f"{states(name)} {list(services.conditions(observed(name)))}",
        )
        seconds = time.monotonic() - began
        one = found()
        if one is None or not (one["cause"] and one["remedy"]):
            raise AssertionError(f"{name}: {one}")
        logger.info(f"{seconds:.1f} s: {one['object']}: {one['cause']}; {one['remedy']}")
        self._slowest = max(self._slowest, seconds)

    def all_services_are_up(self, name: str, timeout: float = 30) -> None:
        """No condition is left."""

        def is_so() -> bool:
            found = observed(name)
            return set(states(name).values()) == {"up"} and not [*services.conditions(found)]

        try:
            wait_until(
                is_so,
                f"{name}: up",
                timeout,
                0.05,
                seen=lambda: f"{states(name)} {list(services.conditions(observed(name)))}",
            )
        except LabError as error:
            raise AssertionError(str(error)) from None

    def services_stay_up(self, name: str, seconds: float) -> None:
        """No condition shows meanwhile: no false alarm."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if set(states(name).values()) != {"up"}:
                raise AssertionError(f"{name}: {list(services.conditions(observed(name)))}")
            time.sleep(0.05)

    def slowest_report(self) -> float:
        """Seconds from a breakage to its report, the longest so far."""
        return self._slowest
