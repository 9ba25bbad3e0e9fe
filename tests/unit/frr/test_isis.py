"""What isisd is told, and what it says of the locator."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import IPv6Network
from typing import Any

import pytest

from srv6mgrd.frr import isis
from srv6mgrd.frr.limits import limits
from srv6mgrd.frr.render import render
from srv6mgrd.frr.script import additions, commands, removals
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.model.desired import Desired, Isis, IsisInterface, Locator
from srv6mgrd.plan.actions import Create, Delete, Replace
from tests.unit.frr.samples import PE1

SPOKEN = Isis(
    "49.0001",
    "0000.0000.0001",
    "MAIN",
    interfaces=(
        IsisInterface("core", point_to_point=True, metric=20),
        IsisInterface("lo", passive=True, metric=10),
    ),
)
WANTED = replace(PE1, isis=SPOKEN)
CORE = Desired(locators=PE1.locators, isis=SPOKEN)


class Shown:
    """isisd with a locator, and an interface where a neighbor is."""

    def __init__(self, prefix: str = "fcbb:0:1::/48", met: str = "core", away: str = "") -> None:
        self.prefix, self.met, self.away = prefix, met, away

    def show(self, daemon: str, command: str) -> str:
        assert daemon == "isisd"
        if self.away:
            raise VtyError(2, self.away)
        if command == "show isis neighbor json":
            return json.dumps({"areas": [{"area": "srv6mgr", "circuits": self._circuits()}]})
        assert command == "show isis database detail 0000.0000.0001.00-00 json"
        lsp = {"srv6Locator": {"prefix": self.prefix}}
        area: dict[str, Any] = {"area": {"name": "srv6mgr"}, "levels": [{"lsps": [lsp]}]}
        return json.dumps({"areas": [area]})

    def _circuits(self) -> list[dict[str, Any]]:
        up = {"circuit": 0, "interface": self.met, "state": "Up"}
        return [{"circuit": 0}, up, {"circuit": 0, "interface": "core", "state": "Initializing"}]


def test_lines() -> None:
    assert [(b.context, b.lines) for b in isis.blocks(SPOKEN)] == [
        (
            ("interface core",),
            ("ipv6 router isis srv6mgr", "isis metric 20", "isis network point-to-point"),
        ),
        (("interface lo",), ("ipv6 router isis srv6mgr", "isis passive")),
        (
            ("router isis srv6mgr",),
            ("is-type level-2-only", "net 49.0001.0000.0000.0001.00"),
        ),
        (
            ("router isis srv6mgr", "segment-routing srv6"),
            ("locator MAIN", "interface srv6mgr"),
        ),
    ]


@pytest.mark.parametrize(("level", "lines"), [("level-1", ["is-type level-1"]), ("level-1-2", [])])
def test_levels(level: str, lines: list[str]) -> None:
    blocks = {b.context: b for b in isis.blocks(replace(SPOKEN, level=level))}
    block = blocks["router isis srv6mgr",]
    assert list(block.lines) == [*lines, "net 49.0001.0000.0000.0001.00"]


def test_a_router_without_bgp_has_its_locator() -> None:
    daemons = [b.daemon for b in render(CORE)]
    assert daemons == ["zebra", "isisd", "isisd", "isisd", "isisd"]


def test_isis_and_vrfs_share_the_locator() -> None:
    assert limits(WANTED) == []
    other = Locator("OTHER", IPv6Network("fcbb:0:9::/48"))
    two = replace(
        WANTED,
        locators={**PE1.locators, "OTHER": other},
        isis=replace(SPOKEN, locator="OTHER"),
    )
    (refusal,) = limits(two)
    assert str(refusal) == (
        "IS-IS: it advertises locator OTHER, but VRFs export SIDs of MAIN; name locator MAIN"
    )


def test_zebra_has_the_locator_before_isisd_asks_and_keeps_it_longer() -> None:
    blocks = render(WANTED)
    written = [s.daemon for s in additions([Create(b) for b in blocks], {})]
    assert list(dict.fromkeys(written)) == ["zebra", "isisd", "bgpd"]
    running = {b.key: b for b in blocks}
    gone = removals([Delete(b) for b in blocks], running)
    assert list(dict.fromkeys(s.daemon for s in gone)) == ["bgpd", "isisd", "zebra"]
    assert [s.line for s in gone if s.daemon == "isisd"][-1] == "no router isis srv6mgr"


def test_an_instance_with_lines_of_others_stays() -> None:
    running = {b.key: b for b in render(CORE)}
    deletes = [Delete(b) for b in running.values()]
    (key,) = (k for k in running if k.endswith("router isis srv6mgr"))
    running[key] = replace(running[key], lines=(*running[key].lines, "lsp-mtu 1400"))
    lines = [s.line for s in removals(deletes, running) if s.daemon == "isisd"]
    assert "no router isis srv6mgr" not in lines
    assert "no is-type level-2-only" in lines


def test_another_locator_is_taken_after_the_first_is_given_back() -> None:
    before, after = isis.blocks(SPOKEN)[-1], isis.blocks(replace(SPOKEN, locator="NEW"))[-1]
    texts = [c.text for c in commands(additions([Replace(before, after)], {}))]
    assert texts == [
        "router isis srv6mgr",
        "no segment-routing srv6",
        "segment-routing srv6",
        "locator NEW",
        "interface srv6mgr",
    ]


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (Shown(), ""),
        (
            Shown("fcbb:0:2::/48"),
            "isisd does not advertise locator MAIN yet; see that zebra has it",
        ),
        (Shown(met="lo"), "no IS-IS neighbor at core"),
        (Shown(away="isisd can't be reached"), "isisd can't be reached"),
    ],
)
def test_why_a_locator_is_not_advertised(shown: Shown, words: str) -> None:
    assert isis.unadvertised(WANTED, shown) == words


def test_nothing_declared_nothing_asked() -> None:
    assert isis.unadvertised(PE1, Shown(away="not asked")) == ""
