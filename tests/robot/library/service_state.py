"""State of services as srv6mgrd reports it: which conditions there are, and how soon."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any

from robot.api import logger
from robot.api.deco import library

from lab.problem import LabError
from lab.waiting import wait_until
from srv6mgrd.cli import services
from tests.robot.library.network import node

_FILE, _ALARMS = "/run/srv6mgr/observed.json", "/run/srv6mgr/alarms.json"
# A breakage is reported within so many seconds.
_REPORTED = 5.0
# What it does to services is certain so many seconds later.
_CERTAIN = 5.0


def observed(name: str) -> dict[str, Any]:
    found: dict[str, Any] = node(name).json(["cat", _FILE])
    return found


def alarms(name: str) -> list[dict[str, str]]:
    """Those that are raised, as conditions."""
    listed = node(name).json(["cat", _ALARMS])["alarm-list"].get("alarm", ())
    return [
        {
            "type": one["alarm-type-id"].rpartition(":")[2],
            "object": str(one["resource"]),
            "severity": one["perceived-severity"],
            "cause": one["alarm-text"],
            "remedy": one["srv6mgr-alarms:remedy"],
        }
        for one in listed
        if not one["is-cleared"]
    ]


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
        self._reported(name, kind, {severity}, vrfs, _REPORTED)

    def condition_is_reported_within(
        self, seconds: float, name: str, kind: str, severity: str, **vrfs: str
    ) -> None:
        """The same, for what takes longer."""
        self._reported(name, kind, {severity}, vrfs, seconds)

    def condition_is_reported_and_then(
        self, name: str, kind: str, severity: str, **vrfs: str
    ) -> None:
        """Within the time that is promised, be it a minor one; and soon after as severe as it is,
        when more is known."""
        self._reported(name, kind, {"minor", severity}, {}, _REPORTED)
        self._reported(name, kind, {severity}, vrfs, _CERTAIN)

    def _reported(
        self,
        name: str,
        kind: str,
        severities: Collection[str],
        vrfs: Mapping[str, str],
        within: float,
    ) -> None:
        began = time.monotonic()

        def found() -> Mapping[str, Any] | None:
            return next(
                (c for c in alarms(name) if c["type"] == kind and c["severity"] in severities), None
            )

        def is_so() -> bool:
            reported = states(name)
            return found() is not None and all(reported.get(v) == s for v, s in vrfs.items())

        wait_until(
            is_so,
            f"{name}: {kind} {sorted(severities)} {vrfs}",
            within,
            0.05,
            seen=lambda: f"{states(name)} {alarms(name)}",
        )
        seconds = time.monotonic() - began
        one = found()
        if one is None or not (one["cause"] and one["remedy"]):
            raise AssertionError(f"{name}: {one}")
        logger.info(f"{seconds:.1f} s: {one['object']}: {one['cause']}; {one['remedy']}")
        self._slowest = max(self._slowest, seconds)

    def alarm_is_raised(self, name: str, kind: str, severity: str) -> None:
        """The same of what affects no service."""
        self.condition_is_reported(name, kind, severity)

    def alarm_is_cleared(self, name: str, kind: str, timeout: float = 30) -> None:
        wait_until(
            lambda: kind not in {one["type"] for one in alarms(name)},
            f"{name}: {kind} is cleared",
            timeout,
            0.05,
            seen=lambda: alarms(name),
        )

    def all_services_are_up(self, name: str, timeout: float = 30) -> None:
        """No condition is left, nor an alarm."""

        def is_so() -> bool:
            found = [*services.conditions(observed(name)), *alarms(name)]
            return set(states(name).values()) == {"up"} and not found

        try:
            wait_until(
                is_so,
                f"{name}: up",
                timeout,
                0.05,
                seen=lambda: f"{states(name)} {alarms(name)}",
            )
        except LabError as error:
            raise AssertionError(str(error)) from None

    def services_stay_up(self, name: str, seconds: float) -> None:
        """No condition shows meanwhile: no false alarm. A VRF that is new is not known to be up."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if (raised := alarms(name)) or not set(states(name).values()) <= {"up", "unknown"}:
                raise AssertionError(f"{name}: {states(name)} {raised}")
            time.sleep(0.05)

    def no_vrf_goes_down(self, name: str, seconds: float) -> None:
        """Meanwhile."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if "down" in (found := states(name)).values():
                raise AssertionError(f"{name}: {found} {alarms(name)}")
            time.sleep(0.05)

    def slowest_report(self) -> float:
        """Seconds from a breakage to its report, the longest so far."""
        return self._slowest
