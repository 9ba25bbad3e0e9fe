"""Measured paths over gNMI: declared, shown beside the configuration, reported when they change."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address
from typing import Any

import pytest

from lab.waiting import wait_until
from srv6mgrd.counters.observed import ObservedWriter, beside
from srv6mgrd.model.path_measurement import PathMeasurement, Session
from srv6mgrd.stamp.path_state import Judgement, PathState
from srv6mgrd.stamp.results import Results, SessionResult
from srv6mgrd.stamp.state import members
from srv6mgrd.stamp.statistics import Delay, Jitter, Measurement
from tests.contract.gnmi.client import Client, Core, subscription, updates
from tests.contract.gnmi.data import SRV6

PATHS = "/srv6/srv6mgr-path-measurement:path-measurement"
PE2 = f"{PATHS}/session[name=pe2]"
AT = 1_700_000_000_000_000_000
DECLARED = PathMeasurement(sessions={"pe2": Session("pe2", IPv6Address("2001:db8::2"))})
MEASURED = Measurement(
    AT, 600, 597, Delay(1_000_000, 2_000_000, 3_000_000, 4_000_000), Jitter(5_000, 60_000)
)


def found(state: PathState, reason: str = "") -> dict[str, Any]:
    one = SessionResult(Judgement(state, reason), AT, MEASURED, kernel_timestamps=True)
    return dict(members(DECLARED, Results(AT, sessions={"pe2": one}), AT))


@pytest.fixture
def observed(core: Core) -> Iterator[ObservedWriter]:
    file = beside(core.node_file.with_name("store"))
    yield ObservedWriter(file)
    file.unlink(missing_ok=True)


def test_a_path_is_declared_shown_and_reported(gnmi: Client, observed: ObservedWriter) -> None:
    thresholds = {"delay": 5000, "loss-ratio": "0.5"}
    session = {"name": "pe2", "destination-address": "2001:db8::2", "thresholds": thresholds}
    gnmi.set(update={"/srv6": SRV6})
    gnmi.set(update={PATHS: {"session": [session]}})
    observed.stage("path-measurement", found(PathState.UP))
    observed.publish()
    wait_until(lambda: "path-state" in str(gnmi.value(PE2)))
    value = gnmi.value(PE2)
    assert value["srv6mgr-path-measurement:destination-address"] == "2001:db8::2"
    state = value["srv6mgr-path-measurement:state"]
    assert (state["path-state"], state["timestamps"]) == ("up", "kernel")
    measured = state["last-measurement"]
    assert measured["loss-ratio"] == "0.5"
    assert measured["round-trip-delay"]["percentile-99"] == 3000
    with gnmi.subscribe(subscription(f"{PE2}/state/path-state")) as stream:
        assert list(stream.until_sync().values()) == ["up"]
        observed.stage("path-measurement", found(PathState.DOWN, "no answer"))
        observed.publish()
        assert list(updates(stream.next().update).values()) == ["down"]
        assert stream.quiet()
