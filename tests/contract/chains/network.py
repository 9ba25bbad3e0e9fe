"""A host, a router that classifies what it sends, and a site behind functions that know SRv6.

    host ---- router ==== far

The namespace of the test is the router. The far end has a SID of each function, which is where the
chain's packets are counted, and one of the site for each family.
"""

from __future__ import annotations

import ctypes
import json
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import Any

from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from srv6mgrd.chains.programs import ChainPrograms as Programs
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.chain.object import (
    ChainPrograms,
    ClassifierHook,
    ClassifierRules,
    ServicePath,
)
from srv6mgrd.kinds.object import Object
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chain_state import PathName
from srv6mgrd.model.chains import ClassifierRule, FunctionState, Way
from srv6mgrd.model.reserved import LINK_ALIAS, SID_DEVICE
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from tests.contract.nodes import Nodes

OWN = IPv6Address("fcbb:0:1::1")
OWN_SID = IPv6Address("fcbb:0:1:e::")
# Of functions at the far end, and of the site there.
FUNCTIONS = ("firewall", "cache")
FUNCTION_SIDS = {name: IPv6Address(f"fcbb:0:3:f{n}::") for n, name in enumerate(FUNCTIONS)}
SITE_SIDS = {
    Family.IPV6: IPv6Address("fcbb:0:3:6::"),
    Family.IPV4: IPv6Address("fcbb:0:3:4::"),
    Family.ETHERNET: IPv6Address("fcbb:0:3:2::"),
}
HOST = {Family.IPV6: "2001:db8:1::2", Family.IPV4: "10.1.0.2"}
ROUTER = {Family.IPV6: "2001:db8:1::1", Family.IPV4: "10.1.0.1"}
SITE = {Family.IPV6: "2001:db8:2::2", Family.IPV4: "10.2.0.2"}
PORT, CHAIN, CLASSIFIER = "port", "web", "customer"
BLOCK = IPv6Network("fcbb::/32")
MTU = 1700
_ETH_P_IPV6, _ETH_P_ALL, _OUTGOING = 0x86DD, 3, 4
# linux/if_packet.h: struct tpacket_auxdata, with the tag that the kernel took off.
_SOL_PACKET, _PACKET_AUXDATA, _VLAN_VALID, _TPID_VALID = 263, 8, 1 << 4, 1 << 6
_AUXDATA = struct.Struct("=IIIHHHH")
_LIBC = ctypes.CDLL(None, use_errno=True)
_TRANSFER = Path(__file__).parents[1] / "proxy/transfer.py"


def path(
    *functions: str, family: Family = Family.IPV6, preference: int = 0, weight: int = 1,
    way: Way = Way.FORWARD, chain: str = CHAIN,
) -> ServicePath:  # fmt: skip
    segments = (*(FUNCTION_SIDS[name] for name in functions), SITE_SIDS[family])
    return ServicePath(chain, way, family, functions, segments, OWN, preference, weight)


def rules(*some: ClassifierRule, name: str = CLASSIFIER) -> ClassifierRules:
    return ClassifierRules(name, some)


def everything(chain: str | None = CHAIN, priority: int = 10, **more: Any) -> ClassifierRule:
    return ClassifierRule(priority, chain, **more)


