"""A judgement as members of ``/srv6mgr-srv6:srv6``, as RFC 7951 writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.model import names
from srv6mgrd.model.condition import Condition, ConditionType, Severity
from srv6mgrd.model.service import ServiceReport, ServiceState
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.model.times import time_of, time_text
from srv6mgrd.service_state.judge import Judgement, Verdict

# The container of a service.
CONTAINER = "service"
_LISTS = ("vrfs", "vrf", "name"), ("local-sids", "sid", "prefix")
_KINDS = dict(zip(_LISTS, (Kind.VRF, Kind.SID), strict=True))

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
    if verdict.remote_sids:
        found["remote-sids"] = verdict.remote_sids
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


def services_of(members: Mapping[str, Any]) -> dict[str, Any]:
    """Of what was published of all kinds of state: the part that ``members`` made."""
    made: dict[str, Any] = {}
    for container, entries, key in _LISTS:
        found = [
            {key: one[key], CONTAINER: one[CONTAINER]}
            for one in members.get(container, {}).get(entries, ())
            if CONTAINER in one
        ]
        if found:
            made[container] = {entries: found}
    return made


def reported(members: Mapping[str, Any]) -> dict[ObjectRef, ServiceReport]:
    """The reports that were published. Raises KeyError or ValueError where another release wrote
    them."""
    made = {}
    for (container, entries, key), kind in _KINDS.items():
        for one in members.get(container, {}).get(entries, ()):
            service = one[CONTAINER]
            worst = next(iter(service.get("condition", ())), None)
            made[ObjectRef(kind, one[key])] = ServiceReport(
                ServiceState[service["service-state"].upper()],
                time_of(service["last-change"]),
                worst and _condition_of(worst),
            )
    return made


def _condition_of(entry: Mapping[str, str]) -> Condition:
    return Condition(
        ConditionType(entry["type"]),
        entry["resource"],
        Severity[entry["severity"].upper()],
        entry["cause"],
        entry["remedy"],
    )


class StateTimes:
    """Remembers since when each service has its state."""

    def __init__(self, known: Reports | None = None) -> None:
        """``known``: what was reported last."""
        self._known = dict(known or {})

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
