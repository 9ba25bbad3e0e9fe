"""Packets through every behavior and headend: processed as meant, and counted."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_network

import pytest

from lab.waiting import wait_until
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.reserved import DEFAULT_VRF_DEVICE, DEFAULT_VRF_TABLE, SID_DEVICE
from srv6mgrd.plan.actions import Create, Delete, Replace
from srv6mgrd.plan.target_objects import vrf_ifindex
from tests.contract.kernel.conftest import Run, pin

pytestmark = pytest.mark.contract

SID = IPv6Address("fc00:1:0:1::")
NODE = IPv6Network("fc00:1:2::/48")
SOURCE = "fc00:7::1"
INNER6 = ("fc00:8::1", "fc00:9::1")
INNER4 = ("198.51.100.1", "198.51.100.129")
NEXT = "fc00:5::5"
ETHERNET, IPV4, IPV6, ROUTING = 143, 4, 41, 43
MAC = bytes.fromhex("020000000099")
# linux/bpf.h: enum bpf_ret_code
_BPF_DROP = 2
ETH_IPV4, ETH_IPV6 = 0x0800, 0x86DD


def ipv6(source: str, destination: str, following: int, payload: bytes, *, label: int = 0) -> bytes:
    addresses = IPv6Address(source).packed + IPv6Address(destination).packed
    head = struct.pack("!IHBB", 6 << 28 | label, len(payload), following, 64)
    return head + addresses + payload


def ipv4(source: str, destination: str, payload: bytes) -> bytes:
    def head(check: int) -> bytes:
        size = 20 + len(payload)
        fixed = struct.pack("!BBHHHBBH", 0x45, 0, size, 0, 0, 64, 17, check)
        return fixed + IPv4Address(source).packed + IPv4Address(destination).packed

    total = sum(struct.unpack("!10H", head(0)))
    total = (total & 0xFFFF) + (total >> 16)
    return head(~(total + (total >> 16)) & 0xFFFF) + payload


def srh(following: int, left: int, *segments: str) -> bytes:
    """Segments in the order of the wire: the last one first."""
    count = len(segments)
    head = struct.pack("!BBBBBBH", following, 2 * count, 4, left, count - 1, 0, 0)
    return head + b"".join(IPv6Address(s).packed for s in segments)


UDP = struct.pack("!HHHH", 1, 2, 8, 0xFFFF)
PACKET6 = ipv6(*INNER6, 17, UDP, label=0x12345)
PACKET4 = ipv4(*INNER4, UDP)
FRAME = MAC + MAC + struct.pack("!H", ETH_IPV4) + PACKET4


class Router:
    """Frames sent on in1 come in on in0; what goes out on out0 is seen on out1, as the packet
    behind the Ethernet header."""

    def __init__(self, kernel: LinuxKernel, mac: bytes, out: socket.socket) -> None:
        self.kernel = kernel
        self.mac = mac
        self._out = out

    def put(self, *objects: Object) -> None:
        assert self.kernel.apply([Create(o) for o in objects]) == []

    def forward(self, packet: bytes, kind: int = ETH_IPV6) -> tuple[bytes, bytes]:
        """Destination MAC and payload of what comes out."""
        self.send(packet, kind)
        # Neighbour discovery and its kin aside.
        frame = self.seen(lambda frame: UDP in frame)
        return frame[:6], frame[14:]

    def seen(self, wanted: Callable[[bytes], bool]) -> bytes:
        """The next such frame that comes out."""
        end = time.monotonic() + 2
        while time.monotonic() < end:
            try:
                frame = self._out.recv(4096)
            except TimeoutError:
                break
            if wanted(frame):
                return frame
        raise AssertionError(f"nothing came out; counters {self.kernel.sid_counters()}")

    def send(self, packet: bytes, kind: int = ETH_IPV6) -> None:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
            wire.bind(("in1", 0))
            wire.send(self.mac + MAC + struct.pack("!H", kind) + packet)

    def counted(self) -> tuple[int, int, int]:
        (counters,) = self.kernel.sid_counters().values()
        return counters


@pytest.fixture
def router(kernel: LinuxKernel, run: Run, sid_device: str) -> Iterator[Router]:
    run(
        "ip link add in0 type veth peer name in1; ip link add out0 type veth peer name out1;"
        "for i in in0 in1 out0 out1; do echo 1 > /proc/sys/net/ipv6/conf/$i/disable_ipv6;"
        " echo 0 > /proc/sys/net/ipv4/conf/$i/rp_filter; done;"
        "echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter;"
        "echo 0 > /proc/sys/net/ipv6/conf/in0/disable_ipv6;"
        "echo 0 > /proc/sys/net/ipv6/conf/out0/disable_ipv6;"
        "for i in in0 in1 out0 out1; do ip link set $i up; done;"
        "ip addr add 192.0.2.1/24 dev in0; ip addr add 203.0.113.1/24 dev out0;"
        f"ip -6 neigh add {NEXT} lladdr 02:00:00:00:00:55 dev out0;"
        f"ip -6 neigh add fe80::5 lladdr 02:00:00:00:00:56 dev out0;"
        f"ip neigh add 203.0.113.5 lladdr 02:00:00:00:00:57 dev out0"
    )
    with (
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as probe,
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as out,
    ):
        probe.bind(("in0", 0))
        out.bind(("out1", 3))
        out.settimeout(0.5)
        made = Router(kernel, probe.getsockname()[4], out)
        made.put(
            Sysctl("net/ipv6/conf/all/forwarding", "1"),
            Sysctl("net/ipv4/ip_forward", "1"),
            Rule(2000, IPv6Network("fc00:1::/32"), SID_TABLE),
            EncapSource(IPv6Address(SOURCE)),
        )
        yield made


@pytest.fixture
def onward(router: Router, run: Run) -> None:
    """Everything else goes to the next hop."""
    run(f"ip -6 route add default via {NEXT} dev out0 onlink")


def sid(action: Behavior, **more: object) -> SidRoute:
    made = SidRoute(IPv6Network((SID, 64)), action, SID_TABLE)
    return replace(made, **more)  # type: ignore[arg-type]


def through(*, left: int = 1, last: str = "fc00:6::6") -> bytes:
    """A packet to the SID with one segment behind it."""
    return ipv6(SOURCE, str(SID), ROUTING, srh(IPV6, left, last, str(SID)) + PACKET6)


def destination(packet: bytes) -> IPv6Address:
    return IPv6Address(packet[24:40])


@pytest.mark.usefixtures("onward")
def test_end(router: Router) -> None:
    router.put(sid(Behavior.END))
    _, out = router.forward(through())
    assert destination(out) == IPv6Address("fc00:6::6")
    assert out[6] == ROUTING
    assert router.counted() == (1, len(through()), 0)


@pytest.mark.usefixtures("onward")
def test_psp(router: Router) -> None:
    router.put(sid(Behavior.END, flavors=frozenset({Flavor.PSP})))
    _, out = router.forward(through())
    assert destination(out) == IPv6Address("fc00:6::6")
    # The routing header is gone.
    assert out[6] == IPV6
    assert out[40:48] == PACKET6[:8]
    assert router.counted()[0] == 1


@pytest.mark.usefixtures("onward")
@pytest.mark.parametrize(
    ("length", "carrier", "result"),
    [
        pytest.param(48, "fc00:1:2:3::", "fc00:1:3::", id="uN"),
        pytest.param(64, "fc00:1:0:1:2:3::", "fc00:1:2:3::", id="node and function"),
    ],
)
def test_next_csid(router: Router, length: int, carrier: str, result: str) -> None:
    """What the SID's prefix has behind the block is shifted out."""
    flavors = frozenset({Flavor.NEXT_CSID})
    obj = sid(Behavior.END, flavors=flavors, csid_lengths=(32, length - 32))
    router.put(replace(obj, prefix=IPv6Network((carrier, length), strict=False)))
    _, out = router.forward(ipv6(SOURCE, carrier, IPV6, PACKET6))
    assert destination(out) == IPv6Address(result)
    assert router.counted()[0] == 1


