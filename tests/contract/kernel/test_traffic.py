"""Packets through SIDs: what is written works, is counted, and outlives its VRF."""

from __future__ import annotations

import dataclasses
import socket
import struct
import time
from ipaddress import IPv6Address, IPv6Network

import pytest

from lab.waiting import wait_until
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.unreachable.object import UnreachableDefault
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.plan.actions import Create, Delete, Replace
from tests.contract.kernel.conftest import Run

pytestmark = [pytest.mark.contract, pytest.mark.usefixtures("vrf")]

RED = VrfDevice("red", 100, (1 << 28) | 100)
SID = SidRoute(IPv6Network("fc00:1::1/128"), Behavior.END_DT46, SID_TABLE, vrf_table=100)
INNER = "fc00:9::1"


def ipv6(source: str, destination: str, next_header: int, payload: bytes) -> bytes:
    addresses = IPv6Address(source).packed + IPv6Address(destination).packed
    return struct.pack("!IHBB", 6 << 28, len(payload), next_header, 64) + addresses + payload


@pytest.fixture
def router(kernel: LinuxKernel, run: Run, sid_device: str) -> LinuxKernel:
    """A SID of VRF red; frames sent on wire1 come in on wire0."""
    run("ip link add wire0 type veth peer name wire1; ip link set wire0 up; ip link set wire1 up")
    run("ip link add p0 type dummy; ip link set p0 up")
    objects: list[Object] = [
        Sysctl("net/ipv6/conf/all/forwarding", "1"),
        Sysctl("net/vrf/strict_mode", "1"),
        RED,
        UnreachableDefault(6, 100),
        VrfPort("p0", "red"),
        SID,
        Rule(2000, IPv6Network("fc00:1::/48"), SID_TABLE),
    ]
    assert kernel.apply([Create(o) for o in objects]) == []
    run(f"ip -6 addr add {INNER}/64 dev p0 nodad")
    return kernel


def send(count: int) -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as probe:
        probe.bind(("wire0", 0))
        mac: bytes = probe.getsockname()[4]
    inner = ipv6("fc00:8::1", INNER, socket.IPPROTO_UDP, struct.pack("!HHHH", 1, 2, 8, 0xFFFF))
    frame = mac + bytes(6) + b"\x86\xdd" + ipv6("fc00:7::1", "fc00:1::1", 41, inner)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
        wire.bind(("wire1", 0))
        for _ in range(count):
            wire.send(frame)
    time.sleep(0.05)


def test_counts_packets(router: LinuxKernel) -> None:
    send(5)
    packets, octets, errors = router.sid_counters()[SID.prefix]
    # The octets are those of the packet as it arrives at the SID.
    assert (packets, octets, errors) == (5, 5 * 88, 0)


def test_identical_replace_zeroes_counters(router: LinuxKernel) -> None:
    send(5)
    assert router.apply([Replace(SID, SID)]) == []
    assert router.sid_counters()[SID.prefix] == (0, 0, 0)


def test_pinned_ifindex_revives_the_sid(router: LinuxKernel, run: Run) -> None:
    assert router.apply([Delete(RED)]) == []
    send(3)
    assert router.sid_counters()[SID.prefix][2] == 3
    assert router.apply([Create(RED), Create(VrfPort("p0", "red"))]) == []
    run(f"ip -6 addr replace {INNER}/64 dev p0 nodad")
    send(4)
    packets, _, errors = router.sid_counters()[SID.prefix]
    assert (packets, errors) == (4, 3)


def test_routes_are_not_dumped_again_before_a_packet_comes_in(
    router: LinuxKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumps = []
    dump = router._netlink.dump
    monkeypatch.setattr(
        router._netlink, "dump", lambda *a, **named: dumps.append(a) or dump(*a, **named)
    )

    def dumped() -> int:
        del dumps[:]
        router.sid_counters()
        return len(dumps)

    # Links that came up have something to say.
    wait_until(lambda: (dumped(), dumped()) == (0, 0), "no dump while nothing comes in")
    send(3)
    assert router.sid_counters()[SID.prefix][0] == 3
    wait_until(lambda: (dumped(), dumped()) == (0, 0), "no dump afterwards")
    assert router.sid_counters()[SID.prefix][0] == 3
    # A second route, and the first one again, without a packet.
    another = dataclasses.replace(SID, prefix=IPv6Network("fc00:1::2/128"))
    assert router.apply([Create(another), Replace(SID, SID)]) == []
    assert dumped() == 0
    written = dict(router.sid_counters())
    assert written == {SID.prefix: (0, 0, 0), another.prefix: (0, 0, 0)}
    # What is known is what a dump would bring.
    router._traffic.forget()
    assert router.sid_counters() == written
    send(2)
    assert router.sid_counters()[SID.prefix][0] == 2