class Network(Nodes):
    def __init__(self, kernel: LinuxKernel, programs: Programs) -> None:
        self.kernel = kernel
        self.programs = programs

    def build(self) -> None:
        at_once = "sysctl -qw net.ipv6.conf.default.accept_dad=0"
        forward = "sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1"
        self.run(f"{at_once}; {forward}; ip addr add {OWN}/128 dev lo")
        for node in ("host", "far"):
            self.run(f"ip netns add {self.name(node)}")
            self.on(node, at_once)
            self.on(node, "ip link set lo up")
        self.run(f"ip link add {PORT} type veth peer name eth0 netns {self.name('host')}")
        far = self.name("far")
        self.run(f"ip link add core mtu {MTU} type veth peer name eth0 mtu {MTU} netns {far}")
        self.run(f"ip link set {PORT} up; ip link set core up")
        self.run("ip addr add 2001:db8:c::1/64 dev core nodad; ip addr add 10.12.0.1/24 dev core")
        self.run("ip -6 route add fcbb:0:3::/48 via 2001:db8:c::2")
        # Without a chain.
        self.run("ip -6 route add 2001:db8:2::/64 via 2001:db8:c::2")
        self.run("ip route add 10.2.0.0/24 via 10.12.0.2")
        for family, length in ((Family.IPV6, 64), (Family.IPV4, 24)):
            nodad = "nodad" if family is Family.IPV6 else ""
            self.run(f"ip addr add {ROUTER[family]}/{length} dev {PORT} {nodad}")
            self.on("host", f"ip addr add {HOST[family]}/{length} dev eth0 {nodad}")
            self.on("far", f"ip addr add {SITE[family]}/{length} dev lo {nodad}")
        self.on("host", "ip link set eth0 up")
        self.on("host", f"ip -6 route add default via {ROUTER[Family.IPV6]}")
        self.on("host", f"ip route add default via {ROUTER[Family.IPV4]}")
        self._build_far(forward)

    def _build_far(self, forward: str) -> None:
        self.on("far", forward)
        for name in ("all", "eth0"):
            self.on("far", f"sysctl -qw net.ipv4.conf.{name}.rp_filter=0")
            self.on("far", f"sysctl -qw net.ipv6.conf.{name}.seg6_enabled=1")
        self.on("far", "ip addr add 2001:db8:c::2/64 dev eth0 nodad")
        self.on("far", "ip addr add 10.12.0.2/24 dev eth0")
        self.on("far", "ip link set eth0 up")
        self.on("far", "ip -6 route add default via 2001:db8:c::1")
        actions = dict.fromkeys(FUNCTION_SIDS.values(), "End")
        actions[SITE_SIDS[Family.IPV6]] = "End.DT6 table 255"
        actions[SITE_SIDS[Family.IPV4]] = f"End.DX4 nh4 {SITE[Family.IPV4]}"
        for sid, action in actions.items():
            encap = f"encap seg6local action {action} count"
            self.on("far", f"ip -6 route add {sid} {encap} dev eth0")
        # What comes back goes its ordinary way.
        self.on("far", f"ip route add 10.1.0.0/24 via 10.12.0.1 src {SITE[Family.IPV4]}")
        self.on("far", f"ip -6 route add 2001:db8:1::/64 via 2001:db8:c::1 src {SITE[Family.IPV6]}")

    def build_wire(self) -> None:
        """Where frames come out at the site."""
        self.on("far", "ip link add wire type veth peer name out")
        for name in ("wire", "out"):
            self.on("far", f"ip link set {name} up")
        action = "encap seg6local action End.DX2 oif wire count dev eth0"
        self.on("far", f"ip -6 route add {SITE_SIDS[Family.ETHERNET]} {action}")

    def build_sid_device(self) -> None:
        """With a SID on it. Where the kernel has no dummy, a veth is used."""
        self.run(
            f"ip link add {SID_DEVICE} type dummy 2>/dev/null ||"
            f" {{ ip link add {SID_DEVICE} arp off type veth peer name sids;"
            " ip link set sids up; };"
            f"ip link set {SID_DEVICE} alias {LINK_ALIAS} up"
        )
        self.run(f"ip -6 route add {OWN_SID} encap seg6local action End dev {SID_DEVICE}")

    @contextmanager
    def on_the_wire(self) -> Iterator[list[bytes]]:
        """Frames that come out at the site, with the tags that they have."""
        with self.within("far"):
            tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
        found: list[bytes] = []
        with tap:
            tap.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
            tap.bind(("out", _ETH_P_ALL))
            tap.setblocking(False)
            yield found
            while True:
                try:
                    frame, more, _, (_, _, kind, *_) = tap.recvmsg(1 << 16, 256)
                except BlockingIOError:
                    return
                if kind != _OUTGOING:
                    found.append(_with_tag(frame, more))

    def join(self, vrf: str) -> None:
        """The host's port is in a VRF, which has no route to the site."""
        self.run(f"ip link add {vrf} type vrf table 100; ip link set {vrf} up")
        self.run(f"ip link set {PORT} master {vrf}")
        self.run(f"ip addr add {ROUTER[Family.IPV6]}/64 dev {PORT} nodad")
        self.run(f"ip route add 10.1.0.0/24 dev {vrf}; ip -6 route add 2001:db8:1::/64 dev {vrf}")

    def take_down(self) -> None:
        for node in ("host", "far"):
            subprocess.run(["ip", "netns", "delete", self.name(node)], check=False)

    # What is declared.

    def create(self, *objects: Object) -> None:
        self.apply([Create(obj) for obj in objects])

    def declare(self, *objects: Object) -> None:
        """Programs, these, and a hook on the host's port."""
        self.create(ChainPrograms(), *objects, ClassifierHook(PORT, CLASSIFIER))

    def replace(self, before: Object, after: Object) -> None:
        self.apply([Replace(before, after)])

    def delete(self, *objects: Object) -> None:
        self.apply([Delete(obj) for obj in objects])

    def apply(self, actions: Sequence[Action]) -> None:
        rejected = self.kernel.apply(actions)
        assert not rejected, [(r.action.object.key, r.message) for r in rejected]

    def set_states(
        self, states: Mapping[str, FunctionState], kernel: LinuxKernel | None = None
    ) -> None:
        """Of functions; ``kernel``: as another process."""
        failure = (kernel or self.kernel)._chains.set_states(states)
        assert failure is None, failure

    def observed(self) -> set[Object]:
        """Objects of chains."""
        kinds = (ChainPrograms, ServicePath, ClassifierRules, ClassifierHook)
        found = self.kernel.observe([]).objects.values()
        return {item.object for item in found if isinstance(item.object, kinds)}

    # What passed.

    def on_path(self, path: ServicePath) -> int:
        """Packets."""
        name = PathName(path.chain, path.way, path.family, path.functions)
        return self.kernel.chain_counts().paths[name].packets

    def by_rule(self, priority: int = 10) -> int:
        """Packets."""
        return self.kernel.chain_counts().rules[CLASSIFIER, priority].packets

    def through(self, sid: IPv6Address) -> int:
        """Packets that a SID of the far end had."""
        shown = self.on("far", f"ip -6 -s -j route show {sid}")
        (route,) = json.loads(shown)
        found: int = (route if isinstance(route["encap"], str) else route["encap"])["stats64"][
            "packets"
        ]
        return found

    def ping(
        self, family: Family, *, count: int = 3, size: int = 56, to: str = "", more: str = ""
    ) -> int:
        """How many echo requests of the host's were answered."""
        version = 4 if family is Family.IPV4 else 6
        command = (
            f"ping -{version} -n -c {count} -i 0.01 -W 1 -s {size} {more} {to or SITE[family]}"
        )
        done = subprocess.run(
            f"ip netns exec {self.name('host')} {command}",
            shell=True, check=False, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.count("bytes from")

    def send(
        self, family: Family, port: int, to: int = 9, *, size: int = 8, tclass: int = 0
    ) -> None:
        """A datagram from the host to the site, by its ports."""
        kind = socket.AF_INET6 if family is Family.IPV6 else socket.AF_INET
        with self.within("host"), socket.socket(kind, socket.SOCK_DGRAM) as sender:
            if family is Family.IPV6:
                sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, tclass)
            else:
                sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tclass)
            sender.bind(("", port))
            sender.sendto(bytes(size), (SITE[family], to))

    def send_back(self, port: int) -> None:
        """A datagram as the site answers the host's, by another way: the host sends it."""
        ends = IPv6(src=SITE[Family.IPV6], dst=HOST[Family.IPV6])
        mac = json.loads(self.run(f"ip -j link show {PORT}"))[0]["address"]
        frame = Ether(dst=mac, src="02:00:00:00:00:02") / ends / UDP(sport=9, dport=port)
        with self.within("host"), socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind(("eth0", 0))
            sender.send(bytes(frame))

    @contextmanager
    def captured(self) -> Iterator[list[bytes]]:
        """IPv6 packets to SIDs that come to the far end."""
        with self.within("far"):
            tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_IPV6))
        found: list[bytes] = []
        with tap:
            tap.bind(("eth0", _ETH_P_IPV6))
            tap.setblocking(False)
            yield found
            while True:
                try:
                    packet, (_, _, kind, *_) = tap.recvfrom(1 << 16)
                except BlockingIOError:
                    return
                if kind != _OUTGOING and IPv6Address(packet[24:40]) in BLOCK:
                    found.append(packet)

    @contextmanager
    def within(self, node: str) -> Iterator[None]:
        """This thread in the node's namespace."""
        with open("/proc/thread-self/ns/net") as home, open(f"/run/netns/{self.name(node)}") as ns:
            _LIBC.setns(ns.fileno(), 0)
            try:
                yield
            finally:
                _LIBC.setns(home.fileno(), 0)

    @contextmanager
    def listening(self, family: Family) -> Iterator[None]:
        """A server at the site."""
        server = subprocess.Popen(
            ["ip", "netns", "exec", self.name("far"), sys.executable, _TRANSFER, SITE[family]],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == "listening\n"
            yield
        finally:
            server.kill()
            server.wait()

    def transfer(self, family: Family, octets: int) -> None:
        """TCP from the host to the site and the same back."""
        with self.listening(family):
            self.on("host", f"{sys.executable} {_TRANSFER} {SITE[family]} {octets}")


def _with_tag(frame: bytes, more: Sequence[tuple[int, int, bytes]]) -> bytes:
    for _, _, data in more:
        status, *_, tag, protocol = _AUXDATA.unpack_from(data)
        if status & _VLAN_VALID:
            type_ = protocol if status & _TPID_VALID else 0x8100
            return frame[:12] + struct.pack("!HH", type_, tag) + frame[12:]
    return frame