BOTH = frozenset({Flavor.PSP, Flavor.NEXT_CSID})


@pytest.mark.usefixtures("onward")
def test_psp_does_nothing_with_next_csid(router: Router) -> None:
    """Taken without a word, but the last C-SID ends as a plain End (end_next_csid_core). So the
    model rejects both together."""
    router.put(replace(sid(Behavior.END, flavors=BOTH, csid_lengths=(32, 16)), prefix=NODE))
    header = srh(IPV6, 1, "fc00:6::6", "fc00:1:2:3::")
    _, out = router.forward(ipv6(SOURCE, "fc00:1:2:3::", ROUTING, header + PACKET6))
    assert destination(out) == IPv6Address("fc00:1:3::")
    assert out[40:80] == header
    _, out = router.forward(ipv6(SOURCE, "fc00:1:2::", ROUTING, header + PACKET6))
    assert destination(out) == IPv6Address("fc00:6::6")
    assert out[6] == ROUTING
    assert router.counted()[0] == 2


@pytest.mark.usefixtures("onward")
def test_the_node_goes_on_to_its_own_functions(router: Router) -> None:
    """Longer prefixes, the functions, go before the node's own SID, which covers them."""
    node = sid(Behavior.END, flavors=frozenset({Flavor.NEXT_CSID}), csid_lengths=(32, 16))
    router.put(
        replace(node, prefix=NODE),
        replace(sid(Behavior.END_DT6, lookup_table=254), prefix=IPv6Network("fc00:1:2:d6::/64")),
    )
    _, out = router.forward(ipv6(SOURCE, "fc00:1:2:d6::", IPV6, PACKET6))
    assert out[:4] == PACKET6[:4]
    assert destination(out) == IPv6Address(INNER6[1])
    counted = router.kernel.sid_counters()
    assert {str(prefix): packets for prefix, (packets, *_) in counted.items()} == {
        "fc00:1:2::/48": 0,
        "fc00:1:2:d6::/64": 1,
    }


