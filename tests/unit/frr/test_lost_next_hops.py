"""Sessions whose next hop went with an address."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import IPv6Address
from typing import Any

import pytest

from srv6mgrd.frr.lost_next_hops import LostNextHops, lost
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.kernel.new_addresses import ipv6_addresses
from srv6mgrd.model.bgp import Neighbor, PeerKind
from srv6mgrd.model.desired import Desired
from tests.builders import desired, locator, small_vpn, speaker, vpn, vrf

LOCAL = IPv6Address("2001:db8::1")
PEER = "2001:db8::2"


def entry(**changed: Any) -> dict[str, Any]:
    """As bgpd 10.3 shows a neighbor after its address was removed and added."""
    return {
        "bgpState": "Established",
        "hostLocal": str(LOCAL),
        "nexthop": "192.0.2.1",
        "nexthopGlobal": "::ffff:192.0.2.1",
        **changed,
    }


class Frr:
    def __init__(self, shown: dict[str, dict[str, Any]]) -> None:
        self.shown, self.ran = shown, list[str]()

    def show(self, daemon: str, command: str) -> str:
        if command not in self.shown:
            raise VtyError(111, f"unexpected: {command}")
        return json.dumps(self.shown[command])

    def run(self, daemon: str, commands: list[str]) -> list[Any]:
        self.ran += commands[1:]
        return []


def test_an_address_that_came_back() -> None:
    assert lost({PEER: entry()}, {LOCAL}) == [PEER]
    assert lost({PEER: entry(nexthopGlobal="::")}, {LOCAL}) == [PEER]


@pytest.mark.parametrize(
    "changed",
    [
        {"nexthopGlobal": str(LOCAL)},
        {"bgpState": "Active"},
        # IPv4, and unnumbered.
        {"hostLocal": "192.0.2.1"},
        {"hostLocal": "fe80::1", "nexthopGlobal": "2001:db8::1"},
        # Not yet back: a reset would end the session for good.
        {"hostLocal": "2001:db8::7"},
        {"nexthopGlobal": None},
        {"hostLocal": None},
    ],
)
def test_sessions_that_are_left_alone(changed: dict[str, Any]) -> None:
    assert lost({PEER: entry(**changed)}, {LOCAL, IPv6Address("fe80::1")}) == []


def looked(interfaces: set[str], state: Desired, shown: dict[str, dict[str, Any]]) -> list[str]:
    frr = Frr(shown)
    LostNextHops(frr, lambda: state, lambda: {LOCAL}).look(interfaces)
    return frr.ran


def test_the_session_is_reset_once() -> None:
    state = desired(locator(), speaker(PEER, "2001:db8::3"))
    shown = {"show bgp neighbors json": {PEER: entry(), "2001:db8::3": entry(bgpState="Idle")}}
    assert looked({"lo"}, state, shown) == [f"clear bgp {PEER}"]


def test_neighbors_of_an_operator_are_left_alone() -> None:
    shown = {"show bgp neighbors json": {PEER: entry()}}
    assert looked({"lo"}, small_vpn("eth1"), shown) == []


def test_neighbors_that_connect_from_a_declared_prefix() -> None:
    group = Neighbor("edges", 65000, kind=PeerKind.DYNAMIC, prefixes=("2001:db8::/64",))
    state = replace(small_vpn("eth1"), bgp=replace(speaker("fcbb:0:2::1"), neighbors=(group,)))
    shown = {"show bgp neighbors json": {PEER: entry(), "2001:db9::3": entry()}}
    assert looked({"lo"}, state, shown) == [f"clear bgp {PEER}"]


def test_an_address_of_a_customer_interface() -> None:
    bgp = replace(vpn(), neighbors=(Neighbor(PEER, 65001),))
    state = desired(locator(), vrf("red", 10, "eth1", bgp=bgp), speaker("fcbb:0:2::1"))
    shown = {"show bgp vrf red neighbors json": {PEER: entry()}}
    assert looked({"eth1"}, state, shown) == [f"clear bgp vrf red {PEER}"]


def test_without_bgp_nothing_is_asked() -> None:
    assert looked({"lo"}, Desired(), {}) == []


def test_a_daemon_that_is_gone_is_no_failure() -> None:
    assert looked({"lo"}, small_vpn("eth1"), {}) == []


def test_addresses_of_the_router(tmp_path: Any) -> None:
    file = tmp_path / "if_inet6"
    file.write_text("20010db8000000000000000000000001 01 80 00 80       lo\n")
    assert ipv6_addresses(file) == {LOCAL}
    assert ipv6_addresses(tmp_path / "none") == set()
    assert IPv6Address("::1") in ipv6_addresses()
