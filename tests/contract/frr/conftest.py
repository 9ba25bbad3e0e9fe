"""Real FRR daemons on the provider edges of the lab's two-pe topology.

Run with ``lab/lab run --topology lab/topologies/two-pe.toml -- python -m pytest
tests/contract/frr -m contract``.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from pathlib import Path
from typing import Any

import pytest

from lab.guest import nodes
from lab.guest.catalogue import FRR_ROOT, STOCK_FRR
from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.blocks import BGPD, claim
from srv6mgrd.frr.json_shows import show_json
from srv6mgrd.frr.render import render
from srv6mgrd.frr.vty import Vty
from srv6mgrd.kinds.route import UNREACHABLE_METRIC
from srv6mgrd.kinds.unreachable.object import UnreachableSid
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.bgp import Bgp, Neighbor, VrfBgp
from srv6mgrd.model.desired import Desired, Locator, Sid, Vrf
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.plan.target import target
from srv6mgrd.plan.target_objects import vrf_ifindex
from srv6mgrd.ports import RejectedAction

DAEMONS = ("mgmtd", "zebra", "bgpd")
TABLES = {"red": 10, "blue": 20}


def sid(pe: int, function: int) -> IPv6Network:
    """A SID of a PE's locator."""
    return IPv6Network(f"fcbb:0:{pe}:{function:x}::/64")


def declaration(pe: int, *vrfs: str, function: int = 100) -> Desired:
    """What PE 1 or 2 declares: VRF red has ``function``, blue the next."""
    sids = {name: sid(pe, function + n) for n, name in enumerate(TABLES)}
    return Desired(
        encapsulation_source=IPv6Address(f"2001:db8::{pe}"),
        locators={"MAIN": Locator("MAIN", IPv6Network(f"fcbb:0:{pe}::/48"))},
        vrfs={
            name: Vrf(
                name,
                TABLES[name],
                bgp=VrfBgp(
                    f"65000:{pe}{TABLES[name]}",
                    (f"65000:{TABLES[name]}",),
                    (f"65000:{TABLES[name]}",),
                    sids[name],
                ),
            )
            for name in vrfs
        },
        sids={sids[n]: Sid(sids[n], "MAIN", Behavior.END_DT46, n) for n in vrfs},
        bgp=Bgp(
            65000,
            IPv4Address(f"10.0.0.{pe}"),
            (Neighbor(f"2001:db8::{3 - pe}", 65000, f"2001:db8::{pe}"),),
        ),
    )


