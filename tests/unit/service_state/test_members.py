"""A judgement in the words of the model."""

from __future__ import annotations

from dataclasses import replace

from srv6mgrd.model.times import time_text
from srv6mgrd.service_state.members import StateTimes, members, reported, services_of
from tests.unit.service_state.samples import BLUE, HEALTHY, UP, judged, with_links

DOWN = with_links(blue1=replace(UP, is_up=False))


def test_members() -> None:
    times = StateTimes()
    times.reports(judged(HEALTHY), 1)
    found = judged(DOWN)
    made = members(found, times.reports(found, 2))
    red, blue = made["vrfs"]["vrf"]
    assert red == {
        "name": "red",
        "service": {"service-state": "up", "last-change": time_text(1), "remote-sids": 1},
    }
    (condition,) = blue["service"].pop("condition")
    assert blue == {
        "name": "blue",
        "service": {"service-state": "down", "last-change": time_text(2), "remote-sids": 1},
    }
    assert condition == {
        "type": "vrf-interface-down",
        "resource": "/srv6mgr-srv6:srv6/vrfs/vrf[name='blue']/interface[.='blue1']",
        "object": "VRF blue",
        "severity": "major",
        "cause": "interface blue1 of VRF blue is down",
        "remedy": "ip link set blue1 up, or declare it enabled false",
    }
    (sid,) = made["local-sids"]["sid"]
    assert sid["prefix"] == str(BLUE)
    assert sid["service"]["condition"] == [condition]


def test_sids_that_are_up_are_left_out() -> None:
    found = judged(HEALTHY)
    assert set(members(found, StateTimes().reports(found, 1))) == {"vrfs"}


def test_what_was_published_is_read_back() -> None:
    found = judged(DOWN)
    reports = StateTimes().reports(found, 1_795_500_000_123_456_789)
    made = members(found, reports)
    others = {"vrf": [{**one, "bgp": {}} for one in made["vrfs"]["vrf"]] + [{"name": "x"}]}

    again = services_of({**made, "vrfs": others, "bgp": {}})

    assert again == made
    assert reported(again) == reports
    assert StateTimes(reported(again)).reports(found, 2_000_000_000_000_000_000) == reports
