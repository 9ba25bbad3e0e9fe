"""Routes between VRFs in bgpd's words."""

from __future__ import annotations

from dataclasses import replace

from srv6mgrd.frr.render import render
from srv6mgrd.frr.running import parse
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.leaking import Leak
from srv6mgrd.model.routing_policy import ApplyPolicy
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.target import target
from tests.unit.frr.samples import PE1

RED = ("router bgp 65000 vrf red", "address-family ipv4 unicast")
WATCH = ("router bgp 65000 vrf watch", "address-family ipv6 unicast")
DEFAULT = ("router bgp 65000", "address-family ipv4 unicast")


def lines(*leaks: Leak, base: Desired = PE1, **more: object) -> dict[tuple[str, ...], list[str]]:
    state = replace(base, leaks={leak.name: leak for leak in leaks}, **more)  # type: ignore[arg-type]
    return {b.context: list(b.lines) for b in render(state)}


def test_a_vrf_exports_for_another_one_by_a_target_of_its_own() -> None:
    found = lines(Leak("watch", "red"))

    assert "rt vpn export 65000:10 10.0.0.1:32778" in found[RED]
    assert "rt vpn import 65000:10" in found[RED]
    assert "rt vpn import 65000:3 65000:20 10.0.0.1:32778" in found[WATCH]
    assert not any(line.startswith("route-map") for line in found[WATCH])
    assert lines() == lines(base=replace(PE1, main_redistribute=("connected",)))


def test_a_policy_is_called_for_the_routes_of_that_vrf_alone() -> None:
    watch = PE1.vrfs["watch"]
    assert watch.bgp is not None
    applied = replace(watch.bgp, apply_policy=ApplyPolicy(import_policy="ALL"))
    vrfs = {**PE1.vrfs, "watch": replace(watch, bgp=applied)}

    found = lines(Leak("watch", "red", "SOME"), base=replace(PE1, vrfs=vrfs))

    assert "route-map vpn import srv6mgr-import:watch" in found[WATCH]
    assert found[("bgp extcommunity-list standard srv6mgr-from:red",)] == [
        "permit rt 10.0.0.1:32778"
    ]
    assert found[("route-map srv6mgr-import:watch permit 11",)] == [
        "match extcommunity srv6mgr-from:red",
        "call srv6mgr-SOME",
    ]
    assert found[("route-map srv6mgr-import:watch permit 65535",)] == ["call srv6mgr-ALL"]


def test_the_default_vrf() -> None:
    found = lines(
        Leak("default", "red", "SOME"),
        Leak("watch", "default", "SOME"),
        main_redistribute=("connected", "kernel"),
    )

    assert found[DEFAULT] == [
        "redistribute connected",
        "redistribute kernel",
        "rd vpn export 10.0.0.1:33022",
        "rt vpn import 10.0.0.1:32778",
        "rt vpn export 10.0.0.1:33022",
        "export vpn",
        "import vpn",
        "route-map vpn import srv6mgr-import:default",
    ]
    assert found[("route-map srv6mgr-import:default permit 11",)][1] == "call srv6mgr-SOME"


def test_whom_a_block_serves() -> None:
    state = replace(PE1, leaks={"default red": Leak("default", "red", "SOME")})
    ref = ObjectRef(Kind.ROUTE_LEAK, "default red")

    serves = target(state, {}, render(state)).serves

    assert serves["frr bgpd router bgp 65000 / address-family ipv4 unicast"] == [ref]
    assert serves["frr bgpd route-map srv6mgr-import:default permit 11"] == [ref]


def test_a_list_of_extended_communities_is_read_back_as_it_is_written() -> None:
    shown = "bgp extcommunity-list standard srv6mgr-from:red seq 5 permit rt 10.0.0.1:32778\n"

    (found,) = parse("bgpd", shown).values()

    assert found.context == ("bgp extcommunity-list standard srv6mgr-from:red",)
    assert found.lines == ("permit rt 10.0.0.1:32778",)


def test_redistribution_by_policy() -> None:
    red = PE1.vrfs["red"]
    assert red.bgp is not None
    filtered = replace(red.bgp, connected_policy="C", static_policy="S")

    found = lines(base=replace(PE1, vrfs={**PE1.vrfs, "red": replace(red, bgp=filtered)}))

    assert found[RED][:2] == [
        "redistribute connected route-map srv6mgr-C",
        "redistribute static route-map srv6mgr-S",
    ]
    assert filtered.policies == {"C", "S"}
