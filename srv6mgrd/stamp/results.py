"""What srv6-stampd found: a file that it writes each second and srv6mgrd reads.

srv6mgrd trusts it for nothing but numbers: it takes over known members of the expected types only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from srv6mgrd.counters.node import ABSENT, Version
from srv6mgrd.stamp.directions import Directions
from srv6mgrd.stamp.path_state import Judgement, PathState
from srv6mgrd.stamp.statistics import Delay, Jitter, Measurement
from srv6mgrd.storage import check_regular

# The file of 500 sessions has some 200 kB.
_MOST = 1 << 20
_REASON = 500
# Times up to the year 9999, and counts.
_LAST, _COUNT = 253_402_300_799_999_999_999, (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class SessionResult:
    """Of one session; ``since`` (ns since 1970) is when its state changed last."""

    judgement: Judgement
    since: int = 0
    measurement: Measurement | None = None
    kernel_timestamps: bool = False


@dataclass(frozen=True, slots=True)
class Results:
    """``at`` (ns since 1970) is when they were written."""

    at: int = 0
    listening: bool = False
    reflector_problem: str = ""
    sessions: Mapping[str, SessionResult] = field(default_factory=dict)


def file_in(runtime: Path) -> Path:
    """srv6-stampd has a folder of its own below the runtime directory."""
    return runtime / "stamp" / "results.json"


def encode(found: Results) -> dict[str, Any]:
    return {
        "at": found.at,
        "listening": found.listening,
        "reflector-problem": found.reflector_problem,
        "sessions": {name: _encode(one) for name, one in found.sessions.items()},
    }


def _encode(one: SessionResult) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        "state": one.judgement.state.value,
        "reason": one.judgement.reason,
        "since": one.since,
        "kernel-timestamps": one.kernel_timestamps,
    }
    if (found := one.measurement) is not None:
        delay, jitter = found.delay, found.jitter
        encoded["measurement"] = {
            "ended": found.ended,
            "sent": found.sent,
            "received": found.received,
            "delay": delay and [delay.minimum, delay.median, delay.p99, delay.maximum],
            "jitter": jitter and [jitter.median, jitter.p99],
            "directions": found.directions and [*astuple(found.directions)],
        }
    return encoded


def version(file: Path) -> Version:
    """Moves when the file does; costs a stat."""
    try:
        status = file.stat()
    except OSError:
        return ABSENT
    return status.st_ino, status.st_mtime_ns


def read(file: Path) -> Results:
    """Empty where there is no file, or it makes no sense."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as stream:
            check_regular(descriptor, file)
            return _decode(json.loads(stream.read(_MOST)))
    except OSError:
        return Results()
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return Results()


def _decode(found: Mapping[str, Any]) -> Results:
    return Results(
        _number(found["at"]),
        bool(found["listening"]),
        str(found["reflector-problem"])[:_REASON],
        {str(name): _session(one) for name, one in found["sessions"].items()},
    )


def _session(e: Mapping[str, Any]) -> SessionResult:
    measured = e.get("measurement")
    return SessionResult(
        Judgement(PathState(e["state"]), str(e["reason"])[:_REASON]),
        _number(e["since"]),
        _measurement(measured) if measured is not None else None,
        bool(e["kernel-timestamps"]),
    )


def _measurement(e: Mapping[str, Any]) -> Measurement:
    delay, jitter = e["delay"], e["jitter"]
    return Measurement(
        _number(e["ended"]),
        _number(e["sent"], _COUNT),
        _number(e["received"], _COUNT),
        Delay(*map(_number, delay)) if delay is not None else None,
        Jitter(*map(_number, jitter)) if jitter is not None else None,
        _directions(e.get("directions")),
    )


def _directions(counts: Sequence[object] | None) -> Directions | None:
    if counts is None:
        return None
    found = Directions(*(_number(one, _COUNT) for one in counts))
    if not 0 < found.reflected <= found.sent or found.arrived > found.answers:
        raise ValueError(f"{counts!r} are no counts of packets")
    return found


def _number(value: object, most: int = _LAST) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{value!r} is no number up to {most}")
    return value
