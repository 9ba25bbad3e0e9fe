"""In the lab: what a running srv6mgrd takes for its work, and what a VRF costs its users.

    python -m bench.reconcile_lab [vrf] [10k] [100k] [vrfs]

Leaves its goals as JSON for ``bench.reconcile``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from bench.reconcile_daemon import goals_of, say, vrf_goals_of
from bench.reconcile_daemon import parts as daemon_parts
from bench.report import Goal, describe_machine
from bench.vrfs import VRFS
from lab.guest.catalogue import FRR_DAEMONS
from lab.guest.nodes import Node
from lab.guest.services import Router

OUTPUT = Path(os.environ.get("LAB_OUT", ".")) / "reconcile.json"
ROUTER = "pe1"
ROUNDS = 5
# What a VRF may take from the rate of its users.
VRF_GOAL = 0.9


def main() -> int:
    parts: dict[str, Callable[[], list[Goal]]] = {"vrf": _request_response, "vrfs": _vrfs}
    parts |= {name: partial(_daemon, count) for name, count in daemon_parts().items()}
    asked = [name for name in sys.argv[1:] or ("vrf", "10k") if name in parts]
    machine, goals = describe_machine(), list[Goal]()
    for name in asked:
        goals += parts[name]()
        # Each part for itself: a later one may take too long.
        runs = {"machine": machine, "goals": [asdict(goal) for goal in goals]}
        OUTPUT.write_text(json.dumps(runs))
    return 0


class Lab:
    """A node of the lab that has FRR, too."""

    name = "lab"

    def __init__(self) -> None:
        self._router = Router(ROUTER)
        self._router.start("redis", "frr", "sysrepo")

    def start(self) -> None:
        self._router.start("srv6mgrd")

    def stop(self) -> None:
        self._router.stop("srv6mgrd")

    def run(self, *command: str) -> str:
        return Node(ROUTER).run(command, timeout=1200).stdout

    def popen(self, *command: str) -> subprocess.Popen[str]:
        return Node(ROUTER).popen(command, stdout=subprocess.PIPE, text=True)


def _daemon(count: int) -> list[Goal]:
    return _stopped(goals_of(Lab(), count))


def _vrfs() -> list[Goal]:
    place = Lab()
    # It ends daemons that are busy for longer than 90 s, as they are where the lab's CPU is shared.
    Node(ROUTER).run(["pkill", "-x", "watchfrr"])
    goals = vrf_goals_of(place, VRFS)
    # bgpd that had many VRFs takes minutes to stop of its own accord.
    for daemon in FRR_DAEMONS:
        Router(ROUTER).kill(daemon)
    return _stopped(goals)


def _stopped(goals: list[Goal]) -> list[Goal]:
    for service in ("frr", "redis"):
        Router(ROUTER).stop(service)
    return goals


def _request_response() -> list[Goal]:
    """Server in a VRF on one pair of nodes, in none on another one like it, in turn."""
    program = OUTPUT.with_name("echo")
    subprocess.run(["gcc", "-O2", "-o", str(program), "bench/native/echo.c"], check=True)
    Node("pe1").run(
        ["sh", "-c", "sysctl -qw net.ipv6.conf.to-ce-red.keep_addr_on_down=1;"
         "ip link add red type vrf table 10 && ip link set red up &&"
         "ip link set to-ce-red master red"]
    )  # fmt: skip
    places = {
        "VRF": ("pe1", "ce-red1", {"IPv4": "10.1.0.1", "IPv6": "fd00:1::1"}, ["red"]),
        "none": ("pe2", "ce-red2", {"IPv4": "10.2.0.1", "IPv6": "fd00:2::1"}, []),
    }
    goals = []
    for protocol in ("tcp", "udp"):
        for family in ("IPv4", "IPv6"):
            say(f"request and response, {protocol.upper()} over {family}")
            runs: dict[str, list[float]] = {"VRF": [], "none": []}
            for _ in range(ROUNDS):
                for place, (server, client, addresses, device) in places.items():
                    where = [protocol, addresses[family], "7777"]
                    runs[place].append(_rate(program, Node(server), Node(client), where, device))
            name = f"{protocol.upper()} request and response over {family}, VRF or none"
            goals.append(Goal(name, runs["VRF"], runs["none"], VRF_GOAL, "/s", True, "median"))
    Node("pe1").run(["ip", "link", "delete", "red"])
    return goals


def _rate(program: Path, server: Node, client: Node, where: list[str], device: list[str]) -> float:
    """Transactions per second."""
    child = server.popen(
        [str(program), "serve", *where, *device], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        child.stdout.readline()
        asked = client.run([str(program), "ask", *where, "1"])
        return float(asked.stdout.split()[0])
    finally:
        child.kill()
        child.wait()


if __name__ == "__main__":
    sys.exit(main())
