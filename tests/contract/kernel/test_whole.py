"""Everything declared at once, through the reconciler: put, left alone, taken back."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import pytest

from srv6mgrd.apply.journal import Journal
from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.desired import Desired, Locator, SegmentList, Sid, SteeredRoute, Vrf
from srv6mgrd.model.status import InstallStatus
from tests.contract.kernel.conftest import Run
from tests.fakes.frr import FakeFrr

pytestmark = [pytest.mark.contract, pytest.mark.usefixtures("vrf")]

LOCATOR = Locator("MAIN", IPv6Network("fcbb:0:1::/48"), micro_segment=True)
NEXT6, NEXT4, NEAR = IPv6Address("fc00:5::5"), IPv4Address("192.0.2.9"), IPv6Address("fe80::5")
SEGMENTS = (IPv6Address("fcbb:0:2::1"), IPv6Address("fc00:b::2"))


def sids() -> list[Sid]:
    plain = Sid(LOCATOR.prefix, LOCATOR.name, Behavior.END)
    csid = frozenset({Flavor.NEXT_CSID})
    kinds = [
        replace(plain, flavors=frozenset({Flavor.PSP})),
        replace(plain, flavors=csid),
        replace(plain, counters=False),
        replace(plain, behavior=Behavior.END_X, next_hop=NEXT6, interface="eth1"),
        replace(plain, behavior=Behavior.END_X, next_hop=NEAR, interface="eth1"),
        replace(plain, behavior=Behavior.END_X, next_hop=NEXT6, flavors=csid),
        replace(plain, behavior=Behavior.END_T),
        replace(plain, behavior=Behavior.END_T, vrf="red"),
        replace(plain, behavior=Behavior.END_DX2, interface="eth1"),
        replace(plain, behavior=Behavior.END_DX4, next_hop=NEXT4, interface="eth1"),
        replace(plain, behavior=Behavior.END_DX6, next_hop=NEAR, interface="eth2"),
        replace(plain, behavior=Behavior.END_DT6),
        replace(plain, behavior=Behavior.END_DT6, vrf="red"),
        replace(plain, behavior=Behavior.END_DT4, vrf="red"),
        replace(plain, behavior=Behavior.END_DT46, vrf="red"),
        replace(plain, behavior=Behavior.END_B6_ENCAPS, segment_list="path"),
    ]
    first = int(LOCATOR.prefix.network_address)
    return [replace(s, prefix=IPv6Network((first + (i << 64), 64))) for i, s in enumerate(kinds, 1)]


def everything() -> Desired:
    routes = [
        SteeredRoute(None, IPv4Network("198.51.100.0/24"), "path"),
        SteeredRoute(None, IPv6Network("fc00:9::/64"), "path", Headend.H_ENCAPS_RED, metric=7),
        SteeredRoute("red", IPv4Network("0.0.0.0/0"), "path", Headend.H_ENCAPS_L2, NEXT6),
        SteeredRoute("red", IPv6Network("::/0"), "path", Headend.H_ENCAPS_L2_RED, None, "eth1"),
    ]
    return Desired(
        encapsulation_source=IPv6Address("fcbb:0:1::1"),
        locators={LOCATOR.name: LOCATOR},
        vrfs={"red": Vrf("red", 100, ("eth2",))},
        sids={s.prefix: s for s in sids()},
        hop_limit=42,
        flow_label="compute",
        segment_lists={"path": SegmentList("path", SEGMENTS)},
        routes={r.name: r for r in routes},
    )


def test_put_kept_repaired_and_taken_back(kernel: LinuxKernel, run: Run) -> None:
    run("for i in 1 2; do ip link add eth$i type dummy; ip link set eth$i up; done")
    before = {key for key in kernel.observe([]).objects if key.startswith("route")}
    made = Reconciler(kernel, FakeFrr(), Journal(None), lambda _: [])

    report = made.commit(everything())
    statuses = {ref: o for ref, o in report.outcomes.items() if o.status != InstallStatus.INSTALLED}
    assert statuses == {}

    writes = kernel.writes
    assert made.commit(everything()).actions == []
    assert kernel.writes == writes

    # All that depends on the interface comes back with it.
    run("ip link set eth1 down; ip link set eth1 up; ip -6 route flush table 8986")
    assert made.repair().actions
    assert made.repair().actions == []

    made.commit(Desired())
    left = {key for key in kernel.observe([]).objects if key.startswith(("route", "rule"))}
    assert {key for key in left if key.startswith("route")} == before
    assert not any(item.ours for item in kernel.observe([]).objects.values())
    # A sysctl is not set back, but follows the declaration to its default.
    assert run("cat /proc/sys/net/ipv6/seg6_flowlabel").strip() == "0"
