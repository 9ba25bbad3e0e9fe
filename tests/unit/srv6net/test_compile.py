"""Configuration of each router: as srv6mgrd takes it, and no more than a service needs."""

from __future__ import annotations

from typing import Any

import pytest

from srv6mgrd.model.checks import check
from srv6mgrd.model.parse import parse
from srv6net.allocate.plan import Allocations, plan
from srv6net.compile.compiler import compile_services
from srv6net.compile.configuration import Entries, digest, edit, tree
from srv6net.intent.l3nm import services
from tests.unit.srv6net.intents import (
    COMMON,
    access,
    document,
    hub_and_spoke,
    node,
    routers,
    service,
)

BASE: dict[str, Any] = {
    "locators": {"locator": [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]},
    "srv6mgr-bgp:bgp": {"as-number": 65000, "router-id": "192.0.2.1"},
}


def compiled(
    *given: Any, count: int = 3, before: Allocations | None = None
) -> tuple[dict[str, Entries], Allocations]:
    wanted, known = services(document(*given)), routers(count)
    allocations = plan(wanted, known, before or Allocations(), 0).allocations
    return compile_services(wanted, known, allocations), allocations


def vrf(entries: Entries, name: str) -> Any:
    return entries[f"/srv6mgr-srv6:srv6/vrfs/vrf[name={name}]"]


def bgp(entries: Entries, name: str) -> Any:
    return vrf(entries, name)["srv6mgr-bgp:bgp"]


def test_a_router_gets_a_vrf_and_a_sid_of_its_locator() -> None:
    found, _ = compiled(service("red", node("pe1", access("a", "to-ce")), node("pe2")))
    assert tree(found["pe1"]) == {
        "srv6mgr-srv6:srv6": {
            "vrfs": {
                "vrf": [
                    {
                        "name": "red",
                        "table-id": 1_000_000,
                        "interface": ["to-ce"],
                        "srv6mgr-bgp:bgp": {
                            "rd": "192.0.2.1:1",
                            "import-rt": ["65000:10000"],
                            "export-rt": ["65000:10000"],
                            "export-sid": "fcbb:0:1:1000::/64",
                            "redistribute": {"connected": True, "static": True},
                        },
                    }
                ]
            },
            "local-sids": {
                "sid": [
                    {
                        "prefix": "fcbb:0:1:1000::/64",
                        "locator": "MAIN",
                        "behavior": "End.DT46",
                        "vrf": "red",
                    }
                ]
            },
        }
    }
    assert found["pe3"] == {}


def test_srv6mgrd_takes_what_is_compiled() -> None:
    protocols = [
        {"id": "1", "type": f"{COMMON}static-routing", "static": {"cascaded-lan-prefixes": {
            "ipv4-lan-prefixes": [{"lan": "10.9.0.0/24", "next-hop": "10.1.0.10"}]}}},
        {"id": "2", "type": f"{COMMON}bgp-routing",
         "bgp": {"peer-as": 65100, "neighbor": ["10.1.0.10"], "as-override": True}},
    ]  # fmt: skip
    connection = {
        "ipv4": {"local-address": "10.1.0.1", "prefix-length": 24},
        "ipv6": {"local-address": "fd00:1::1", "prefix-length": 64},
    }
    routing = {"routing-protocol": protocols}
    given = access("a", "to-ce", **{"ip-connection": connection, "routing-protocols": routing})
    found, _ = compiled(service("red", node("pe1", given)), hub_and_spoke("blue", "pe1", "pe2"))
    config = tree(found["pe1"])["srv6mgr-srv6:srv6"]
    desired = parse({"srv6mgr-srv6:srv6": {**BASE, **config}})
    check(desired)
    assert set(desired.vrfs) == {"red", "blue"}
    assert len(desired.sids) == 2


def test_spokes_hear_hubs_alone_and_hubs_hear_all() -> None:
    found, _ = compiled(hub_and_spoke("red", "pe1", "pe2", "pe3"))
    hub, spoke = bgp(found["pe1"], "red"), bgp(found["pe2"], "red")
    assert spoke["import-rt"] == hub["export-rt"]
    assert set(hub["import-rt"]) == {*hub["export-rt"], *spoke["export-rt"]}
    assert bgp(found["pe3"], "red")["import-rt"] == spoke["import-rt"]
    assert not set(spoke["import-rt"]) & set(spoke["export-rt"])


def test_one_service_more_touches_its_routers_only() -> None:
    red = service("red", node("pe1", access("a", "to-ce")), node("pe2"))
    before, allocations = compiled(red)
    after, _ = compiled(red, service("blue", node("pe2"), node("pe3")), before=allocations)
    changed = {name for name in after if edit(before[name], after[name])}
    assert changed == {"pe2", "pe3"}
    assert set(edit(before["pe2"], after["pe2"]).replace) == set(after["pe2"]) - set(before["pe2"])


def test_the_same_input_gives_the_same_entries_in_any_order() -> None:
    red, blue = service("red", node("pe1"), node("pe2")), service("blue", node("pe1"))
    one, _ = compiled(red, blue)
    other, _ = compiled(blue, red)
    assert digest(one["pe1"]) == digest(other["pe1"])


@pytest.mark.parametrize("name", ["a-name-that-linux-does-not-take", "default", "vpn7", "a b"])
def test_a_name_that_is_no_device_gets_a_number(name: str) -> None:
    found, _ = compiled(service(name, node("pe1")))
    assert vrf(found["pe1"], "vpn1")["name"] == "vpn1"


def test_an_edit_deletes_what_is_gone() -> None:
    before, allocations = compiled(service("red", node("pe1")))
    after, _ = compiled(before=allocations)
    assert set(edit(before["pe1"], after["pe1"]).delete) == set(before["pe1"])
    assert not edit(after["pe1"], after["pe1"])
