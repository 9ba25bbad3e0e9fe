"""Which packets check a function."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_interface

from srv6mgrd.function_health.checks import Check, Port, checks
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import ProxiedFunction, ServiceFunction, Way
from tests.unit.model.service_chaining import desired

FIREWALL = desired().chains.functions["firewall"]
PORTS = {
    "fw-in": Port(3, True, b"\2" * 6, (ip_interface("10.9.0.1/24"), ip_interface("fd09::1/64"))),
    "fw-out": Port(
        4,
        True,
        b"\4" * 6,
        (
            ip_interface("fe80::1/64"),
            ip_interface("192.0.2.1/24"),
            ip_interface("10.9.1.1/24"),
            ip_interface("fd09:1::1/64"),
        ),
    ),
}


def test_each_inner_type_in_each_direction() -> None:
    found = list(checks(FIREWALL, PORTS))
    assert [check.name for check in found] == [
        "ipv4 forward", "ipv4 reverse", "ipv6 forward", "ipv6 reverse",
    ]  # fmt: skip
    assert found[0] == Check(
        "firewall",
        Family.IPV4,
        Way.FORWARD,
        "fw-in",
        "fw-out",
        IPv4Address("10.9.0.2"),
        IPv4Address("10.9.0.1"),
        # No address of this network is near its next hop on the other side.
        IPv4Address("192.0.2.1"),
    )
    assert (found[3].source, found[3].destination) == (
        IPv6Address("fd09:1::1"),
        IPv6Address("fd09::1"),
    )


def test_an_interface_that_is_down_or_gone() -> None:
    down = {**PORTS, "fw-out": replace(PORTS["fw-out"], is_up=False)}
    assert {check.problem for check in checks(FIREWALL, down)} == {"interface fw-out is down"}
    gone = {"fw-out": PORTS["fw-out"]}
    assert {check.problem for check in checks(FIREWALL, gone)} == {"interface fw-in does not exist"}


def test_without_an_address_nothing_can_be_said() -> None:
    ports = {**PORTS, "fw-in": replace(PORTS["fw-in"], addresses=())}
    found = list(checks(FIREWALL, ports))
    assert not any(check.is_possible for check in found)
    assert found[0].problem == "interface fw-in has no IPv4 address"


def test_one_interface_has_one_direction() -> None:
    function = ServiceFunction(
        "cache",
        ProxiedFunction(
            "main", 1, (Family.IPV4,), "fw-in", "fw-in", {Family.IPV4: IPv4Address("10.9.0.2")}
        ),
    )
    (found,) = checks(function, PORTS)
    assert (found.enters, found.leaves, found.way) == ("fw-in", "fw-in", Way.FORWARD)


def test_frames_need_no_addresses() -> None:
    function = ServiceFunction(
        "bridge", ProxiedFunction("main", 1, (Family.ETHERNET,), "fw-in", "fw-out")
    )
    assert [check.is_possible for check in checks(function, PORTS)] == [True, True]


def test_functions_elsewhere_are_not_checked() -> None:
    assert list(checks(ServiceFunction("remote"), PORTS)) == []
