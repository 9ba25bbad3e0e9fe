"""Two hosts behind two provider edges; the namespace of the test is the first edge.

    host ---- edge ==== far edge ---- (its own addresses)

The edge is planned and written as srv6mgrd does. What passes between the edges is captured at the
far one, as it is on the wire.
"""

from __future__ import annotations

import ctypes
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_network
from pathlib import Path

from srv6mgrd.accounting.programs import AccountingPrograms
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.model.accounting import Accounting, Count, Direction, Row
from srv6mgrd.model.behavior import Behavior, Headend
from srv6mgrd.model.desired import Desired, Locator, Role, SegmentList, Sid, SteeredRoute, Vrf
from srv6mgrd.plan.actions import Action
from srv6mgrd.plan.diff import plan
from srv6mgrd.plan.target import target
from tests.contract.nodes import Nodes

OWN = IPv6Address("fcbb:0:1::1")
FAR = IPv6Address("fcbb:0:3::1")
BLOCK = IPv6Network("fcbb::/32")
SID = IPv6Network("fcbb:0:1:d46::/64")
VRF, TABLE = "red", 100
# Of the far edge: what is inside of a packet to it.
FAR_SIDS = {"ipv6": "fcbb:0:3:6::", "ipv4": "fcbb:0:3:4::"}
PASSED = "fcbb:0:3:e::"
HOST = {"ipv6": "2001:db8:1::2", "ipv4": "10.1.0.2"}
EDGE = {"ipv6": "2001:db8:1::1", "ipv4": "10.1.0.1"}
SITE = {"ipv6": "2001:db8:2::2", "ipv4": "10.2.0.2"}
_LIBC = ctypes.CDLL(None, use_errno=True)
_TRANSFER = Path(__file__).parents[1] / "proxy/transfer.py"
_ETH_P_IPV6, _OUTGOING, _SO_RCVBUFFORCE = 0x86DD, 4, 33


def declared(*, segments: Sequence[str] | None = None, reduced: bool = False) -> Desired:
    """A VRF that steers both families to the far edge, and gets what that sends."""
    lists = {
        name: SegmentList(name, tuple(map(IPv6Address, (*(segments or ()), sid))))
        for name, sid in FAR_SIDS.items()
    }
    behavior = Headend.H_ENCAPS_RED if reduced else Headend.H_ENCAPS
    routes = [SteeredRoute(VRF, _site(name), name, behavior, interface="core") for name in FAR_SIDS]
    return Desired(
        encapsulation_source=OWN,
        locators={"MAIN": Locator("MAIN", IPv6Network("fcbb:0:1::/48"))},
        segment_lists=lists,
        vrfs={VRF: Vrf(VRF, TABLE, ("port",))},
        sids={SID: Sid(SID, "MAIN", Behavior.END_DT46, vrf=VRF)},
        routes={route.name: route for route in routes},
        roles={"core": Role.CORE},
        accounting=Accounting(enabled=True),
    )


def renamed(desired: Desired, name: str) -> Desired:
    """The same with another VRF on the same table."""
    (vrf,) = desired.vrfs.values()
    routes = [replace(route, vrf=name) for route in desired.routes.values()]
    return replace(
        desired,
        vrfs={name: replace(vrf, name=name)},
        sids={prefix: replace(sid, vrf=name) for prefix, sid in desired.sids.items()},
        routes={route.name: route for route in routes},
    )


def _site(inner: str) -> IPv4Network | IPv6Network:
    length = 64 if inner == "ipv6" else 24
    return ip_network(f"{SITE[inner]}/{length}", strict=False)


