"""Which changes make bgpd free SIDs, and how updates are kept back meanwhile."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from srv6mgrd.frr.blocks import BGPD, LOCATORS, ZEBRA, block
from srv6mgrd.frr.hold import Hold, moves_sids
from srv6mgrd.frr.vty import Answer
from srv6mgrd.plan.actions import Action, Create, Delete, Replace

ROOT, RED = ("router bgp 65000",), ("router bgp 65000 vrf red",)
SID = block(BGPD, RED, ("sid vpn per-vrf export 100",))
OTHER_SID = block(BGPD, RED, ("sid vpn per-vrf export 101",))
MORE = block(BGPD, RED, (*SID.lines, "neighbor 10.1.0.10 remote-as 65100"))
LOCATOR = block(BGPD, (*ROOT, "segment-routing srv6"), ("locator MAIN",))
OTHER_LOCATOR = block(BGPD, LOCATOR.context, ("locator NEW",))
IN_ZEBRA = block(ZEBRA, (*LOCATORS, "locator MAIN"), ("prefix fcbb:0:1::/48",))
RUNNING = {
    b.key: b
    for b in (
        block(BGPD, ("vrf red",), ()),
        block(BGPD, RED, ()),
        block(BGPD, ROOT, ("neighbor fcbb::2 advertisement-interval 1",)),
        block(BGPD, (*ROOT, "address-family ipv4 vpn"), ("neighbor fcbb::1 activate",)),
        block(BGPD, (*ROOT, "address-family ipv6 vpn"), ("neighbor fcbb::2 activate",)),
        block(BGPD, (*ROOT, "address-family ipv4 unicast"), ("neighbor fcbb::3 activate",)),
    )
}


@pytest.mark.parametrize(
    ("action", "moves"),
    [
        (Replace(SID, OTHER_SID), True),
        (Replace(LOCATOR, OTHER_LOCATOR), True),
        (Delete(IN_ZEBRA), True),
        (Replace(SID, MORE), False),
        (Replace(MORE, SID), False),
        (Create(SID), False),
        (Create(IN_ZEBRA), False),
        (Delete(SID), False),
    ],
)
def test_what_moves_sids(action: Action, moves: bool) -> None:
    assert moves_sids([action]) == moves


def test_nothing_moves_when_the_speaker_goes() -> None:
    assert not moves_sids([Delete(IN_ZEBRA), Delete(block(BGPD, ROOT, ("bgp router-id 1.1.1.1",)))])


class Bgpd:
    """One whose interval runs for two questions after the second announcement."""

    def __init__(self, prefix: str = "fcbb:0:1::/48") -> None:
        self.prefix = prefix
        self.cleared = dict.fromkeys(("fcbb::1", "fcbb::2", "fcbb::3"), 0)
        self.runs = 0
        self.reported: list[str] = []

    def run(self, daemon: str, commands: Sequence[str]) -> list[Answer]:
        assert daemon == BGPD
        self.reported += commands
        for command in commands:
            if command.startswith("clear bgp ipv4"):
                self.cleared[command.split()[4]] += 1
                self.runs = 2
        return []

    def show(self, daemon: str, command: str) -> str:
        if command == "show bgp segment-routing srv6":
            return f"  prefix: {self.prefix}\n- name: red\n  per-vrf tovpn_sid: fcbb:0:1:64::\n"
        assert command == "show bgp neighbors json"
        self.runs -= 1
        timer: dict[str, Any] = {"mraiTimerExpireInMsecs": 1}
        return json.dumps(
            {
                peer: {"bgpState": "Established", **(timer if n > 1 and self.runs >= 0 else {})}
                for peer, n in self.cleared.items()
            }
        )


CLEARS = [
    f"clear bgp {family} vpn {peer} soft out"
    for peer in ("fcbb::1", "fcbb::2")
    for family in ("ipv4", "ipv6")
]


def test_updates_are_kept_back() -> None:
    bgpd = Bgpd()
    hold = Hold(bgpd, RUNNING)
    hold.begin()
    hold.end()
    assert bgpd.reported == [
        "configure terminal", "router bgp 65000",
        "neighbor fcbb::1 advertisement-interval 5", "neighbor fcbb::2 advertisement-interval 5",
        "end",
        *CLEARS,
        *CLEARS,
        "configure terminal", "router bgp 65000",
        "no neighbor fcbb::1 advertisement-interval", "neighbor fcbb::2 advertisement-interval 1",
        "end",
    ]  # fmt: skip


def test_an_instance_that_has_gone_is_not_made_again() -> None:
    bgpd = Bgpd()
    hold = Hold(bgpd, RUNNING)
    hold.begin()
    bgpd.cleared.clear()
    bgpd.reported.clear()
    hold.end()
    assert bgpd.reported == []


def test_nothing_to_keep_back() -> None:
    bgpd = Bgpd()
    hold = Hold(bgpd, {})
    hold.begin()
    hold.end()
    assert bgpd.reported == []