def test_next_csid_of_end_x(router: Router) -> None:
    next_hop, mac = NEXT_HOPS[0]
    flavors = frozenset({Flavor.NEXT_CSID})
    more = {"next_hop": next_hop.address, "flavors": flavors, "csid_lengths": (32, 32)}
    router.put(next_hop, sid(Behavior.END_X, **more))
    to, out = router.forward(ipv6(SOURCE, "fc00:1:0:1:2::", IPV6, PACKET6))
    assert to.hex() == mac
    assert destination(out) == IPv6Address("fc00:1:2::")


def test_end_t(router: Router, run: Run) -> None:
    run(f"ip -6 route add default via {NEXT} dev out0 onlink table 77")
    router.put(sid(Behavior.END_T, lookup_table=77))
    _, out = router.forward(through())
    assert destination(out) == IPv6Address("fc00:6::6")
    assert router.counted()[0] == 1


def test_end_dt6_without_vrf(router: Router, run: Run) -> None:
    run(f"ip -6 route add {INNER6[1]} via {NEXT} dev out0 onlink")
    router.put(sid(Behavior.END_DT6, lookup_table=254))
    _, out = router.forward(ipv6(SOURCE, str(SID), IPV6, PACKET6))
    assert destination(out) == IPv6Address(INNER6[1])


