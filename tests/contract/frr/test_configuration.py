"""What FRR 10.3 takes, rejects, prints: configuration alone, on one PE."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Network

import pytest

from lab.waiting import wait_until
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.bgp import Bgp, Neighbor, VrfBgp
from srv6mgrd.model.desired import Desired, Sid, Vrf
from tests.contract.frr.conftest import Pe, declaration

pytestmark = pytest.mark.contract

Pes = tuple[Pe, Pe]
BASE = declaration(1, "red", "blue")


def red(**change: object) -> Desired:
    vrf = BASE.vrfs["red"]
    assert vrf.bgp is not None
    now = replace(vrf, bgp=replace(vrf.bgp, **change))  # type: ignore[arg-type]
    return replace(BASE, vrfs={**BASE.vrfs, "red": now})


def locator(prefix: str, name: str = "MAIN") -> Desired:
    """Another locator, with both export SIDs in it."""
    network = IPv6Network(prefix)
    was = BASE.locators["MAIN"]
    moved = {
        s: IPv6Network((int(network[0]) | (int(s[0]) & (0xFFFF << 64)), 64)) for s in BASE.sids
    }
    vrfs = {
        n: replace(v, bgp=replace(v.bgp, export_sid=moved[v.bgp.export_sid]))
        for n, v in BASE.vrfs.items()
        if v.bgp is not None and v.bgp.export_sid is not None
    }
    return replace(
        BASE,
        locators={name: replace(was, name=name, prefix=network)},
        sids={moved[s]: replace(v, prefix=moved[s], locator=name) for s, v in BASE.sids.items()},
        vrfs=vrfs,
    )


def micro_segments(state: Desired) -> Desired:
    found = {n: replace(loc, micro_segment=True) for n, loc in state.locators.items()}
    return replace(state, locators=found)


def per_family(*families: int) -> Desired:
    """red exports a SID of its own for each of these families."""
    sids = {4: IPv6Network("fcbb:0:1:400::/64"), 6: IPv6Network("fcbb:0:1:600::/64")}
    behaviors = {4: Behavior.END_DT4, 6: Behavior.END_DT6}
    chosen = {f"export_sid_ipv{family}": sids[family] for family in families}
    declared = {sids[f]: Sid(sids[f], "MAIN", behaviors[f], "red") for f in families}
    return replace(red(export_sid=None, **chosen), sids={**BASE.sids, **declared})


CHANGES = {
    "rd": red(rd="10.0.0.1:7"),
    "route targets": red(import_rts=("65000:9", "1:2"), export_rts=("65536:1", "10.0.0.1:5")),
    "redistribution": red(redistribute_connected=False, redistribute_static=True),
    "import only": red(export_sid=None),
    "a SID for each family": per_family(4, 6),
    "IPv6 alone": per_family(6),
    "SIDs": declaration(1, "red", "blue", function=300),
    "neighbors": replace(
        BASE,
        bgp=Bgp(
            65000,
            IPv4Address("10.0.0.9"),
            (Neighbor("fd00:9::1", 65009), Neighbor("192.0.2.9", 65000, "192.0.2.1")),
        ),
    ),
    "no neighbor": replace(BASE, bgp=Bgp(65000, IPv4Address("10.0.0.1"))),
    "AS": replace(BASE, bgp=Bgp(4200000000, IPv4Address("10.0.0.1"))),
    "encapsulation source": replace(BASE, encapsulation_source=None),
    "locator prefix": locator("fcbb:0:7::/48"),
    "micro-segments": micro_segments(BASE),
    "micro-segments, other prefix": micro_segments(locator("fcbb:0:7::/48")),
    "locator name": locator("fcbb:0:8::/48", "OTHER"),
    "no VRF": declaration(1),
    "nothing": Desired(),
}


@pytest.fixture
def pe(pes: Pes) -> Pe:
    return pes[0]


def test_every_change_and_back(pe: Pe) -> None:
    """FRR takes each change of lines, prints just what was wanted, and takes it back."""
    assert pe.push(BASE) == []
    steps = [(what, state) for what, desired in CHANGES.items() for state in (desired, BASE)]
    both = [CHANGES["micro-segments"], CHANGES["micro-segments, other prefix"], BASE]
    for what, wanted in [*steps, *(("a prefix of micro-segments", state) for state in both)]:
        assert pe.push(wanted) == [], what
        assert pe.plan(wanted) == [], what
    assert pe.push(Desired()) == []
    observed = pe.frr.observe()
    assert observed is not None
    assert not [key for key in observed if "router bgp" in key or "locator M" in key]


def test_another_router_id_leaves_rd_and_rt_alone(pe: Pe) -> None:
    assert pe.push(BASE) == []
    changed = replace(BASE, bgp=replace(BASE.bgp, router_id=IPv4Address("10.0.0.9")))
    assert pe.push(changed) == []
    assert pe.plan(changed) == []
    # The printed RD would not show it: bgpd goes on printing the configured one.
    wait_until(lambda: _exported_rds(pe) == {"65000:110", "65000:120"}, "RDs as configured")


def _exported_rds(pe: Pe) -> set[str]:
    return set(pe.vpn_routes().get("routes", {}).get("routeDistinguishers", {}))


def test_operators_lines_survive(pe: Pe) -> None:
    assert pe.push(BASE) == []
    pe.operator(
        "bgpd",
        "configure terminal",
        "router bgp 65000 vrf red",
        "neighbor 10.1.0.10 remote-as 65100",
        "address-family ipv4 unicast",
        "network 10.9.0.0/16",
    )
    assert pe.plan(BASE) == []
    assert pe.push(declaration(1, "blue")) == []
    observed = pe.frr.observe()
    assert observed is not None
    instance = "frr bgpd router bgp 65000 vrf red"
    assert observed[instance].lines == ("neighbor 10.1.0.10 remote-as 65100",)
    assert observed[f"{instance} / address-family ipv4 unicast"].lines == ("network 10.9.0.0/16",)
    assert pe.push(BASE) == []
    assert pe.plan(BASE) == []


def test_drift_is_repaired(pe: Pe) -> None:
    assert pe.push(BASE) == []
    pe.operator(
        "bgpd",
        "configure terminal",
        "router bgp 65000 vrf red",
        "no sid vpn per-vrf export",
        "sid vpn per-vrf export 7",
        "address-family ipv6 unicast",
        "no import vpn",
    )
    assert len(pe.plan(BASE)) == 2
    assert pe.push(BASE) == []
    assert pe.plan(BASE) == []


def test_rejected_line_is_reported_and_its_block_taken_back(pe: Pe) -> None:
    bad = Vrf("bad", 30, bgp=VrfBgp("4294967296:1", ("65000:1",), ("65000:2",)))
    before = pe.frr.writes
    rejected = pe.push(replace(BASE, vrfs={**BASE.vrfs, "bad": bad}))
    assert pe.frr.writes > before
    assert [r.action.object.key for r in rejected] == [
        f"frr bgpd router bgp 65000 vrf bad / address-family {f} unicast" for f in ("ipv4", "ipv6")
    ]
    assert "Malformed rd" in rejected[0].message
    assert "rd vpn export 4294967296:1" in rejected[0].message
    observed = pe.frr.observe()
    assert observed is not None
    assert observed["frr bgpd router bgp 65000 vrf red"].lines[1] == "sid vpn per-vrf export 100"
    assert rejected[0].action.object.key not in observed
    assert pe.push(BASE) == []
    assert pe.plan(BASE) == []


def test_another_as_that_runs_already_is_named(pe: Pe) -> None:
    pe.operator("bgpd", "configure terminal", "router bgp 65099")
    rejected = pe.push(declaration(1))
    assert rejected
    assert all("AS is 65099" in r.message for r in rejected)
