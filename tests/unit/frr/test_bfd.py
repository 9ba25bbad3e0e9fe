"""Neighbors that BFD is taken off."""

from __future__ import annotations

import pytest

from srv6mgrd.frr.bfd import Relieved, is_idle, relieved
from srv6mgrd.frr.blocks import BGPD, block
from srv6mgrd.plan.actions import Create, Delete, Replace

ROOT, RED = ("router bgp 65000",), ("router bgp 65000 vrf red",)
LINES = ("neighbor 10.1.0.10 remote-as 65100", "neighbor 10.1.0.10 bfd")
WITH, WITHOUT = block(BGPD, RED, LINES), block(BGPD, RED, LINES[:1])


def test_neighbors_that_lose_bfd() -> None:
    own = Replace(block(BGPD, ROOT, ("neighbor fcbb::1 bfd",)), block(BGPD, ROOT, ()))
    found = list(relieved([Create(WITH), Replace(WITH, WITHOUT), own]))
    assert [one.clear for one in found] == [
        "clear bgp vrf red 10.1.0.10",
        "clear bgp fcbb::1",
    ]
    others = [Delete(WITH), Replace(WITHOUT, WITH), Replace(WITH, WITH)]
    assert list(relieved(others)) == []


class Shown:
    def __init__(self, text: str) -> None:
        self.text = text

    def show(self, daemon: str, command: str) -> str:
        assert (daemon, command) == (BGPD, "show bgp vrf red neighbors 10.1.0.10 json")
        return self.text


@pytest.mark.parametrize(
    ("text", "idle"),
    [
        ('{"10.1.0.10": {"bgpState": "Idle"}}', True),
        ('{"10.1.0.10": {"bgpState": "Established"}}', False),
        ('{"bgpNoSuchNeighbor": true}', False),
        ("", False),
    ],
)
def test_idle(text: str, idle: bool) -> None:
    assert is_idle(Shown(text), Relieved("red", "10.1.0.10")) == idle
