"""A judgement as members of ``/srv6mgr-srv6:srv6``, as RFC 7951 writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.model import names
from srv6mgrd.model.condition import Condition
from srv6mgrd.model.times import time_text
from srv6mgrd.service_state.judge import Judgement, Verdict

# The container of a service.
CONTAINER = "service"

# Since when each service has its state (ns), by the text of its key.
Since = Mapping[tuple[str, str], int]


def members(judged: Judgement, since: Since) -> dict[str, Any]:
    """All VRFs, and the SIDs that are not up."""
    made: dict[str, Any] = {}
    vrfs = [
        {"name": name, CONTAINER: _service(verdict, since["vrf", name])}
        for name, verdict in judged.vrfs.items()
    ]
    sids = [
        {"prefix": str(prefix), CONTAINER: _service(verdict, since["sid", str(prefix)])}
        for prefix, verdict in judged.sids.items()
    ]
    if vrfs:
        made["vrfs"] = {"vrf": vrfs}
    if sids:
        made["local-sids"] = {"sid": sids}
    return made


def _service(verdict: Verdict, since: int) -> dict[str, Any]:
    found: dict[str, Any] = {"service-state": verdict.state.text, "last-change": time_text(since)}
    if verdict.conditions:
        found["condition"] = [_condition(one) for one in verdict.conditions]
    return found


def _condition(one: Condition) -> dict[str, Any]:
    return {
        "type": one.type.value,
        "resource": one.resource,
        "object": names.of_path(one.resource),
        "severity": one.severity.text,
        "cause": one.cause,
        "remedy": one.remedy,
    }


class StateTimes:
    """Remembers since when each service has its state."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[object, int]] = {}

    def since(self, judged: Judgement, now: int) -> dict[tuple[str, str], int]:
        """``now`` in ns."""
        states = {("vrf", name): verdict.state for name, verdict in judged.vrfs.items()}
        states |= {("sid", str(p)): verdict.state for p, verdict in judged.sids.items()}
        before = self._known
        self._known = {
            key: before[key] if key in before and before[key][0] is state else (state, now)
            for key, state in states.items()
        }
        return {key: at for key, (_, at) in self._known.items()}
