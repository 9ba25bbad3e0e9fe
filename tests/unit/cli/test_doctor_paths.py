"""What doctor says of measured paths."""

from ipaddress import IPv6Address, IPv6Network

import pytest

from srv6mgrd.cli.doctor.finding import Level
from srv6mgrd.cli.doctor.paths import paths
from srv6mgrd.model.path_measurement import PathMeasurement, Session

MEMBER = "srv6mgr-path-measurement:path-measurement"
SESSIONS = PathMeasurement(sessions={"pe2": Session("pe2", IPv6Address("2001:db8::2"))})
REFLECTOR = PathMeasurement(allowed=(IPv6Network("2001:db8::/64"),))
ABSENT = "srv6-stampd does not run; start it (systemctl start srv6-stampd)"


def judged(state):
    (found,) = paths(SESSIONS, {MEMBER: {"session": [{"name": "pe2", "state": state}]}})
    return found


def test_nothing_is_said_where_nothing_is_declared():
    assert list(paths(PathMeasurement(), {})) == []


@pytest.mark.parametrize(
    ("state", "level", "message"),
    [
        ({"path-state": "up"}, Level.OK, "1 path measured, up"),
        (
            {"path-state": "down", "reason": "no answer: the path does not work"},
            Level.FAIL,
            "path pe2 to 2001:db8::2 is down: no answer: the path does not work",
        ),
        (
            {"path-state": "degraded", "reason": "loss 2.0% exceeds 1%; 99% of jitter"},
            Level.WARN,
            "path pe2 to 2001:db8::2 is degraded: loss 2.0% exceeds 1%; 99% of jitter",
        ),
        (
            {"path-state": "unknown", "reason": ABSENT},
            Level.WARN,
            "path pe2 to 2001:db8::2 is not measured: srv6-stampd does not run",
        ),
    ],
)
def test_a_path_is_judged(state, level, message):
    found = judged(state)
    assert (found.level, found.message) == (level, message)
    assert level is Level.OK or found.remedy


def test_before_the_first_result_nothing_is_known():
    assert judged({"path-state": "unknown", "reason": "no answer yet"}).level is Level.SKIP


def test_a_reflector_that_does_not_listen_fails():
    def reflector(state):
        return list(paths(REFLECTOR, {MEMBER: {"reflector": {"state": state}}}))

    assert reflector({"oper-status": "up"}) == []
    cause = "port 862 of VRF red cannot be used: No such device"
    (found,) = reflector({"oper-status": "up", "reason": cause})
    assert found.level is Level.WARN
    assert found.message == f"the reflector does not answer everywhere: {cause}"
    (found,) = reflector({"oper-status": "down", "reason": ABSENT})
    assert found.level is Level.FAIL
    assert found.message == "the reflector does not answer: srv6-stampd does not run"
    assert found.remedy == "start it (systemctl start srv6-stampd)"
