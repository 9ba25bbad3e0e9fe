"""When SIDs are watched, and what becomes of the counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pytest

from srv6mgrd.drops import layout
from srv6mgrd.drops.watch import LOOKED_AT, PASSED_OVER, SHARE, DropWatch, limit_at
from srv6mgrd.model.accounting import Accounting, Watch
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Desired, Locator, Role, Sid, Vrf
from srv6mgrd.model.drops import Certainty, DropReason, WatchedLink, WatchedSid
from srv6mgrd.model.status import SidCounters
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.plan.observed import Links
from tests.builders import net

SID = net("fcbb:0:1:d46::/64")
OTHER_SID = net("fcbb:0:1:1::/64")
DESIRED = Desired(
    locators={"MAIN": Locator("MAIN", net("fcbb:0:1::/48"))},
    vrfs={"red": Vrf("red", 100, ("port",))},
    roles={"core": Role.CORE},
    sids={
        SID: Sid(SID, "MAIN", Behavior.END_DT46, vrf="red"),
        OTHER_SID: Sid(OTHER_SID, "MAIN", Behavior.END_B6_ENCAPS),
    },
)
LINKS = Links({"core": 5, "red": 6, "port": 7}, frozenset({"core"}))


class FakeProgram:
    def __init__(self) -> None:
        self.interfaces: set[int] = set()
        self.sids: dict[int, WatchedSid] = {}
        self.links: dict[int, WatchedLink] = {}
        self.found: dict[tuple[int, int], int] = {}
        self.ran = 0
        self.one_of = 1
        self.failure: Failure | None = None
        self.loads = 0

    def watch(self, interfaces: Collection[int]) -> Failure | None:
        self.loads += not self.interfaces
        if self.failure is None:
            self.interfaces = set(interfaces)
        return self.failure

    def write(
        self, sids: Mapping[int, WatchedSid], links: Mapping[int, WatchedLink], one_of: int = 1
    ) -> Failure | None:
        self.sids, self.links, self.one_of = dict(sids), dict(links), one_of
        return None

    def counts(self) -> Mapping[tuple[int, int], int]:
        return dict(self.found)

    def runs(self) -> Sequence[int]:
        return [self.ran, self.ran // 2]

    def end(self) -> None:
        self.interfaces, self.found, self.ran = set(), {}, 0


class FakeNode:
    def __init__(self) -> None:
        self.discarded = self.dropped = 0

    def links(self) -> Links:
        return LINKS

    def sysctl(self, path: str) -> int | None:
        return None

    def discards(self) -> int:
        return self.discarded

    def filtered(self) -> int:
        return self.dropped


class World:
    def __init__(self, desired: Desired = DESIRED) -> None:
        self.time = 1000.0
        self.program, self.node, self.desired = FakeProgram(), FakeNode(), desired
        self.errors = dict.fromkeys(desired.sids, 0)
        self.watch = DropWatch(
            self.program, self.node, clock=lambda: self.time, now=lambda: int(self.time * 1e9)
        )
        self.sample()

    def sample(self, seconds: float = 1.0, **errors: int) -> bool:
        """The next sample, after so many errors more of a SID."""
        self.time += seconds
        self.errors[SID] += errors.get("errors", 0)
        self.errors[OTHER_SID] += errors.get("others", 0)
        totals = {str(p): SidCounters(packets=9, errors=n) for p, n in self.errors.items()}
        return self.watch.sample(self.desired, totals, list(totals))

    def begin(self) -> None:
        """It is watched, and what errors are counted from now on has been looked at."""
        self.sample(errors=1)
        self.sample()

    def drop(self, reason: DropReason, packets: int) -> None:
        """The checks see these packets."""
        number = list(DropReason).index(reason) + 1
        self.count(number, packets)

    def count(self, number: int, packets: int) -> None:
        self.program.found[0, number] = self.program.found.get((0, number), 0) + packets

    @property
    def found(self) -> dict[DropReason, tuple[int, Certainty]]:
        return {d.reason: (d.packets, d.certainty) for d in self.watch.found}


def test_nothing_runs_while_no_errors_are_counted() -> None:
    world = World()
    for _ in range(10):
        world.sample()
    assert not world.watch.is_watching
    assert world.program.loads == 0


def test_a_sid_is_watched_for_30_seconds_after_its_last_error() -> None:
    world = World()
    world.sample(errors=3)
    assert world.program.interfaces == {5}
    assert [sid.prefix for sid in world.program.sids.values()] == [SID]
    world.sample(20, errors=1)
    world.sample(29)
    assert world.watch.is_watching
    world.sample(2)
    assert not world.watch.is_watching
    assert world.program.interfaces == set()


def test_packets_that_a_check_found_are_certain() -> None:
    world = World()
    world.begin()
    world.drop(DropReason.HOP_LIMIT, 4)
    assert world.sample(errors=4)
    (drop,) = world.watch.found
    assert (drop.sid, drop.vrf, drop.last) == (SID, "red", int(world.time * 1e9))
    assert world.found == {DropReason.HOP_LIMIT: (4, Certainty.CERTAIN)}
    assert not world.sample()


def test_counts_go_on_when_it_is_watched_again() -> None:
    world = World()
    for _ in range(2):
        world.sample(errors=1)
        world.drop(DropReason.NO_ROUTE, 2)
        world.sample(errors=2)
        world.sample(40)
    assert world.found == {DropReason.NO_ROUTE: (4, Certainty.CERTAIN)}


def test_errors_while_the_checks_begin_are_not_held_against_them() -> None:
    """Some of them came between the reading of the counter and the first check."""
    world = World()
    world.sample(errors=1)
    world.sample(errors=7)
    assert world.found == {}


def test_errors_that_no_check_explains() -> None:
    world = World()
    world.sample(others=1)
    world.sample()
    world.sample(others=5)
    assert world.found == {DropReason.OTHER: (5, Certainty.LIKELY)}


def test_a_wrong_hmac_is_what_is_left() -> None:
    world = World()
    world.begin()
    for total in (5, 10):
        world.count(layout.HMAC_UNKNOWN, 5)
        world.sample(errors=5)
        assert world.found == {DropReason.HMAC: (total, Certainty.CERTAIN)}


def test_a_neighbor_that_never_answers_becomes_certain() -> None:
    world = World()
    world.begin()
    for certainty in (Certainty.LIKELY, Certainty.LIKELY, Certainty.CERTAIN):
        world.drop(DropReason.NO_NEIGHBOR, 1)
        world.sample()
        assert world.found[DropReason.NO_NEIGHBOR][1] is certainty
    world.sample()
    world.drop(DropReason.NO_NEIGHBOR, 1)
    world.sample()
    assert world.found[DropReason.NO_NEIGHBOR][1] is Certainty.LIKELY


def test_drops_that_are_no_errors_of_a_sid() -> None:
    """Seen in counters of the node; where no SID has them, they are not looked for all the time."""
    world = World()
    world.node.discarded += 1
    world.sample()
    assert world.watch.is_watching
    world.sample(40)
    assert not world.watch.is_watching
    world.node.discarded += 1
    world.sample()
    assert not world.watch.is_watching
    world.node.discarded += 1
    world.sample(300)
    assert world.watch.is_watching


def test_a_sid_with_drops_that_are_no_errors_is_watched_on() -> None:
    world = World()
    world.node.discarded += 1
    world.sample()
    for _ in range(3):
        world.drop(DropReason.NO_ROUTE, 1)
        world.sample(20)
        assert world.watch.is_watching
    world.sample(31)
    assert not world.watch.is_watching


def test_interfaces_to_the_outside_are_looked_at_while_the_filter_drops() -> None:
    world = World()
    world.sample(errors=1)
    assert world.program.interfaces == {5}
    world.node.dropped += 1
    world.sample()
    assert world.program.interfaces == {5, 7}
    assert world.program.links == {7: WatchedLink(outside=True)}
    assert {sid.prefix for sid in world.program.sids.values()} == {SID, net("::/128")}
    world.sample(20, errors=1)
    world.sample(20)
    assert world.program.interfaces == {5}


def test_it_may_watch_always() -> None:
    accounting = Accounting(watch_drops=Watch.ALWAYS)
    world = World(replace(DESIRED, accounting=accounting))
    world.sample()
    assert world.watch.is_watching


@pytest.mark.parametrize("rate", [1_000, 70_000, 300_000, 900_000, 3_000_000, 100_000_000])
def test_it_takes_at_most_3_percent_of_a_cpu(rate: int) -> None:
    one_of, pauses = limit_at(rate)
    share = rate * (LOOKED_AT / one_of + PASSED_OVER) / (pauses + 1)
    assert share <= SHARE
    # Not much less either, as long as it need not pause.
    assert one_of == 1 or pauses or share > SHARE / 3


def test_of_many_packets_one_of_some_is_looked_at() -> None:
    world = World()
    world.begin()
    assert world.program.one_of == 1
    world.program.ran += 300_000
    world.sample()
    assert world.program.one_of == 8
    world.sample()
    assert world.program.one_of == 1


def test_it_pauses_where_passing_over_packets_takes_too_long() -> None:
    world = World()
    world.begin()
    ran = []
    for _ in range(6):
        world.program.ran += 900_000 * bool(world.program.interfaces)
        world.sample(errors=int(bool(ran)))
        ran.append(bool(world.program.interfaces))
    assert ran == [False, True] * 3
    assert world.found == {}


def test_counts_of_one_of_some_are_no_remainder() -> None:
    """Errors of packets that were not looked at are of no unknown reason."""
    world = World()
    world.begin()
    for seen in (40, 32, 64):
        world.program.ran += 300_000
        world.drop(DropReason.NO_SRH, seen)
        world.sample(errors=40)
    assert set(world.found) == {DropReason.NO_SRH}


def test_a_place_is_given_to_another_sid_when_it_is_free() -> None:
    prefixes = [net(f"fcbb:0:1:{n:x}::/64") for n in range(1, 301)]
    sids = {one: Sid(one, "MAIN", Behavior.END) for one in prefixes}
    world = World(replace(DESIRED, sids=DESIRED.sids | sids))
    for number, prefix in enumerate(prefixes):
        world.errors[prefix] += 1
        if number in (255, 299):
            world.sample(20)
    assert len(world.program.sids) == 256
    # Those that came last have waited until the first ones were watched long enough.
    world.sample(15)
    assert {sid.prefix for sid in world.program.sids.values()} == set(prefixes[256:])


def test_a_kernel_that_rejects_the_program_is_asked_again_later() -> None:
    world = World()
    world.program.failure = Failure(22, "the kernel has no tcx")
    for _ in range(10):
        world.sample(errors=1)
    assert world.program.loads == 1
    world.program.failure = None
    world.sample(300, errors=1)
    assert world.program.loads == 2


def test_a_sid_that_is_gone_has_no_drops() -> None:
    world = World()
    world.begin()
    world.drop(DropReason.NO_SRH, 2)
    world.sample(errors=2)
    assert world.watch.sample(Desired(), {}, [])
    assert world.found == {}
