"""isisd advertises the declared locator to a router that knows nothing of it else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from ipaddress import IPv6Network
from typing import Any

import pytest

from lab.guest.catalogue import STOCK_FRR
from lab.guest.nodes import Node
from lab.waiting import wait_until
from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.adjacencies import Adjacencies
from srv6mgrd.frr.blocks import BFDD, ISISD, MGMTD, STATICD
from srv6mgrd.frr.isis_status import Verdict, status
from srv6mgrd.model.desired import Desired, Locator
from srv6mgrd.model.isis import (
    Authentication,
    Isis,
    IsisInterface,
    LspTimers,
    Overload,
    SpfDelay,
)
from srv6mgrd.model.status import Kind, ObjectRef
from tests.contract.frr.conftest import Pe, declaration
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
    p = Pe(3, node, FrrSockets(node.path("/run/frr")), STOCK_FRR)
    p.start("mgmtd", "zebra", "bgpd", ISISD)
    pes[0].start(ISISD)
    p.ip("-6", "route", "del", "fcbb:0:1::/48")
    yield pes[0], p
    p.ip("-6", "route", "replace", "fcbb:0:1::/48", "via", "2001:db8:1::1")
    pes[0].stop(ISISD)
    p.stop(ISISD, "bgpd", "zebra", "mgmtd")
    for one in (pes[0], p):
        one.node.run(["ip", "-6", "route", "flush", "proto", "isis"], check=False)


def verdict(pe: Pe, wanted: Desired, locator: str = "MAIN") -> Verdict:
    return status(wanted, pe.frr)[ObjectRef(Kind.LOCATOR, locator)]


def becomes(pe: Pe, wanted: Desired, expected: Verdict, locator: str = "MAIN") -> None:
    def is_so() -> bool:
        return verdict(pe, wanted, locator) == expected

    name = f"{pe.node.name}: {expected}"
    wait_until(is_so, name, DEADLINE, seen=lambda: verdict(pe, wanted, locator))


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
        becomes(pe, wanted, (True, ""))
        wait_until(partial(learned, pe, theirs), f"{theirs} at {pe.node.name}", DEADLINE)
        assert pe.plan(wanted) == []
    (interface,) = Adjacencies().of_isis(EDGE, edge.frr)["interface"]
    (met,) = interface["adjacency"]
    assert (interface["name"], met["level"], met["state"]) == ("to-p", 2, "up")
    assert met["neighbor"]


def with_isis(**options: Any) -> Desired:
    assert EDGE.isis is not None
    return replace(EDGE, isis=replace(EDGE.isis, **options))


def with_interface(**options: Any) -> Desired:
    return with_isis(interfaces=(IsisInterface("to-p", **options),))


KEY = "s3cr!t#$%&'()*+,-./:;<=>?@[]^_`{}~\"\\"
SPOKEN = (
    *(
        with_isis(**options)
        for options in (
            {"timers": LspTimers(1, 2, 350)},
            {"timers": LspTimers(120, 65235, 65535)},
            {"timers": LspTimers(30, 900, 1200)},
            {"spf_delay": SpfDelay(0, 0, 0, 1, 0)},
            {"spf_delay": SpfDelay(60000, 60000, 60000, 60000, 59999)},
            {"overload": Overload(status=True)},
            {"overload": Overload(on_startup=86400)},
            {"overload": Overload(status=True, on_startup=1)},
            {"domain_authentication": Authentication(KEY, "md5", "validate")},
            {"domain_authentication": Authentication("!other", "clear", "send-only")},
            {"domain_authentication": Authentication("k" * 254)},
            {"level": "level-1", "area_authentication": Authentication(KEY, "clear", "validate")},
            {"level": "level-1", "area_authentication": Authentication("#other")},
            {
                "level": "level-1-2",
                "area_authentication": Authentication("one"),
                "domain_authentication": Authentication("two", "clear"),
            },
        )
    ),
    *(
        with_interface(**options)
        for options in (
            {"hello_interval": 1, "hello_multiplier": 2},
            {"hello_interval": 600, "hello_multiplier": 100},
            {"hello_multiplier": 10},
            {"authentication": Authentication(KEY)},
            {"authentication": Authentication("!other", "clear")},
            {"authentication": Authentication("k" * 254)},
            {"bfd": True},
            {"bfd": True, "point_to_point": True, "metric": 16777215},
            {},
        )
    ),
    EDGE,
)


def test_all_that_is_declared_reads_back_as_written(routers: tuple[Pe, Pe]) -> None:
    """Each after the one before, so that all that one says is taken back by the next."""
    edge, _ = routers
    edge.start(BFDD)
    try:
        for wanted in SPOKEN:
            assert edge.push(wanted) == [], wanted.isis
            assert edge.plan(wanted) == [], wanted.isis
        assert edge.push(replace(EDGE, isis=None)) == []
        assert not any(of_isisd(edge).values())
    finally:
        edge.stop(BFDD)


def test_what_the_locator_waits_for_is_reported(routers: tuple[Pe, Pe]) -> None:
    edge, _ = routers
    assert edge.push(EDGE) == []
    becomes(edge, EDGE, (False, "no IS-IS neighbor at to-p"))

    edge.stop(ISISD)
    assert "isisd can't be reached" in verdict(edge, EDGE)[1]
    # Without it the rest of FRR is as ever, and what it should have is rejected by name.
    assert {a.object.key.split()[1] for a in edge.plan(EDGE)} == {ISISD}
    rejected = edge.push(EDGE)
    assert {"start frr and see that the daemon is enabled" in r.message for r in rejected} == {True}
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


def said(wanted: Desired, **options: Any) -> Desired:
    """With this said of IS-IS, or of the interface between both."""
    assert wanted.isis is not None
    of_interface = {k: options.pop(k) for k in ("authentication", "bfd") if k in options}
    interfaces = tuple(
        i if i.passive else replace(i, **of_interface) for i in wanted.isis.interfaces
    )
    return replace(wanted, isis=replace(wanted.isis, interfaces=interfaces, **options))


def of_both(routers: tuple[Pe, Pe], **options: Any) -> Desired:
    """Said by both; what the edge declares."""
    for pe, wanted in zip(routers, (EDGE, CORE), strict=True):
        assert pe.push(said(wanted, **options)) == []
    return said(EDGE, **options)


def test_neighbors_that_share_passwords_and_nobody_else(routers: tuple[Pe, Pe]) -> None:
    edge, core = routers
    of_both(routers)
    becomes(edge, EDGE, (True, ""))
    key = {
        "authentication": Authentication("link"),
        "domain_authentication": Authentication("domain", "md5", "validate"),
    }
    wanted, other = said(EDGE, **key), said(CORE, **key)

    assert edge.push(wanted) == []
    becomes(edge, wanted, (False, "no IS-IS neighbor at to-p"))
    assert core.push(other) == []

    becomes(edge, wanted, (True, ""))
    becomes(core, other, (True, ""))
    wait_until(partial(learned, core, "fcbb:0:1::/48"), "the locator at p", DEADLINE)


def test_bfd_finds_a_silent_neighbor(routers: tuple[Pe, Pe]) -> None:
    edge, core = routers
    for pe in routers:
        pe.start(BFDD)
    try:
        wanted = of_both(routers, bfd=True)
        becomes(edge, wanted, (True, ""))
        wait_until(partial(learned, core, "fcbb:0:1::/48"), "the locator at p", DEADLINE)
        edge.stop(BFDD, ISISD)
        # Of hellos alone it would take 9 s.
        wait_until(lambda: not learned(core, "fcbb:0:1::/48"), "a neighbor that is gone", 6)
    finally:
        for pe in routers:
            pe.stop(BFDD)


def test_the_overload_bit_at_start_up(routers: tuple[Pe, Pe]) -> None:
    edge, core = routers
    message = "other routers send nothing through this one, which has the overload bit"

    wanted = of_both(routers, overload=Overload(on_startup=12))

    becomes(edge, wanted, (True, message))
    # What is for it arrives nevertheless.
    wait_until(partial(learned, core, "fcbb:0:1::/48"), "the locator at p", DEADLINE)
    becomes(edge, wanted, (True, ""))
    assert edge.push(with_isis(overload=Overload(status=True))) == []
    becomes(edge, wanted, (True, message))
    assert edge.push(EDGE) == []
    becomes(edge, wanted, (True, ""))


SHARED = Locator("SHARED", IPv6Network("fcbb:0:9::/48"))


def test_a_further_locator(routers: tuple[Pe, Pe]) -> None:
    """The other router gets a route; the VRF exports from this or from that locator."""
    edge, core = routers
    edge.start(STATICD)
    try:
        of_both(routers)
        wanted = with_isis(additional_locators=("SHARED",))
        wanted = replace(wanted, locators={**EDGE.locators, "SHARED": SHARED})

        assert edge.push(wanted) == []

        assert edge.plan(wanted) == []
        becomes(edge, wanted, (True, ""))
        becomes(edge, wanted, (True, ""), "SHARED")
        wait_until(partial(learned, core, "fcbb:0:9::/48"), "the further locator at p", DEADLINE)

        assert wanted.isis is not None
        swapped = replace(
            wanted, isis=replace(wanted.isis, locator="SHARED", additional_locators=("MAIN",))
        )
        assert edge.push(swapped) == []
        assert edge.plan(swapped) == []
        becomes(edge, swapped, (True, ""))
        becomes(edge, swapped, (True, ""), "SHARED")
        wait_until(partial(learned, core, "fcbb:0:1::/48"), "the other locator at p", DEADLINE)

        assert edge.push(EDGE) == []
        assert edge.plan(EDGE) == []
        gone = "the end of the further locator at p"
        wait_until(lambda: not learned(core, "fcbb:0:9::/48"), gone, DEADLINE)
        assert "fcbb:0:9::/48" not in edge.frr.show(MGMTD, "show running-config")
    finally:
        edge.stop(STATICD)
