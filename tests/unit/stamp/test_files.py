"""The files between srv6mgrd and srv6-stampd, and what srv6mgrd makes of them."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import Any

import pytest

from srv6mgrd.model.desired import Desired, SegmentList, Vrf
from srv6mgrd.model.path_measurement import PathMeasurement, Session, Thresholds
from srv6mgrd.stamp import assignments, results
from srv6mgrd.stamp.directions import Directions
from srv6mgrd.stamp.exchange import StampExchange
from srv6mgrd.stamp.path_state import Judgement, PathState
from srv6mgrd.stamp.results import Results, SessionResult
from srv6mgrd.stamp.state import MEMBER, members, percent
from srv6mgrd.stamp.statistics import Delay, Jitter, Measurement
from srv6mgrd.storage import Problems

S = 1_000_000_000
AT = 1_700_000_000 * S
SOURCE, PE2 = IPv6Address("2001:db8::1"), IPv6Address("2001:db8::2")
PLAIN = Session("plain", PE2)
LISTED = Session(
    "listed", PE2, 8620, IPv6Address("2001:db8::11"), "LIST", 20, 5, Thresholds(5_000, 300, 0.5)
)
SEGMENTS = (IPv6Address("fcbb:0:3::"), IPv6Address("fcbb:0:2::"))
KEY = b"a key of a session"
IN_RED = Session("in-red", PE2, vrf="red", node_address=SOURCE, key=KEY)
BACK = Session("back", PE2, return_segment_list="LIST")
ALLOWED, OF_RED = (IPv6Network("2001:db8::/64"),), (IPv6Network("fd00::/8"),)
DECLARED = PathMeasurement(
    8621,
    ALLOWED,
    {"plain": PLAIN, "listed": LISTED},
    {"red": OF_RED},
    KEY,
    return_paths=True,
)
ALL = replace(DECLARED, sessions={**DECLARED.sessions, "in-red": IN_RED, "back": BACK})
DESIRED = Desired(
    encapsulation_source=SOURCE,
    segment_lists={"LIST": SegmentList("LIST", SEGMENTS)},
    path_measurement=DECLARED,
)
MEASURED = Measurement(
    AT,
    600,
    597,
    Delay(1_000_400, 2_000_000, 3_000_000, 4_000_000),
    Jitter(5_000, 60_000),
    Directions(600, 599, 599, 597),
)
UP = SessionResult(Judgement(PathState.UP), AT, MEASURED, kernel_timestamps=True)
SILENT = SessionResult(Judgement(PathState.DOWN, "no answer"), AT)
FOUND = Results(AT, True, "", {"plain": UP, "listed": SILENT})


class Staged:
    def __init__(self) -> None:
        self.parts: dict[str, Mapping[str, Any]] = {}
        self.published = 0

    def stage(self, part: str, members: Mapping[str, Any]) -> None:
        self.parts[part] = members

    def publish(self) -> None:
        self.published += 1


def test_assignments_have_what_the_rest_of_the_configuration_says() -> None:
    found = assignments.assignments(DESIRED)
    assert found.sessions["plain"].source == SOURCE
    assert found.sessions["listed"].source == LISTED.source
    assert found.sessions["listed"].segments == SEGMENTS


def test_a_session_whose_segment_list_or_vrf_is_not_installed_waits() -> None:
    found = assignments.assignments(Desired(path_measurement=ALL))
    assert list(found.sessions) == ["plain"]
    assert found.reflector.allowed == {"": ALLOWED}


def test_in_a_vrf_the_kernel_chooses_the_source() -> None:
    desired = replace(DESIRED, path_measurement=ALL, vrfs={"red": Vrf("red", 10)})
    found = assignments.assignments(desired)
    assert found.sessions["in-red"].source is None
    assert found.sessions["back"].return_segments == SEGMENTS
    assert found.reflector.allowed == {"": ALLOWED, "red": OF_RED}


def test_assignments_survive_the_file() -> None:
    desired = replace(DESIRED, path_measurement=ALL, vrfs={"red": Vrf("red", 10)})
    made = assignments.assignments(desired)
    read = assignments.decode(json.dumps(assignments.encode(made)))
    assert read.reflector == made.reflector
    # srv6-stampd needs no names of segment lists.
    assert read.sessions["in-red"] == made.sessions["in-red"]
    assert read.sessions["back"].return_segments == SEGMENTS
    listed = read.sessions["listed"]
    assert (listed.source, listed.segments) == (LISTED.source, SEGMENTS)
    assert (listed.session.destination, listed.session.port) == (PE2, 8620)
    assert listed.session.thresholds == LISTED.thresholds
    assert (listed.session.interval, listed.session.measurement_interval) == (20, 5)


def test_keys_are_for_srv6_stampd_alone(tmp_path: Path) -> None:
    file = tmp_path / "stamp.json"
    file.write_text("of the release before")
    made = assignments.assignments(DESIRED)
    assignments.write(file, made, None)
    assert assignments.decode(file.read_text()).reflector.key == KEY
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assignments.write(file, made, os.getgid())
    assert (stat.S_IMODE(file.stat().st_mode), file.stat().st_gid) == (0o640, os.getgid())
    for shown in (made, DECLARED, IN_RED):
        assert KEY.decode() not in repr(shown)
        assert KEY.hex() not in repr(shown)


def test_results_survive_the_file(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(json.dumps(results.encode(FOUND)))
    assert results.read(file) == FOUND


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"at": 1}',
        "[" * 100_000,
        '{"at": 1e400, "listening": true, "reflector-problem": "", "sessions": {}}',
        '{"at": -1, "listening": true, "reflector-problem": "", "sessions": {}}',
        '{"at": 9999999999999999999999, "listening": 1, "reflector-problem": "", "sessions": {}}',
        '{"at": 1, "listening": true, "reflector-problem": "", "sessions": {"x": {"state": 1}}}',
        "x" * (2 << 20),
        "\udcff",
    ],
)
def test_results_that_make_no_sense_are_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "results.json"
    file.write_text(text, errors="surrogateescape")
    assert results.read(file) == Results()


def test_what_is_no_file_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "results.json")
    assert results.read(tmp_path / "results.json") == Results()


def test_state_of_sessions_and_reflector() -> None:
    found = members(DECLARED, FOUND, AT + S)[MEMBER]
    assert found["reflector"] == {"state": {"oper-status": "up"}}
    plain, listed = found["session"]
    in_part = replace(FOUND, reflector_problem="port 8621 of VRF red cannot be used")
    assert members(DECLARED, in_part, AT + S)[MEMBER]["reflector"] == {
        "state": {"oper-status": "up", "reason": "port 8621 of VRF red cannot be used"}
    }
    assert plain == {
        "name": "plain",
        "state": {
            "path-state": "up",
            "last-change": "2023-11-14T22:13:20.000000000+00:00",
            "timestamps": "kernel",
            "last-measurement": {
                "end-time": "2023-11-14T22:13:20.000000000+00:00",
                "packets-sent": 600,
                "packets-received": 597,
                "loss-ratio": "0.5",
                "forward-loss-ratio": "0.167",
                "backward-loss-ratio": "0.334",
                "round-trip-delay": {
                    "minimum": 1000,
                    "median": 2000,
                    "percentile-99": 3000,
                    "maximum": 4000,
                },
                "jitter": {"median": 5, "percentile-99": 60},
            },
        },
    }
    assert listed["state"]["path-state"] == "down"
    assert listed["state"]["reason"] == "no answer"


def test_old_results_are_unknown() -> None:
    found = members(DECLARED, FOUND, AT + 6 * S)[MEMBER]
    why = "srv6-stampd does not run; start it (systemctl start srv6-stampd)"
    assert found["reflector"]["state"] == {"oper-status": "down", "reason": why}
    assert [one["state"] for one in found["session"]] == 2 * [
        {"path-state": "unknown", "reason": why}
    ]


def test_nothing_declared_is_nothing_shown() -> None:
    assert members(PathMeasurement(), FOUND, AT) == {}


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0.0"), (0.005, "0.5"), (1, "100.0"), (1 / 3, "33.333")]
)
def test_decimals_are_canonical(share: float, text: str) -> None:
    assert percent(share) == text


def test_srv6mgrd_assigns_and_shows_only_what_changes(tmp_path: Path) -> None:
    staged, desired = Staged(), [Desired()]
    exchange = StampExchange(lambda: desired[0], staged, tmp_path, Problems())
    exchange.step()
    file = assignments.beside(tmp_path / "store")
    assert assignments.decode(file.read_text()) == assignments.Assignments()
    desired[0] = DESIRED
    for _ in range(3):
        exchange.step()
    assert set(assignments.decode(file.read_text()).sessions) == {"plain", "listed"}
    assert (
        staged.parts["path-measurement"][MEMBER]["session"][0]["state"]["path-state"] == "unknown"
    )
    # Nothing, and that srv6-stampd does not run.
    assert staged.published == 2
