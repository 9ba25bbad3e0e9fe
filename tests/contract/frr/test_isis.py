"""isisd advertises the declared locator to a router that knows nothing of it else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from ipaddress import IPv6Network

import pytest

from lab.guest.nodes import Node, wait_until
from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.blocks import ISISD
from srv6mgrd.frr.isis import unadvertised
from srv6mgrd.model.desired import Desired, Isis, IsisInterface, Locator
from tests.contract.frr.conftest import STOCK, Pe, declaration
from tests.contract.frr.test_vpn import Pes

pytestmark = pytest.mark.contract

DEADLINE = 40.0


def speaking(number: int, *interfaces: str) -> Isis:
    """The IS-IS of a node of the lab."""
    core = (IsisInterface(name, point_to_point=True, metric=20) for name in interfaces)
    both = (IsisInterface("lo", passive=True), *core)
    return Isis("49.0001", f"0000.0000.000{number}", "MAIN", interfaces=both)


EDGE = replace(declaration(1, "red"), isis=speaking(1, "to-p"))
CORE = Desired(
    locators={"MAIN": Locator("MAIN", IPv6Network("fcbb:0:3::/48"))}, isis=speaking(3, "to-pe1")
)


@pytest.fixture
def routers(pes: Pes) -> Iterator[tuple[Pe, Pe]]:
    """PE 1 and P, with isisd; P has no other route to the locator of PE 1."""
    node = Node("p")
    p = Pe(3, node, FrrSockets(node.path("/run/frr")), STOCK)
    p.start("mgmtd", "zebra", "bgpd", ISISD)
    pes[0].start(ISISD)
    p.ip("-6", "route", "del", "fcbb:0:1::/48")
    yield pes[0], p
    p.ip("-6", "route", "replace", "fcbb:0:1::/48", "via", "2001:db8:1::1")
    pes[0].stop(ISISD)
    p.stop(ISISD, "bgpd", "zebra", "mgmtd")
    for one in (pes[0], p):
        one.node.run(["ip", "-6", "route", "flush", "proto", "isis"], check=False)


def learned(pe: Pe, prefix: str) -> bool:
    return prefix in pe.ip("-6", "route", "show", "proto", "isis")


def of_isisd(pe: Pe) -> dict[str, tuple[str, ...]]:
    observed = pe.frr.observe()
    assert observed is not None
    return {key: block.lines for key, block in observed.items() if block.daemon == ISISD}


def test_a_locator_reaches_the_next_router(routers: tuple[Pe, Pe]) -> None:
    edge, core = routers
    assert edge.push(EDGE) == []
    assert core.push(CORE) == []

    for pe, wanted, theirs in ((edge, EDGE, "fcbb:0:3::/48"), (core, CORE, "fcbb:0:1::/48")):
        told = partial(unadvertised, wanted, pe.frr)
        wait_until(lambda told=told: told() == "", f"IS-IS of {pe.node.name}", DEADLINE)
        wait_until(partial(learned, pe, theirs), f"{theirs} at {pe.node.name}", DEADLINE)
        assert pe.plan(wanted) == []


def test_what_the_locator_waits_for_is_told(routers: tuple[Pe, Pe]) -> None:
    edge, _ = routers
    assert edge.push(EDGE) == []
    words = "no IS-IS neighbor at to-p"

    wait_until(lambda: unadvertised(EDGE, edge.frr) == words, words, DEADLINE)

    edge.stop(ISISD)
    assert "isisd can't be reached" in unadvertised(EDGE, edge.frr)
    # Without it the rest of FRR is as ever, and what it should have is refused by name.
    assert {a.object.key.split()[1] for a in edge.plan(EDGE)} == {ISISD}
    refused = edge.push(EDGE)
    assert {"start frr and see that the daemon is enabled" in r.words for r in refused} == {True}
    edge.start(ISISD)
    wait_until(lambda: edge.push(EDGE) == [], "isisd", DEADLINE)
    assert edge.plan(EDGE) == []


def test_changed_and_removed_beside_lines_of_the_operator(routers: tuple[Pe, Pe]) -> None:
    edge, _ = routers
    assert edge.push(EDGE) == []
    other = Isis("49.0002", "0000.0000.0009", "MAIN", "level-1-2", (IsisInterface("to-p"),))
    assert edge.push(replace(EDGE, isis=other)) == []
    assert edge.plan(replace(EDGE, isis=other)) == []

    mine = ("configure terminal", "router isis srv6mgr", "lsp-mtu 1400", "end")
    edge.operator(ISISD, *mine)
    assert edge.push(replace(EDGE, isis=None)) == []
    left = {key: lines for key, lines in of_isisd(edge).items() if lines}
    assert left == {"frr isisd router isis srv6mgr": ("lsp-mtu 1400",)}
