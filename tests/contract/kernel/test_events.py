"""Notifications: what is reported, what is not, and what happens when some are lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from ipaddress import IPv6Address, IPv6Network, ip_network

import pytest

from srv6mgrd.kernel import facilities
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kernel.events import KernelEvents
from srv6mgrd.kinds.boundary.object import boundary
from srv6mgrd.kinds.kernel_event import EventKind, KernelEvent
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.model.behavior import Behavior, Headend
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.plan.actions import Create, Replace
from tests.contract.kernel.conftest import Run

pytestmark = pytest.mark.contract

SID = SidRoute(IPv6Network("fc00:1::1/128"), Behavior.END, SID_TABLE)


@pytest.fixture
def events(kernel: LinuxKernel, sid_device: str) -> Iterator[KernelEvents]:
    made = KernelEvents(kernel.port)
    yield made
    made.close()


def test_own_routes_are_silent(kernel: LinuxKernel, events: KernelEvents) -> None:
    assert kernel.apply([Create(SID)]) == []
    assert events.take() == []


def test_somebody_deletes_a_sid(kernel: LinuxKernel, events: KernelEvents, run: Run) -> None:
    assert kernel.apply([Create(SID)]) == []
    run(f"ip -6 route del fc00:1::1 table {SID_TABLE}")
    assert events.take() == [KernelEvent(EventKind.ROUTE, SID.key, removed=True, ours=True)]


@pytest.mark.parametrize("prefix", ["198.51.100.0/24", "fc00:7::/64"])
def test_somebody_deletes_a_steered_route(
    kernel: LinuxKernel, events: KernelEvents, run: Run, prefix: str
) -> None:
    segments = (IPv6Address("fc00:a::1"),)
    route = EncapRoute(ip_network(prefix), 254, Headend.H_ENCAPS, segments)
    assert kernel.apply([Create(route)]) == []
    assert events.take() == []
    run(f"ip -{route.prefix.version} route del {prefix}")
    assert events.take() == [KernelEvent(EventKind.ROUTE, route.key, removed=True, ours=True)]


@pytest.mark.parametrize("command", ["flush ruleset", "flush set ip6 srv6mgr customers"])
def test_somebody_changes_the_boundary(
    kernel: LinuxKernel, events: KernelEvents, run: Run, command: str
) -> None:
    if reason := facilities.nftables():
        pytest.skip(f"kernel without nftables: {reason}")
    table = boundary(["red"], [IPv6Network("fc00::/16")], [])
    seen = kernel.observe([]).objects[table.key].object
    assert kernel.apply([Replace(seen, table)]) == []
    run("nft add table ip6 theirs; nft 'add set ip6 theirs s { type ifname; }'")
    events.take()
    run("nft 'add element ip6 theirs s { red }'")
    assert events.take() == []
    run(f"nft {command}")
    (event,) = events.take()
    assert (event.kind, event.key) == (EventKind.BOUNDARY, table.key)


def test_others_have_a_turn_however_much_there_is(
    kernel: LinuxKernel, events: KernelEvents, run: Run
) -> None:
    assert kernel.apply([Create(SID)]) == []
    run(f"ip -6 route del fc00:1::1 table {SID_TABLE}")

    async def turns() -> list[int]:
        found: list[int] = []
        asyncio.get_running_loop().call_soon(found.append, 1)
        await anext(events)
        return found

    assert asyncio.run(turns()) == [1]


def test_noise_is_not_reported(events: KernelEvents, run: Run) -> None:
    run("ip -6 route add fc00:2::/64 dev srv6mgr; ip -6 route add fc00:2::/64 dev lo table 77")
    run("ip route add 10.0.0.0/8 dev lo; ip route add default dev lo table 100")
    run("ip rule add to 10.0.0.0/8 lookup 77; ip -6 rule add iif lo lookup 77")
    assert events.take() == []


@pytest.mark.parametrize(
    ("name", "value", "key"),
    [
        ("net.ipv4.ip_forward", "0", "sysctl net/ipv4/conf/*/forwarding"),
        ("net.ipv6.conf.all.forwarding", "0", "sysctl net/ipv6/conf/*/forwarding"),
        ("net.ipv4.conf.all.rp_filter", "1", "sysctl net/ipv4/conf/*/rp_filter"),
        ("net.ipv4.conf.all.rp_filter", "0", "sysctl net/ipv4/conf/*/rp_filter"),
        ("net.ipv4.conf.srv6mgr.rp_filter", "2", "sysctl net/ipv4/conf/*/rp_filter"),
    ],
)
def test_sysctls_that_packets_depend_on(
    events: KernelEvents, run: Run, name: str, value: str, key: str
) -> None:
    run(f"sysctl -qw {name}={1 - bool(int(value))}")
    events.take()
    run(f"sysctl -qw {name}={value}")
    assert events.take() == [KernelEvent(EventKind.SYSCTL, key)]


def test_rule_and_defaults(events: KernelEvents, run: Run) -> None:
    run("ip -6 rule add pref 2000 to fc00:1::/48 lookup 8986 proto 86")
    run("ip route add unreachable default table 100 metric 4278198272")
    run("ip -6 route add unreachable default table 100 metric 4278198272")
    assert events.take() == [
        KernelEvent(EventKind.RULE, "rule 2000 to fc00:1::/48", ours=True),
        KernelEvent(EventKind.ROUTE, "route4 table 100 default"),
        KernelEvent(EventKind.ROUTE, "route6 table 100 default"),
    ]


def test_device_down_takes_sids(kernel: LinuxKernel, events: KernelEvents, run: Run) -> None:
    assert kernel.apply([Create(SID)]) == []
    run("ip link set srv6mgr down")
    seen = events.take()
    assert KernelEvent(EventKind.LINK, "link srv6mgr", ours=True) in seen
    assert KernelEvent(EventKind.ROUTE, SID.key, removed=True, ours=True) in seen


def test_lost_notifications_are_said(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    events = KernelEvents(buffer=4096)
    kernel.apply(
        [
            Create(SidRoute(IPv6Network(f"fc00:1::{i:x}/128"), Behavior.END, SID_TABLE))
            for i in range(1, 2000)
        ]
    )
    assert KernelEvent(EventKind.LOST) in events.take()
    run(f"ip -6 route del fc00:1::7 table {SID_TABLE}")
    assert [e.key for e in events.take()] == ["route6 table 8986 fc00:1::7/128"]
    events.close()


async def test_waits(kernel: LinuxKernel, events: KernelEvents, run: Run) -> None:
    waiting = asyncio.ensure_future(anext(aiter(events)))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    run("ip -6 rule add pref 2000 to fc00:1::/48 lookup 8986")
    assert [e.key for e in await asyncio.wait_for(waiting, 5)] == ["rule 2000 to fc00:1::/48"]
    run("ip -6 rule del pref 2000")
    (event,) = await asyncio.wait_for(anext(aiter(events)), 5)
    assert event.removed
