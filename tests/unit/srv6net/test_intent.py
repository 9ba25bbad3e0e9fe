"""Services of RFC 9182: read, and rejected in the operator's terms."""

from __future__ import annotations

from ipaddress import ip_address, ip_interface, ip_network
from typing import Any

import pytest

from srv6mgrd.model.rejection import RejectedError
from srv6net.intent.checks import check
from srv6net.intent.inventory import Endpoint, Tls, inventory
from srv6net.intent.l3nm import services
from srv6net.intent.service import BgpNeighbor, Role, StaticRoute, Topology
from tests.unit.srv6net.intents import (
    COMMON,
    access,
    document,
    hub_and_spoke,
    node,
    router,
    routers,
    service,
)


def targets(value: str, profile: str = "p") -> dict[str, Any]:
    target = {"id": 1, "route-targets": [{"route-target": value}], "route-target-type": "both"}
    family = {"address-family": f"{COMMON}dual-stack", "vpn-targets": {"vpn-target": [target]}}
    entry = {"profile-id": profile, "rd": "0:65000:7", "address-family": [family]}
    return {"vpn-instance-profiles": {"vpn-instance-profile": [entry]}}


def rejected(*given: dict[str, Any], routers_known: int = 3) -> list[str]:
    with pytest.raises(RejectedError) as error:
        check(services(document(*given)), routers(routers_known))
    return [str(one) for one in error.value.rejections]


def test_a_service_has_any_to_any_nodes_unless_it_says_otherwise() -> None:
    (red,) = services(document(service("red", node("pe1", access("a", "to-ce")), node("pe2"))))
    assert red.topology is Topology.ANY_TO_ANY
    assert [(n.router, n.role) for n in red.nodes] == [
        ("pe1", Role.ANY_TO_ANY),
        ("pe2", Role.ANY_TO_ANY),
    ]
    assert red.nodes[0].accesses[0].interface == "to-ce"


def test_a_node_of_hub_and_spoke_is_a_spoke_without_a_profile() -> None:
    (red,) = services(document(hub_and_spoke("red", "pe1", "pe2")))
    assert [n.role for n in red.nodes] == [Role.HUB, Role.SPOKE]


def test_targets_and_distinguishers_of_rfc_8294_lose_their_type() -> None:
    (red,) = services(document(service("red", node("pe1", profile="p"), **targets("0:65000:5"))))
    assert red.nodes[0].rd == "65000:7"
    assert red.nodes[0].targets.imported == red.nodes[0].targets.exported == {"65000:5"}


def test_addresses_static_routes_and_neighbors_of_an_access() -> None:
    lan = {"lan": "10.9.0.0/24", "next-hop": "10.1.0.10"}
    protocols = [
        {"id": "1", "type": f"{COMMON}static-routing",
         "static": {"cascaded-lan-prefixes": {"ipv4-lan-prefixes": [lan]}}},
        {"id": "2", "type": f"{COMMON}bgp-routing",
         "bgp": {"peer-as": 65100, "neighbor": ["10.1.0.10"], "as-override": True}},
    ]  # fmt: skip
    connection = {"ipv4": {"local-address": "10.1.0.1", "prefix-length": 24}}
    given = access(
        "a", "to-ce",
        **{"ip-connection": connection, "routing-protocols": {"routing-protocol": protocols}},
    )  # fmt: skip
    (red,) = services(document(service("red", node("pe1", given))))
    (found,) = red.nodes[0].accesses
    assert found.addresses == (ip_interface("10.1.0.1/24"),)
    assert found.routes == (StaticRoute(ip_network("10.9.0.0/24"), ip_address("10.1.0.10")),)
    assert found.neighbors == (BgpNeighbor(ip_address("10.1.0.10"), 65100, True),)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (service("red", **{"external-connectivity": {}}), "/external-connectivity: srv6net does"),
        (service("red", **{"vpn-service-topology": f"{COMMON}custom"}), "custom; choose one of"),
        (service("red", **{"vpn-service-topology": "any-to-any"}), "does not support any-to-any"),
        (service("red", node("pe1", {"id": "a"})), "access a: it has no interface-id"),
        (service("red", node("pe1", profile="none")), "there is no VPN instance profile none"),
        (service("red", node("pe1", profile="p"), **targets("65000:5")), "no route target of RFC"),
        (service("red", node("pe9")), "on router pe9, which the inventory lacks"),
        (service("red", node("pe1"), {**node("pe1"), "vpn-node-id": "x"}), "both on router pe1"),
        (
            service("red", node("pe1", profile="p"),
                    **{"vpn-instance-profiles": {"vpn-instance-profile": [
                        {"profile-id": "p", "role": f"{COMMON}hub-role"}]}}),
            "has role hub-role, which topology any-to-any lacks",
        ),
        (
            service("red", node("pe1"), **{"vpn-service-topology": f"{COMMON}hub-spoke"}),
            "has no hub",
        ),
    ],
)  # fmt: skip
def test_a_service_is_rejected_in_the_operators_terms(given: dict[str, Any], words: str) -> None:
    (found,) = rejected(given)
    assert words in found


