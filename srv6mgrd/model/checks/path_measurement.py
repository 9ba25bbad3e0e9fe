"""Path measurement: no more test packets than srv6-stampd can send on time."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.model import names
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.paths import measurement_session_path
from srv6mgrd.model.rejection import Rejection

# Of all sessions together: an eighth of a CPU (docs/adr/0038).
_PACKETS_PER_SECOND = 1_000
_SESSIONS = 500


def check(desired: Desired) -> Iterator[Rejection]:
    sessions, rate = desired.path_measurement.sessions, 0.0
    for number, one in enumerate(sessions.values(), 1):
        rate += 1e3 / one.interval
        if number > _SESSIONS:
            cause = f"there are more than {_SESSIONS} sessions"
        elif rate > _PACKETS_PER_SECOND:
            cause = f"all sessions send more than {_PACKETS_PER_SECOND} packets a second"
        else:
            continue
        yield Rejection(
            names.measurement_session(one.name),
            cause,
            "remove sessions, or give them a longer interval",
            "measurement-rate",
            measurement_session_path(one.name),
        )
        return
