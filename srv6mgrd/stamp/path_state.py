"""The state of a path from what was measured of it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from srv6mgrd.model.path_measurement import Session, Thresholds
from srv6mgrd.stamp.statistics import Measurement
from srv6mgrd.stamp.tlvs import TlvType

# Without an answer for so long, and so many packets, a path is down.
_SILENCE_NS, _SILENT_PACKETS = 2_000_000_000, 5
# A problem that was not seen for so long, and so many packets, is over. Routers limit their ICMP
# errors, Linux to one a second for each peer (net.ipv6.icmp.ratelimit).
_PROBLEM_NS, _PROBLEM_PACKETS = 5_000_000_000, 5
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
class Problem:
    """Why test packets have no valid answer, and when that was seen last, in ns of a monotonic
    clock."""

    reason: str
    seen: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """``unanswered`` is when the first test packet was sent since the last answer, in ns of a
    monotonic clock; None when there is none. ``problem`` is the last one since that answer;
    ``unused`` what the reflector does not do."""

    was_heard: bool = False
    unanswered: int | None = None
    measurement: Measurement | None = None
    problem: Problem | None = None
    unused: frozenset[TlvType] = frozenset()


def judge(session: Session, found: Evidence, now: int) -> Judgement:
    silence = max(_SILENCE_NS, _SILENT_PACKETS * session.interval * _MS)
    if found.unanswered is not None and now - found.unanswered >= silence:
        return Judgement(PathState.DOWN, _why_down(session, found.problem, now))
    if not found.was_heard:
        return Judgement(PathState.UNKNOWN, "no answer yet")
    why = "; ".join(
        (*_unused(session, found.unused), *_exceeded(session.thresholds, found.measurement))
    )
    return Judgement(PathState.DEGRADED, why) if why else Judgement(PathState.UP)


def _why_down(session: Session, problem: Problem | None, now: int) -> str:
    lasts = max(_PROBLEM_NS, _PROBLEM_PACKETS * session.interval * _MS)
    if problem is not None and now - problem.seen < lasts:
        return problem.reason
    return "no answer: the path, or the reflector at its end, does not work"


def _unused(session: Session, found: Collection[TlvType]) -> Iterator[str]:
    if TlvType.DESTINATION_NODE_ADDRESS in found:
        yield f"the router that answers does not say that it has {session.node_address}"
    if TlvType.RETURN_PATH in found:
        yield "the reflector does not send its answers through the return path"


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