def test_two_services_cannot_have_one_interface() -> None:
    red = service("red", node("pe1", access("a", "to-ce")))
    blue = service("blue", node("pe1", access("b", "to-ce")))
    assert rejected(red, blue) == [
        "VPN service blue: access b: interface to-ce of router pe1 belongs to access red/a; give it"
        " an interface of its own"
    ]


def test_two_services_cannot_have_one_route_target() -> None:
    red = service("red", node("pe1", profile="p"), **targets("0:65000:5"))
    blue = service("blue", node("pe2", profile="p"), **targets("0:65000:5"))
    found = rejected(red, blue)
    assert any("route target 65000:5 is that of service red" in one for one in found)
    assert any("has the route distinguisher 65000:7 of node red/pe1" in one for one in found)


def test_every_problem_is_reported_at_once() -> None:
    assert len(rejected(service("red", node("pe8"), node("pe9")))) == 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"routers": {}}, "it has no as-number"),
        ({"as-number": 65000, "routers": {"pe1": {}}}, "router pe1: it has no address"),
        (
            {"as-number": 65000, "routers": {"pe1": router(1), "pe2": {
                **router(2), "locator": {"prefix": "fcbb:0:1:8000::/64"}}}},
            "its locator fcbb:0:1::/48 overlaps that of router pe2",
        ),
        (
            {"as-number": 65000, "routers": {"pe1": router(1, locator={
                "prefix": "fcbb:0:1::/120", "function-length": 16})}},
            "locator MAIN has no room for 16 bits of function",
        ),
        ({"as-number": 65000, "routers": {}, "route-targets": [0, 9]}, "no range within"),
        ({"as-number": 65000, "routers": {"pe1": router(1, vendor="x")}}, "/vendor: srv6net does"),
    ],
)  # fmt: skip
def test_an_inventory_is_rejected_in_the_operators_terms(given: dict[str, Any], words: str) -> None:
    with pytest.raises(RejectedError) as error:
        inventory(given)
    assert words in str(error.value)


def test_a_router_is_reached_as_all_are_unless_it_says_otherwise() -> None:
    common = {"username": "controller", "tls": {"ca": "/ca.crt"}}
    own = {"username": "other", "tls": {"server-name": "edge"}}
    found = inventory(
        {"as-number": 1, "routers": {"pe1": router(1), "pe2": router(2, **own)}, **common}
    ).routers
    assert found["pe1"].endpoint == Endpoint("pe1:9339", Tls("/ca.crt"), "controller")
    assert found["pe2"].endpoint == Endpoint(
        "pe2:9339", Tls("/ca.crt", server_name="edge"), "other"
    )


def test_a_certificate_without_its_key_is_rejected() -> None:
    with pytest.raises(RejectedError, match="certificate and key belong together; set both"):
        inventory({"as-number": 1, "routers": {}, "tls": {"certificate": "/a.crt"}})


@pytest.mark.parametrize(("as_number", "last"), [(65_535, 2**32 - 1), (65_536, 65_535)])
def test_route_targets_have_the_numbers_that_the_as_leaves(as_number: int, last: int) -> None:
    document = {"as-number": as_number, "routers": {}, "route-targets": [1, last]}
    assert inventory(document).last_target == last
    document["route-targets"] = [1, last + 1]
    with pytest.raises(RejectedError, match=f"1 to {last + 1} is no range within 1 to {last}"):
        inventory(document)


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("pe1.example.net:9339", True),
        ("192.0.2.1:9339", True),
        ("[2001:db8::1]:9339", True),
        ("unix:/run/srv6mgr/gnmi.sock", True),
        ("pe1.example.net", False),
        ("2001:db8::1", False),
        ("[2001:db8::1]", False),
    ],
)
def test_an_address_has_a_port(address: str, is_one: bool) -> None:
    document = {"as-number": 1, "routers": {"pe1": router(1) | {"address": address}}}
    if is_one:
        assert inventory(document).routers["pe1"].endpoint.address == address
        return
    with pytest.raises(RejectedError, match="has no port; write it like"):
        inventory(document)
