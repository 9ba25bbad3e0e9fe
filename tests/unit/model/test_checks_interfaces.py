"""Declared interfaces: parsed, what no router can have of them, and what a start leaves out."""

from dataclasses import replace
from ipaddress import ip_address, ip_interface

import pytest

from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import check
from srv6mgrd.model.desired import Proxy, Role
from srv6mgrd.model.interfaces import Interface, Vlan
from srv6mgrd.model.parse import parse
from srv6mgrd.model.partition import partition
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.status import Kind, ObjectRef
from tests.builders import desired, locator, sid, vrf

AT = "/srv6mgr-srv6:srv6/interfaces/interface"


def one(name, *addresses, **more):
    return Interface(name, addresses=tuple(map(ip_interface, addresses)), **more)


def declared(*interfaces, parts=(), **more):
    return replace(desired(*parts), interfaces={i.name: i for i in interfaces}, **more)


def vlan(name, parent, number, *addresses, **more):
    return one(name, *addresses, vlan=Vlan(parent, number), **more)


def proxied(interface, mtu):
    proxy = Proxy("ipv6", interface, interface, ip_address("2001:db8::2"), mtu=mtu)
    return replace(sid("fcbb:0:1:a0::/64", Behavior.END_AD), proxy=proxy)


def rejections(state):
    try:
        check(state)
    except RejectedError as rejected:
        return rejected.rejections
    return []


def test_parse():
    entries = [
        {"name": "eth1", "role": "core"},
        {"name": "eth2"},
        {
            "name": "eth1.5",
            "role": "customer",
            "srv6mgr-interfaces:vlan": {"parent-interface": "eth1", "vlan-id": 5},
            "srv6mgr-interfaces:enabled": False,
            "srv6mgr-interfaces:mtu": 1400,
            "srv6mgr-interfaces:ipv4": {"address": [{"ip": "10.0.0.1", "prefix-length": 24}]},
            "srv6mgr-interfaces:ipv6": {
                "address": [
                    {"ip": "fe80::1", "prefix-length": 64},
                    {"ip": "2001:db8::1", "prefix-length": 64},
                ]
            },
        },
        {"name": "lo1", "srv6mgr-interfaces:type": "loopback"},
    ]
    found = parse({"srv6mgr-srv6:srv6": {"interfaces": {"interface": entries}}})

    assert found.roles == {"eth1": Role.CORE, "eth1.5": Role.CUSTOMER}
    assert found.interfaces == {
        "eth2": Interface("eth2"),
        "eth1.5": vlan(
            *("eth1.5", "eth1", 5, "10.0.0.1/24", "2001:db8::1/64", "fe80::1/64"),
            enabled=False,
            mtu=1400,
        ),
        "lo1": Interface("lo1", loopback=True),
    }


GOOD = {
    "one of each": declared(
        one("eth1", "10.0.0.1/24", "2001:db8::1/64", "fe80::1/64", enabled=True, mtu=9000),
        vlan("eth1.5", "eth1", 5, "10.0.1.0/31", "fe80::1/64", mtu=9000),
        vlan("eth1.5.5", "eth1.5", 5),
        one("lo1", "192.0.2.1/32", loopback=True),
    ),
    "addresses of loopback and VRF": declared(
        one("lo", "2001:db8::1/128"), one("red", "2001:db8::1/128"), parts=[vrf("red", 10)]
    ),
    "the same address in two VRFs": declared(
        *(one(name, "10.0.0.1/24") for name in ("eth0", "eth1", "eth2")),
        parts=[vrf("red", 10, "eth1"), vrf("blue", 20, "eth2")],
    ),
    "function 0 of the locator": declared(one("lo", "fcbb:0:1::1/128"), parts=[locator()]),
    "the mtu of a proxy": declared(
        one("fw", mtu=1400), parts=[locator(), proxied("fw", 1400)]
    ),
}  # fmt: skip


@pytest.mark.parametrize("state", GOOD.values(), ids=GOOD)
def test_what_can_be(state):
    assert rejections(state) == []


