"""Static routes of VRFs in FRR's staticd, through mgmtd."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from ipaddress import ip_address, ip_network

import pytest

from lab.waiting import wait_until
from srv6mgrd.frr.blocks import BFDD, MGMTD, STATICD
from srv6mgrd.frr.lost_routes import LostRoutes
from srv6mgrd.frr.mgmtd import configure
from srv6mgrd.frr.static_routes import Verdict, status
from srv6mgrd.frr.vty import Sessions, instance
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.static_routes import NextHop, SpecialNextHop, StaticRoute
from srv6mgrd.model.status import Kind, ObjectRef
from tests.contract.frr.conftest import Pe, declaration
from tests.contract.frr.test_vpn import Pes

pytestmark = pytest.mark.contract

BASE = declaration(1, "red", "blue")
BLACKHOLE = NextHop(1, special=SpecialNextHop.BLACKHOLE)
CE = NextHop(1, ip_address("10.1.0.10"))


def route(prefix: str, *hops: NextHop, vrf: str = "red", tag: int | None = None) -> StaticRoute:
    return StaticRoute(vrf, ip_network(prefix), hops, tag)


def having(*routes: StaticRoute, base: Desired = BASE) -> Desired:
    return replace(base, static_routes={r.name: r for r in routes})


ALL = (
    route("10.9.0.0/24", CE, tag=7),
    route("10.9.1.0/24", replace(CE, interface="to-ce-red", preference=20)),
    route("10.9.2.0/24", NextHop(1, interface="to-ce-red")),
    route("10.9.3.0/24", BLACKHOLE, tag=4294967295),
    route("10.9.4.0/24", NextHop(1, special=SpecialNextHop.UNREACHABLE)),
    route("10.9.5.0/24", CE, replace(BLACKHOLE, index=2, preference=254)),
    route("10.9.6.0/24", CE, NextHop(2, ip_address("10.1.0.11"))),
    route("fd09::/64", NextHop(1, ip_address("fd00:1::10")), tag=9),
    route("fd09:1::/64", NextHop(1, ip_address("fe80::10"), "to-ce-red")),
    route("::ffff:192.0.2.0/124", NextHop(1, ip_address("fd00:1::10"))),
    route("::/0", BLACKHOLE),
    route("10.9.0.0/24", CE, vrf="blue"),
)


@pytest.fixture
def pe(pes: Pes) -> Iterator[Pe]:
    """PE 1 with staticd."""
    pe1, _ = pes
    pe1.start(STATICD)
    yield pe1
    pe1.stop(STATICD)
    for family in ("-4", "-6"):
        pe1.node.run(["ip", family, "route", "flush", "proto", "static", "table", "all"])


def verdict(pe: Pe, desired: Desired, name: str) -> Verdict:
    return status(desired, pe.frr)[ObjectRef(Kind.STATIC_ROUTE, name)]


def becomes(pe: Pe, desired: Desired, name: str, wanted: Verdict) -> None:
    def is_so() -> bool:
        return verdict(pe, desired, name) == wanted

    wait_until(is_so, f"{name}: {wanted}", 30.0, seen=lambda: verdict(pe, desired, name))


def all_forward(pe: Pe, desired: Desired) -> None:
    def forward() -> bool:
        return set(status(desired, pe.frr).values()) == {(True, "")}

    wait_until(forward, "all static routes", 30.0, seen=lambda: status(desired, pe.frr))


def in_kernel(pe: Pe, vrf: str = "red") -> str:
    return pe.ip("route", "show", "vrf", vrf) + pe.ip("-6", "route", "show", "vrf", vrf)


def of_mgmtd(pe: Pe) -> dict[str, tuple[str, ...]]:
    observed = pe.frr.observe()
    assert observed is not None
    return {b.part: b.lines for b in observed.values() if b.daemon == MGMTD and b.part}


def test_routes_of_all_kinds_come_and_go(pe: Pe) -> None:
    wanted = having(*ALL)

    assert pe.push(wanted) == []

    # What FRR prints is what was written.
    assert pe.plan(wanted) == []
    all_forward(pe, wanted)
    kernel = in_kernel(pe)
    assert "10.9.0.0/24 nhid" in kernel
    assert "blackhole 10.9.3.0/24" in kernel
    assert "unreachable 10.9.4.0/24" in kernel
    assert pe.push(BASE) == []
    assert of_mgmtd(pe) == {}
    assert "10.9." not in in_kernel(pe)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (route("10.9.0.0/24", CE, tag=7), route("10.9.0.0/24", CE, tag=8)),
        (route("10.9.0.0/24", CE, tag=7), route("10.9.0.0/24", CE)),
        (route("10.9.0.0/24", CE), route("10.9.0.0/24", replace(CE, preference=9))),
        (route("10.9.0.0/24", CE), route("10.9.0.0/24", BLACKHOLE)),
        (route("10.9.0.0/24", BLACKHOLE), route("10.9.0.0/24", CE)),
        (
            route("10.9.0.0/24", CE, replace(BLACKHOLE, index=2, preference=9)),
            route("10.9.0.0/24", CE),
        ),
    ],
    ids=["tag", "no tag", "preference", "to a blackhole", "from a blackhole", "fewer"],
)
def test_a_route_is_changed(pe: Pe, before: StaticRoute, after: StaticRoute) -> None:
    assert pe.push(having(before)) == []

    assert pe.push(having(after)) == []

    assert pe.plan(having(after)) == []
    all_forward(pe, having(after))


def test_what_an_operator_changes_is_put_back_and_his_own_stays(pe: Pe) -> None:
    ours = having(route("10.9.0.0/24", CE, tag=7), route("10.9.1.0/24", CE))
    assert pe.push(ours) == []

    typed(pe, "no ip route 10.9.0.0/24 10.1.0.10 tag 7 vrf red")
    typed(pe, "ip route 10.8.0.0/24 10.1.0.10 vrf red", "ip route 10.9.1.0/24 10.1.0.11 vrf red")

    assert [a.object.key for a in pe.plan(ours)] == ["frr mgmtd vrf red / ip route 10.9.0.0/24"]
    assert pe.push(ours) == []
    assert pe.push(BASE) == []
    assert of_mgmtd(pe) == {
        "ip route 10.8.0.0/24": ("ip route 10.8.0.0/24 10.1.0.10",),
        "ip route 10.9.1.0/24": ("ip route 10.9.1.0/24 10.1.0.11",),
    }


def typed(pe: Pe, *lines: str) -> None:
    with Sessions(pe.node.path("/run/frr"), 10) as sessions:
        assert all(answer.ok for answer in configure(sessions, lines))


def test_why_a_route_does_not_forward(pe: Pe) -> None:
    far = NextHop(1, ip_address("10.99.0.1"))
    wanted = having(
        route("10.9.0.0/24", far),
        route("10.9.1.0/24", far, replace(BLACKHOLE, index=2, preference=254)),
        route("10.1.0.0/24", BLACKHOLE),
        route("10.9.2.0/24", NextHop(1, interface="to-ce-blue")),
    )
    assert pe.push(wanted) == []

    no_way = "next hop 10.99.0.1 is not used: VRF red has no route to it"
    becomes(pe, wanted, "red 10.9.0.0/24", (False, no_way))
    becomes(pe, wanted, "red 10.9.1.0/24", (True, no_way))
    other = "a connected route to the prefix, of preference 0, is used instead"
    becomes(pe, wanted, "red 10.1.0.0/24", (False, other))
    down = "interface to-ce-blue is not used: it is down, or not in VRF red"
    becomes(pe, wanted, "red 10.9.2.0/24", (False, down))


def test_one_rejected_route_leaves_the_others(pe: Pe) -> None:
    mixed = route("10.9.1.0/24", CE, replace(BLACKHOLE, index=2))
    wanted = having(route("10.9.0.0/24", CE), mixed, route("10.9.2.0/24", CE))

    rejected = pe.push(wanted)

    assert [r.action.object.key for r in rejected] == ["frr mgmtd vrf red / ip route 10.9.1.0/24"]
    assert "blackhole and non-blackhole" in rejected[0].message
    assert of_mgmtd(pe).keys() == {"ip route 10.9.0.0/24", "ip route 10.9.2.0/24"}


def test_one_of_many_that_is_rejected_leaves_the_others(pe: Pe) -> None:
    """They are one transaction for mgmtd."""
    good = [route(f"10.9.{n}.0/24", CE, tag=7) for n in range(20)]
    mixed = route("10.8.0.0/24", CE, replace(BLACKHOLE, index=2))
    operators = ("ip route 10.7.0.0/24 10.1.0.10 vrf red",)
    typed(pe, *operators)

    rejected = pe.push(having(*good, mixed))

    assert [r.action.object.key for r in rejected] == ["frr mgmtd vrf red / ip route 10.8.0.0/24"]
    assert len(of_mgmtd(pe)) == len(good) + 1
    assert pe.push(having(*good)) == []
    assert pe.plan(having(*good)) == []
    assert pe.push(BASE) == []
    assert of_mgmtd(pe) == {"ip route 10.7.0.0/24": ("ip route 10.7.0.0/24 10.1.0.10",)}


def test_without_a_daemon_it_is_rejected_with_the_remedy(pe: Pe) -> None:
    tracked = having(route("10.9.0.0/24", replace(CE, bfd=True)))

    (rejected,) = pe.push(tracked)

    assert rejected.message == "bfdd does not run, which BFD needs"
    assert rejected.remedy == "set bfdd=yes in /etc/frr/daemons and restart FRR"
    pe.stop(STATICD)
    (rejected,) = pe.push(having(route("10.9.0.0/24", CE)))
    assert rejected.message == "staticd does not run"
    pe.start(STATICD)
    wait_until(lambda: pe.push(having(route("10.9.0.0/24", CE))) == [], "staticd", 30.0)


def test_a_route_follows_its_bfd_session(pe: Pe, pes: Pes) -> None:
    """The CE has another FRR, which answers."""
    backup = replace(BLACKHOLE, index=2, preference=254)
    wanted = having(route("10.9.0.0/24", replace(CE, bfd=True), backup))
    pe.start(BFDD)
    answering(pes, "up")
    try:
        assert pe.push(wanted) == []
        assert pe.plan(wanted) == []
        becomes(pe, wanted, "red 10.9.0.0/24", (True, ""))
        answering(pes, "down")
        message = "next hop 10.1.0.10 is not used: its BFD session is down"
        becomes(pe, wanted, "red 10.9.0.0/24", (True, message))
        assert "blackhole 10.9.0.0/24" in in_kernel(pe)
    finally:
        pe.stop(BFDD)
    message = "next hop 10.1.0.10 is not used: its BFD session is not kept, since bfdd does not run"
    becomes(pe, wanted, "red 10.9.0.0/24", (True, message))
    # What tracks it may go while bfdd is away.
    untracked = having(route("10.9.0.0/24", CE, backup))
    assert pe.push(untracked) == []
    assert pe.plan(untracked) == []


def answering(pes: Pes, state: str) -> None:
    """bfdd of the CE of red at site 1."""
    ce = replace(pes[0], node=type(pes[0].node)("ce-red1"))
    if state == "up":
        ce.start(BFDD)
        lines = ["-c", "configure terminal", "-c", "bfd", "-c", "peer 10.1.0.1"]
        ce.node.run(["vtysh", "-d", BFDD, *lines])
    else:
        ce.stop(BFDD)


def prefixes(routes: Iterable[StaticRoute]) -> list[str]:
    return [str(r.prefix) for r in routes]


def test_a_static_route_is_exported_to_the_other_pe(pes: Pes, pe: Pe) -> None:
    _, other = pes
    red = BASE.vrfs["red"]
    assert red.bgp is not None
    static = replace(red, bgp=replace(red.bgp, redistribute_static=True))
    wanted = having(
        route("10.9.0.0/24", CE, tag=7), base=replace(BASE, vrfs={**BASE.vrfs, "red": static})
    )
    assert pe.push(wanted) == []
    assert other.push(declaration(2, "red", "blue")) == []

    arrives = partial(tunnel, other, "10.9.0.0/24")
    wait_until(arrives, "10.9.0.0/24 at pe2", 60.0)


def tunnel(pe: Pe, prefix: str) -> bool:
    return f"{prefix} nhid" in in_kernel(pe) and "encap seg6" in in_kernel(pe)


def vtysh(pe: Pe, *lines: str) -> None:
    message = [word for line in ("configure terminal", *lines) for word in ("-c", line)]
    pe.node.run(["vtysh", *message])


@contextlib.contextmanager
def beside(call: Callable[[], object]) -> Iterator[None]:
    """Carried out again and again in another thread meanwhile."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.is_set():
            call()

    with ThreadPoolExecutor() as threads:
        repeated = threads.submit(repeat)
        try:
            yield
        finally:
            ended.set()
        repeated.result()


