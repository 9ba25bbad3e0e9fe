"""What doctor says of packets through the VPNs."""

from contextlib import contextmanager
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest

from srv6mgrd.cli.doctor import probe as doctor_probe
from srv6mgrd.cli.doctor.finding import Level
from srv6mgrd.cli.oam import reply
from srv6mgrd.cli.oam.exchange import Exchange
from srv6mgrd.cli.oam.probe import Host, Vpn
from srv6mgrd.cli.oam.reply import Kind
from srv6mgrd.cli.oam.target import Target
from srv6mgrd.cli.problem import Problem
from tests.fakes.oam_network import FakeNetwork

SOURCE, CORE = IPv6Address("2001:db8::1"), IPv6Address("2001:db8:1::2")
SIDS = {"red": IPv6Address("fcbb:0:2:64::"), "blue": IPv6Address("fcbb:0:2:c8::")}


def edge(vrf):
    host = Host(vrf, IPv6Address("fd00:1::1"), IPv6Address("fd00:1::1"))
    probe = Vpn(SOURCE, (SIDS[vrf],), host, 64)
    return Target(((probe,),), SIDS[vrf], vrf, IPv6Network("fd00:2::/64"))


@pytest.fixture
def findings(monkeypatch):
    """Of VRFs, given what the network answers to a probe for a SID."""

    def run(vrfs, answering):
        network = FakeNetwork(answering)

        class Edges:
            def edges(self):
                return iter([edge(vrf) for vrf in vrfs])

        @contextmanager
        def resolving():
            yield Edges()

        @contextmanager
        def exchanging(*opened):
            assert set(opened) <= set(vrfs)
            yield Exchange(network, 7, network.clock)

        monkeypatch.setattr(doctor_probe, "resolving", resolving)
        monkeypatch.setattr(doctor_probe, "exchanging", exchanging)
        return list(doctor_probe.probe())

    return run


def about(data):
    return reply.of_icmp(bytes([3, 0, 0, 0, 0, 0, 0, 0]) + data, CORE)


def came_back(data):
    return [replace(about(data), kind=Kind.RETURNED)]


def only_red(data):
    found = about(data)
    return came_back(data) if found.quoted.destination == SIDS["red"] else []


def no_route(data):
    return [replace(about(data), kind=Kind.UNREACHABLE)]


def test_all_is_well(findings):
    (found,) = findings(["red", "blue"], came_back)
    assert found.level is Level.OK
    assert found.message.startswith("2 paths of 2 VRFs carried a packet and its answer")


def test_what_is_lost_is_named(findings):
    (found,) = findings(["red", "blue"], only_red)
    assert found == (
        Level.FAIL,
        "probe",
        "VRF blue: fd00:2::/64 is not reached through SID fcbb:0:2:c8::: no answer",
        "srv6ctl trace fd00:2::/64 --vrf blue",
    )


def test_what_a_router_says_is_named(findings):
    (found,) = findings(["red"], no_route)
    assert found.message.endswith(f"{CORE}: no route")


def test_a_packet_that_is_lost_once_is_tried_again(findings):
    asked = []

    def second(data):
        asked.append(data)
        return came_back(data) if len(asked) > 1 else []

    (found,) = findings(["red"], second)
    assert found.level is Level.OK


def test_no_vpn(findings):
    (found,) = findings([], came_back)
    assert found.level is Level.NOTE


def test_without_rights(monkeypatch):
    def resolving():
        raise Problem.of("network", "raw sockets can't be opened", "run it as root")

    monkeypatch.setattr(doctor_probe, "resolving", resolving)
    (found,) = doctor_probe.probe()
    assert found.level is Level.SKIP


def test_many_vrfs_are_probed_in_parts():
    many = [replace(edge("red"), vrf=f"v{n}") for n in range(70) for _ in range(2)]
    assert [len(part) for part in doctor_probe._parts(many)] == [64, 64, 12]
