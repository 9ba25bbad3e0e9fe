"""Path measurement: from the configuration, and what can't be."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network
from typing import Any

import pytest

from srv6mgrd.model.checks import check
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.parse import parse
from srv6mgrd.model.path_measurement import PathMeasurement, Session, Thresholds
from srv6mgrd.model.rejection import RejectedError

MEMBER = "srv6mgr-path-measurement:path-measurement"


def parsed(**members: Any) -> Desired:
    return parse({"srv6mgr-srv6:srv6": {MEMBER: members}})


def session(name: str, **more: Any) -> dict[str, Any]:
    named = {leaf.replace("_", "-"): value for leaf, value in more.items()}
    return {"name": name, "destination-address": "2001:db8::2", **named}


def test_defaults_are_those_of_the_model() -> None:
    assert parse({}).path_measurement == PathMeasurement()
    found = parsed(session=[session("pe2")]).path_measurement
    assert found.sessions == {"pe2": Session("pe2", IPv6Address("2001:db8::2"))}
    assert (found.port, found.allowed) == (862, ())


def test_all_that_can_be_declared() -> None:
    thresholds = {"delay": 5000, "jitter": 500, "loss-ratio": "0.5"}
    one = session(
        "pe2",
        destination_port=8620,
        source_address="2001:db8::11",
        segment_list="VIA",
        interval=10,
        measurement_interval=5,
        thresholds=thresholds,
        destination_node_address="2001:db8::22",
        return_segment_list="BACK",
        authentication={"keystring": "a-key-of-a-session"},
    )
    reflector = {
        "port": 8621,
        "allowed-prefix": ["2001:db8:2::1/64", "2001:db8:1::/64"],
        "vrf": [{"name": "red", "allowed-prefix": ["fd00::/8"]}],
        "authentication": {"hexadecimal-string": "00:" * 15 + "ff"},
        "return-paths": True,
    }
    found = parsed(session=[one], reflector=reflector).path_measurement
    assert found == PathMeasurement(
        8621,
        (IPv6Network("2001:db8:1::/64"), IPv6Network("2001:db8:2::/64")),
        {
            "pe2": Session(
                "pe2",
                IPv6Address("2001:db8::2"),
                8620,
                IPv6Address("2001:db8::11"),
                "VIA",
                10,
                5,
                Thresholds(5000, 500, 0.5),
                None,
                IPv6Address("2001:db8::22"),
                "BACK",
                b"a-key-of-a-session",
            )
        },
        {"red": (IPv6Network("fd00::/8"),)},
        bytes(15) + b"\xff",
        return_paths=True,
    )
    assert parsed(session=[session("r", vrf="red")]).path_measurement.sessions["r"].vrf == "red"


@pytest.mark.parametrize(
    ("count", "interval", "cause"),
    [
        (11, 10, "all sessions send more than 1000 packets a second"),
        (501, 1000, "there are more than 500 sessions"),
    ],
)
def test_no_more_than_can_be_sent_on_time(count: int, interval: int, cause: str) -> None:
    sessions = [session(f"s{number}", interval=interval) for number in range(count)]
    check(parsed(session=sessions[:-1]))
    with pytest.raises(RejectedError) as rejected:
        check(parsed(session=sessions))
    (rejection,) = rejected.value.rejections
    assert rejection.object == f"measurement session s{count - 1}"
    assert (rejection.cause, rejection.tag) == (cause, "measurement-rate")
    assert rejection.path.endswith(f"/session[name='s{count - 1}']")
