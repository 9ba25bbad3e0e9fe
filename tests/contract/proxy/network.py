"""A source that encapsulates, a node with a proxy, its function, and a sink that decapsulates.

    source ---- node ---- sink
                 |
              function      a router that knows no SRv6

The node is the namespace of the test; it is planned and written as srv6mgrd does.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from ipaddress import IPv6Address, IPv6Network, ip_address
from pathlib import Path
from typing import Any

from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import SID_DEVICE
from srv6mgrd.model.desired import Desired, Locator, Proxy, Role, SegmentList, Sid
from srv6mgrd.model.proxy_state import ProxyCounts
from srv6mgrd.model.reserved import LINK_ALIAS
from srv6mgrd.plan.actions import Action
from srv6mgrd.plan.diff import plan
from srv6mgrd.plan.target import target
from tests.contract.nodes import Nodes

LOCATOR = IPv6Network("fcbb:0:1::/48")
PREFIX = IPv6Network("fcbb:0:1:ad::/64")
FIRST = "fcbb:0:1:ad::"
# Of a masquerading proxy before the same function.
MASKED = "fcbb:0:1:a0::"
# At the source, for what comes back, and at the sink, for what is inside.
HOME = {"ipv6": "fcbb:0:2::6", "ipv4": "fcbb:0:2::4"}
LAST = {"ipv6": "fcbb:0:3::6", "ipv4": "fcbb:0:3::4", "ethernet": "fcbb:0:3::2"}
HOPS = {"ipv6": "2001:db8:9::2", "ipv4": "10.9.0.2"}
SOURCE = {"ipv6": "2001:db8:1::2", "ipv4": "10.1.0.2"}
SINK = {"ipv6": "2001:db8:2::2", "ipv4": "10.2.0.2"}
_ETH_P_IPV6 = 0x86DD
_LIBC = ctypes.CDLL(None, use_errno=True)
_TRANSFER = Path(__file__).with_name("transfer.py")
MTU = 1700
# In the addresses of a node's link.
_NUMBERS = {"source": 1, "sink": 2, "function": 9}
# Where a function that bridges sends back.
BRIDGED = "from-function"
# Two hosts on what looks to them like one wire: this is the address of the second one, and of the
# first one's gateway, so that frames that it routes are the second one's.
WIRE = "2001:db8:7::"
FAR_MAC = "02:00:00:00:07:02"
# Of a function behind a tap.
TAP_MAC = "02:00:00:00:09:02"
# linux/if_tun.h
_TUNSETIFF, _IFF_TAP, _IFF_NO_PI = 0x400454CA, 0x0002, 0x1000


def declared(behavior: Behavior, inner: str, **more: Any) -> Desired:
    """One proxy for the function, among what else a configuration has."""
    proxy = Proxy(
        inner_type=inner,
        interface="to-function",
        return_interface=BRIDGED if inner == "ethernet" else "to-function",
        next_hop=ip_address(HOPS[inner]) if inner in HOPS else None,
        segment_list="on" if behavior is Behavior.END_AS else None,
        source=IPv6Address("2001:db8:5::5") if behavior is Behavior.END_AS else None,
        **more,
    )
    return Desired(
        locators={"MAIN": Locator("MAIN", LOCATOR)},
        segment_lists={"on": SegmentList("on", (IPv6Address(LAST[inner]),))},
        sids={PREFIX: Sid(PREFIX, "MAIN", behavior, proxy=proxy)},
        roles={"to-source": Role.CORE, "to-sink": Role.CORE},
    )


def masked(desired: Desired) -> Desired:
    """The same with a proxy at MASKED more."""
    sid = desired.sids[PREFIX]
    assert sid.proxy is not None
    prefix = IPv6Network(f"{MASKED}/64")
    proxy = replace(sid.proxy, age=None, per_flow=False)
    more = replace(sid, prefix=prefix, behavior=Behavior.END_AM, proxy=proxy)
    return replace(desired, sids={**desired.sids, prefix: more})


def _reflect(tap: int, until: int) -> None:
    """Send back what comes for TAP_MAC, until the pipe's other end is closed."""
    own = bytes.fromhex(TAP_MAC.replace(":", ""))
    while until not in select.select([tap, until], [], [])[0]:
        frame = os.read(tap, 65536)
        if frame.startswith(own):
            os.write(tap, frame[6:12] + own + frame[12:])


