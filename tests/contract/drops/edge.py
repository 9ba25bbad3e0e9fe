"""An edge with SIDs of every kind, watched as by srv6mgrd, with a clock of its own."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass, field, replace

from scapy.layers.l2 import Ether

from lab.waiting import wait_until
from srv6mgrd.drops.node import DropNode
from srv6mgrd.drops.program import DropProgram
from srv6mgrd.drops.watch import DropWatch
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.model.accounting import Accounting, Watch
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.drops import Certainty, DropReason
from srv6mgrd.model.status import SidCounters
from tests.contract.accounting.network import Network, declared
from tests.contract.drops.faults import (
    DISCARDED,
    PROHIBITED,
    SIDS,
    SILENT,
    SMALL,
    STOPPED,
    Fault,
)

PACKETS, SAMPLES = 3, 3
_ROUTES = (
    f"{SMALL}/48 dev small via fe80::1",
    f"{STOPPED}/48 dev stopped via fe80::1",
    f"{SILENT}/48 dev core via 2001:db8:c::98",
    f"blackhole {DISCARDED}/48",
    f"prohibit {PROHIBITED}/48",
)
Found = dict[DropReason, tuple[int, Certainty, str | None]]


@dataclass
class Edge:
    """The edge with all SIDs, and what watches it as srv6mgrd does, with a clock of its own."""

    network: Network
    program: DropProgram = field(default_factory=DropProgram)
    time: float = 1000.0
    has_vrf: bool = True

    def build(self) -> None:
        run = self.network.run
        run("ip link add small mtu 1280 type veth peer name small-far mtu 1280")
        run("ip link set small up; ip link set small-far up")
        run("ip link add stopped type veth peer name stopped-far")
        run("ip link set stopped up")
        self._declare()
        for device in ("small", "stopped"):
            run(f"ip -6 neigh replace fe80::1 lladdr 02:00:00:00:00:77 dev {device} nud permanent")
        for route in _ROUTES:
            run(f"ip -6 route replace {route}")
        # Neighbors of the edge are known.
        for node, addresses in (
            ("host", ("2001:db8:1::1", "10.1.0.1")),
            ("far", ("2001:db8:c::1", "10.12.0.1")),
        ):
            for address in addresses if self.has_vrf or node == "far" else ():
                self.network.on(node, f"ping -n -c 1 -W 2 {address}")
        self.start(Watch.ON_ERRORS)

    def _declare(self) -> None:
        if self.has_vrf:
            self.network.declare(_desired(has_vrf=True))
            return
        self.network.desired = _desired(has_vrf=False)
        # A kernel without VRF has no dummy device either: there is one in its place.
        actions = [a for a in self.network.differing() if not isinstance(a.object, DummyDevice)]
        assert not self.network.kernel.apply(actions)

    def start(self, watch: Watch) -> None:
        self.program.end()
        self.network.desired = replace(
            self.network.desired, accounting=Accounting(enabled=True, watch_drops=watch)
        )
        node = DropNode(self.network.kernel)
        self.watch = DropWatch(self.program, node, clock=lambda: self.time)
        self.sample()

    def sample(self, seconds: float = 1.0) -> None:
        """A beat of srv6mgrd."""
        self.time += seconds
        counted = self.network.kernel.sid_counters()
        totals = {
            str(p): SidCounters(n, octets, errors) for p, (n, octets, errors) in counted.items()
        }
        self.watch.sample(self.network.desired, totals, totals)

    def errors(self, sid: str) -> int:
        return self.network.kernel.sid_counters()[SIDS[sid].prefix][2]

    def found(self, sid: str) -> Found:
        prefix = SIDS[sid].prefix
        drops = [drop for drop in self.watch.found if drop.sid == prefix]
        return {drop.reason: (drop.packets, drop.certainty, drop.vrf) for drop in drops}

    def moved(self) -> tuple[int, int, int]:
        """What makes srv6mgrd watch."""
        node, counted = DropNode(self.network.kernel), self.network.kernel.sid_counters()
        return node.discards(), node.filtered(), sum(errors for _, _, errors in counted.values())

    def is_attached(self) -> bool:
        return "watch" in self.network.run("bpftool net show")

    def send(self, fault: Fault) -> None:
        """All of them have gone through the edge when it returns."""
        device = "core" if fault.node == "far" else "port"
        with self.network._within(fault.node):
            tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        (link,) = json.loads(self.network.run(f"ip -j link show dev {device}"))
        frame = bytes(
            Ether(dst=link["address"], src="02:00:00:00:00:01", type=0x86DD) / fault.packet
        )
        passed = self._passed(fault.node)
        with tap:
            tap.bind(("eth0", 0))
            for _ in range(PACKETS):
                tap.send(frame)
        if passed is not None:
            wait_until(
                lambda: (self._passed(fault.node) or 0) >= passed + PACKETS, "the packets", 5
            )

    def _passed(self, node: str) -> int | None:
        """A number of packets from this node that have come; None while they are not counted."""
        if node == "host":
            return self.network.kernel.filtered()
        return sum(self.program.runs()) if self.watch.is_watching else None

    def wrong(self, fault: Fault) -> object:
        """What is reported of it, and other than it should be; None when all is right."""
        if fault.setting:
            self.network.run(fault.setting)
        if fault.reason is DropReason.BOUNDARY:
            # Interfaces to the outside are watched once it has dropped something.
            self.send(fault)
        self.sample()
        before, errors, moved = self.found(fault.sid), self.errors(fault.sid), self.moved()
        # A neighbor that does not answer is certain in the third sample.
        for _ in range(SAMPLES):
            self.send(fault)
            self.sample()
        found = _grown(before, self.found(fault.sid))
        if fault.reason is DropReason.NO_NEIGHBOR:
            # The kernel gives up on it after three seconds (ndisc, arp: MAX_MULTICAST_SOLICIT).
            wait_until(lambda: self.moved() != moved, "drops of the neighbor's packets", 10)
        dropped, has_moved = self.errors(fault.sid) - errors, self.moved() != moved
        if fault.after:
            self.network.run(fault.after)
        sent = SAMPLES * PACKETS
        is_noticed = has_moved or fault.hidden or fault.reason is None
        wanted = self._wanted(fault, sent), sent * fault.errors, True
        return None if (found, dropped, is_noticed) == wanted else (found, dropped, has_moved)

    def _wanted(self, fault: Fault, packets: int) -> Found:
        reason, certainty = fault.reason, Certainty.CERTAIN
        if fault.traced and not self.program.traces:
            reason, certainty = DropReason.OTHER, Certainty.LIKELY
        return {} if reason is None else {reason: (packets, certainty, SIDS[fault.sid].vrf)}


def _desired(*, has_vrf: bool) -> Desired:
    sids = {one.prefix: one for one in SIDS.values() if has_vrf or one.vrf is None}
    desired = replace(declared(), sids=sids, accept_unsupported=True)
    return desired if has_vrf else replace(desired, vrfs={}, routes={}, segment_lists={})


def _grown(before: Found, now: Found) -> Found:
    """Packets since then."""
    found = {}
    for reason, (packets, certainty, vrf) in now.items():
        if more := packets - (before[reason][0] if reason in before else 0):
            found[reason] = more, certainty, vrf
    return found
