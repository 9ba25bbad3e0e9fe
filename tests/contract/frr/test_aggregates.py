"""Aggregates of a VRF: lines, the kernel's route, and what state says where bgpd exports none."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path

import pytest

from lab.guest.catalogue import PATCHED_FRR, STOCK_FRR
from lab.waiting import wait_until
from srv6mgrd.frr.status import vrf_status
from srv6mgrd.model.bgp import Aggregate
from srv6mgrd.model.desired import Desired
from tests.contract.frr.conftest import declaration
from tests.contract.frr.test_vpn import Pes, arrive, leave, push, up

pytestmark = pytest.mark.contract

SUMMARY = Aggregate(ip_network("10.1.0.0/16"), summary_only=True)
BESIDE = Aggregate(ip_network("fd00:1::/32"))
ALONE = Aggregate(ip_network("10.77.0.0/16"))


@pytest.fixture(
    params=[pytest.param(STOCK_FRR, id="stock"), pytest.param(PATCHED_FRR, id="patched")]
)
def programs(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    if not found.is_dir():
        pytest.skip("no patched FRR: make frr")
    return found


def having(*aggregates: Aggregate) -> Desired:
    wanted = declaration(1, "red")
    red = wanted.vrfs["red"]
    assert red.bgp is not None
    return replace(wanted, vrfs={"red": replace(red, bgp=replace(red.bgp, aggregates=aggregates))})


def test_aggregates(pes: Pes, programs: Path) -> None:
    one, two = pes
    push(pes, "red")
    up(pes, "red")
    arrive(two, "-4", 10, "10.1.0.0/24")
    arrive(two, "-6", 10, "fd00:1::/64")
    wanted = having(SUMMARY, BESIDE, ALONE)

    assert one.push(wanted) == []

    assert one.plan(wanted) == []

    def in_kernel() -> bool:
        return "blackhole 10.1.0.0/16" in one.ip("route", "show", "table", "10")

    wait_until(in_kernel, "the aggregate's blackhole")
    nothing = "VRF red has no route that is more specific than aggregate 10.77.0.0/16"
    missing = [
        f"bgpd does not export aggregate {aggregate.prefix}: stock FRR before 10.4 exports none"
        for aggregate in (SUMMARY, BESIDE)
        if programs == STOCK_FRR
    ]

    def reported() -> bool:
        sid, reason = vrf_status(wanted, one.frr)["red"]
        return sid is not None and reason == "; ".join([*missing, nothing])

    wait_until(reported, "the reason", seen=lambda: str(vrf_status(wanted, one.frr)))
    if programs != STOCK_FRR:
        arrive(two, "-4", 10, "10.1.0.0/16", "fcbb:0:1:64::")
        arrive(two, "-6", 10, "fd00:1::/32", "fcbb:0:1:64::")
        leave(two, "-4", 10, "10.1.0.0/24")
    arrive(two, "-6", 10, "fd00:1::/64", "fcbb:0:1:64::")

    # A change of one, and the removal of the others.
    announced = having(replace(SUMMARY, summary_only=False))
    assert one.push(announced) == []
    assert one.plan(announced) == []
    arrive(two, "-4", 10, "10.1.0.0/24", "fcbb:0:1:64::")
    leave(two, "-6", 10, "fd00:1::/32")
    assert one.push(declaration(1, "red")) == []
    assert one.plan(declaration(1, "red")) == []
    leave(two, "-4", 10, "10.1.0.0/16")
    wait_until(lambda: not in_kernel(), "end of the blackhole")
    up(pes, "red")