class Network(Nodes):
    def __init__(self, kernel: LinuxKernel, programs: AccountingPrograms) -> None:
        self.kernel = kernel
        self.programs = programs
        self.desired = Desired()

    def build(self) -> None:
        at_once = "sysctl -qw net.ipv6.conf.default.accept_dad=0"
        forward = "sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1"
        self.run(f"{at_once}; {forward}; ip addr add {OWN}/128 dev lo")
        for node in ("host", "far"):
            self.run(f"ip netns add {self.name(node)}")
            self.on(node, at_once)
            self.on(node, "ip link set lo up")
        self.run(f"ip link add port type veth peer name eth0 netns {self.name('host')}")
        self.run(
            f"ip link add core mtu 1700 type veth peer name eth0 mtu 1700 netns {self.name('far')}"
        )
        self.run("ip link set port up; ip link set core up")
        self.run("ip addr add 2001:db8:c::1/64 dev core nodad; ip addr add 10.12.0.1/24 dev core")
        self.run("ip -6 route add fcbb:0:3::/48 via 2001:db8:c::2")
        for node, own in (("host", HOST), ("far", SITE)):
            self.on(
                node, f"ip addr add {own['ipv6']}/64 dev {'eth0' if node == 'host' else 'lo'} nodad"
            )
            self.on(node, f"ip addr add {own['ipv4']}/24 dev {'eth0' if node == 'host' else 'lo'}")
            self.on(node, "ip link set eth0 up")
        self.on("host", f"ip -6 route add default via {EDGE['ipv6']}")
        self.on("host", f"ip route add default via {EDGE['ipv4']}")
        self._build_far(forward)

    def _build_far(self, forward: str) -> None:
        self.on("far", forward)
        for name in ("ipv4.conf.all.rp_filter", "ipv4.conf.eth0.rp_filter"):
            self.on("far", f"sysctl -qw net.{name}=0")
        for name in ("all", "eth0"):
            self.on("far", f"sysctl -qw net.ipv6.conf.{name}.seg6_enabled=1")
        self.on("far", "ip addr add 2001:db8:c::2/64 dev eth0 nodad")
        self.on("far", "ip addr add 10.12.0.2/24 dev eth0")
        self.on("far", f"ip addr add {FAR}/128 dev lo")
        self.on("far", "ip -6 route add default via 2001:db8:c::1")
        for sid, action in (
            (FAR_SIDS["ipv6"], "End.DT6 table 255"),
            (FAR_SIDS["ipv4"], f"End.DX4 nh4 {SITE['ipv4']}"),
            (PASSED, "End"),
        ):
            self.on("far", f"ip -6 route add {sid} encap seg6local action {action} dev eth0")
        self.on("far", f"ip sr tunsrc set {FAR}")
        back = "encap seg6 mode encap segs fcbb:0:1:d46::"
        way = f"via 2001:db8:c::1 src {SITE['ipv6']}"
        self.on("far", f"ip -6 route add 2001:db8:1::/64 {back} {way}")
        self.on("far", f"ip route add 10.1.0.0/24 {back} dev eth0 src {SITE['ipv4']}")

    def take_down(self) -> None:
        for node in ("host", "far"):
            subprocess.run(["ip", "netns", "delete", self.name(node)], check=False)

    def declare(self, desired: Desired) -> None:
        """Compare and write; the port has its addresses afterwards."""
        self.desired = desired
        self.repair()
        if "port" in {p for vrf in desired.vrfs.values() for p in vrf.interfaces}:
            self.run(f"ip addr replace {EDGE['ipv6']}/64 dev port nodad;"
                     f" ip addr replace {EDGE['ipv4']}/24 dev port")  # fmt: skip

    def repair(self) -> None:
        actions = self.differing()
        rejected = self.kernel.apply(actions)
        assert not rejected, [(r.action.object.key, r.message) for r in rejected]

    def differing(self) -> list[Action]:
        links = self.kernel.links()
        wanted = target(self.desired, links).objects
        sysctls = [obj.path for obj in wanted.values() if isinstance(obj, Sysctl)]
        seen = dict(self.kernel.observe(sysctls).objects)
        return plan(wanted, seen, set(seen), ()).actions

    def rows(self, direction: Direction) -> dict[Row, Count]:
        return dict(self.kernel.accounted().rows.get(direction, {}))

    def total(self, direction: Direction) -> Count:
        return sum(self.rows(direction).values(), Count())

    def ping(self, inner: str, *, count: int = 3, size: int = 56, local: str = "") -> int:
        """How many echo requests of the host's were answered; ``local``: of the edge's own,
        bound to this interface."""
        command = f"ping -{inner[-1]} -n -c {count} -i 0.01 -W 2 -s {size}"
        command += f" -I {local}" if local else ""
        command = f"{command} {SITE[inner]}"
        done = subprocess.run(
            command if local else f"ip netns exec {self.name('host')} {command}",
            shell=True, check=False, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.count("bytes from")

    def transfer(self, inner: str, octets: int) -> None:
        """TCP from the host to the far site and the same back."""
        server = subprocess.Popen(
            ["ip", "netns", "exec", self.name("far"), sys.executable, _TRANSFER, SITE[inner]],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == "listening\n"
            self.on("host", f"{sys.executable} {_TRANSFER} {SITE[inner]} {octets}")
        finally:
            server.kill()
            server.wait()

    @contextmanager
    def captured(self) -> Iterator[list[tuple[bool, bytes]]]:
        """Tunnelled packets that pass the far edge's interface; True: it sent them."""
        with self._within("far"):
            tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        found: list[tuple[bool, bytes]] = []
        with tap:
            tap.bind(("eth0", 3))
            tap.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 64 << 20)
            tap.setblocking(False)
            yield found
            while True:
                try:
                    frame, address = tap.recvfrom(1 << 17)
                except BlockingIOError:
                    return
                if frame[12:14] == b"\x86\xdd" and IPv6Address(frame[38:54]) in BLOCK:
                    found.append((address[2] == _OUTGOING, frame[14:]))

    @contextmanager
    def _within(self, node: str) -> Iterator[None]:
        """This thread in the node's namespace."""
        with open("/proc/thread-self/ns/net") as home, open(f"/run/netns/{self.name(node)}") as ns:
            _LIBC.setns(ns.fileno(), 0)
            try:
                yield
            finally:
                _LIBC.setns(home.fileno(), 0)


def counted(packets: Sequence[tuple[bool, bytes]], *, outgoing: bool) -> Count:
    """What captured packets of a direction come to, each taken apart by scapy."""
    total = Count()
    for direction, raw in packets:
        if direction == outgoing:
            inner = _inside(raw)
            total += Count(1, inner, len(raw))
    return total


def _inside(raw: bytes) -> int:
    """Octets behind the outer header and its extension headers."""
    at, following = 40, raw[6]
    while following in (0, 43, 60):
        following, at = raw[at], at + (raw[at + 1] + 1) * 8
    return len(raw) - at
