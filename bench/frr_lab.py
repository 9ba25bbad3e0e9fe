"""In the lab: what it takes to have FRR advertise a SID for each of many VRFs.

    python -m bench.frr_lab [1] [100] [1000] [patched]

The same configuration goes to the same FRR on pe1 in three ways: through srv6mgr's adapter, by
``vtysh -f`` and by frr-reload. It is done when pe2 has received a route from every VRF. ``patched``
is the largest once more, through the adapter alone, to an FRR with ``frr-patches`` (``make frr``).
Leaves its goals as JSON for ``bench.frr``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from pathlib import Path

from bench.report import Goal, describe_machine
from lab.guest.catalogue import FRR_CONFIG, FRR_DAEMONS, PATCHED_FRR, use_frr
from lab.guest.nodes import Node
from lab.guest.services import Router
from lab.problem import LabError
from lab.waiting import wait_until
from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.blocks import BGPD, ZEBRA
from srv6mgrd.frr.render import render
from srv6mgrd.frr.script import frr_block
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.bgp import Bgp, Neighbor, VrfBgp
from srv6mgrd.model.desired import Desired, Locator, Sid, Vrf
from srv6mgrd.plan.actions import Action, Create, Delete

OUTPUT = Path(os.environ.get("LAB_OUT", ".")) / "frr.json"
SIZES = (1, 100, 1000)
# How much faster than ``vtysh -f`` the largest has to be, and seconds for one VRF more.
FASTER = 4.0
ONE_MORE = 1.0
TIMEOUT = 900.0
# What vtysh and frr-reload are given at least; bgpd may be busy for hours.
LIMIT = 300.0
FIRST = 1000
TEXT = "/tmp/whole.conf"


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds until it was accepted and until the peer had all; CPU seconds and MiB."""

    accepted: float
    received: float
    cpu: float
    memory: float


def main() -> int:
    sizes = [int(name) for name in sys.argv[1:] if name.isdigit()]
    patched = "patched" in sys.argv[1:]
    if not (sizes or patched):
        sizes, patched = list(SIZES), PATCHED_FRR.is_dir()
    machine, goals = describe_machine(), list[Goal]()
    pe2 = Edge("pe2")
    pe2.start()
    assert pe2.frr.apply(creations(declaration(2, 0))) == []
    pe1 = Edge("pe1")
    pe1.start()
    runs = [(_size, size) for size in sizes]
    if patched:
        runs.append((_patched, SIZES[-1]))
    _devices(pe1.node, max(size for _, size in runs) + 1)
    for measure, size in runs:
        goals += measure(pe1, pe2, size)
        OUTPUT.write_text(json.dumps({"machine": machine, "goals": [asdict(g) for g in goals]}))
    for edge in (pe1, pe2):
        edge.stop()
    return 0


class Edge:
    """A provider edge with nothing but FRR."""

    def __init__(self, name: str) -> None:
        self.node = Node(name)
        self.router = Router(self.node)
        self.frr = FrrSockets(self.node.path("/run/frr"), timeout=TIMEOUT)

    def start(self) -> None:
        self.node.write_file("/etc/frr/frr.conf", f"{FRR_CONFIG}hostname {self.node.name}\n")
        self.router.start("frr")
        # It restarts a bgpd that is busy for 90 s, as `vtysh -f` of 100 VRFs makes it.
        self.router.kill("watchfrr")

    def stop(self) -> None:
        # bgpd with many VRFs behind it takes minutes to stop of its own accord.
        for daemon in FRR_DAEMONS:
            self.router.kill(daemon)
        self.router.stop("frr")

    def restart(self) -> None:
        self.stop()
        self.start()

    def cpu(self) -> float:
        """Seconds that zebra and bgpd have used."""
        total = 0
        for pid in self._pids():
            fields = self.node.read_file(f"/proc/{pid}/stat").rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """MiB that zebra and bgpd have had at most."""
        peaks = [self.node.read_file(f"/proc/{pid}/status") for pid in self._pids()]
        return sum(int(p.split("VmHWM:")[1].split()[0]) for p in peaks) / 1024

    def received(self) -> int:
        """VPN routes from the peer; each VRF exports one."""
        shown = json.loads(self.frr.show(BGPD, "show bgp ipv4 vpn summary json"))
        return sum(int(p.get("pfxRcd", 0)) for p in shown.get("peers", {}).values())

    def established(self) -> int:
        """How often the session came up."""
        shown = json.loads(self.frr.show(BGPD, "show bgp neighbors json"))
        return sum(int(p["connectionsEstablished"]) for p in shown.values() if isinstance(p, dict))

    def _pids(self) -> list[str]:
        return [self.node.read_file(f"/run/frr/{d}.pid").strip() for d in (ZEBRA, BGPD)]


