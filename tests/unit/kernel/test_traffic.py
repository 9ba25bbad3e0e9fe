"""When counters are worth a dump."""

from __future__ import annotations

import dataclasses
from ipaddress import IPv6Network
from pathlib import Path

import pytest

from srv6mgrd.kernel.traffic import Counted, Traffic, packets
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.plan.actions import Action, Create, Delete, Replace

RED, BLUE = (
    SidRoute(IPv6Network(f"fc00:1::{n}/128"), Behavior.END_DT46, SID_TABLE, vrf_table=100)
    for n in (1, 2)
)


class Dumps:
    """Answers dumps with what the test gives it, and counts them."""

    def __init__(self) -> None:
        self.answer: Counted = {RED.prefix: (5, 500, 1)}
        self.count = 0

    def __call__(self) -> Counted:
        self.count += 1
        return dict(self.answer)


def settled(dumps: Dumps) -> Traffic:
    traffic = Traffic(lambda: 7)
    for _ in range(3):
        traffic.counted(dumps)
    assert dumps.count == 2
    return traffic


def test_a_packet_is_followed_by_two_dumps() -> None:
    came_in = iter([5, 5, 5, 7, 7, 7, 7])
    traffic, dumps = Traffic(lambda: next(came_in)), Dumps()
    found = [(traffic.counted(dumps), dumps.count)[1] for _ in range(7)]
    # The second dump is for what was under way during the first one.
    assert found == [1, 2, 2, 3, 4, 4, 4]


@pytest.mark.parametrize("action", [Create(BLUE), Replace(BLUE, BLUE)])
def test_what_is_put_in_place_counts_from_0(action: Action) -> None:
    dumps = Dumps()
    traffic = settled(dumps)
    before = traffic.counted(dumps)
    traffic.recall(traffic.forget(), [action])
    assert traffic.counted(dumps) == {RED.prefix: (5, 500, 1), BLUE.prefix: (0, 0, 0)}
    traffic.recall(traffic.forget(), [Replace(RED, RED)])
    assert traffic.counted(dumps) == {RED.prefix: (0, 0, 0), BLUE.prefix: (0, 0, 0)}
    assert before == {RED.prefix: (5, 500, 1)}
    assert dumps.count == 2


@pytest.mark.parametrize(
    "action", [Delete(RED), Replace(RED, dataclasses.replace(RED, counters=False))]
)
def test_what_no_longer_counts_is_left_out(action: Action) -> None:
    dumps = Dumps()
    traffic = settled(dumps)
    traffic.recall(traffic.forget(), [action])
    assert traffic.counted(dumps) == {}
    assert dumps.count == 2


def test_what_takes_routes_with_it_is_followed_by_a_dump() -> None:
    dumps = Dumps()
    traffic = settled(dumps)
    traffic.recall(traffic.forget(), [Delete(DummyDevice("sr0"))])
    dumps.answer = {}
    assert traffic.counted(dumps) == {}
    assert dumps.count == 3


def test_what_was_rejected_is_followed_by_a_dump() -> None:
    dumps = Dumps()
    traffic = settled(dumps)
    traffic.forget()
    assert traffic.counted(dumps) == dumps.answer
    assert dumps.count == 3


def test_a_kernel_that_does_not_count_packets() -> None:
    traffic, dumps = Traffic(lambda: None), Dumps()
    for _ in range(3):
        traffic.counted(dumps)
    assert dumps.count == 3


def test_the_kernel_tells() -> None:
    assert packets() is not None


@pytest.mark.parametrize(
    ("what", "before", "after"),
    [
        ("snmp6", "Ip6InReceives 10", "Ip6InReceives 11"),
        ("snmp6", "Ip6OutRequests 20", "Ip6OutRequests 21"),
        ("snmp", "Ip: 1 64 30 40", "Ip: 1 64 31 40"),
        ("snmp", "Ip: 1 64 30 40", "Ip: 1 64 30 41"),
    ],
)
def test_packets_of_both_families_that_came_or_went_are_seen(
    tmp_path: Path, what: str, before: str, after: str
) -> None:
    """An IPv4 packet that is encapsulated to a SID of this node is no IPv6 packet that came."""
    (tmp_path / "snmp6").write_text("Ip6InReceives 10\nIp6OutRequests 20\nIcmp6InMsgs 1\n")
    names = "Ip: Forwarding DefaultTTL InReceives OutRequests"
    (tmp_path / "snmp").write_text(f"{names}\nIp: 1 64 30 40\nIcmp: InMsgs\nIcmp: 0\n")
    assert packets(tmp_path) == 100
    file = tmp_path / what
    file.write_text(file.read_text().replace(before, after))
    assert packets(tmp_path) == 101


def test_without_the_files_everything_may_have_counted(tmp_path: Path) -> None:
    assert packets(tmp_path) is None
    (tmp_path / "snmp6").write_text("nothing of use\n")
    (tmp_path / "snmp").write_text("")
    assert packets(tmp_path) is None
