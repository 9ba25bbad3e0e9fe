"""OSPF of VRFs in the words of ospfd and ospf6d, and what they say of neighbors."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import IPv4Address, ip_network

import pytest

from srv6mgrd.frr.blocks import block
from srv6mgrd.frr.limits import limits
from srv6mgrd.frr.ospf import status
from srv6mgrd.frr.render import render
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.kinds.frr_block.object import hide_secret, without_secret
from srv6mgrd.model.checks import check
from srv6mgrd.model.desired import Desired, Vrf
from srv6mgrd.model.names import of_ref
from srv6mgrd.model.ospf import DefaultInformation, Ospf, OspfInterface, OspfKey
from srv6mgrd.model.parse import parse
from srv6mgrd.model.partition import partition
from srv6mgrd.model.references import of_path, ospf_ref, path_of
from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6mgrd.model.routing_policy import (
    Actions,
    Conditions,
    Policy,
    PrefixRange,
    RoutingPolicy,
    Statement,
)
from srv6mgrd.model.status import Kind, ObjectRef
from tests.unit.frr.samples import PE1

SETS = {"ALL": (PrefixRange(ip_network("10.0.0.0/8")), PrefixRange(ip_network("fd00::/8")))}
POLICY = Policy("SOME", (Statement(10, Conditions(prefix_set="ALL"), Actions(med=7)),))
ROUTING = RoutingPolicy({"SOME": POLICY}, SETS)
TO_CE = OspfInterface("eth1", IPv4Address("0.0.0.1"), 15, point_to_point=True, bfd=True)


def speaking(version: int, *interfaces: OspfInterface) -> Ospf:
    sources = (("bgp", "SOME"), ("connected", None))
    return Ospf("red", version, IPv4Address("10.0.0.1"), interfaces or (TO_CE,), sources)


def having(*instances: Ospf, routing: RoutingPolicy = ROUTING) -> Desired:
    return Desired(
        vrfs={"red": Vrf("red", 10, ("eth1", "eth2"))},
        ospf={o.vrf: o for o in instances if o.version == 2},
        ospfv3={o.vrf: o for o in instances if o.version == 3},
        routing_policy=routing,
    )


@pytest.mark.parametrize(
    ("version", "daemon", "message", "router", "ip"),
    [(2, "ospfd", "ip ospf", "ospf", "ip"), (3, "ospf6d", "ipv6 ospf6", "ospf6", "ipv6")],
)
def test_lines(version: int, daemon: str, message: str, router: str, ip: str) -> None:
    found = {b.context: b.lines for b in render(having(speaking(version))) if b.daemon == daemon}

    prefix = "10.0.0.0/8" if version == 2 else "fd00::/8"
    place = 40 if version == 2 else 41
    assert found == {
        (f"{ip} prefix-list srv6mgr-ALL",): (f"permit {prefix}",),
        (f"route-map srv6mgr-SOME permit {place}",): (
            f"match {ip} address prefix-list srv6mgr-ALL",
            "set metric 7",
        ),
        ("interface eth1",): (
            f"{message} area 0.0.0.1",
            f"{message} cost 15",
            f"{message} network point-to-point",
            f"{message} bfd",
        ),
        (f"router {router} vrf red",): (
            f"{router} router-id 10.0.0.1",
            "redistribute bgp route-map srv6mgr-SOME",
            "redistribute connected",
        ),
    }


def test_keys_and_default_routes() -> None:
    keyed = replace(TO_CE, bfd=False, authentication=OspfKey("a#B", 7, "hmac-sha-256"))
    default = DefaultInformation(20, type_1=True)
    three = replace(speaking(3, keyed), default_information=default)
    old = replace(keyed, authentication=OspfKey("a#B"))
    two = replace(speaking(2, old), default_information=DefaultInformation())
    found = {(b.daemon, b.context[0]): b.lines for b in render(having(two, three))}

    assert found["ospfd", "interface eth1"][-2:] == (
        "ip ospf authentication message-digest",
        "ip ospf message-digest-key 1 md5 a#B",
    )
    assert found["ospf6d", "interface eth1"][-1] == (
        "ipv6 ospf6 authentication key-id 7 hash-algo hmac-sha-256 key a#B"
    )
    line = "default-information originate always"
    assert line in found["ospfd", "router ospf vrf red"]
    assert f"{line} metric 20 metric-type 1" in found["ospf6d", "router ospf6 vrf red"]
    assert "a#B" not in repr((two, three))


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("ip ospf message-digest-key 1 md5 s3cret", "ip ospf message-digest-key 1 ..."),
        (
            "no ipv6 ospf6 authentication key-id 7 hash-algo hmac-sha-256 key s3cret",
            "no ipv6 ospf6 authentication key-id 7 ...",
        ),
    ],
)
def test_a_key_is_not_reported(line: str, shown: str) -> None:
    assert without_secret(line) == shown
    assert hide_secret(line, f"wrong: s3cret (at '{line}')") == f"wrong: ... (at '{shown}')"
    assert "s3cret" not in repr(block("ospfd", ("interface eth1",), (line,)))


def test_bgp_redistributes_it() -> None:
    red = PE1.vrfs["red"]
    assert red.bgp is not None
    bgp = replace(red.bgp, redistribute_ospf=True, ospf_policy="SOME")
    state = replace(PE1, vrfs={**PE1.vrfs, "red": replace(red, bgp=bgp)})

    found = {b.context[-1]: b.lines for b in render(state) if " vrf red" in b.context[0]}

    assert "redistribute ospf route-map srv6mgr-SOME" in found["address-family ipv4 unicast"]
    assert "redistribute ospf6 route-map srv6mgr-SOME" in found["address-family ipv6 unicast"]


class Shown:
    """ospfd and ospf6d with a neighbor at eth1."""

    def __init__(self, state: str = "Full", away: str = "") -> None:
        self.state, self.away = state, away

    def show(self, daemon: str, command: str) -> str:
        if self.away:
            raise VtyError(2, self.away)
        if daemon == "ospfd":
            assert command == "show ip ospf vrf red neighbor json"
            entry = {"ifaceName": "eth1:10.1.0.1", "converged": self.state}
            return json.dumps({"red": {"neighbors": {"10.77.0.1": [entry]}}})
        assert command == "show ipv6 ospf6 vrf red neighbor json"
        return json.dumps({"neighbors": [{"interfaceName": "eth1", "state": self.state}]})


V2, V3 = ObjectRef(Kind.OSPF, "red"), ObjectRef(Kind.OSPFV3, "red")


def test_status() -> None:
    both = having(speaking(2), speaking(3))

    assert status(both, Shown()) == {V2: (True, ""), V3: (True, "")}
    assert status(both, Shown("Init")) == {
        V2: (False, "no OSPF neighbor at eth1"),
        V3: (False, "no OSPFv3 neighbor at eth1"),
    }
    assert status(both, Shown(away="it is away")) == {
        V2: (False, "it is away"),
        V3: (False, "it is away"),
    }
    passive = having(speaking(2, replace(TO_CE, passive=True)))
    assert status(passive, Shown("Init")) == {V2: (True, "")}


def rejections(state: Desired) -> list[Rejection]:
    try:
        check(state)
    except RejectedError as error:
        return error.rejections
    return []


def test_an_interface_that_is_not_in_the_vrf() -> None:
    state = having(speaking(2), speaking(3, replace(TO_CE, name="eth9")))

    found = partition(state, rejections)

    (bad,) = found.rejected
    assert str(found.rejected[bad]) == (
        "OSPFv3 of VRF red: interface eth9 is not in the VRF; add it to the interfaces of VRF red,"
        " or name one of them"
    )
    assert (set(found.valid.ospf), found.valid.ospfv3) == ({"red"}, {})
    assert found.whole(found.valid) == state
    assert of_ref(bad) == "OSPFv3 of VRF red"
    for ref in (bad, ospf_ref(state.ospf["red"])):
        assert of_path(path_of(ref, state)) == ref


def test_a_router_id_that_is_reserved() -> None:
    (found,) = rejections(having(replace(speaking(2), router_id=IPv4Address(0))))

    assert found.tag == "ospf-router-id"


def test_a_policy_that_ospf_does_not_know() -> None:
    policy = Policy("SOME", (Statement(10, actions=Actions(local_pref=7)),))

    (found,) = limits(having(speaking(2), routing=RoutingPolicy({"SOME": policy})))

    assert str(found) == (
        "OSPF of VRF red: statement 10 of its policy SOME is about communities, AS paths or local"
        " preference, which OSPF has not; name a policy of prefixes, tags and metrics"
    )


def test_parsed() -> None:
    interface = {"name": "eth1", "area": "0.0.0.1", "cost": 15, "point-to-point": True, "bfd": True}
    entry = {
        "router-id": "10.0.0.1",
        "interface": [interface],
        "redistribute": {"bgp": True, "bgp-policy": "SOME", "connected": True, "static": False},
    }
    vrf = {"name": "red", "table-id": 10, "srv6mgr-ospf:ospf": entry, "srv6mgr-ospf:ospfv3": entry}

    found = parse({"srv6mgr-srv6:srv6": {"vrfs": {"vrf": [vrf]}}})

    assert (found.ospf, found.ospfv3) == ({"red": speaking(2)}, {"red": speaking(3)})