def _size(pe1: Edge, pe2: Edge, count: int) -> list[Goal]:
    base, whole, more = (declaration(1, n) for n in (0, count, count + 1))
    size = f"{count} VRF" + ("s" if count > 1 else "")
    ours, one, gone, flaps = _through_srv6mgr(pe1, pe2, count)

    _fresh(pe1, pe2, base)
    limit = max(LIMIT, FASTER * ours.received)
    vtysh = partial(_quietly, pe1.node, f"vtysh -f {TEXT}", limit)
    reload = partial(_quietly, pe1.node, f"/usr/lib/frr/frr-reload.py --reload {TEXT}", limit)
    pe1.node.write_file(TEXT, text(creations(whole, base)))
    theirs = _limited(pe1, pe2, count, vtysh, limit)
    their_one = reloaded = None
    if theirs is not None:
        pe1.node.write_file(TEXT, text(creations(more, base)))
        their_one = _limited(pe1, pe2, count + 1, vtysh, limit)
    if their_one is not None:
        # It compares with all that runs: it is given that, less one VRF and then with it again.
        running = pe1.node.run(["vtysh", "-c", "show running-config no-header"]).stdout
        pe1.frr.apply(deletions(more, whole))
        wait_until(lambda: pe2.received() == count, "one VRF less", TIMEOUT)
        pe1.node.write_file(TEXT, running)
        reloaded = _limited(pe1, pe2, count + 1, reload, limit)

    largest = count == SIZES[-1]

    def beside(
        name: str, mine: float, peer: Cost | None, what: str, goal: float | None = None
    ) -> Goal:
        if peer is None:  # it can't be that fast
            return Goal(f"{size}: {name} (not within {limit:.0f} s)", [mine], [limit], goal)
        return Goal(f"{size}: {name}", [mine], [getattr(peer, what)], goal)

    return [
        beside("accepted, or vtysh -f", ours.accepted, theirs, "accepted",
               1 / FASTER if largest else None),
        beside("received by the peer, or vtysh -f", ours.received, theirs, "received",
               1 / FASTER if largest else None),
        Goal(f"{size}: CPU of bgpd and zebra, or vtysh -f", [ours.cpu],
             [theirs.cpu] if theirs else [], None),
        Goal(f"{size}: memory of bgpd and zebra, or vtysh -f", [ours.memory],
             [theirs.memory] if theirs else [], None, "MiB"),
        *_afterwards(size, one, gone, flaps),
        beside("one more, or vtysh -f of all", one.received, their_one, "received"),
        beside("one more, or frr-reload of all", one.received, reloaded, "received"),
    ]  # fmt: skip


def _patched(pe1: Edge, pe2: Edge, count: int) -> list[Goal]:
    """The same by srv6mgr, with the patched FRR on both edges."""
    for edge in (pe1, pe2):
        edge.stop()
        use_frr(edge.node, PATCHED_FRR)
        edge.start()
    assert pe2.frr.apply(creations(declaration(2, 0))) == []
    ours, one, gone, flaps = _through_srv6mgr(pe1, pe2, count)
    size = f"{count} VRFs, patched FRR"
    return [
        Goal(f"{size}: accepted", [ours.accepted], [], None),
        Goal(f"{size}: received by the peer", [ours.received], [], None),
        Goal(f"{size}: CPU of bgpd and zebra", [ours.cpu], [], None),
        Goal(f"{size}: memory of bgpd and zebra", [ours.memory], [], None, "MiB"),
        *_afterwards(size, one, gone, flaps),
    ]


def _afterwards(size: str, one: Cost, gone: Cost, flaps: float) -> list[Goal]:
    return [
        Goal(f"{size}: one more, received", [one.received], [], ONE_MORE),
        Goal(f"{size}: all deleted, withdrawn at the peer", [gone.received], [], None),
        Goal(f"{size}: flaps of the session", [flaps], [], 0, ""),
    ]


def _through_srv6mgr(pe1: Edge, pe2: Edge, count: int) -> tuple[Cost, Cost, Cost, float]:
    """Of all VRFs, of one more, of taking all away; and how often the session came up again."""
    base, whole, more = (declaration(1, n) for n in (0, count, count + 1))
    _fresh(pe1, pe2, base)
    before = pe2.established()
    ours = _timed(pe1, pe2, count, lambda: _apply(pe1, creations(whole, base)))
    one = _timed(pe1, pe2, count + 1, lambda: _apply(pe1, creations(more, whole)))
    gone = _timed(pe1, pe2, 0, lambda: _apply(pe1, deletions(more, base)))
    return ours, one, gone, float(pe2.established() - before)


def _fresh(pe1: Edge, pe2: Edge, base: Desired) -> None:
    """FRR of pe1, restarted, with its session and no VRF."""
    pe1.restart()
    wait_until(lambda: pe1.frr.observe() is not None, "FRR", 60)
    # bgpd rejects a locator until it is connected to zebra (bgp_zebra_srv6_manager_get_locator).
    wait_until(lambda: pe1.frr.apply(creations(base)) == [], "FRR takes its configuration", 60)
    wait_until(lambda: _is_up(pe2), "session", 120)