REMOVED = ("vrf red", "no ip route 10.9.0.0/24 blackhole")


def test_an_operator_can_remove_a_route_while_srv6mgrd_reads(pe: Pe) -> None:
    """A session with mgmtd 10.3 that ends undoes what others have under way (frr.kept)."""
    ours = having(route("10.9.0.0/24", BLACKHOLE))

    def read() -> None:
        pe.frr.instances()
        assert pe.frr.observe() is not None

    for _ in range(8):
        assert pe.push(ours) == []
        all_forward(pe, ours)
        with beside(read):
            vtysh(pe, *REMOVED)
        assert "ip route 10.9.0.0/24" not in of_mgmtd(pe)


def test_routes_come_and_go_while_operators_look(pe: Pe) -> None:
    """Each vtysh that ends may undo a transaction of ours."""
    ours = having(*(route(f"10.9.{n}.0/24", BLACKHOLE) for n in range(3)))

    with beside(lambda: pe.node.run(["vtysh", "-c", "show running-config"])):
        for wanted in (ours, BASE) * 10:
            assert pe.push(wanted) == []
            assert pe.plan(wanted) == []


def test_a_route_that_staticd_lost_is_written_again(pe: Pe) -> None:
    """By sessions of others that end: vtysh, monitoring."""
    ours = having(route("10.9.0.0/24", BLACKHOLE), route("10.9.1.0/24", CE))
    lost = LostRoutes(pe.frr, lambda: ours, lambda: ours.static_routes, lambda: None)
    mgmtd = pe.node.path("/run/frr/mgmtd.vty")

    def is_lost() -> bool:
        assert pe.push(ours) == []
        all_forward(pe, ours)
        with beside(lambda: instance(mgmtd)):
            vtysh(pe, *REMOVED)
        return "ip route 10.9.0.0/24" in of_mgmtd(pe) and "10.9.0.0/24" not in in_kernel(pe)

    wait_until(is_lost, "a line of mgmtd that staticd has lost", 60.0)
    assert pe.plan(ours) == []

    assert not lost.look(ours.static_routes)
    assert lost.look(ours.static_routes)

    assert [a.object.key for a in pe.plan(ours)] == ["frr mgmtd vrf red / ip route 10.9.0.0/24"]
    assert pe.push(ours) == []
    all_forward(pe, ours)
    assert "blackhole 10.9.0.0/24" in in_kernel(pe)
    assert not lost.look(ours.static_routes)


def test_staticd_holds_routes_of_all_kinds(pe: Pe) -> None:
    """As mgmtd has them: none counts as lost."""
    wanted = having(*ALL)
    assert pe.push(wanted) == []
    all_forward(pe, wanted)
    lost = LostRoutes(pe.frr, lambda: wanted, lambda: wanted.static_routes, lambda: None)

    assert [lost.look(wanted.static_routes) for _ in range(2)] == [False, False]

    assert pe.plan(wanted) == []
