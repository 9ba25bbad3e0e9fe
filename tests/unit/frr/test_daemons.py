"""Daemons whose absence rejects a block."""

from __future__ import annotations

import pytest

from srv6mgrd.frr.blocks import BFDD, BGPD, ISISD, MGMTD, OSPFD, STATICD, block
from srv6mgrd.frr.daemons import absent
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.plan.actions import Create, Replace

BFD = ("bfdd does not run, which BFD needs", "set bfdd=yes in /etc/frr/daemons and restart FRR")
PEER = "neighbor 10.1.0.10 remote-as 65100"
BGP_BFD = ("bfdd does not run, which BFD of neighbor 10.1.0.10 needs", BFD[1])
SESSION = block(BGPD, ("router bgp 65000 vrf red",), (PEER, "neighbor 10.1.0.10 bfd"))
UNWATCHED = block(BGPD, ("router bgp 65000 vrf red",), (PEER,))
CIRCUIT = block(ISISD, ("interface to-p",), ("ipv6 router isis srv6", "isis bfd"))
AREA = block(OSPFD, ("interface to-ce-red",), ("ip ospf area 0.0.0.0", "ip ospf bfd"))
ROUTE = block(MGMTD, ("vrf red",), ("ip route 10.9.0.0/24 10.1.0.10 bfd",))


def lacking(*stopped: str) -> Runs:
    return Runs(stopped)


class Runs:
    def __init__(self, stopped: tuple[str, ...]) -> None:
        self._stopped = stopped

    def __call__(self, daemon: str) -> bool:
        return daemon not in self._stopped


@pytest.mark.parametrize(
    ("wanted", "why"), [(SESSION, BGP_BFD), (CIRCUIT, BFD), (AREA, BFD), (ROUTE, BFD)]
)
def test_a_commit_of_bfd_needs_bfdd(wanted: FrrBlock, why: tuple[str, str]) -> None:
    action = Create(wanted)
    assert absent(action, lacking(BFDD), atomic=True) == why
    assert absent(action, lacking(), atomic=True) is None


def test_a_repair_brings_the_sessions_of_a_tenant_back_without_bfdd() -> None:
    assert absent(Create(SESSION), lacking(BFDD), atomic=False) is None
    assert absent(Create(ROUTE), lacking(BFDD), atomic=False) == BFD


def test_what_is_there_already_does_not_reject_another_change() -> None:
    changed = block(BGPD, SESSION.context, (*SESSION.lines, "neighbor 10.1.0.11 remote-as 65100"))
    assert absent(Replace(SESSION, changed), lacking(BFDD), atomic=True) is None
    assert absent(Replace(UNWATCHED, SESSION), lacking(BFDD), atomic=True) == BGP_BFD
    assert absent(Replace(SESSION, UNWATCHED), lacking(BFDD), atomic=True) is None


def test_other_daemons() -> None:
    message, remedy = absent(Create(AREA), lacking(OSPFD), atomic=False) or ("", "")
    assert message == "ospfd does not run"
    assert "ospfd=yes" in remedy
    message, _ = absent(Create(ROUTE), lacking(STATICD), atomic=False) or ("", "")
    assert message == "staticd does not run"