@pytest.mark.usefixtures("vrf")
def test_end_dt46_into_the_default_vrf(router: Router, run: Run) -> None:
    """The kernel wants a VRF, and looks up the main table for what its table lacks."""
    run(f"ip -6 route add {INNER6[1]} via {NEXT} dev out0 onlink")
    run(f"ip route add {INNER4[1]} via 203.0.113.5 dev out0 onlink")
    into = sid(Behavior.END_DT46, vrf_table=DEFAULT_VRF_TABLE)
    strict = Sysctl("net/vrf/strict_mode", "1")
    router.put(strict)
    # Without such a device, as SONiC's staticd asks for it: the table of the default VRF.
    (failed,) = router.kernel.apply([Create(replace(into, vrf_table=254))])
    assert "no associated VRF" in failed.message
    index = vrf_ifindex(DEFAULT_VRF_TABLE)
    router.put(
        VrfDevice(DEFAULT_VRF_DEVICE, DEFAULT_VRF_TABLE, index),
        Sysctl(f"net/ipv4/conf/{DEFAULT_VRF_DEVICE}/rp_filter", "0"),
        into,
    )
    _, out = router.forward(ipv6(SOURCE, str(SID), IPV6, PACKET6))
    assert destination(out) == IPv6Address(INNER6[1])
    _, out = router.forward(ipv6(SOURCE, str(SID), IPV4, PACKET4))
    assert out[16:20] == IPv4Address(INNER4[1]).packed
    assert router.counted()[0] == 2


NEXT_HOPS = [
    # The next hop itself, and an address that stands for a link-local one.
    (NextHopRoute(IPv6Address(NEXT), "out0", IPv6Address(NEXT)), "020000000055"),
    (NextHopRoute(IPv6Address("100::1"), "out0", IPv6Address("fe80::5")), "020000000056"),
]


@pytest.mark.parametrize(("next_hop", "mac"), NEXT_HOPS, ids=["global", "link-local"])
def test_end_x(router: Router, next_hop: NextHopRoute, mac: str) -> None:
    router.put(next_hop, sid(Behavior.END_X, next_hop=next_hop.address))
    to, out = router.forward(through())
    assert to.hex() == mac
    assert destination(out) == IPv6Address("fc00:6::6")
    assert router.counted()[0] == 1


@pytest.mark.parametrize(("next_hop", "mac"), NEXT_HOPS, ids=["global", "link-local"])
def test_end_dx6(router: Router, next_hop: NextHopRoute, mac: str) -> None:
    router.put(next_hop, sid(Behavior.END_DX6, next_hop=next_hop.address))
    to, out = router.forward(ipv6(SOURCE, str(SID), IPV6, PACKET6))
    assert to.hex() == mac
    assert destination(out) == IPv6Address(INNER6[1])
    assert router.counted()[0] == 1


@pytest.mark.usefixtures("vrf")
def test_next_hop_in_a_vrf(router: Router, run: Run) -> None:
    """The route in the main table leads to an interface of a VRF as well."""
    run(
        "ip link add red type vrf table 100; ip link set red up; ip link set out0 master red;"
        f"ip -6 neigh replace {NEXT} lladdr 02:00:00:00:00:55 dev out0"
    )
    next_hop = NEXT_HOPS[0][0]
    router.put(next_hop, sid(Behavior.END_DX6, next_hop=next_hop.address))
    to, _ = router.forward(ipv6(SOURCE, str(SID), IPV6, PACKET6))
    assert to.hex() == NEXT_HOPS[0][1]


def test_end_dx4(router: Router) -> None:
    """The frame goes to the next hop, not to the owner of the inner destination."""
    one = IPv4Address("203.0.113.5")
    router.put(NextHopRoute(one, "out0", one), sid(Behavior.END_DX4, next_hop=one))
    to, out = router.forward(ipv6(SOURCE, str(SID), IPV4, PACKET4))
    assert to.hex() == "020000000057"
    assert out[16:20] == IPv4Address(INNER4[1]).packed
    assert router.counted()[0] == 1


def test_end_dx2(router: Router) -> None:
    router.put(sid(Behavior.END_DX2, interface="out0"))
    to, out = router.forward(ipv6(SOURCE, str(SID), ETHERNET, FRAME))
    assert to == MAC
    assert out == PACKET4
    assert router.counted()[0] == 1


