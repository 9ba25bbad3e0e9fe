"""State of BGP sessions, as real daemons have it: it comes up, and says why it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lab.waiting import wait_until
from srv6mgrd.frr.blocks import BFDD, BGPD
from srv6mgrd.frr.state import FrrState
from srv6mgrd.model.bgp import Neighbor, PeerKind
from srv6mgrd.model.desired import Desired
from tests.contract.frr.conftest import Pe, declaration
from tests.contract.frr.test_neighbors import customer, with_customer
from tests.contract.frr.test_vpn import Pes, push

pytestmark = pytest.mark.contract

__all__ = ["customer"]

LINK = Neighbor("to-ce-red", 65100, kind=PeerKind.UNNUMBERED, bfd=True)
SITES = Neighbor("sites", 65100, kind=PeerKind.DYNAMIC, prefixes=("10.1.0.0/24",))
NOBODY = Neighbor("10.1.0.77", 65177)
SPEAKS = (
    "configure terminal", "router bgp 65100", "bgp router-id 192.0.2.1",
    "no bgp ebgp-requires-policy", "no bgp network import-check",
    "neighbor eth0 interface remote-as 65000", "neighbor eth0 bfd",
    "neighbor 10.1.0.1 remote-as 65000",
    "address-family ipv4 unicast", "network 192.0.2.0/24", "exit-address-family",
    "address-family ipv6 unicast", "neighbor eth0 activate", "exit-address-family", "end",
)  # fmt: skip

State = dict[str, Any]


@pytest.fixture
def watched(pes: Pes, customer: Pe) -> Iterator[Pe]:
    """The customer's router, with bfdd here and there."""
    for pe in (pes[0], customer):
        pe.start(BFDD)
    yield customer
    for pe in (pes[0], customer):
        pe.stop(BFDD)


def of_red(observed: dict[str, Any]) -> dict[str, State]:
    """State by neighbor of VRF red."""
    found: dict[str, State] = {}
    for vrf in observed.get("vrfs", {}).get("vrf", ()):
        bgp = vrf["srv6mgr-bgp:bgp"]
        groups = (n for g in bgp.get("peer-group", ()) for n in g["dynamic-neighbor"])
        listed = (*bgp.get("neighbor", ()), *bgp.get("unnumbered-neighbor", ()), *groups)
        found |= {n.get("address") or n["interface"]: n["state"] for n in listed}
    return found


def becomes(state: FrrState, wanted: Desired, name: str, holds: Callable[[State], object]) -> State:
    """Ask until the state of a neighbor of red is so."""

    def ask() -> State:
        state.ask(wanted)
        return of_red(state.observed).get(name, {})

    wait_until(lambda: holds(ask()), f"the state of {name}", 60.0, seen=ask)
    return ask()


def prefixes(state: State) -> dict[str, tuple[int, int]]:
    return {
        e["name"]: (e["prefixes"]["accepted"], e["prefixes"]["advertised"])
        for e in state.get("afi-safi", ())
    }


def test_sessions_with_customers(pes: Pes, watched: Pe) -> None:
    one = pes[0]
    wanted = with_customer(declaration(1, "red"), LINK, SITES, NOBODY)
    assert one.push(wanted) == []
    state = FrrState(one.frr)
    silent = becomes(state, wanted, "10.1.0.77", lambda s: s.get("last-reset-reason"))
    assert silent["session-state"] in ("connect", "active", "idle")
    assert "last-change" not in silent
    watched.operator(BGPD, *SPEAKS)

    def is_whole(s: State) -> bool:
        return s.get("bfd-state") == "up" and prefixes(s).get("ipv4-unicast", (0, 0))[0] == 1

    link = becomes(state, wanted, "to-ce-red", is_whole)
    assert link["session-state"] == "established"
    assert set(prefixes(link)) == {"ipv4-unicast", "ipv6-unicast"}
    assert "last-reset-reason" not in link
    site = becomes(state, wanted, "10.1.0.10", lambda s: s.get("session-state") == "established")
    assert "bfd-state" not in site
    again = becomes(state, wanted, "to-ce-red", lambda s: s)
    assert again["last-change"] == link["last-change"]

    watched.operator(BGPD, "clear bgp eth0")
    flapped = becomes(
        state,
        wanted,
        "to-ce-red",
        lambda s: s.get("established-transitions", 0) > 1 and s["session-state"] == "established",
    )
    assert "Notification" in flapped["last-reset-reason"] or "Peer" in flapped["last-reset-reason"]

    watched.operator(BGPD, "configure terminal", "router bgp 65100", "neighbor eth0 shutdown")
    down = becomes(state, wanted, "to-ce-red", lambda s: s.get("session-state") != "established")
    assert "Cease/Administrative Shutdown" in down["last-reset-reason"]
    assert down["last-change"] > link["last-change"]
    assert "afi-safi" not in down


def test_the_session_with_the_other_edge(pes: Pes) -> None:
    push(pes, "red")
    one, two = pes
    wanted, state = declaration(1, "red"), FrrState(one.frr)

    def ask() -> State:
        state.ask(wanted)
        listed = state.observed.get("srv6mgr-bgp:bgp", {}).get("neighbor", [])
        return next((n["state"] for n in listed if n["address"] == "2001:db8::2"), {})

    wait_until(lambda: set(prefixes(ask())) == {"ipv4-vpn", "ipv6-vpn"}, "session", 60, seen=ask)
    two.stop(BGPD)
    wait_until(lambda: ask().get("session-state") != "established", "its end", 60, seen=ask)
    assert ask()["last-reset-reason"]
    two.start(BGPD)
    wait_until(lambda: two.push(declaration(2, "red")) == [], "bgpd", 30)
    wait_until(lambda: ask().get("established-transitions") == 2, "another session", 60, seen=ask)


def test_without_bgpd_nothing_is_known_and_without_bfdd_it_says_so(pes: Pes) -> None:
    one = pes[0]
    wanted = with_customer(declaration(1, "red"), LINK)
    assert one.push(wanted) == []
    state = FrrState(one.frr)
    found = becomes(state, wanted, "to-ce-red", lambda s: s)
    assert "bfd-state" not in found
    (reason,) = {why for ref, (_, why) in state.ask(wanted).items() if ref.name == "red"}
    assert reason
    one.stop(BGPD)
    state.ask(wanted)
    assert state.observed == {}
    one.start(BGPD)
