"""Routes between VRFs of one router, and between a VRF and the default one: seen in the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_network

import pytest

from lab.waiting import wait_until
from srv6mgrd.frr.status import leak_status
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.leaking import Leak
from srv6mgrd.model.routing_policy import (
    Actions,
    Conditions,
    Policy,
    PolicyResult,
    PrefixRange,
    RoutingPolicy,
    Statement,
)
from tests.contract.frr.conftest import Pe, declaration
from tests.contract.frr.test_vpn import Pes

pytestmark = pytest.mark.contract

REJECT_SOME = Policy(
    "SOME",
    (
        Statement(10, Conditions(prefix_set="BAD"), Actions(PolicyResult.REJECT)),
        Statement(20),
    ),
)
CUSTOMERS = Policy(
    "CUSTOMERS",
    (
        Statement(10, Conditions(prefix_set="GOOD")),
        Statement(20, actions=Actions(PolicyResult.REJECT)),
    ),
)
POLICIES = RoutingPolicy(
    {p.name: p for p in (REJECT_SOME, CUSTOMERS)},
    {
        "BAD": (PrefixRange(ip_network("10.51.0.0/16"), upper=32),),
        "GOOD": (
            PrefixRange(ip_network("10.50.0.0/16"), upper=32),
            PrefixRange(ip_network("fd50::/16"), upper=128),
            PrefixRange(ip_network("203.0.113.0/24")),
        ),
    },
)
BASE = replace(declaration(1, "red", "blue"), routing_policy=POLICIES)
# Behind blue, as connected prefixes of a dummy.
BLUE = ("10.50.0.1/24", "10.51.0.1/24", "fd50::1/64")


def having(*leaks: Leak, **more: object) -> Desired:
    return replace(BASE, leaks={leak.name: leak for leak in leaks}, **more)  # type: ignore[arg-type]


@pytest.fixture
def pe(pes: Pes) -> Iterator[Pe]:
    """PE 1 with networks behind blue, and a route to the Internet."""
    pe1, _ = pes
    pe1.ip("link", "add", "behind", "type", "dummy")
    pe1.ip("link", "set", "behind", "master", "blue")
    pe1.ip("link", "set", "behind", "up")
    for address in BLUE:
        pe1.ip("address", "add", address, "dev", "behind")
    pe1.ip("route", "add", "203.0.113.0/24", "via", "inet6", "2001:db8:1::2", "dev", "to-p")
    yield pe1
    pe1.ip("link", "del", "behind")
    pe1.ip("route", "del", "203.0.113.0/24", "via", "inet6", "2001:db8:1::2", "dev", "to-p")


def routes(pe: Pe, vrf: str | None) -> str:
    of = ("vrf", vrf) if vrf is not None else ()
    shown = [pe.ip(family, "route", "show", *of, "proto", "bgp") for family in ("-4", "-6")]
    return "".join(shown)


def has(pe: Pe, vrf: str | None, *prefixes: str) -> None:
    def there() -> bool:
        shown = routes(pe, vrf)
        return all(f"{prefix} " in shown for prefix in prefixes)

    wait_until(there, f"{prefixes} in {vrf}", 30.0, seen=lambda: routes(pe, vrf))


def lacks(pe: Pe, vrf: str | None, *prefixes: str) -> None:
    def gone() -> bool:
        shown = routes(pe, vrf)
        return not any(f"{prefix} " in shown for prefix in prefixes)

    wait_until(gone, f"no {prefixes} in {vrf}", 30.0, seen=lambda: routes(pe, vrf))


def state(pe: Pe, desired: Desired) -> tuple[bool, str]:
    (verdict,) = leak_status(desired, pe.frr).values()
    return verdict


def test_a_vrf_imports_from_another_one(pe: Pe) -> None:
    wanted = having(Leak("red", "blue"))
    assert state(pe, wanted) == (False, "bgpd has no instance for VRF red yet")

    assert pe.push(wanted) == []

    assert pe.plan(wanted) == []
    has(pe, "red", "10.50.0.0/24", "10.51.0.0/24", "fd50::/64")
    wait_until(
        lambda: state(pe, wanted) == (True, ""), "its state", 30.0, seen=lambda: state(pe, wanted)
    )
    # Into the VRF, not into a tunnel.
    assert "dev blue" in routes(pe, "red")
    assert "encap" not in routes(pe, "red")
    assert pe.push(BASE) == []
    assert pe.plan(BASE) == []
    lacks(pe, "red", "10.50.0.0/24", "10.51.0.0/24", "fd50::/64")


def test_a_policy_says_which_routes_are_imported(pe: Pe) -> None:
    wanted = having(Leak("red", "blue", "SOME"))

    assert pe.push(wanted) == []

    assert pe.plan(wanted) == []
    has(pe, "red", "10.50.0.0/24", "fd50::/64")
    lacks(pe, "red", "10.51.0.0/24")
    other = having(Leak("red", "blue", "CUSTOMERS"))
    assert pe.push(other) == []
    assert pe.plan(other) == []
    has(pe, "red", "10.50.0.0/24", "fd50::/64")
    assert pe.push(BASE) == []
    assert pe.plan(BASE) == []
    lacks(pe, "red", "10.50.0.0/24", "fd50::/64")


def test_the_default_vrf_imports_and_is_imported_from(pe: Pe, pes: Pes) -> None:
    _, other = pes
    wanted = having(
        Leak("red", "default", "CUSTOMERS"),
        Leak("default", "blue", "CUSTOMERS"),
        main_redistribute=("connected", "kernel"),
    )
    assert other.push(declaration(2, "red", "blue")) == []

    assert pe.push(wanted) == []

    assert pe.plan(wanted) == []
    has(pe, "red", "203.0.113.0/24")
    has(pe, None, "10.50.0.0/24", "fd50::/64")
    lacks(pe, None, "10.51.0.0/24")
    lacks(pe, "red", "2001:db8:2::/64")
    # What other routers hear is what the VRFs export.
    wait_until(lambda: "65000:120" in str(other.vpn_routes()), "VPN routes of pe1", 60.0)
    assert "203.0.113.0" not in str(other.vpn_routes())
    assert pe.push(BASE) == []
    assert pe.plan(BASE) == []
    lacks(pe, None, "10.50.0.0/24", "fd50::/64")
    lacks(pe, "red", "203.0.113.0/24")


def test_redistribution_is_filtered_by_policy(pe: Pe) -> None:
    blue = BASE.vrfs["blue"]
    assert blue.bgp is not None
    filtered = replace(blue, bgp=replace(blue.bgp, connected_policy="SOME"))
    wanted = replace(having(Leak("red", "blue")), vrfs={**BASE.vrfs, "blue": filtered})

    assert pe.push(wanted) == []

    assert pe.plan(wanted) == []
    has(pe, "red", "10.50.0.0/24")
    lacks(pe, "red", "10.51.0.0/24")
    unfiltered = having(Leak("red", "blue"))
    assert pe.push(unfiltered) == []
    assert pe.plan(unfiltered) == []
    has(pe, "red", "10.51.0.0/24")