def _is_up(edge: Edge) -> bool:
    shown = json.loads(edge.frr.show(BGPD, "show bgp ipv4 vpn summary json"))
    return any(p.get("state") == "Established" for p in shown.get("peers", {}).values())


def _timed(
    pe1: Edge, pe2: Edge, count: int, work: Callable[[], object], limit: float = TIMEOUT
) -> Cost:
    used, start = pe1.cpu(), time.perf_counter()
    work()
    accepted = time.perf_counter() - start
    wait_until(lambda: pe2.received() == count, f"{count} routes at the peer", limit)
    received = time.perf_counter() - start
    cost = Cost(accepted, received, pe1.cpu() - used, pe1.memory())
    print(f"-- {count} routes: {cost}", file=sys.stderr, flush=True)
    return cost


def _quietly(node: Node, command: str, limit: float) -> None:
    # vtysh leaves a child for each daemon behind when it is killed: they would hold a pipe open.
    node.run(["sh", "-c", f"exec {command} </dev/null >/dev/null 2>&1"], timeout=limit)


def _limited(
    pe1: Edge, pe2: Edge, count: int, work: Callable[[], object], limit: float
) -> Cost | None:
    """None when it has not come to an end within so many seconds."""
    try:
        return _timed(pe1, pe2, count, work, limit)
    except (LabError, subprocess.TimeoutExpired) as error:
        print(f"-- {count} routes: {error}", file=sys.stderr, flush=True)
        return None


def _apply(edge: Edge, actions: Sequence[Action]) -> None:
    rejected = edge.frr.apply(actions)
    if rejected:
        raise RuntimeError(f"{len(rejected)} refused, first: {rejected[0].message}")


def creations(wanted: Desired, standing: Desired | None = None) -> list[Action]:
    """What is in one and not in the other: VRFs change nothing of what is around them."""
    there = {b.key: b for b in render(standing)} if standing else {}
    return [Create(b) for b in render(wanted) if b.key not in there]


def deletions(standing: Desired, wanted: Desired) -> list[Action]:
    kept = {b.key for b in render(wanted)}
    return [Delete(b) for b in reversed(render(standing)) if b.key not in kept]


def text(actions: Sequence[Action]) -> str:
    """As ``show running-config`` would have it."""
    lines = []
    for one in map(frr_block, actions):
        depth = len(one.context)
        lines += [f"{' ' * n}{word}" for n, word in enumerate(one.context)]
        lines += [f"{' ' * depth}{line}" for line in one.lines]
        lines += [" " * n + "exit" for n in reversed(range(depth))]
    return "\n".join(lines) + "\n"


def declaration(pe: int, count: int) -> Desired:
    """A provider edge with so many VRFs, each with a SID, an RD and a route target."""
    vrfs, sids = {}, {}
    for number in range(FIRST, FIRST + count):
        name, export = f"v{number}", IPv6Network(f"fcbb:0:{pe}:{number:x}::/64")
        rt = (f"65000:{number}",)
        vrfs[name] = Vrf(name, number, bgp=VrfBgp(f"65000:{number}", rt, rt, export))
        sids[export] = Sid(export, "MAIN", Behavior.END_DT46, name)
    # The locator is there from the start.
    if not count:
        export = IPv6Network(f"fcbb:0:{pe}:1::/64")
        vrfs["none"] = Vrf("none", 999, bgp=VrfBgp("65000:1", ("65000:1",), ("65000:1",), export))
        sids[export] = Sid(export, "MAIN", Behavior.END_DT46, "none")
    return Desired(
        encapsulation_source=IPv6Address(f"2001:db8::{pe}"),
        locators={"MAIN": Locator("MAIN", IPv6Network(f"fcbb:0:{pe}::/48"))},
        vrfs=vrfs,
        sids=sids,
        bgp=Bgp(
            65000,
            IPv4Address(f"10.0.0.{pe}"),
            (Neighbor(f"2001:db8::{3 - pe}", 65000, f"2001:db8::{pe}"),),
        ),
    )


def _devices(node: Node, count: int) -> None:
    """VRFs with an address each: the route that they export."""
    lines = []
    for number in range(FIRST, FIRST + count):
        lines += [
            f"link add v{number} type vrf table {number}",
            f"link set v{number} up",
            f"address add 10.{number >> 8}.{number & 255}.1/32 dev v{number}",
        ]
    node.write_file("/tmp/devices", "\n".join(lines) + "\n")
    node.run(["sysctl", "-qw", "net.vrf.strict_mode=1"])
    node.run(["ip", "-batch", "/tmp/devices"], timeout=TIMEOUT)


if __name__ == "__main__":
    sys.exit(main())
