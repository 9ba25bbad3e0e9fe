"""The adapter against scripted daemons."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.render import render
from srv6mgrd.plan.actions import Action, Create, Delete
from tests.unit.frr.samples import PE1
from tests.unit.frr.server import VtyServer

BLOCKS = render(PE1)


class Daemons:
    """zebra and bgpd; ``reject`` maps pieces of commands to FRR's words, ``running`` is bgpd's."""

    def __init__(self, directory: Path) -> None:
        self.reject: dict[str, str] = {}
        # Whether they reject to take back, too.
        self.keeps = False
        self.running = ""
        self.manager = 0, ""
        self.zebra = VtyServer(directory / "zebra.vty", self._reply)
        self.bgpd = VtyServer(directory / "bgpd.vty", self._reply)

    def _reply(self, command: str) -> tuple[int, str]:
        if command == "show running-config":
            return 0, self.running
        if command == "show segment-routing srv6 manager json":
            return self.manager
        if command == "show bgp segment-routing srv6":
            return 0, "  prefix: fcbb:0:1::/48\n  block-length: 32\n  node-length: 16\n"
        if command.startswith("show ipv6 route "):
            return 0, "seg6local"
        for piece, message in self.reject.items():
            if piece in command and not command.startswith("no "):
                return 13, f"% {message}\n"
        if self.keeps and command.startswith("no "):
            return 13, "% not now\n"
        return 0, ""


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[Daemons]:
    started = Daemons(tmp_path)
    yield started
    started.zebra.close()
    started.bgpd.close()


@pytest.fixture
def frr(tmp_path: Path) -> FrrSockets:
    return FrrSockets(tmp_path, timeout=5)


def test_unreachable_has_a_reason(frr: FrrSockets) -> None:
    assert frr.observe() is None
    assert "zebra can't be reached" in frr.unreachable
    (first, *_) = frr.apply([Create(b) for b in BLOCKS])
    assert "zebra can't be reached" in first.message


def test_observe(frr: FrrSockets, daemons: Daemons) -> None:
    daemons.running = "router bgp 65000\n bgp router-id 1.1.1.1\nexit\n"
    blocks = frr.observe()
    assert blocks is not None
    assert blocks["frr bgpd router bgp 65000"].lines == ("bgp router-id 1.1.1.1",)
    assert frr.unreachable == ""


STOCK = {"sourceAddress": {"configured": "fc00:0:1::1"}}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((0, STOCK), False),
        ((0, {**STOCK, "lookupTable": {"supported": False, "inAllRoutes": False}}), False),
        # Routes of the zebra before have not been swept yet.
        ((0, {**STOCK, "lookupTable": {"supported": True, "inAllRoutes": False}}), False),
        ((0, {**STOCK, "lookupTable": {"supported": True, "inAllRoutes": True}}), True),
        # Before FRR 10.1: % Unknown command
        ((2, STOCK), False),
    ],
)
def test_tables_of_routes(
    frr: FrrSockets,
    daemons: Daemons,
    tmp_path: Path,
    answer: tuple[int, object],
    expected: bool,
) -> None:
    assert not frr.names_lookup_tables
    status, encapsulation = answer
    daemons.manager = status, json.dumps({"parameters": {"encapsulation": encapsulation}})
    assert frr.observe() is not None
    assert frr.names_lookup_tables == expected
    (tmp_path / "bgpd.vty").unlink()
    assert frr.observe() is None
    assert not frr.names_lookup_tables


def test_all_is_sent_and_nothing_twice(frr: FrrSockets, daemons: Daemons) -> None:
    assert frr.apply([Create(b) for b in BLOCKS]) == []
    assert "sid vpn per-vrf export 100" in daemons.bgpd.configuration
    assert daemons.zebra.configuration[-1].startswith("prefix fcbb:0:1::/48")
    assert frr.writes == len(daemons.bgpd.configuration) + len(daemons.zebra.configuration)
    assert frr.apply([]) == []


def test_rejected_block_is_taken_back_and_the_rest_stands(
    frr: FrrSockets, daemons: Daemons
) -> None:
    daemons.reject = {"rd vpn export 65000:20": "Malformed rd"}
    actions: list[Action] = [Create(b) for b in BLOCKS]
    rejected = frr.apply(actions)
    assert {id(r.action) for r in rejected} <= {id(a) for a in actions}
    assert [r.action.object.key for r in rejected] == [
        f"frr bgpd router bgp 65000 vrf watch / address-family {f} unicast"
        for f in ("ipv4", "ipv6")
    ]
    assert "Malformed rd" in rejected[0].message
    assert "rd vpn export 65000:20" in rejected[0].message
    sent = daemons.bgpd.configuration
    tail = sent[len(sent) - 1 - sent[::-1].index("router bgp 65000 vrf watch") :]
    assert "no import vpn" in tail
    assert "router bgp 65000 vrf red" not in tail


def test_what_could_not_be_taken_back_is_in_doubt(frr: FrrSockets, daemons: Daemons) -> None:
    daemons.reject = {"rd vpn export 65000:20": "Malformed rd"}
    creations: list[Action] = [Create(b) for b in BLOCKS]
    assert not any(r.in_doubt for r in frr.apply(creations))
    daemons.keeps = True
    assert all(r.in_doubt for r in frr.apply(creations))


def test_zebra_away_does_not_hold_up_bgpd(frr: FrrSockets, tmp_path: Path) -> None:
    bgpd = VtyServer(tmp_path / "bgpd.vty")
    rejected = frr.apply([Create(b) for b in BLOCKS])
    assert {r.action.object.key.split()[1] for r in rejected} == {"zebra"}
    assert "router bgp 65000" in bgpd.configuration
    bgpd.close()


def test_bgpd_asks_for_its_locator_again_when_another_is_removed(
    frr: FrrSockets, daemons: Daemons
) -> None:
    daemons.running = "router bgp 65000\n !\n segment-routing srv6\n  locator OTHER\n exit\nexit\n"
    locator = next(b for b in BLOCKS if b.context[-1] == "locator MAIN")
    assert frr.apply([Delete(locator)]) == []
    assert daemons.zebra.configuration[-1] == "no locator MAIN"
    assert daemons.bgpd.configuration[-1] == "locator OTHER"


def test_kernel_objects_are_not_for_frr(frr: FrrSockets) -> None:
    from srv6mgrd.kinds.dummy.object import DummyDevice

    with pytest.raises(TypeError, match="kernel adapter"):
        frr.apply([Create(DummyDevice("x"))])