@dataclass
class Pe:
    """A provider edge: its node, its FRR and a journal, as the core would hold one."""

    number: int
    node: nodes.Node
    frr: FrrSockets
    programs: Path = STOCK_FRR
    # What FRR takes for granted where nothing is said ("frr defaults").
    profile: str = "traditional"
    journal: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def vpn_routes(self, family: int = 4) -> dict[str, Any]:
        return show_json(self.frr, BGPD, f"show bgp ipv{family} vpn json")

    def start(self, *daemons: str) -> None:
        self.node.run(["sh", "-c", "mkdir -p /run/frr /var/tmp/frr && chown frr:frr /run/frr"])
        for daemon in daemons:
            config = "" if daemon in ("mgmtd", "staticd") else "-f /dev/null"
            # A daemon keeps the streams it was started with; pipes would never end.
            program = self.programs / "usr/lib/frr" / daemon
            command = f"{program} -d {config} -F {self.profile} --log file:/tmp/{daemon}.log"
            libraries = self.programs / "usr/lib/x86_64-linux-gnu/frr"
            self.node.run(
                ["sh", "-c", f"{command} </dev/null >/tmp/{daemon}.out 2>&1"],
                env={"LD_LIBRARY_PATH": str(libraries)},
            )

    def stop(self, *daemons: str) -> None:
        """Kill without mercy; the caller waits for what it wants to see."""
        for daemon in daemons:
            pid = self.node.path(f"/run/frr/{daemon}.pid").read_text().strip()
            # One that has died is what some tests are about.
            self.node.run(["kill", f"-{signal.SIGKILL.value}", pid], check=False)
            nodes.wait_until(partial(self._ended, pid), f"end of {daemon}")

    def _ended(self, pid: str) -> bool:
        return self.node.run(["kill", "-0", pid], check=False).returncode != 0

    def vrf(self, name: str) -> None:
        """The device and what the kernel adapter would put around it."""
        table = TABLES[name]
        self.node.run(["sysctl", "-qw", "net.vrf.strict_mode=1"])
        # The pinned ifindex is what FRR knows the VRF by: under another one, zebra may hold the
        # SID for the VRF that was, and reject it to the new one.
        index = str(vrf_ifindex(table))
        self.ip("link", "add", name, "index", index, "type", "vrf", "table", str(table))
        self.ip("link", "set", name, "up")
        self.ip("link", "set", f"to-ce-{name}", "master", name)
        for family in ("-4", "-6"):
            self.ip(family, "route", "replace", "table", str(table), "unreachable", "default",
                    "metric", str(UNREACHABLE_METRIC))  # fmt: skip

    def hide_sids(self, desired: Desired) -> None:
        """The kernel's part of VPN routes, which is there before them."""
        for obj in target(desired, {}).objects.values():
            if isinstance(obj, UnreachableSid):
                place = ("unreachable", str(obj.prefix), "table", str(obj.table))
                self.ip("-6", "route", "replace", *place, "metric", str(UNREACHABLE_METRIC))

    def underlay_rule(self, way: str) -> None:
        """Encapsulated packets are looked up in the VRF they came from (seg6_input_core), where
        the unreachable default would end them."""
        self.node.run(
            ["ip", "-6", "rule", way, "pref", "990", "from", f"2001:db8::{self.number}",
             "to", "fcbb::/32", "lookup", "main"]
        )  # fmt: skip

    def ip(self, *arguments: str) -> str:
        return self.node.run(["ip", *arguments]).stdout

    def plan(self, desired: Desired) -> list[Action]:
        """What the core's plan would be, for FRR alone."""
        wanted = {b.key: b for b in render(desired)}
        observed = self.frr.observe()
        assert observed is not None, self.frr.unreachable
        seen = claim(observed, wanted.values(), self.journal)
        actions: list[Action] = []
        for key, block in wanted.items():
            if key not in seen:
                actions.append(Create(block))
            elif seen[key] != block:
                actions.append(Replace(seen[key], block))
        return actions + [Delete(seen[key]) for key in reversed(seen) if key not in wanted]

    def push(self, desired: Desired) -> list[RejectedAction]:
        self.hide_sids(desired)
        actions = self.plan(desired)
        rejected = self.frr.apply(actions)
        failed = {id(r.action) for r in rejected}
        for action in (a for a in actions if id(a) not in failed):
            if isinstance(action, Delete):
                self.journal.pop(action.object.key, None)
            else:
                self.journal[action.object.key] = action.object.lines  # type: ignore[union-attr]
        return rejected

    def operator(self, daemon: str, *commands: str) -> None:
        """Someone types into this PE's FRR."""
        with Vty(self.node.path(f"/run/frr/{daemon}.vty")) as vty:
            for command, answer in zip(commands, vty.run(commands), strict=True):
                assert answer.ok, f"{command}: {answer.message}"


def _pe(number: int, programs: Path, profile: str) -> Pe:
    node = nodes.Node(f"pe{number}")
    return Pe(number, node, FrrSockets(node.path("/run/frr")), programs, profile)


@pytest.fixture
def programs() -> Path:
    """Below which the daemons to start lie; tests that try several override it. All others run on
    the patched FRR with FRR_ROOT=/opt/frr/root in the environment."""
    return FRR_ROOT


@pytest.fixture
def profile() -> str:
    """FRR's profile; tests that try both override it."""
    return "traditional"


@pytest.fixture
def pes(programs: Path, profile: str) -> Iterator[tuple[Pe, Pe]]:
    """Both PEs with VRFs red and blue and fresh daemons without configuration."""
    if not Path(nodes.STATE).is_dir() or os.geteuid():
        pytest.skip("needs the lab: lab/lab run --topology lab/topologies/two-pe.toml -- ...")
    both = _pe(1, programs, profile), _pe(2, programs, profile)
    for pe in both:
        for name in TABLES:
            pe.vrf(name)
        pe.underlay_rule("add")
        pe.start(*DAEMONS)
    yield both
    for pe in both:
        pe.underlay_rule("del")
        pe.stop(*reversed(DAEMONS))
        for name in TABLES:
            pe.ip("link", "set", f"to-ce-{name}", "nomaster")
            pe.ip("link", "del", name)
        pe.node.run(["ip", "route", "flush", "proto", "bgp"], check=False)
        pe.node.run(["ip", "-6", "route", "flush", "proto", "bgp"], check=False)
