"""Counters that never go back, made of the kernel's, which do."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from srv6mgrd.counters.accumulator import Accumulator
from srv6mgrd.model.status import SidCounters

SID = "fcbb:0:1:1::/64"


def total(accumulator, sid=SID):
    found = accumulator.totals[sid]
    return found.packets, found.octets, found.errors


def test_the_first_sample_counts_in_full():
    counters = Accumulator()

    counters.add({SID: (7, 700, 1)}, now=5)

    assert counters.totals == {SID: SidCounters(7, 700, 1, discontinuity=5)}


def test_a_later_sample_is_the_total():
    counters = Accumulator()
    counters.add({SID: (7, 700, 1)}, now=5)

    moved = counters.add({SID: (9, 900, 1)}, now=6)

    assert counters.totals == {SID: SidCounters(9, 900, 1, discontinuity=5)}
    assert moved == {}


def test_a_route_that_counts_anew_goes_on_from_the_total():
    counters = Accumulator()
    counters.add({SID: (7, 700, 1)}, now=5)

    moved = counters.add({SID: (2, 200, 0)}, now=6)

    assert counters.totals == {SID: SidCounters(9, 900, 1, discontinuity=5)}
    assert moved == {SID: (7, 700, 1)}


def test_a_replaced_route_goes_on_from_the_total_however_much_it_counted_since():
    counters = Accumulator()
    counters.add({SID: (7, 700, 0)}, now=5)

    counters.replaced([SID])
    moved = counters.add({SID: (100, 10000, 0)}, now=6)

    assert moved == {SID: (7, 700, 0)}
    assert total(counters) == (107, 10700, 0)


def test_a_replaced_route_that_was_never_sampled_has_nothing_to_go_on_from():
    counters = Accumulator()

    counters.replaced([SID])

    assert counters.add({SID: (7, 700, 0)}, now=5) == {SID: (0, 0, 0)}
    assert total(counters) == (7, 700, 0)


def test_a_missing_route_keeps_its_total():
    counters = Accumulator()
    counters.add({SID: (7, 700, 1)}, now=5)

    counters.add({}, now=6)

    assert total(counters) == (7, 700, 1)


def test_a_restart_goes_on_from_totals_and_bases():
    before = Accumulator()
    before.add({SID: (7, 700, 0)}, now=5)
    before.add({SID: (1, 100, 0)}, now=6)

    after = Accumulator(before.totals, before.bases)
    after.add({SID: (3, 300, 0)}, now=7)

    assert after.totals == {SID: SidCounters(10, 1000, 0, discontinuity=5)}


def test_a_sid_that_is_declared_again_counts_from_its_own_beginning():
    counters = Accumulator()
    counters.add({SID: (7, 700, 0)}, now=5)

    counters.keep([])
    counters.add({SID: (1, 100, 0)}, now=9)

    assert counters.totals == {SID: SidCounters(1, 100, 0, discontinuity=9)}


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3)))
def test_whatever_the_kernel_says_totals_never_go_back(samples):
    counters = Accumulator()
    before = (0, 0, 0)
    for now, raw in enumerate(samples):
        counters.add({SID: raw}, now)
        after = total(counters)
        assert all(a >= b for a, b in zip(after, before, strict=True))
        before = after


class Counting(RuleBasedStateMachine):
    """A SID passes packets, is sampled, replaced, deleted by hand, and the process restarts."""

    def __init__(self):
        super().__init__()
        self.counters = Accumulator()
        self.kept = ({}, {})
        self.route = [0, 0, 0]
        self.counted = [0, 0, 0]
        self.before = (0, 0, 0)
        self.sample()

    @rule(packets=st.integers(0, 50), size=st.integers(40, 60), errors=st.integers(0, 2))
    def pass_packets(self, packets, size, errors):
        for at, count in enumerate((packets, packets * size, errors)):
            self.route[at] += count
            self.counted[at] += count

    @rule()
    def sample(self):
        self.counters.add({SID: tuple(self.route)}, now=1)
        self.keep()
        assert total(self.counters) == tuple(self.counted)

    @rule()
    def replace(self):
        """As a commit does it: sampled just before, reported right after."""
        self.sample()
        self.route = [0, 0, 0]
        self.counters.replaced([SID])
        self.keep()

    @rule()
    def restart(self):
        self.counters = Accumulator(*self.kept)

    def keep(self):
        self.kept = (dict(self.counters.totals), dict(self.counters.bases))

    @invariant()
    def never_back(self):
        now = total(self.counters)
        assert all(a >= b for a, b in zip(now, self.before, strict=True))
        self.before = now

    @invariant()
    def one_discontinuity(self):
        assert self.counters.totals[SID].discontinuity == 1


TestCounting = Counting.TestCase
