"""Twenty intents that are right and twenty that are wrong, on the routers of examples/network.

``BAD`` says what catches each: ``intent`` before a lab boots, ``lab`` in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.unit.srv6net.intents import COMMON, access, document, node, service

Document = dict[str, Any]
IPV4, IPV6 = "ipv4", "ipv6"


def ip(four: str = "", six: str = "", length: int = 24) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if four:
        made[IPV4] = {"local-address": four, "prefix-length": length}
    if six:
        made[IPV6] = {"local-address": six, "prefix-length": 64}
    return {"ip-connection": made}


def lan(prefix: str, hop: str) -> dict[str, Any]:
    family = "ipv6" if ":" in prefix else "ipv4"
    static = {
        "cascaded-lan-prefixes": {f"{family}-lan-prefixes": [{"lan": prefix, "next-hop": hop}]}
    }
    protocol = {"id": "lan", "type": f"{COMMON}static-routing", "static": static}
    return {"routing-protocols": {"routing-protocol": [protocol]}}


def bgp(neighbor: str, peer_as: int = 65100) -> dict[str, Any]:
    protocol = {
        "id": "bgp",
        "type": f"{COMMON}bgp-routing",
        "bgp": {"peer-as": peer_as, "neighbor": [neighbor]},
    }
    return {"routing-protocols": {"routing-protocol": [protocol]}}


def site(number: int, **more: Any) -> dict[str, Any]:
    """Behind pe1, pe2 and pe3; the fourth behind pe3, too."""
    return access(f"site{number}", f"to-ce{number}", **{**ip(f"10.{number}.0.1"), **more})


def at(number: int, *accesses: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return node(f"pe{min(number, 3)}", *(accesses or (site(number),)), **more)


def targets(exported: str, *imported: str) -> dict[str, Any]:
    found = [(exported, "export"), *((one, "import") for one in imported)]
    listed = [
        {
            "id": n,
            "route-targets": [{"route-target": f"0:65000:{target}"}],
            "route-target-type": kind,
        }
        for n, (target, kind) in enumerate(found, 1)
    ]
    family = {"address-family": f"{COMMON}dual-stack", "vpn-targets": {"vpn-target": listed}}
    return {"profile-id": "chosen", "address-family": [family]}


def profiled(name: str, *profiles: Any, nodes: Any, **more: Any) -> dict[str, Any]:
    return service(
        name, *nodes, **{"vpn-instance-profiles": {"vpn-instance-profile": list(profiles)}, **more}
    )


def hub(*nodes: Any, role: str = "hub-role") -> dict[str, Any]:
    return profiled(
        "acme",
        {"profile-id": "hub", "role": f"{COMMON}{role}"},
        nodes=nodes,
        **{"vpn-service-topology": f"{COMMON}hub-spoke"},
    )


def extranet(shared: str) -> Document:
    """``shared``: the route target that acme imports of backup."""
    return document(
        profiled("acme", targets("9001", "9001", shared), nodes=[at(1, profile="chosen")]),
        profiled("backup", targets("9003", "9001", "9003"), nodes=[at(2, profile="chosen")]),
    )


FOURTH = at(3, site(3), site(4))
GOOD: Mapping[str, Document] = {
    "one site": document(service("acme", at(1))),
    "two sites": document(service("acme", at(1), at(2))),
    "three sites": document(service("acme", at(1), at(2), at(3))),
    "four sites": document(service("acme", at(1), at(2), FOURTH)),
    "two sites on one router": document(service("acme", FOURTH)),
    "IPv6 alone": document(
        service("acme", *(at(n, site(n, **ip("", f"fd00:{n}::1"))) for n in (1, 2, 3)))
    ),
    "both families": document(
        service("acme", *(at(n, site(n, **ip(f"10.{n}.0.1", f"fd00:{n}::1"))) for n in (1, 2)))
    ),
    "hub and two spokes": document(hub(at(1, profile="hub"), at(2), at(3))),
    "two hubs": document(hub(at(1, profile="hub"), at(2, profile="hub"), at(3))),
    "a spoke on the router of the hub's neighbor": document(hub(at(1, profile="hub"), FOURTH)),
    "two services": document(
        service("acme", at(1), at(3)), service("umbra", at(2), at(3, site(4)))
    ),
    "the same addresses in two services": document(
        service("acme", at(1), at(2)),
        service("umbra", at(3, site(3, **ip("10.1.0.1")), site(4, **ip("10.2.0.1")))),
    ),
    "a network behind a site": document(
        service("acme", at(1, site(1, **lan("10.9.0.0/24", "10.1.0.10"))), at(2))
    ),
    "a network of IPv6 behind a site": document(
        service(
            "acme",
            *(at(n, site(n, **ip("", f"fd00:{n}::1"))) for n in (2, 3)),
            at(1, site(1, **ip("", "fd00:1::1"), **lan("fd00:9::/64", "fd00:1::a"))),
        )
    ),
    "a site with two routers": document(
        service(
            "acme",
            at(1, site(1, **lan("10.9.0.0/24", "10.1.0.10"))),
            at(2, site(2, **lan("10.9.0.0/24", "10.2.0.10"))),
            at(3),
        )
    ),
    "a customer's BGP": document(service("acme", at(1, site(1, **bgp("10.1.0.2"))), at(2))),
    "an extranet": extranet("9003"),
    "a name that is no device": document(service("Acme, Inc. of Springfield", at(1), at(2))),
    "a point-to-point subnet": document(
        service("acme", at(1, site(1, **ip("192.0.2.0", length=31))), at(2))
    ),
    "chosen route distinguishers": document(
        profiled(
            "acme",
            {"profile-id": "first", "rd": "1:192.0.2.1:700"},
            nodes=[at(1, profile="first"), at(2)],
        )
    ),
}
BAD: Mapping[str, tuple[str, Document]] = {
    "an unknown router": ("intent", document(service("acme", node("pe9", site(1))))),
    "an interface of two services": (
        "intent", document(service("acme", at(1)), service("umbra", at(1))),
    ),
    "an interface of two accesses": (
        "intent", document(service("acme", at(1, site(1), access("again", "to-ce1")))),
    ),
    "a hub-and-spoke service without a hub": ("intent", document(hub(at(1), at(2)))),
    "a spoke in an any-to-any service": (
        "intent",
        document(
            profiled(
                "acme", {"profile-id": "p", "role": f"{COMMON}spoke-role"},
                nodes=[at(1, profile="p")],
            )
        ),
    ),
    "a profile that nobody declares": ("intent", document(service("acme", at(1, profile="none")))),
    "a router twice": ("intent", document(service("acme", at(1), at(1, site(2))))),
    "an access without an interface": (
        "intent", document(service("acme", at(1, {"id": "site1"}))),
    ),
    "a node that is not supported": (
        "intent", document(service("acme", at(1), **{"external-connectivity": {}})),
    ),
    "a route target of two services": (
        "intent",
        document(
            *(
                profiled(name, targets("9001", "9001"), nodes=[at(n, profile="chosen")])
                for n, name in enumerate(("acme", "umbra"), 1)
            )
        ),
    ),
    "a route distinguisher of two nodes": (
        "intent",
        document(
            profiled(
                "acme", {"profile-id": "p", "rd": "1:192.0.2.1:7"},
                nodes=[at(1, profile="p"), at(2, profile="p")],
            )
        ),
    ),
    "an address that is none": (
        "intent", document(service("acme", at(1, site(1, **ip("10.1.0.300"))))),
    ),
    "a neighbor without an AS": (
        "intent", document(service("acme", at(1, site(1, **bgp("10.1.0.2", 0))))),
    ),
    "a subnet without an address for the customer": (
        "intent", document(service("acme", at(1, site(1, **ip("10.1.0.1", length=32))), at(2))),
    ),
    "one subnet at two sites": (
        "lab", document(service("acme", at(1), at(2, site(2, **ip("10.1.0.1"))), at(3))),
    ),
    "one subnet twice on a router": (
        "lab", document(service("acme", at(1), at(3, site(3), site(4, **ip("10.3.0.2"))))),
    ),
    "a network behind an address that is on no link": (
        "lab",
        document(service("acme", at(1, site(1, **lan("10.9.0.0/24", "10.77.0.10"))), at(2))),
    ),
    "a target that nobody exports": (
        "lab",
        document(
            profiled(
                "acme", targets("9001", "9002"), nodes=[at(n, profile="chosen") for n in (1, 2)]
            )
        ),
    ),
    "a spoke that imports what spokes export": (
        "lab",
        document(
            profiled(
                "acme",
                {**targets("9001", "9001"), "profile-id": "hub", "role": f"{COMMON}hub-role"},
                {**targets("9001", "9001")},
                nodes=[at(1, profile="hub"), at(2, profile="chosen"), at(3, profile="chosen")],
                **{"vpn-service-topology": f"{COMMON}hub-spoke"},
            )
        ),
    ),
    "a network of one site that is the subnet of another": (
        "lab",
        document(service("acme", at(1, site(1, **lan("10.2.0.0/25", "10.1.0.10"))), at(2), at(3))),
    ),
}  # fmt: skip