@pytest.mark.usefixtures("onward")
def test_end_b6_encaps(router: Router) -> None:
    segments = (IPv6Address("fc00:a::1"), IPv6Address("fc00:b::2"))
    router.put(sid(Behavior.END_B6_ENCAPS, segments=segments))
    _, out = router.forward(through())
    assert destination(out) == segments[0]
    assert out[40:80] == srh(IPV6, 1, "fc00:b::2", "fc00:a::1")
    # The packet within has passed the SID.
    assert destination(out[80:]) == IPv6Address("fc00:6::6")
    assert router.counted()[0] == 1


@pytest.mark.usefixtures("onward")
def test_end_bpf(router: Router, pinned: str) -> None:
    """What the program says decides."""
    obj = sid(Behavior.END_BPF, bpf_program=pinned)
    router.put(obj)
    _, out = router.forward(through())
    assert destination(out) == IPv6Address("fc00:6::6")
    assert router.counted() == (1, len(through()), 0)
    os.unlink(pinned)
    pin(pinned, answer=_BPF_DROP)
    assert router.kernel.apply([Replace(obj, obj)]) == []
    router.send(through())
    wait_until(lambda: router.counted() == (0, 0, 1), "a dropped packet")


PACKETS = {4: (PACKET4, ETH_IPV4, IPV4), 6: (PACKET6, ETH_IPV6, IPV6)}
PREFIXES = {4: ip_network("198.51.100.128/25"), 6: ip_network("fc00:9::/64")}
SEGMENTS = (IPv6Address("fc00:a::1"), IPv6Address("fc00:b::2"))


@pytest.mark.usefixtures("onward")
@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize(
    ("behavior", "header"),
    [
        (Headend.H_ENCAPS, ("fc00:b::2", "fc00:a::1")),
        # The first segment is in the destination address alone.
        (Headend.H_ENCAPS_RED, ("fc00:b::2",)),
    ],
)
def test_headend(router: Router, version: int, behavior: Headend, header: tuple[str, ...]) -> None:
    packet, kind, following = PACKETS[version]
    route = EncapRoute(PREFIXES[version], 254, behavior, SEGMENTS)
    router.put(route if version == 6 else replace(route, hop_limit=42))
    _, out = router.forward(packet, kind)
    assert destination(out) == SEGMENTS[0]
    assert IPv6Address(out[8:24]) == IPv6Address(SOURCE)
    assert out[40 : 48 + 16 * len(header)] == srh(following, 1, *header)
    # Declared around IPv4, that of the packet around IPv6; then the outer packet is forwarded.
    assert out[7] == (42 if version == 4 else 64) - 1


@pytest.mark.usefixtures("onward")
@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize(
    ("behavior", "header"),
    [
        (Headend.H_ENCAPS_L2, ("fc00:b::2", "fc00:a::1")),
        (Headend.H_ENCAPS_L2_RED, ("fc00:b::2",)),
    ],
)
def test_frames(router: Router, version: int, behavior: Headend, header: tuple[str, ...]) -> None:
    """The frame within is the one that came in, its addresses and hop limit included."""
    packet, kind, _ = PACKETS[version]
    router.put(EncapRoute(PREFIXES[version], 254, behavior, SEGMENTS))
    _, out = router.forward(packet, kind)
    assert destination(out) == SEGMENTS[0]
    end = 48 + 16 * len(header)
    assert out[40:end] == srh(ETHERNET, 1, *header)
    assert out[end:] == router.mac + MAC + struct.pack("!H", kind) + packet


@pytest.mark.usefixtures("onward")
def test_insert(router: Router) -> None:
    """The packet's own header stays; its destination becomes the last segment."""
    router.put(EncapRoute(PREFIXES[6], 254, Headend.H_INSERT, SEGMENTS))
    _, out = router.forward(PACKET6)
    assert destination(out) == SEGMENTS[0]
    assert IPv6Address(out[8:24]) == IPv6Address(INNER6[0])
    assert out[6] == ROUTING
    assert out[40:] == srh(17, 2, INNER6[1], "fc00:b::2", "fc00:a::1") + UDP
    # Forwarded once, and no packet is within.
    assert out[7] == 63


