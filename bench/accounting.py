"""Accounting beside the same traffic without it: CPU time of a packet that is encapsulated, and of
one that is decapsulated.

    make bench BENCH=accounting

The table holds the rows of 1,000 VRFs with 100 remote SIDs each; the packets are of one flow. One
core, packets made in the kernel and counted where they leave, scenarios in turn.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import sys
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from pathlib import Path

from bench.frames import packet, plain
from bench.generator import Generator
from bench.proxies_network import LAST, Node, prefix
from bench.report import Goal, Report
from srv6mgrd.accounting import layout
from srv6mgrd.accounting.programs import AccountingPrograms, Maps
from srv6mgrd.ebpf import libbpf
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.accounting.object import (
    RECEIVED,
    SENT,
    AccountedSid,
    AccountingHook,
    AccountingSources,
)
from srv6mgrd.kinds.accounting.object import AccountingPrograms as ProgramsObject
from srv6mgrd.model.accounting import Direction, Family
from srv6mgrd.plan.actions import Create

ROUNDS, PACKETS, WARM = 40, 50_000, 5_000
VRFS, REMOTES = 1000, 100
PINS = Path("/sys/fs/bpf")
OWN = IPv6Address("2001:db8:b::1")
FAR = "2001:db8:200::1"
LIMIT, MEMORY = 1.03, 64 << 20


@dataclass(slots=True)
class Scenario:
    name: str
    node: Node
    frame: bytes
    runs: list[float] = field(default_factory=list)
    lost: int = 0

    def measure(self, generator: Generator) -> None:
        with self.node.entered():
            index = socket.if_nametoindex("eth0")
            generator.run(index, self.frame, WARM)
            spent, arrived = generator.run(index, self.frame, PACKETS)
        self.runs.append(spent)
        self.lost += PACKETS - arrived


def routed(node: Node) -> None:
    """What comes from the tunnel leaves on eth1, and so does what goes into one."""
    enabled = [f"net.ipv6.conf.{name}.seg6_enabled=1" for name in ("all", "eth0")]
    node.on(node.name, f"sysctl -qw {' '.join(enabled)}")
    node.on(node.name, f"ip sr tunsrc set {OWN}")
    for route in (
        f"2001:db8:2::/64 encap seg6 mode encap segs {LAST} dev eth1",
        "2001:db8:200::/64 via 2001:db8:b::2",
        f"{prefix(1)} encap seg6local action End.DT6 table 254 dev eth0",
    ):
        node.on(node.name, f"ip -6 route add {route}")


def account(node: Node, programs: AccountingPrograms) -> Maps:
    with node.entered():
        kernel = LinuxKernel(accounting=programs)
        objects = [
            ProgramsObject(),
            AccountingSources((OWN,)),
            AccountedSid(prefix(1), None, (Family.IPV6,)),
            AccountingHook("eth0", RECEIVED),
            AccountingHook("eth1", SENT),
        ]
        if rejected := kernel.apply([Create(obj) for obj in objects]):
            raise RuntimeError(rejected[0].message)
        kernel.close()
    maps = programs.maps()
    assert maps is not None
    nothing = bytes(maps.rows.value_size)
    for vrf in range(1, VRFS + 1):
        for remote in range(REMOTES):
            sid = IPv6Address((0xFCBB << 112) + (vrf << 64) + remote)
            key = layout.key(vrf, Direction.SENT, Family.IPV6, sid)
            if failure := maps.rows.put(key, nothing):
                raise RuntimeError(failure.message)
    node.count_last()
    return maps


def memory(folder: Path) -> int:
    """Bytes that the kernel has allocated for the maps."""
    total = 0
    for pin in (folder / "maps").iterdir():
        if (fd := libbpf.pinned(pin)) is not None:
            shown = Path(f"/proc/self/fdinfo/{fd}").read_text()
            found = re.search(r"memlock:\s+(\d+)", shown)
            total += int(found[1]) if found else 0
            os.close(fd)
    return total


def main() -> int:
    with contextlib.ExitStack() as open_:
        generator = Generator(PINS / f"bench-{os.getpid()}")
        open_.callback(generator.close)
        programs = AccountingPrograms(folder=PINS / f"bench-accounting-{os.getpid()}")
        without, accounted = (Node(name, generator.counter) for name in ("without", "accounted"))
        for node in (without, accounted):
            open_.callback(node.close)
            routed(node)
        open_.callback(programs.remove)
        account(accounted, programs)
        scenarios = {
            (way, node): Scenario(
                f"{way}, {'' if node is accounted else 'not '}accounted", node, frame
            )
            for way, frame in (
                ("encapsulated", plain("2001:db8:2::2")),
                ("decapsulated", packet("ipv6", last=True)),
            )
            for node in (without, accounted)
        }
        for number in range(ROUNDS):
            print(f"\rround {number + 1} of {ROUNDS}", end="", file=sys.stderr, flush=True)
            # To and fro: what comes after which one counts for both.
            for scenario in list(scenarios.values())[:: 1 if number % 2 else -1]:
                scenario.measure(generator)
        print(file=sys.stderr)
        for scenario in scenarios.values():
            low, high = min(scenario.runs), max(scenario.runs)
            print(f"  {scenario.name:32} {low:6.0f} .. {high:6.0f} ns, {scenario.lost} lost")
        with accounted.entered():
            kernel = LinuxKernel(accounting=programs)
            found = kernel.accounted()
            kernel.close()
        counted = {d: sum(c.packets for c in rows.values()) for d, rows in found.rows.items()}
        every = float(ROUNDS * (WARM + PACKETS))
        goals = [
            Goal(
                f"packet that is {way}, accounted", scenarios[way, accounted].runs,
                scenarios[way, without].runs, LIMIT, "ns", of="rounds",
            )
            for way in ("encapsulated", "decapsulated")
        ]  # fmt: skip
        goals += [
            Goal(f"packets {d.value}, of those that passed", [float(counted[d])], [every], 1.0, "")
            for d in Direction
        ]
        used = float(memory(programs.folder)) / (1 << 20)
        goals.append(Goal("memory of the maps", [used], [], MEMORY / (1 << 20), "MiB"))
        exact = all(count == every for count in counted.values())
        lost = sum(scenario.lost for scenario in scenarios.values())
        return Report("accounting", goals).finish() or int(lost > 0 or not exact)


if __name__ == "__main__":
    sys.exit(main())
