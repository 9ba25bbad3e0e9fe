"""A judgement as members of ``/srv6mgr-srv6:srv6``, as RFC 7951 writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.model import names
from srv6mgrd.model.condition import Condition
from srv6mgrd.model.service import ServiceReport
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.model.times import time_text
from srv6mgrd.service_state.judge import Judgement, Verdict

# The container of a service.
CONTAINER = "service"

Reports = Mapping[ObjectRef, ServiceReport]


def members(judged: Judgement, reports: Reports) -> dict[str, Any]:
    """All VRFs, and the SIDs that are not up."""
    made: dict[str, Any] = {}
    vrfs = [
        {"name": name, CONTAINER: _service(verdict, reports[ObjectRef(Kind.VRF, name)])}
        for name, verdict in judged.vrfs.items()
    ]
    sids = [
        {
            "prefix": str(prefix),
            CONTAINER: _service(verdict, reports[ObjectRef(Kind.SID, str(prefix))]),
        }
        for prefix, verdict in judged.sids.items()
    ]
    if vrfs:
        made["vrfs"] = {"vrf": vrfs}
    if sids:
        made["local-sids"] = {"sid": sids}
    return made


def _service(verdict: Verdict, report: ServiceReport) -> dict[str, Any]:
    state, since = report.state.text, time_text(report.since)
    found: dict[str, Any] = {"service-state": state, "last-change": since}
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
        self._known: dict[ObjectRef, ServiceReport] = {}

    def reports(self, judged: Judgement, now: int) -> Reports:
        """``now`` in ns."""
        verdicts = {ObjectRef(Kind.VRF, name): v for name, v in judged.vrfs.items()}
        verdicts |= {ObjectRef(Kind.SID, str(p)): v for p, v in judged.sids.items()}
        self._known = {ref: self._report(ref, v, now) for ref, v in verdicts.items()}
        return self._known

    def _report(self, ref: ObjectRef, verdict: Verdict, now: int) -> ServiceReport:
        before = self._known.get(ref)
        same = before is not None and before.state is verdict.state
        worst = verdict.conditions[0] if verdict.conditions else None
        return ServiceReport(verdict.state, before.since if same and before else now, worst)
