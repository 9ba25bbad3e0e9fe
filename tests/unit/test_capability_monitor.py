"""What the node offers, kept current."""

import asyncio
import errno
from dataclasses import replace

import pytest

from srv6mgrd import capability_monitor as capability_monitor_module
from srv6mgrd.capability_monitor import CapabilityMonitor
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.capabilities import EVERYTHING, FrrCapabilities
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.notifications import Notification

WORDS = "Operation not supported"
LESS = replace(
    EVERYTHING,
    behaviors=EVERYTHING.behaviors - {Behavior.END_BPF},
    missing={"End.BPF": WORDS},
)
UP = FrrCapabilities("10.3", frozenset({"frr-locator"}))
DOWN = FrrCapabilities(missing={"frr": "zebra can't be reached"})


class Frr:
    """FRR as ``CapabilityMonitor`` sees it; each poll takes the next of ``polls``: who is there,
    and what it offers (or the error that asking ends with)."""

    def __init__(self, *polls):
        self.polls = list(polls)
        self.asked = 0

    def instances(self):
        if not self.polls:
            raise asyncio.CancelledError
        self.now = self.polls.pop(0)
        return ((self.now[0], 1),)

    def capabilities(self):
        self.asked += 1
        if isinstance(self.now[1], Exception):
            raise self.now[1]
        return self.now[1]


class World:
    def __init__(self, monkeypatch, frr=None):
        self.time = 100.0
        monkeypatch.setattr(capability_monitor_module, "time", self)
        monkeypatch.setattr(capability_monitor_module, "_FRR_POLL", 0)
        self.now = EVERYTHING
        self.offered, self.reported, self.tries = [], [], 0
        self.frr = frr or Frr()
        self.capability_monitor = CapabilityMonitor(self.probe, self.frr, node=self, notifier=self)

    def probe(self):
        self.tries += 1
        if isinstance(self.now, Exception):
            raise self.now
        return self.now

    def monotonic(self):
        return self.time

    def set_capabilities(self, found, frr):
        self.offered.append((found, frr))

    def put(self, notifications, left_out=0):
        self.reported += notifications

    def follow(self):
        """Poll FRR to the end; how often it came back or went."""
        changes = []
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(self.capability_monitor.follow_frr(lambda: changes.append(1)))
        return len(changes)


def test_a_loss_is_made_known_and_reported_once(monkeypatch):
    world = World(monkeypatch)
    world.now, world.time = LESS, 110
    assert world.capability_monitor.probe()
    assert world.capability_monitor.kernel == LESS
    assert world.offered[-1] == (LESS, FrrCapabilities())
    assert world.reported == [Notification("capability-lost", {"name": "End.BPF", "reason": WORDS})]
    world.time = 120
    assert not world.capability_monitor.probe()
    assert len(world.reported) == 1


def test_a_gain_is_made_known_and_not_reported(monkeypatch):
    world = World(monkeypatch)
    world.now, world.time = LESS, 110
    world.capability_monitor.probe()
    world.reported.clear()
    world.now, world.time = EVERYTHING, 120
    assert world.capability_monitor.probe()
    assert world.reported == []
    assert world.offered[-1][0] == EVERYTHING


def test_it_is_not_tried_out_again_and_again(monkeypatch):
    world = World(monkeypatch)
    world.now, world.time = LESS, 101
    assert not world.capability_monitor.probe()
    assert world.tries == 1


def test_what_can_not_be_tried_out_is_no_loss(monkeypatch):
    world = World(monkeypatch)
    world.now, world.time = KernelError("network namespace", "No space left", "free some"), 110
    assert not world.capability_monitor.probe()
    assert world.capability_monitor.kernel == EVERYTHING
    assert world.reported == []


def test_nothing_is_ruled_out_when_the_first_try_fails(monkeypatch):
    world = World(monkeypatch)

    def fail():
        raise KernelError("network namespace", "Operation not permitted", "run as root")

    assert CapabilityMonitor(fail, world.frr, node=world, notifier=world).kernel == EVERYTHING


def test_frr_is_asked_when_it_is_another(monkeypatch):
    world = World(monkeypatch, Frr((1, UP), (1, UP), (2, replace(UP, version="10.4")), (2, UP)))
    assert world.follow() == 2
    assert world.frr.asked == 2
    assert [frr.version for _, frr in world.offered] == ["", "10.3", "10.4"]
    assert world.reported == []


def test_frr_that_is_gone_is_reported_once_and_comes_back(monkeypatch):
    world = World(monkeypatch, Frr((1, UP), (0, DOWN), (0, DOWN), (2, UP)))
    assert world.follow() == 3
    assert world.reported == [
        Notification("capability-lost", {"name": "frr", "reason": DOWN.missing["frr"]})
    ]
    assert world.offered[-1] == (EVERYTHING, UP)


def test_frr_that_was_never_there_is_not_lost(monkeypatch):
    world = World(monkeypatch, Frr((0, DOWN)))
    assert world.follow() == 0
    assert world.reported == []
    assert world.offered[-1] == (EVERYTHING, DOWN)


def test_frr_that_is_silent_is_asked_again(monkeypatch):
    silent = VtyError(errno.ETIMEDOUT, "bgpd gave no answer within 30 s")
    world = World(monkeypatch, Frr((1, UP), (2, silent), (2, UP), (2, UP)))
    assert world.follow() == 2
    assert world.frr.asked == 3
    assert world.reported == []
