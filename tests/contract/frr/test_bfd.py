"""BFD beside BGP sessions: it comes and goes, and the sessions come up again."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from lab.waiting import wait_until
from srv6mgrd.frr.blocks import BGPD
from srv6mgrd.frr.status import sessions
from tests.contract.frr.conftest import Pe, declaration
from tests.contract.frr.test_neighbors import with_peer
from tests.contract.frr.test_vpn import Pes, push, up

pytestmark = pytest.mark.contract


@pytest.fixture
def with_bfdd(pes: Pes) -> Iterator[Pes]:
    for pe in pes:
        pe.start("bfdd")
    yield pes
    for pe in pes:
        pe.stop("bfdd")


def bfd_is_up(pe: Pe) -> bool:
    shown = json.loads(pe.frr.show("bfdd", "show bfd peers json"))
    return [peer["status"] for peer in shown] == ["up"]


def states(pe: Pe) -> list[str]:
    return list(sessions(pe.frr).values())


def test_bfd_goes_at_both_ends(with_bfdd: Pes) -> None:
    """bgpd of the second one has ended the session when BFD went down, and does not begin again
    while it is; nor did it when BFD was taken off, until the first one tried again."""
    one, two = pes = with_bfdd
    push(pes, "red")
    for pe in pes:
        assert pe.push(with_peer(declaration(pe.number, "red"), bfd=True)) == []
    for pe in pes:
        wait_until(lambda pe=pe: bfd_is_up(pe), "BFD", 60)
    up(pes, "red")
    one.operator(BGPD, "configure terminal", "debug bgp neighbor-events")
    assert one.push(declaration(1, "red")) == []
    wait_until(lambda: (states(one), states(two)) == (["Active"], ["Idle"]), "a try in vain", 30)
    assert two.push(declaration(2, "red")) == []
    started = times_tried(one)
    wait_until(lambda: states(one) == states(two) == ["Established"], "the session", 30)
    # It is not the first one's try that has come up.
    assert times_tried(one) == started
    up(pes, "red")


def test_a_commit_needs_bfdd_and_a_repair_goes_on_without(pes: Pes) -> None:
    one = pes[0]
    assert one.push(declaration(1, "red")) == []
    watched = with_peer(declaration(1, "red"), bfd=True)

    (rejected,) = one.frr.apply(one.plan(watched), atomic=True)

    assert rejected.message == "bfdd does not run, which BFD of neighbor 2001:db8::2 needs"
    assert rejected.remedy == "set bfdd=yes in /etc/frr/daemons and restart FRR"
    assert one.plan(declaration(1, "red")) == []
    assert one.push(watched) == []


def times_tried(pe: Pe) -> int:
    """How often it has opened a connection to its neighbor."""
    return pe.node.read_file("/tmp/bgpd.log").count("[Event] Connect start to")
