"""What bgpd reports of the parts of VPN services."""

from __future__ import annotations

import pytest

from lab.waiting import wait_until
from srv6mgrd.frr.blocks import BGPD
from srv6mgrd.frr.json_shows import Remembered
from srv6mgrd.frr.service_evidence import bgp_evidence
from srv6mgrd.service_state.evidence import SPEAKER, BgpEvidence, UnresolvedNextHop
from tests.contract.frr.conftest import Pe, declaration
from tests.contract.frr.test_vpn import DEADLINE, arrive, push, up

pytestmark = pytest.mark.contract

Pes = tuple[Pe, Pe]
SESSION = SPEAKER, "2001:db8::2"
BOTH = {"red": 2, "blue": 2}


def evidence(pe: Pe) -> BgpEvidence:
    return bgp_evidence(declaration(pe.number, "red", "blue"), Remembered(pe.frr))


def vpn(pes: Pes) -> None:
    """Each PE has the routes of the other one."""
    push(pes, "red", "blue")
    up(pes, "red", "blue")
    one, _ = pes
    for table, function in ((10, "64"), (20, "65")):
        for family, prefix in (("-4", "10.2.0.0/24"), ("-6", "fd00:2::/64")):
            arrive(one, family, table, prefix, f"fcbb:0:2:{function}::")


def test_a_session_that_ends_and_is_shut_down(pes: Pes) -> None:
    vpn(pes)
    one, two = pes
    found = evidence(one)
    assert found.sessions[SESSION].is_established
    assert (found.problem, found.exports, found.unresolved) == ("", {"red": "", "blue": ""}, ())

    def is_down() -> bool:
        return not evidence(one).sessions[SESSION].is_established

    speaker = ("enable", "configure terminal", "router bgp 65000")
    two.operator(BGPD, *speaker, "neighbor 2001:db8::1 shutdown")
    wait_until(is_down, "the session is down", DEADLINE)
    assert evidence(one).sessions[SESSION].was_established
    two.operator(BGPD, *speaker, "no neighbor 2001:db8::1 shutdown")
    wait_until(lambda: not is_down(), "the session is up", DEADLINE)
    # bgpd has no JSON of failed sessions then; the others are known all the same.
    one.operator(BGPD, *speaker, "neighbor 2001:db8::2 shutdown")
    wait_until(is_down, "the session is down", DEADLINE)
    found = evidence(one)
    assert (found.problem, found.sessions[SESSION].state) == ("", "Idle (Admin)")


def test_the_underlay_loses_the_other_locator(pes: Pes) -> None:
    """bgpd resolves the SID in place of the next hop."""
    vpn(pes)
    one, _ = pes
    one.ip("-6", "route", "del", "fcbb:0:2::/48")
    try:
        wait_until(lambda: len(evidence(one).unresolved) == 2, "both SIDs", DEADLINE,
                   seen=lambda: evidence(one))  # fmt: skip
        assert evidence(one).unresolved == (
            UnresolvedNextHop("fcbb:0:2:64::", {"red": 2}),
            UnresolvedNextHop("fcbb:0:2:65::", {"blue": 2}),
        )
    finally:
        one.ip("-6", "route", "replace", "fcbb:0:2::/48", "via", "2001:db8:1::2")


def test_the_other_edge_loses_the_address_of_its_sessions(pes: Pes) -> None:
    """Its routes then come with an IPv4-mapped next hop, which bgpd shows as IPv4."""
    vpn(pes)
    one, two = pes
    two.ip("address", "del", "2001:db8::2/128", "dev", "lo")
    try:
        wait_until(lambda: [(hop.address, hop.routes) for hop in evidence(one).unresolved]
                   == [("10.0.0.2", BOTH)], "an unresolved next hop of all routes", DEADLINE,
                   seen=lambda: evidence(one))  # fmt: skip
    finally:
        two.ip("address", "add", "2001:db8::2/128", "dev", "lo")
