"""The state of a path from what was measured of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from srv6mgrd.model.path_measurement import Session, Thresholds
from srv6mgrd.stamp.statistics import Measurement

# Without an answer for so long, and so many packets, a path is down.
_SILENCE_NS, _SILENT_PACKETS = 3_000_000_000, 5
_US, _MS = 1_000, 1_000_000


class PathState(StrEnum):
    """``session/state/path-state``."""

    UNKNOWN = "unknown"
    UP = "up"
    DEGRADED = "degraded"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A state, and why; no reason is needed for ``up``."""

    state: PathState = PathState.UNKNOWN
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Times in ns of a monotonic clock; ``heard`` is None before the first answer. ``problem`` is
    the error of the operating system for packets that could not be sent, or were refused."""

    started: int
    heard: int | None = None
    measurement: Measurement | None = None
    problem: str = ""


def judge(session: Session, found: Evidence, now: int) -> Judgement:
    silence = max(_SILENCE_NS, _SILENT_PACKETS * session.interval * _MS)
    if now - (found.started if found.heard is None else found.heard) >= silence:
        why = found.problem or "no answer: the path, or the reflector at its end, does not work"
        return Judgement(PathState.DOWN, why)
    if found.heard is None:
        return Judgement(PathState.UNKNOWN, "no answer yet")
    exceeded = "; ".join(_exceeded(session.thresholds, found.measurement))
    return Judgement(PathState.DEGRADED, exceeded) if exceeded else Judgement(PathState.UP)


def _exceeded(limits: Thresholds, found: Measurement | None) -> list[str]:
    if found is None:
        return []
    reasons = []
    delay = found.delay.p99 if found.delay is not None else None
    jitter = found.jitter.p99 if found.jitter is not None else None
    for name, limit, value in (("delay", limits.delay, delay), ("jitter", limits.jitter, jitter)):
        if limit is not None and value is not None and value > limit * _US:
            reasons.append(f"99% of {name} {value // _US} us exceeds {limit} us")
    if limits.loss is not None and found.loss * 100 > limits.loss:
        reasons.append(f"loss {found.loss:.1%} exceeds {limits.loss:g}%")
    return reasons
