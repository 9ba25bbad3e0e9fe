"""Results as members of ``/srv6mgr-srv6:srv6``, as RFC 7951 writes them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.model.path_measurement import PathMeasurement
from srv6mgrd.model.times import time_text
from srv6mgrd.stamp.path_state import Judgement
from srv6mgrd.stamp.results import Results, SessionResult
from srv6mgrd.stamp.statistics import Measurement

MEMBER = "srv6mgr-path-measurement:path-measurement"
_US = 1_000
# Of srv6-stampd's file.
_STALE_NS = 5_000_000_000
_ABSENT = "srv6-stampd does not run; start it (systemctl start srv6-stampd)"
_MOST_US = (1 << 32) - 1


def members(declared: PathMeasurement, found: Results, now: int) -> Mapping[str, Any]:
    """State of what is declared; nothing when nothing is."""
    if declared == PathMeasurement():
        return {}
    if fresh := now - found.at < _STALE_NS:
        results = found.sessions
    else:
        results = dict.fromkeys(declared.sessions, SessionResult(Judgement(reason=_ABSENT)))
    made: dict[str, Any] = {}
    if declared.answers:
        up = fresh and found.listening
        made["reflector"] = {"state": {"oper-status": "up" if up else "down"}}
        reason = found.reflector_problem if fresh else _ABSENT
        if reason:
            made["reflector"]["state"]["reason"] = reason
    sessions = [
        {"name": name, "state": _session(results[name])}
        for name in declared.sessions
        if name in results
    ]
    if sessions:
        made["session"] = sessions
    return {MEMBER: made} if made else {}


def _session(one: SessionResult) -> dict[str, Any]:
    state: dict[str, Any] = {"path-state": one.judgement.state.value}
    if one.judgement.reason:
        state["reason"] = one.judgement.reason
    if one.since:
        state["last-change"] = time_text(one.since)
        state["timestamps"] = "kernel" if one.kernel_timestamps else "application"
    if one.measurement is not None:
        state["last-measurement"] = _measurement(one.measurement)
    return state


def _measurement(found: Measurement) -> dict[str, Any]:
    made: dict[str, Any] = {
        "end-time": time_text(found.ended),
        "packets-sent": found.sent,
        "packets-received": found.received,
        "loss-ratio": percent(found.loss),
    }
    if (directions := found.directions) is not None:
        made["forward-loss-ratio"] = percent(directions.forward_loss)
        made["backward-loss-ratio"] = percent(directions.backward_loss)
    if (delay := found.delay) is not None:
        made["round-trip-delay"] = {
            "minimum": _us(delay.minimum),
            "median": _us(delay.median),
            "percentile-99": _us(delay.p99),
            "maximum": _us(delay.maximum),
        }
    if (jitter := found.jitter) is not None:
        made["jitter"] = {"median": _us(jitter.median), "percentile-99": _us(jitter.p99)}
    return made


def _us(ns: int) -> int:
    return min(round(ns / _US), _MOST_US)


def percent(share: float) -> str:
    """A share as decimal64 with up to three digits, in canonical form."""
    text = f"{100 * share:.3f}".rstrip("0")
    return f"{text}0" if text.endswith(".") else text
