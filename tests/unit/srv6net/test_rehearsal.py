"""The network of an intent in the lab, and who has to reach whom there."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from lab.topology import parse
from srv6mgrd.model.rejection import RejectedError
from srv6net.command.toml import written
from srv6net.intent.inventory import inventory
from srv6net.proposal import propose
from srv6net.rehearsal.plan import Rehearsal, rehearsal
from srv6net.transaction.record import Revision
from tests.unit.srv6net.intents import document, hub_and_spoke, routers, service
from tests.unit.srv6net.rehearsed import BAD, GOOD, at, ip, lan, site

INVENTORY = inventory(
    tomllib.loads((Path(__file__).parents[3] / "examples/network/inventory.toml").read_text())
)


def planned(wanted: dict[str, Any], *only: str) -> Rehearsal:
    return rehearsal(propose(wanted, INVENTORY, Revision(), 1.0), INVENTORY, only)


def pairs(found: Rehearsal, *, wanted: bool) -> set[tuple[str, str]]:
    return {
        (p.site, p.address) for p in found.probes if p.is_wanted == wanted and p.to != "the core"
    }


def test_there_are_twenty_of_each() -> None:
    assert (len(GOOD), len(BAD)) == (20, 20)


@pytest.mark.parametrize("name", GOOD)
def test_what_is_right_gets_a_network(name: str) -> None:
    found = planned(GOOD[name])
    topology = parse(written(found.topology), "rehearsal")
    assert {node.name for node in topology.nodes} >= set(found.nodes.values())
    assert found.entries.keys() <= found.base.keys() == found.nodes.keys()
    assert len(found.nodes) > 1


@pytest.mark.parametrize("name", [name for name, (where, _) in BAD.items() if where == "intent"])
def test_what_contradicts_itself_needs_no_lab(name: str) -> None:
    with pytest.raises(RejectedError):
        planned(BAD[name][1])


@pytest.mark.parametrize("name", [name for name, (where, _) in BAD.items() if where == "lab"])
def test_what_needs_a_lab_gets_one(name: str) -> None:
    assert planned(BAD[name][1]).probes


def test_sites_of_a_service_reach_each_other_and_no_others() -> None:
    found = planned(document(service("acme", at(1), at(2)), service("umbra", at(3))))
    assert pairs(found, wanted=True) == {("s1", "10.2.0.2"), ("s2", "10.1.0.2")}
    assert pairs(found, wanted=False) == {
        ("s1", "10.3.0.2"), ("s2", "10.3.0.2"), ("s3", "10.1.0.2"), ("s3", "10.2.0.2"),
    }  # fmt: skip


def test_spokes_reach_the_hub_alone() -> None:
    known = routers(3)
    wanted = document(hub_and_spoke("acme", "pe1", "pe2", "pe3"))
    for n, one in enumerate(wanted["ietf-l3vpn-ntw:l3vpn-ntw"]["vpn-services"]["vpn-service"][0][
        "vpn-nodes"]["vpn-node"], 1):  # fmt: skip
        one["vpn-network-accesses"]["vpn-network-access"][0] |= ip(f"10.{n}.0.1")
    found = rehearsal(propose(wanted, known, Revision(), 1.0), known)
    assert pairs(found, wanted=False) == {("s2", "10.3.0.2"), ("s3", "10.2.0.2")}


def test_services_reach_each_other_where_both_import_the_other() -> None:
    assert pairs(planned(GOOD["an extranet"]), wanted=True) == {
        ("s1", "10.2.0.2"), ("s2", "10.1.0.2"),
    }  # fmt: skip


def test_sites_with_the_same_subnet_have_addresses_of_their_own() -> None:
    found = planned(GOOD["the same addresses in two services"])
    nodes = [node for name, node in found.topology["nodes"].items() if name.startswith("s")]
    addresses = [one for node in nodes for one in node["interfaces"]["eth0"]]
    assert addresses == ["10.1.0.2/24", "10.2.0.2/24", "10.1.0.3/24", "10.2.0.3/24"]


def test_a_site_has_the_next_hop_of_its_network() -> None:
    found = planned(
        document(service("acme", at(1, site(1, **lan("10.9.0.0/24", "10.1.0.10"))), at(2)))
    )
    node = found.topology["nodes"]["s1"]
    assert (node["lo"], node["interfaces"]) == (["10.9.0.1/32"], {"eth0": ["10.1.0.10/24"]})
    assert ("s2", "10.9.0.1") in pairs(found, wanted=True)


def test_no_customer_reaches_the_core() -> None:
    found = planned(GOOD["IPv6 alone"])
    core = {(p.site, p.address) for p in found.probes if p.to == "the core"}
    assert ("s1", "2001:db8::2") in core
    assert all(not p.is_wanted for p in found.probes if p.to == "the core")


def test_a_part_of_the_network_is_enough() -> None:
    found = planned(GOOD["three sites"], "pe1", "pe3")
    assert found.entries.keys() == {"pe1", "pe3"}
    assert pairs(found, wanted=True) == {("s1", "10.3.0.2"), ("s2", "10.1.0.2")}


def test_a_site_without_an_address_is_noted() -> None:
    bare = {"id": "site1", "interface-id": "to-ce1"}
    (note,) = planned(document(service("acme", at(1, bare), at(2)))).notes
    assert note == (
        "access site1 of VPN service acme on router pe1 has no address in the document, so that"
        " nobody pings it"
    )


def test_routers_with_names_of_no_node_get_others() -> None:
    known = inventory(
        {
            "as-number": 65000,
            "routers": {
                "PE_1": {
                    "address": "a:1", "locator": {"prefix": "fcbb:0:1::/48"},
                    "loopback": "2001:db8::1", "router-id": "192.0.2.1",
                }
            },
        }
    )  # fmt: skip
    wanted = document(service("acme", {"vpn-node-id": "PE_1"}))
    found = rehearsal(propose(wanted, known, Revision(), 1.0), known)
    assert found.nodes == {"PE_1": "r1"}


def test_toml_is_read_as_it_was_written() -> None:
    table = {"name": 'a "quoted" \\ name', "nodes": {"a.b": {"lo": ["::1/128"], "mtu": 9000}}}
    assert tomllib.loads(written(table)) == table


def test_among_many_routers_one_reflects_routes() -> None:
    known = routers(9)
    nodes = [{"vpn-node-id": f"pe{n}"} for n in range(1, 10)]
    found = rehearsal(propose(document(service("acme", *nodes)), known, Revision(), 1.0), known)
    bgp = {n: b["srv6mgr-srv6:srv6"]["srv6mgr-bgp:bgp"]["neighbor"] for n, b in found.base.items()}
    assert len(bgp["pe1"]) == 8
    assert all(one["route-reflector-client"] for one in bgp["pe1"])
    assert [one["address"] for one in bgp["pe9"]] == ["2001:db8::1"]
