"""What isisd says of the locator."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import IPv6Network
from typing import Any

import pytest

from srv6mgrd.frr.isis_status import Verdict, status
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.model.desired import Locator
from srv6mgrd.model.isis import Isis, IsisInterface
from srv6mgrd.model.status import Kind, ObjectRef
from tests.unit.frr.samples import PE1

SPOKEN = Isis(
    "49.0001",
    "0000.0000.0001",
    "MAIN",
    interfaces=(IsisInterface("core", bfd=True), IsisInterface("lo", passive=True)),
)


REACHED = [{"prefix": "2001:db8::1/128"}, {"prefix": "fcbb:0:9::/48"}]


class Shown:
    """isisd with a locator, and an interface where a neighbor is."""

    def __init__(
        self,
        prefix: str = "fcbb:0:1::/48",
        met: str = "core",
        away: str = "",
        bits: str = "0/0/0",
        bfd: str = "up",
    ) -> None:
        self.prefix, self.met, self.away = prefix, met, away
        self.bits, self.bfd = bits, bfd

    def show(self, daemon: str, command: str) -> str:
        if daemon == "bfdd":
            if self.bfd == "away":
                raise VtyError(2, "bfdd can't be reached")
            sessions = [{"interface": "other", "status": "up"}]
            if self.bfd:
                sessions.append({"interface": "core", "status": self.bfd})
            return json.dumps(sessions)
        assert daemon == "isisd"
        if self.away:
            raise VtyError(2, self.away)
        if command == "show isis neighbor json":
            return json.dumps({"areas": [{"area": "srv6mgr", "circuits": self._circuits()}]})
        if command == "show isis database detail 0000.0000.0001.00-01 json":
            return json.dumps({"areas": [{"area": {"name": "srv6mgr"}, "levels": []}]})
        assert command == "show isis database detail 0000.0000.0001.00-00 json"
        lsp = {"attPOl": self.bits, "srv6Locator": {"prefix": self.prefix}, "ipv6Reach": REACHED}
        area: dict[str, Any] = {"area": {"name": "srv6mgr"}, "levels": [{"lsps": [lsp]}]}
        return json.dumps({"areas": [area]})

    def _circuits(self) -> list[dict[str, Any]]:
        up = {"circuit": 0, "interface": self.met, "state": "Up"}
        return [{"circuit": 0}, up, {"circuit": 0, "interface": "core", "state": "Initializing"}]


@pytest.mark.parametrize(
    ("shown", "verdict"),
    [
        (Shown(), (True, "")),
        (
            Shown("fcbb:0:2::/48"),
            (False, "isisd does not advertise locator MAIN yet; see that zebra has it"),
        ),
        (Shown(met="lo"), (False, "no IS-IS neighbor at core")),
        (Shown(away="isisd can't be reached"), (False, "isisd can't be reached")),
        (
            Shown(bits="0/0/1"),
            (True, "other routers send nothing through this one, which has the overload bit"),
        ),
        (
            Shown(bfd="down"),
            (True, "the neighbor at core is not watched: its BFD session is down"),
        ),
        (
            Shown(bfd=""),
            (True, "the neighbor at core is not watched: its BFD session is not there yet"),
        ),
        (Shown(bfd="away"), (True, "no neighbor is watched by BFD, since bfdd does not run")),
    ],
)
def test_whether_the_locator_reaches_others(shown: Shown, verdict: Verdict) -> None:
    wanted = replace(PE1, isis=SPOKEN)
    assert status(wanted, shown) == {ObjectRef(Kind.LOCATOR, "MAIN"): verdict}


def test_bfd_is_asked_for_what_it_watches() -> None:
    unwatched = replace(SPOKEN, interfaces=(IsisInterface("core"),))
    found = status(replace(PE1, isis=unwatched), Shown(bfd="away"))
    assert list(found.values()) == [(True, "")]


@pytest.mark.parametrize(
    ("prefix", "verdict"),
    [
        ("fcbb:0:9::/48", (True, "")),
        (
            "fcbb:0:8::/48",
            (
                False,
                "isisd does not advertise locator SHARED yet; see that zebra has a static route to"
                " fcbb:0:8::/48",
            ),
        ),
    ],
)
def test_a_further_locator_is_a_prefix(prefix: str, verdict: Verdict) -> None:
    shared = Locator("SHARED", IPv6Network(prefix))
    isis = replace(SPOKEN, additional_locators=("SHARED",))
    wanted = replace(PE1, locators={**PE1.locators, "SHARED": shared}, isis=isis)
    found = status(wanted, Shown())
    assert found[ObjectRef(Kind.LOCATOR, "MAIN")] == (True, "")
    assert found[ObjectRef(Kind.LOCATOR, "SHARED")] == verdict


def test_nothing_declared_nothing_asked() -> None:
    assert status(PE1, Shown(away="not asked")) == {}