@pytest.mark.usefixtures("onward")
def test_a_sid_with_psp_takes_the_inserted_header_off(router: Router) -> None:
    """So that the owner of the destination gets its packet as it was sent."""
    steered = EncapRoute(PREFIXES[6], 254, Headend.H_INSERT, (SID,))
    router.put(steered)
    _, inserted = router.forward(PACKET6)
    # Here one router is both, one after the other.
    assert router.kernel.apply([Delete(steered)]) == []
    router.put(sid(Behavior.END, flavors=frozenset({Flavor.PSP})))

    _, out = router.forward(inserted)

    assert out[:7] + out[8:] == PACKET6[:7] + PACKET6[8:]


@pytest.mark.usefixtures("onward")
def test_end_b6_of_the_kernel_comes_back_to_its_sid(router: Router, run: Run) -> None:
    """Why there is no End.B6.Insert: the kernel inserts the list without passing the SID
    (input_action_end_b6), which so becomes the last segment. Behind the list the packet comes to
    the SID again, and gets the list again, until its hop limit ends."""
    run(
        f"ip -6 route add {SID}/64 table {SID_TABLE} encap seg6local action End.B6"
        f" srh segs fc00:a::1 dev {SID_DEVICE}"
    )
    _, out = router.forward(through())
    assert out[40:80] == srh(ROUTING, 1, str(SID), "fc00:a::1")
    # As the last segment of the list (an End) sends it on.
    passed = out[:24] + SID.packed + out[40:43] + b"\0" + out[44:]

    _, again = router.forward(passed)

    assert destination(again) == IPv6Address("fc00:a::1")
    assert again[40:80] == srh(ROUTING, 1, str(SID), "fc00:a::1")
    assert len(again) == len(passed) + 40


@pytest.mark.usefixtures("onward")
def test_frames_arrive_at_a_cross_connect_as_they_were_sent(router: Router, run: Run) -> None:
    """H.Encaps.L2 at one end, End.DX2 at the other: here both are one router."""
    run("ip link add port0 type veth peer name port1; ip link set port0 up; ip link set port1 up")
    router.put(
        EncapRoute(PREFIXES[4], 254, Headend.H_ENCAPS_L2, (SID,)),
        sid(Behavior.END_DX2, interface="port0"),
    )
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as port:
        port.bind(("port1", 3))
        port.settimeout(2)
        router.send(PACKET4, ETH_IPV4)
        while UDP not in (frame := port.recv(4096)):
            pass
    assert frame == router.mac + MAC + struct.pack("!H", ETH_IPV4) + PACKET4
    assert router.counted()[0] == 1


@pytest.mark.usefixtures("onward")
def test_source_of_one_route(router: Router) -> None:
    route = EncapRoute(PREFIXES[6], 254, Headend.H_ENCAPS, SEGMENTS, source=IPv6Address("fc00::5"))
    router.put(route)
    seen = router.kernel.observe([]).objects[route.key].object
    if seen != route:
        pytest.skip("the kernel ignores it")
    _, out = router.forward(PACKET6)
    assert IPv6Address(out[8:24]) == route.source


@pytest.mark.usefixtures("onward")
@pytest.mark.parametrize(
    ("value", "meets"),
    [
        pytest.param("-1", lambda label: label == 0, id="zero"),
        pytest.param("0", lambda label: label == 0x12345, id="copy"),
        pytest.param("1", lambda label: label not in (0, 0x12345), id="compute"),
    ],
)
def test_flow_label(router: Router, value: str, meets: Callable[[int], bool]) -> None:
    route = EncapRoute(PREFIXES[6], 254, Headend.H_ENCAPS, SEGMENTS)
    router.put(Sysctl("net/ipv6/seg6_flowlabel", value), route)
    _, out = router.forward(PACKET6)
    assert meets(int.from_bytes(out[1:4]) & 0xFFFFF)
