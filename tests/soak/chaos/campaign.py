"""Steps of a campaign on the lab's network, each followed by all invariants."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from subprocess import SubprocessError

from examples.gnmi import GnmiError
from lab.guest.catalogue import log_file
from lab.guest.nodes import Node
from lab.problem import LabError
from lab.waiting import wait_until
from tests.robot.library.gnmi import Gnmi as Configured
from tests.robot.library.netconf import Netconf as NetconfServices
from tests.robot.library.netconf import NetconfError
from tests.robot.library.network import Network
from tests.robot.library.traffic import Traffic
from tests.soak.chaos.faults import FAULTS, Fault
from tests.soak.chaos.faults_clients import admit
from tests.soak.chaos.faults_network import FUNCTION, PROXY
from tests.soak.chaos.faults_process import Reboot
from tests.soak.chaos.invariants import OTHER_SITE, Foreign, Invariant, World, invariants
from tests.soak.chaos.northbounds import (
    LATE,
    ConfigDb,
    Ctl,
    Gnmi,
    Netconf,
    Northbound,
    NotAcceptedError,
)
from tests.soak.chaos.plan import Step, possible, step
from tests.soak.chaos.target import SERVICES, Target
from tests.soak.chaos.things import THINGS, Change, toggle

# Seconds until all holds again; what takes BGP away waits for its timers.
SETTLED, SETTLED_BGP = 60.0, 120.0
# Seconds until a commit that was left unconfirmed is rolled back, and the network whole again.
DECIDED = LATE + SETTLED
# Seconds until a northbound answers, one way or the other, on a machine that does other work too.
ANSWERED = 30.0
NORTHBOUNDS = ("gNMI", "NETCONF", "CONFIG_DB", "srv6ctl")
_PROXIED = {
    "locator": "MAIN",
    "behavior": "End.AD",
    "srv6mgr-proxy:proxy": {
        "inner-type": "ipv6", "interface": "to-fw", "next-hop": "2001:db8:9::2"
    },
}  # fmt: skip
# A machine that does other work lets a network stop for seconds: that must look neither to
# BGP (9 s in FRR's profile for data centers) nor to neighbor discovery (3 probes) like a failure.
_PATIENT = {"keepalive": 10, "hold-time": 60}
_PROBES = """for f in /proc/sys/net/ipv[46]/neigh/*/[mu]cast_solicit; do echo 30 >$f; done"""
# What a check may raise that cannot be made.
_UNANSWERED = (
    LabError, GnmiError, NetconfError, SubprocessError, OSError, ValueError, KeyError
)  # fmt: skip
NODES = ("pe1", "p", "pe2", "ce-red1", "ce-red2", "ce-blue1", "ce-blue2")
BYSTANDER = ("ce-blue1", OTHER_SITE)


@dataclass(frozen=True, slots=True)
class Violation:
    step: Step
    lines: Sequence[str]


@dataclass(slots=True)
class Outcome:
    """Of a change: accepted, or the reason why not."""

    accepted: bool = False
    reason: str = ""
    seconds: float = 0.0


@dataclass(slots=True)
class Campaign:
    """The network, and what it is believed to hold."""

    world: World
    northbounds: dict[str, Northbound]
    checks: Sequence[Invariant]
    traffic: Traffic = field(default_factory=Traffic)

    @classmethod
    def begin(cls) -> Campaign:
        target = Target()
        target.small_disks()
        admit(target)
        target.node.write_file("/etc/srv6mgr/srv6mgrd.toml", "compare_interval = 2\n")
        network = Network()
        network.start_routers("pe1", "pe2")
        for name in SERVICES:
            if not target.router.is_running(name) and name not in ("sshd", "srv6-netconfd"):
                target.router.start(name)
        NetconfServices().start_netconf("pe1")
        configured = Configured()
        for name in NODES:
            Node(name).run(["sh", "-c", _PROBES])
        for name, peer in (("pe1", "2001:db8::2"), ("pe2", "2001:db8::1")):
            configured.configure(name)
            neighbor = f"srv6mgr-bgp:bgp/neighbor[address={peer}]"
            configured.set(name, f"update {neighbor} {json.dumps(_PATIENT)}")
        target.shell(FUNCTION)
        configured.set("pe1", f"update local-sids/sid[prefix={PROXY}] {json.dumps(_PROXIED)}")
        gnmi, netconf = Gnmi(target.node), Netconf(target.node)
        ctl = Ctl(target.node)
        ways: tuple[Northbound, ...] = (gnmi, netconf, ctl, ConfigDb(target.node))
        checks = invariants()
        (foreign,) = (check for check in checks if isinstance(check, Foreign))
        foreign.put(target)
        world = World(target, gnmi, netconf, ctl)
        campaign = cls(world, {way.name: way for way in ways}, checks)
        if wrong := campaign.unsettled(SETTLED_BGP):
            raise LabError("the network before the first step", "; ".join(wrong))
        for name in ("pe1", "pe2"):
            _observe(Node(name))
        return campaign

    def run(self, taken: Step) -> Violation | None:
        """One step; None: all holds after it."""
        started = time.monotonic()
        fault = FAULTS[taken.fault]
        change = toggle(taken.things, self.world.declared)
        print(f"{taken}; {change}", flush=True)
        began = datetime.now(UTC)
        self.traffic.begin_flow(*BYSTANDER)
        outcome = self._change(taken, fault, change)
        self.world.rebooted, self.world.spared = isinstance(fault, Reboot), fault.spares
        try:
            fault.heal(self.world.target)
            self.world.target.revive()
            wrong = self._judged(taken, fault, change, outcome)
            self._reload_rows()
            healed = time.monotonic()
            wrong += self.unsettled(SETTLED if fault.spares else SETTLED_BGP)
        except (LabError, SubprocessError) as error:
            wrong, healed = [str(error)], time.monotonic()
        flow = self.traffic.end_flow(*BYSTANDER)
        if fault.spares and (flow.lost or flow.duplicates):
            wrong.append(f"the unaffected tenant, from {began:%H:%M:%S.%f}: {flow}")
        now = time.monotonic()
        said = "accepted" if outcome.accepted else f"not accepted: {outcome.reason[:150]}"
        print(
            f"   {said} in {outcome.seconds:.1f} s; settled {now - healed:.1f} s later;"
            f" {flow.lost} of {flow.sent} lost; {now - started:.0f} s",
            flush=True,
        )
        return Violation(taken, wrong) if wrong else None

    def _change(self, taken: Step, fault: Fault, change: Change) -> Outcome:
        rng = random.Random(f"{taken.seed}/{fault.name}")
        outcome = Outcome()

        def apply() -> None:
            started = time.monotonic()
            try:
                self.northbounds[taken.northbound].apply(change, taken.commit)
                outcome.accepted = True
            except NotAcceptedError as error:
                outcome.reason = str(error)
            outcome.seconds = time.monotonic() - started

        def strike() -> None:
            fault.strike(self.world.target, rng)

        supervisor = self.world.target.supervised
        if taken.moment == "before":
            strike()
            with supervisor():
                apply()
        elif taken.moment == "after":
            apply()
            strike()
        else:
            with supervisor() as begin, _beside(apply):
                begin.clear()
                time.sleep(taken.delay)
                strike()
                begin.set()
        return outcome

    def _judged(self, taken: Step, fault: Fault, change: Change, outcome: Outcome) -> list[str]:
        """Take over what is declared now: all of the change, or nothing of it."""
        before = self.world.declared
        after = change.after(before)
        if outcome.seconds > ANSWERED and taken.northbound != "CONFIG_DB":
            late = [f"{taken.northbound} answered after {outcome.seconds:.0f} s: {outcome.reason}"]
        else:
            late = []
        if not outcome.accepted and not fault.rejects:
            return [f"a change was not accepted: {outcome.reason}"]
        if any(thing.row for thing in (*change.add, *change.remove)):
            # Rows stay, and are tried again: they are accepted in the end.
            self.world.declared = after
            return []
        # The startup configuration is saved after the answer.
        sure = outcome.accepted and not isinstance(fault, Reboot)
        expected = possible(taken.commit, before, after, sure=sure)
        if expected == {after}:
            self.world.declared = after
            return late
        self._nothing_awaits_confirmation()
        found = {entry["prefix"] for entry in self.world.ctl.running()["local-sids"]["sid"]}
        now = frozenset(name for name, thing in THINGS.items() if thing.sid in found)
        if now not in expected:
            wanted = " or ".join(str(sorted(one)) for one in expected)
            return [f"the configuration is {sorted(now)}, not {wanted}"]
        self.world.declared = now
        return late

    def _nothing_awaits_confirmation(self) -> None:
        wait_until(
            lambda: not self.world.ctl.awaits_confirmation(),
            "the end of a commit that awaits confirmation", DECIDED, 0.2,
        )  # fmt: skip

    def _reload_rows(self) -> None:
        """As SONiC loads CONFIG_DB again after a Redis that lost it."""
        rows = tuple(THINGS[name] for name in sorted(self.world.declared) if THINGS[name].row)
        way = self.northbounds["CONFIG_DB"]
        assert isinstance(way, ConfigDb)
        way.load(rows)

    def unsettled(self, seconds: float) -> list[str]:
        """Lines of the invariants that do not hold after that long."""
        end = time.monotonic() + seconds
        wrong: list[str] = []
        left = [check for check in self.checks if check.settles]
        while left:
            failing = {check.name: self._asked(check) for check in left}
            left = [check for check in left if failing[check.name]]
            if left and time.monotonic() > end:
                wrong = [f"{name}: {line}" for name in failing for line in failing[name]]
                break
            time.sleep(0.2 if left else 0)
        for check in self.checks:
            if not check.settles:
                wrong += [f"{check.name}: {line}" for line in self._asked(check)]
        return wrong

    def _asked(self, check: Invariant) -> list[str]:
        try:
            return check.check(self.world)
        except _UNANSWERED as error:
            return [f"{type(error).__name__}: {error}"]


@contextmanager
def _beside(call: object) -> Iterator[None]:
    assert callable(call)
    thread = threading.Thread(target=call)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _observe(node: Node) -> None:
    """Log changes of the network beside the logs of the services."""
    with log_file(node.name, "network").open("w") as log:
        node.popen(["ip", "-ts", "monitor", "link", "route", "nexthop", "rule"], stdout=log)


def steps(seed: int, only: Sequence[int] = (), faults: Sequence[str] = ()) -> Iterator[Step]:
    """Those of a seed, endless unless ``only`` names some."""
    number = 0
    while not only or number < max(only):
        number += 1
        if not only or number in only:
            yield step(seed, number, NORTHBOUNDS, faults or tuple(FAULTS))
