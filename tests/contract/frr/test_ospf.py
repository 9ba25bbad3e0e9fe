"""OSPF and OSPFv3 with a customer edge, and redistribution both ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, ip_address, ip_network

import pytest

from lab.guest.catalogue import STOCK_FRR
from lab.guest.nodes import Node
from lab.waiting import wait_until
from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.adjacencies import Adjacencies
from srv6mgrd.frr.blocks import OSPF6D, OSPFD, STATICD
from srv6mgrd.frr.ospf import status
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.ospf import DefaultInformation, Ospf, OspfInterface, OspfKey
from srv6mgrd.model.routing_policy import (
    Actions,
    Conditions,
    Policy,
    PolicyResult,
    PrefixRange,
    RoutingPolicy,
    Statement,
)
from srv6mgrd.model.static_routes import NextHop, SpecialNextHop, StaticRoute
from srv6mgrd.model.status import Kind, ObjectRef
from tests.contract.frr.conftest import Pe, declaration
from tests.contract.frr.test_vpn import Pes

pytestmark = pytest.mark.contract

POLICY = Policy(
    "SOME",
    (
        Statement(10, Conditions(prefix_set="BAD"), Actions(PolicyResult.REJECT)),
        Statement(20, actions=Actions(med=7)),
    ),
)
ROUTING = RoutingPolicy(
    {"SOME": POLICY},
    {
        "BAD": (
            PrefixRange(ip_network("10.8.0.0/24")),
            PrefixRange(ip_network("fd08::/64")),
        )
    },
)
TO_CE = OspfInterface("to-ce-red", cost=15, point_to_point=True)
DAEMONS = (OSPFD, OSPF6D)
OF = {2: ObjectRef(Kind.OSPF, "red"), 3: ObjectRef(Kind.OSPFV3, "red")}


def speaking(version: int, *interfaces: OspfInterface, policy: str | None = "SOME") -> Ospf:
    sources = (("bgp", policy), ("connected", None), ("static", policy))
    return Ospf("red", version, IPv4Address("10.0.0.1"), interfaces or (TO_CE,), sources)


def blackhole(prefix: str) -> StaticRoute:
    return StaticRoute("red", ip_network(prefix), (NextHop(1, special=SpecialNextHop.BLACKHOLE),))


def base() -> Desired:
    found = declaration(1, "red", "blue")
    red = found.vrfs["red"]
    assert red.bgp is not None
    bgp = replace(red.bgp, redistribute_ospf=True, ospf_policy="SOME")
    routes = map(blackhole, ("10.8.0.0/24", "10.9.0.0/24", "fd08::/64", "fd09::/64"))
    return replace(
        found,
        vrfs={**found.vrfs, "red": replace(red, bgp=bgp)},
        routing_policy=ROUTING,
        static_routes={r.name: r for r in routes},
    )


BASE = base()
BOTH = replace(BASE, ospf={"red": speaking(2)}, ospfv3={"red": speaking(3)})


@pytest.fixture
def routers(pes: Pes) -> Iterator[tuple[Pe, Pe]]:
    """PE 1, and the customer edge of red with OSPF and a prefix behind it."""
    node = Node("ce-red1")
    ce = Pe(9, node, FrrSockets(node.path("/run/frr")), STOCK_FRR)
    ce.start("mgmtd", "zebra", *DAEMONS)
    pes[0].start(STATICD, *DAEMONS)
    ce.ip("address", "add", "10.77.0.1/32", "dev", "lo")
    ce.ip("address", "add", "fd77::1/128", "dev", "lo")
    for daemon, router, message in ((OSPFD, "ospf", "ip ospf"), (OSPF6D, "ospf6", "ipv6 ospf6")):
        lines = ["configure terminal", f"router {router}", f"{router} router-id 10.77.0.1", "exit"]
        for interface in ("eth0", "lo"):
            lines += [f"interface {interface}", f"{message} area 0.0.0.0"]
            lines += [f"{message} network point-to-point"] if interface == "eth0" else []
        ce.operator(daemon, *lines, "end")
    yield pes[0], ce
    pes[0].stop(*DAEMONS, STATICD)
    ce.stop(*DAEMONS, "zebra", "mgmtd")
    ce.ip("address", "del", "10.77.0.1/32", "dev", "lo")
    ce.ip("address", "del", "fd77::1/128", "dev", "lo")
    for one in (pes[0], ce):
        for family in ("-4", "-6"):
            for protocol in ("ospf", "static"):
                flush = ["ip", family, "route", "flush", "table", "all", "proto", protocol]
                one.node.run(flush, check=False)


def becomes(pe: Pe, desired: Desired, version: int, wanted: tuple[bool, str]) -> None:
    wait_until(
        lambda: status(desired, pe.frr)[OF[version]] == wanted,
        f"OSPF {version}: {wanted}",
        60.0,
        seen=lambda: status(desired, pe.frr)[OF[version]],
    )


def learned(pe: Pe, vrf: str | None, *prefixes: str) -> None:
    of = ("vrf", vrf) if vrf is not None else ()

    def shown() -> str:
        return "".join(pe.ip(f, "route", "show", *of, "proto", "ospf") for f in ("-4", "-6"))

    def there() -> bool:
        now = shown()
        return all(f"{prefix} " in now for prefix in prefixes)

    wait_until(there, f"{prefixes} at {pe.node.name}", 60.0, seen=shown)


def exported(pe: Pe, prefix: str) -> bool:
    family = "ipv6" if ":" in prefix else "ipv4"
    return prefix in pe.frr.show("bgpd", f"show bgp vrf red {family} unicast json")


def test_routes_go_both_ways(routers: tuple[Pe, Pe]) -> None:
    edge, ce = routers

    assert edge.push(BOTH) == []

    assert edge.plan(BOTH) == []
    for version in (2, 3):
        becomes(edge, BOTH, version, (True, ""))
    shown = Adjacencies().of_vrfs(BOTH, edge.frr)["red"]
    for member, address in (("ospf", "10.1.0.10"), ("ospfv3", None)):
        (interface,) = shown[f"srv6mgr-ospf:{member}"]["interface"]
        (met,) = interface["neighbor"]
        assert interface["name"] == "to-ce-red"
        assert (met["router-id"], met["state"]) == ("10.77.0.1", "full")
        assert met.get("address") == address
        assert "last-change" in met
    learned(edge, "red", "10.77.0.1", "fd77::1")
    for prefix in ("10.77.0.1/32", "fd77::1/128"):
        wait_until(lambda prefix=prefix: exported(edge, prefix), f"{prefix} in BGP", 60.0)
    learned(ce, None, "10.9.0.0/24", "fd09::/64")
    reported = ce.ip("route") + ce.ip("-6", "route")
    assert "10.8.0.0/24" not in reported
    assert "fd08::/64" not in reported


def test_changed_and_removed_beside_lines_of_the_operator(routers: tuple[Pe, Pe]) -> None:
    edge, _ = routers
    assert edge.push(BOTH) == []
    passive = OspfInterface("to-ce-red", IPv4Address("0.0.0.1"), passive=True)
    other = replace(
        BASE,
        ospf={"red": speaking(2, passive, policy=None)},
        ospfv3={"red": replace(speaking(3, passive), router_id=ip_address("10.0.0.7"))},
    )

    assert edge.push(other) == []

    assert edge.plan(other) == []
    edge.operator(OSPFD, "configure terminal", "router ospf vrf red", "maximum-paths 2", "end")
    assert edge.push(BASE) == []
    assert edge.plan(BASE) == []
    observed = edge.frr.observe()
    assert observed is not None
    left = {b.context: b.lines for b in observed.values() if b.daemon in DAEMONS and b.lines}
    assert left == {("router ospf vrf red",): ("maximum-paths 2",)}


def test_without_a_neighbor_or_a_daemon_it_says_so(routers: tuple[Pe, Pe]) -> None:
    edge, ce = routers
    ce.stop(OSPFD)
    assert edge.push(BOTH) == []
    becomes(edge, BOTH, 2, (False, "no OSPF neighbor at to-ce-red"))
    edge.stop(OSPF6D)

    rejected = edge.push(BOTH)

    assert {(r.message, r.remedy) for r in rejected} == {
        ("ospf6d does not run", "set ospf6d=yes in /etc/frr/daemons and restart FRR")
    }
    assert "ospf6d can't be reached" in status(BOTH, edge.frr)[OF[3]][1]
    edge.start(OSPF6D)
    ce.start(OSPFD)
    wait_until(lambda: edge.push(BOTH) == [], "ospf6d", 30.0)
    assert edge.plan(BOTH) == []


def said(desired: Desired, key: OspfKey | None, default: DefaultInformation | None) -> Desired:
    """Both versions with these; OSPF version 2 has MD5 alone."""
    old = replace(key, algorithm="md5") if key is not None else None
    keys = {2: old, 3: key}

    def of(version: int) -> Ospf:
        interface = replace(TO_CE, authentication=keys[version])
        return replace(speaking(version, interface), default_information=default)

    return replace(desired, ospf={"red": of(2)}, ospfv3={"red": of(3)})


def test_keys_and_default_routes_read_back_as_written(routers: tuple[Pe, Pe]) -> None:
    edge, _ = routers
    steps: list[tuple[OspfKey | None, DefaultInformation | None]] = [
        (OspfKey("first"), DefaultInformation()),
        (OspfKey("se#cond!$%&'()*+"), DefaultInformation(20)),
        (OspfKey("se#cond!$%&'()*+", 255, "hmac-sha-256"), DefaultInformation(0, type_1=True)),
        (OspfKey("x" * 16, 2), DefaultInformation(None, type_1=True)),
        (OspfKey("third", 2, "hmac-sha-256"), DefaultInformation(16777214)),
        (OspfKey("third", 2), None),
        (None, None),
    ]
    for key, default in steps:
        wanted = said(BASE, key, default)
        assert edge.push(wanted) == [], (key, default)
        assert edge.plan(wanted) == [], (key, default)
    left = edge.frr.observe()
    assert left is not None
    assert not [line for b in left.values() for line in b.lines if "digest" in line]


def test_neighbors_share_a_key_and_get_a_default_route(routers: tuple[Pe, Pe]) -> None:
    edge, ce = routers
    wanted = said(BASE, OspfKey("Ab/c:1", 7, "hmac-sha-256"), DefaultInformation(20))
    assert edge.push(wanted) == []
    for version in (2, 3):
        name = "OSPF" if version == 2 else "OSPFv3"
        becomes(edge, wanted, version, (False, f"no {name} neighbor at to-ce-red"))

    of = ("configure terminal", "interface eth0")
    v2 = ("ip ospf authentication message-digest", "ip ospf message-digest-key 7 md5 Ab/c:1")
    v3 = "ipv6 ospf6 authentication key-id 7 hash-algo hmac-sha-256 key Ab/c:1"
    ce.operator(OSPFD, *of, *v2, "end")
    ce.operator(OSPF6D, *of, v3, "end")

    for version in (2, 3):
        becomes(edge, wanted, version, (True, ""))
    # The customer's own default route is preferred.
    for family, daemon, prefix in (("ip", "ospf", "0.0.0.0/0"), ("ipv6", "ospf6", "::/0")):
        show = f"show {family} route {daemon} json"
        wait_until(
            lambda show=show, prefix=prefix: prefix in ce.frr.show("zebra", show), prefix, 60.0
        )