# Python versions write it differently.
MAPPED = ip_interface("::ffff:10.0.0.1/128")
MICRO = replace(locator(), micro_segment=True)
BAD = {
    "eth1": [
        (
            declared(one("eth1", "224.0.0.1/24")),
            "address 224.0.0.1/24 is multicast; choose the address of a host",
        ),
        (
            declared(one("eth1", "::1/128")),
            "address ::1/128 is loopback; choose the address of a host",
        ),
        (
            declared(one("eth1", "::/64")),
            "address ::/64 is the unspecified address; choose the address of a host",
        ),
        (
            declared(one("eth1", "::ffff:10.0.0.1/128")),
            f"address {MAPPED} is an IPv4-mapped address; choose the address of a host",
        ),
        (
            declared(one("eth1", "0.1.2.3/24")),
            "address 0.1.2.3/24 is of network 0.0.0.0/8; choose the address of a host",
        ),
        (
            declared(one("eth1", "255.255.255.255/32")),
            "address 255.255.255.255/32 is the limited broadcast address;"
            " choose the address of a host",
        ),
        (
            declared(one("eth1", "10.0.0.0/24")),
            "address 10.0.0.0/24 is the address of the subnet 10.0.0.0/24 itself;"
            " choose the address of a host",
        ),
        (
            declared(one("eth1", "10.0.0.255/24")),
            "address 10.0.0.255/24 is the broadcast address of subnet 10.0.0.0/24;"
            " choose the address of a host",
        ),
        (
            declared(one("eth0", "10.0.0.1/24"), one("eth1", "10.0.0.1/32")),
            "address 10.0.0.1 is already declared for interface eth0; choose another address",
        ),
        (
            declared(
                one("eth0", "2001:db8::1/64"),
                one("eth1", "2001:db8::1/64"),
                parts=[vrf("red", 10, "eth0", "eth1")],
            ),
            "address 2001:db8::1 is already declared for interface eth0 in VRF red;"
            " choose another address",
        ),
        (
            declared(one("eth1", "fcbb:0:1:64::1/128"), parts=[locator()]),
            "address fcbb:0:1:64::1 is among the SIDs of locator MAIN;"
            " choose an address outside of fcbb:0:1::/48, or one with function 0",
        ),
        (
            declared(one("eth1", "fcbb:0:1::/128"), parts=[MICRO]),
            "address fcbb:0:1:: is among the SIDs of locator MAIN;"
            " choose an address outside of fcbb:0:1::/48, or one with function 0",
        ),
        (
            declared(one("eth1", "fcbb:0:1::1/64"), parts=[locator()]),
            "subnet fcbb:0:1::/64 overlaps fcbb:0:1::/48 of locator MAIN;"
            " choose a subnet outside of the locator, or declare the address as /128",
        ),
        (
            declared(one("eth1", "fcbb::1/32"), parts=[locator()]),
            "subnet fcbb::/32 overlaps fcbb:0:1::/48 of locator MAIN;"
            " choose a subnet outside of the locator, or declare the address as /128",
        ),
        (
            declared(one("eth1", mtu=1400), parts=[locator(), proxied("eth1", 1300)]),
            "mtu 1400 is 1300 for the proxy of SID fcbb:0:1:a0::/64;"
            " declare one mtu for an interface",
        ),
    ],
    "v": [
        (
            declared(vlan("a", "eth1", 5), vlan("v", "eth1", 5)),
            "VLAN 5 of eth1 is already interface a; choose another vlan-id or parent-interface",
        ),
        (
            declared(vlan("v", "v", 5)),
            "parent-interface v is the interface itself;"
            " name the interface that carries the tagged frames",
        ),
        (
            declared(vlan("v", "lo", 5)),
            "parent-interface lo is the loopback;"
            " name the interface that carries the tagged frames",
        ),
        (
            declared(vlan("v", "red", 5), parts=[vrf("red", 10)]),
            "parent-interface red is a VRF; name the interface that carries the tagged frames",
        ),
        (
            declared(one("eth1", mtu=1400), vlan("v", "eth1", 5, mtu=1500)),
            "mtu 1500 is larger than mtu 1400 of parent-interface eth1;"
            " lower it, or raise that of the parent",
        ),
    ],
    "w": [
        (
            declared(one("eth1", mtu=1000), vlan("w", "eth1", 5, "fe80::1/64")),
            "mtu 1000 of parent-interface eth1 is below 1280, where the kernel takes IPv6"
            " off; raise it or remove the IPv6 addresses",
        ),
    ],
    "lo": [
        (
            declared(one("lo", mtu=1400)),
            "it is the loopback; declare nothing but addresses of it",
        ),
    ],
    "red": [
        (
            declared(one("red", enabled=False), parts=[vrf("red", 10)]),
            "it is a VRF; declare nothing but addresses of it",
        ),
    ],
    "srv6mgr": [
        (declared(one("srv6mgr", "10.0.0.1/32")), "it carries the local SIDs; remove it"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "state", "words"), [(n, s, w) for n, cases in BAD.items() for s, w in cases]
)
def test_what_can_not_be(name, state, words):
    (rejection,) = rejections(state)

    assert str(rejection) == f"interface {name}: {words}"
    assert rejection.path == f"{AT}[name='{name}']"


def test_vlans_on_each_other():
    found = rejections(declared(vlan("v", "w", 5), vlan("w", "v", 6)))

    assert [r.object for r in found] == ["interface v", "interface w"]
    assert found[0].cause == "parent-interface w is a VLAN of v itself"


def test_a_customer_is_kept_out_though_its_address_can_not_be():
    state = declared(
        one("eth1", "224.0.0.1/24"),
        one("eth2", "10.0.0.1/24"),
        roles={"eth1": Role.CUSTOMER},
        default_role=Role.CORE,
    )

    found = partition(state, rejections)

    assert found.rejected.keys() == {ObjectRef(Kind.INTERFACE, "eth1")}
    assert found.valid.interfaces.keys() == {"eth2"}
    assert found.valid.roles == {"eth1": Role.CUSTOMER}