# What the node's IP stack counts of packets that it neither delivered nor sent on.
_DROPS = ("IpInDiscards", "IpOutDiscards", "Ip6InDiscards", "Ip6OutDiscards", "Ip6OutNoRoutes")


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a transfer cost. ``sent_again``, ``timeouts`` and ``out_of_order`` are TCP's at its
    ends: segments, retransmission timers that ran out (a machine that stalls makes them), segments
    that came before their turn. ``dropped`` are packets that the node lost."""

    sent_again: int
    timeouts: int
    out_of_order: int
    dropped: int

    def __sub__(self, other: Transfer) -> Transfer:
        return Transfer(
            self.sent_again - other.sent_again,
            self.timeouts - other.timeouts,
            self.out_of_order - other.out_of_order,
            self.dropped - other.dropped,
        )


def _snmp(shown: str) -> dict[str, int]:
    found: dict[str, int] = json.loads(shown)["kernel"]
    return found


class Network(Nodes):
    def __init__(self, kernel: LinuxKernel) -> None:
        self.kernel = kernel
        self._desired = Desired()
        self._passed = 0

    def build(self) -> None:
        # Addresses serve at once.
        at_once = "sysctl -qw net.ipv6.conf.default.accept_dad=0"
        self.run(at_once)
        # Where the kernel has no dummy, a veth is used, which asks for no neighbor either.
        self.run(
            f"ip link add {SID_DEVICE} type dummy 2>/dev/null ||"
            f" {{ ip link add {SID_DEVICE} arp off type veth peer name sids;"
            " ip link set sids up; };"
            f"ip link set {SID_DEVICE} alias {LINK_ALIAS} up"
        )
        self.run("sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1")
        for node in _NUMBERS:
            self.run(f"ip netns add {self.name(node)}")
            self.on(node, at_once)
            self.on(node, "ip link set lo up")
            self._connect(node)
        self.run("ip -6 route add fcbb:0:2::/48 via 2001:db8:1::2")
        self.run("ip -6 route add fcbb:0:3::/48 via 2001:db8:2::2")
        for node, sids, own in (("source", HOME, SOURCE), ("sink", LAST, SINK)):
            self.on(node, f"ip -6 route add {sids['ipv6']} encap seg6local"
                          " action End.DT6 table 255 dev eth0")  # fmt: skip
            # To itself: the address is its own.
            self.on(node, f"ip -6 route add {sids['ipv4']} encap seg6local"
                          f" action End.DX4 nh4 {own['ipv4']} dev eth0")  # fmt: skip
            self.on(node, "sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1")
        self.on("function", "sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1")

    def _connect(self, node: str) -> None:
        number, name, link = _NUMBERS[node], self.name(node), f"to-{node}"
        self.run(f"ip link add {link} mtu {MTU} type veth peer name eth0 mtu {MTU} netns {name}")
        self.run(f"ip addr add 2001:db8:{number}::1/64 dev {link} nodad")
        self.run(f"ip addr add 10.{number}.0.1/24 dev {link}; ip link set {link} up")
        self.on(node, f"ip addr add 2001:db8:{number}::2/64 dev eth0 nodad")
        self.on(node, f"ip addr add 10.{number}.0.2/24 dev eth0")
        self.on(node, "ip link set eth0 up")
        self.on(node, f"ip -6 route add default via 2001:db8:{number}::1")
        self.on(node, f"ip route add default via 10.{number}.0.1")

    def take_function(self) -> None:
        """Its link goes, with all that is on it."""
        self.run("ip link delete to-function")

    def bring_function(self) -> None:
        self._connect("function")

    @contextmanager
    def behind_a_tap(self) -> Iterator[None]:
        """The function is a process that sends back what it gets."""
        self.take_function()
        tap = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(tap, _TUNSETIFF, struct.pack("16sH22x", b"to-function", _IFF_TAP | _IFF_NO_PI))
        self.run("ip addr add 2001:db8:9::1/64 dev to-function nodad")
        self.run("ip addr add 10.9.0.1/24 dev to-function; ip link set to-function up")
        for hop in HOPS.values():
            self.run(f"ip neigh add {hop} lladdr {TAP_MAC} dev to-function nud permanent")
        here, there = os.pipe()
        thread = threading.Thread(target=_reflect, args=(tap, here))
        thread.start()
        try:
            yield
        finally:
            os.close(there)
            thread.join()
            os.close(here)
            os.close(tap)

    def build_wire(self) -> None:
        """A host behind the source and one behind the sink, and a function that bridges."""
        for host, node, mac in (("near", "source", FAR_MAC), ("far", "sink", "")):
            self.run(f"ip netns add {self.name(host)}")
            self.on(node, f"ip link add wire address {mac or '02:00:00:00:07:01'} type veth"
                          f" peer name eth0 netns {self.name(host)}")  # fmt: skip
            self.on(node, "ip link set wire up")
            self.on(host, "ip link set eth0 up")
        self.on("near", f"ip addr add {WIRE}1/64 dev eth0 nodad")
        self.on("near", f"ip neigh add {WIRE}2 lladdr {FAR_MAC} dev eth0")
        self.on("far", f"ip link set eth0 address {FAR_MAC}")
        self.on("far", f"ip addr add {WIRE}2/64 dev eth0 nodad")
        self.on("sink", f"ip -6 route add {LAST['ethernet']} encap seg6local"
                        " action End.DX2 oif wire dev eth0")  # fmt: skip
        name = self.name("function")
        self.run(f"ip link add {BRIDGED} mtu {MTU} type veth peer name eth1 mtu {MTU} netns {name}")
        self.run(f"ip link set {BRIDGED} up")
        self.on("function", "ip link add br0 type bridge")
        for port in ("eth0", "eth1"):
            self.on("function", f"ip link set {port} master br0 up")
        self.on("function", "ip link set br0 up")

    def steer_wire(self, segments: Sequence[str]) -> None:
        """Frames of the near host for the far one go along these segments."""
        how = f"encap seg6 mode l2encap segs {','.join(segments)}"
        self.on("source", "sysctl -qw net.ipv6.conf.all.forwarding=1")
        self.on("source", f"ip -6 route replace {WIRE}2/128 {how} via 2001:db8:1::1")

    def carry(
        self, packets: Sequence[bytes], count: int, at_least: int | None = None
    ) -> list[bytes]:
        """Packets of the source's for the node, as they are; the first of such length, or of
        ``at_least`` bytes, that the sink got."""
        with self._within("sink"):
            sink = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_IPV6))
        with self._within("source"):
            source = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        came: list[bytes] = []
        shortest = min(map(len, packets)) if at_least is None else at_least
        with sink, source:
            sink.bind(("eth0", _ETH_P_IPV6))
            sink.settimeout(10)
            source.bind(("eth0", 0))
            for packet in packets:
                source.send(packet)
            while len(came) < count:
                if len(frame := sink.recv(MTU + 14)) >= shortest:
                    came.append(frame)
        return came

    @contextmanager
    def _within(self, node: str) -> Iterator[None]:
        """This thread in the node's namespace."""
        with open("/proc/thread-self/ns/net") as home, open(f"/run/netns/{self.name(node)}") as ns:
            _LIBC.setns(ns.fileno(), 0)
            try:
                yield
            finally:
                _LIBC.setns(home.fileno(), 0)

    def mac(self, link: str) -> str:
        found: str = json.loads(self.run(f"ip -j link show {link}"))[0]["address"]
        return found

    def arrive_by_wire(self, count: int) -> int:
        """How many of the near host's echo requests the far one got; it can't answer."""
        before = self._echoes()
        command = f"ping -6 -n -q -c {count} -i 0.01 -W 1 {WIRE}2"
        subprocess.run(
            f"ip netns exec {self.name('near')} {command}",
            shell=True, check=False, capture_output=True,
        )  # fmt: skip
        return self._echoes() - before

    def _echoes(self) -> int:
        return int(self.on("far", "nstat -asz Icmp6InEchos").split()[-2])

    def take_down(self) -> None:
        for node in ("source", "sink", "function", "near", "far"):
            subprocess.run(["ip", "netns", "delete", self.name(node)], check=False)

    def steer(self, inner: str, segments: Sequence[str]) -> None:
        """What the source sends to the sink goes along these segments."""
        how = f"encap seg6 mode encap segs {','.join(segments)}"
        if inner == "ipv6":
            self.on("source", f"ip -6 route replace {SINK['ipv6']}/128 {how} via 2001:db8:1::1")
        else:
            self.on("source", f"ip route replace {SINK['ipv4']}/32 {how} dev eth0")

    def insert(self, segments: Sequence[str]) -> None:
        """The same by a header inserted into IPv6 packets."""
        how = f"encap seg6 mode inline segs {','.join(segments)}"
        self.on("source", f"ip -6 route replace {SINK['ipv6']}/128 {how} via 2001:db8:1::1")

    def steer_own(self, inner: str, segments: Sequence[str]) -> None:
        """What the node itself sends to the sink goes along these segments."""
        how = f"encap seg6 mode encap segs {','.join(segments)}"
        family, length = ("-6 ", 128) if inner == "ipv6" else ("", 32)
        self.run("ip sr tunsrc set 2001:db8:2::1")
        # With the header they fit the SID device.
        self.run(f"ip {family}route add {SINK[inner]}/{length} {how} dev to-sink mtu 1400")

    def steer_back(self, inner: str, segments: Sequence[str]) -> None:
        """What the sink sends to the source goes along these segments."""
        how = f"encap seg6 mode encap segs {','.join(segments)}"
        family, length = ("-6 ", 128) if inner == "ipv6" else ("", 32)
        way = "via 2001:db8:2::1" if inner == "ipv6" else "dev eth0"
        self.on("sink", f"ip {family}route replace {SOURCE[inner]}/{length} {how} {way}")

    def transfer(self, inner: str, octets: int, *, local: bool = False) -> Transfer:
        """TCP from the source (``local``: the node) to the sink and the same back, whose digests
        must be equal. Both ends have one CPU: veth queues what a task sends on the CPU that it
        runs on (netif_rx), so a task that moves overtakes itself, on any router."""
        before = self._transferred()
        pinned = f"taskset -c {min(os.sched_getaffinity(0))} "
        server = subprocess.Popen(
            [*pinned.split(), "ip", "netns", "exec", self.name("sink"), sys.executable, _TRANSFER,
             SINK[inner]],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == "listening\n"
            command = f"{pinned}{sys.executable} {_TRANSFER} {SINK[inner]} {octets}"
            if local:
                self.run(command)
            else:
                self.on("source", command)
        finally:
            server.kill()
            server.wait()
        return self._transferred() - before

    def _transferred(self) -> Transfer:
        ends = ("ip netns exec " + self.name(n) + " " for n in ("source", "sink"))
        ours = [_snmp(self.run(f"{end}nstat -asz -j")) for end in (*ends, "")]
        links = json.loads(self.run("ip -s -j link"))
        dropped = sum(link["stats64"][way]["dropped"] for link in links for way in ("rx", "tx"))
        return Transfer(
            sent_again=sum(at["TcpRetransSegs"] for at in ours),
            timeouts=sum(at["TcpExtTCPTimeouts"] for at in ours),
            out_of_order=sum(at["TcpExtTCPOFOQueue"] for at in ours),
            dropped=dropped + sum(ours[-1][name] for name in _DROPS),
        )

    def declare(self, desired: Desired) -> list[Action]:
        """Compare and write; what was done."""
        self._desired = desired
        return self.repair()

    def repair(self) -> list[Action]:
        actions = self.differing()
        rejected = self.kernel.apply(actions)
        assert not rejected, [(r.action.object.key, r.message) for r in rejected]
        return actions

    def differing(self) -> list[Action]:
        links = self.kernel.links()
        wanted = target(self._desired, links).objects
        wanted = {k: obj for k, obj in wanted.items() if not isinstance(obj, DummyDevice)}
        sysctls = [obj.path for obj in wanted.values() if isinstance(obj, Sysctl)]
        seen = dict(self.kernel.observe(sysctls).objects)
        seen.pop(f"link {SID_DEVICE}", None)
        return plan(wanted, seen, set(seen), ()).actions

    def ping(self, inner: str, count: int = 3, *, local: bool = False) -> int:
        """How many of the source's packets the sink answered; ``local``: of the node's own."""
        command = f"ping -{inner[-1]} -n -c {count} -i 0.01 -W 2 {SINK[inner]}"
        done = subprocess.run(
            command if local else f"ip netns exec {self.name('source')} {command}",
            shell=True, check=False, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.count("bytes from")

    @contextmanager
    def pinging(self, inner: str) -> Iterator[None]:
        """The source sends all the time."""
        command = f"ip netns exec {self.name('source')} ping -{inner[-1]} -n -i 0.01 {SINK[inner]}"
        child = subprocess.Popen(command.split(), stdout=subprocess.DEVNULL)
        try:
            yield
        finally:
            child.kill()
            child.wait()

    def passing(self) -> bool:
        """Whether more packets came back from the function since it was asked last."""
        before, self._passed = self._passed, self.counts().from_packets
        return self._passed > before

    def counts(self) -> ProxyCounts:
        return self.kernel.proxies()[PREFIX].counts
