"""Histories of transactions over several routers, with everything that can go wrong: no history
ends with a half tenant, and none loses a decided change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from srv6net.transaction.executor import Executor, Timing
from srv6net.transaction.overdue import defer_open
from srv6net.transaction.record import Change, Decision, Revision
from tests.fakes.network import FakeRouter, FakeStore, Faults, KilledError

NAMES = ("pe1", "pe2", "pe3")
# Entries of others, which no history may touch.
FOREIGN = {"/theirs": "as it was"}
TIMING = Timing(verify=0)
# A few contacts and writes of each life of the controller go wrong. If any might, hardly a
# transaction would come to its decision.
FAULTS = st.dictionaries(
    st.integers(0, 30),
    st.sampled_from(["unreachable", "lost", "killed", "killed-after"]),
    max_size=3,
)
# Numbers of writes before or after which the controller dies.
DEATHS = st.sets(st.integers(0, 15), max_size=1)
# What may happen between two lives of the controller.
PAUSES = st.sampled_from(["", "rollback-time", "confirmed-by-hand"])


class History:
    """A network, and controllers that follow each other."""

    def __init__(self, data: st.DataObject) -> None:
        self.draw = data.draw
        self.contacts: Iterator[int] = count()
        self.writes: Iterator[int] = count()
        self.wrong: Mapping[int, str] = {}
        self.deaths: AbstractSet[int] = frozenset()
        self.down = ""
        self.store = FakeStore(self._at_write)
        self.routers = {n: FakeRouter(self._faults(n), dict(FOREIGN)) for n in NAMES}
        for router in self.routers.values():
            router.at_confirm = self._at_confirm
        self.theirs: dict[str, dict[str, object]] = {n: dict(FOREIGN) for n in NAMES}
        # Transactions whose success was reported to the operator.
        self.reported: list[int] = []

    def _faults(self, name: str) -> Faults:
        def fault() -> str:
            at = self.wrong.get(next(self.contacts), "")
            return "unreachable" if name == self.down else at

        return Faults(fault)

    def live(self) -> None:
        """A controller begins; draw what goes wrong for it."""
        self.down = self.draw(st.sampled_from(["", "", *NAMES]), "down")
        self.wrong, self.deaths = self.draw(FAULTS, "contacts"), self.draw(DEATHS, "writes")
        self.contacts, self.writes = count(), count()

    def _at_write(self) -> None:
        if next(self.writes) in self.deaths:
            raise KilledError

    def _at_confirm(self, id: str) -> None:
        last = self.store.last()
        assert last is not None
        assert (last.id, last.decision) == (id, Decision.COMMITTED), "confirmed before the decision"

    def executor(self) -> Executor:
        return Executor(
            self.store,
            self.routers,
            timing=TIMING,
            run=lambda jobs: [job() for job in jobs],
        )

    def transaction(self, number: int) -> None:
        """Change some routers; the controller may die at any point."""
        self.live()
        touched = self.draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True), "routers")
        for router in self.routers.values():
            router.rejects = self.draw(st.sampled_from(["", "", "", "no"]), "rejects")
            router.does_not_install = self.draw(st.integers(0, 5), "installs") == 0
        if (at := self.draw(st.sampled_from(["", "", *NAMES]), "theirs")) != "":
            # Somebody has made by hand what the transaction is about to make.
            self.routers[at].entries |= {f"/vrf[{number}]": "theirs"}
            self.theirs[at] |= {f"/vrf[{number}]": "theirs"}
        before = self.store.revision()
        after = {
            **before.routers,
            **{n: {f"/vrf[{number}]": number, f"/sid[{n}]": number} for n in touched},
        }
        changes = {n: Change(before.routers.get(n, {}), after[n]) for n in touched}
        is_partial = self.draw(st.booleans(), "partial")
        try:
            left = self.executor().catch_up()
            outcome = self.executor().apply(
                Revision(before.number + 1, routers=after),
                changes,
                is_partial=is_partial,
                deferred={name: left[name] for name in left if name in changes},
            )
        except KilledError:
            return
        if outcome.decision is Decision.COMMITTED:
            self.reported.append(before.number + 1)

    def recover(self) -> None:
        """Controllers that may die, too, and then one that does not, with routers that answer."""
        for _ in range(self.draw(st.integers(0, 3), "lives")):
            self._pause()
            self.live()
            try:
                self.executor().resume()
                if self.draw(st.booleans(), "defer"):
                    defer_open(self.store)
                self.executor().catch_up()
            except KilledError:
                continue
        self._pause()
        for router in self.routers.values():
            # A router that rejects repairs for good stays pending, which is not the subject here.
            router.rejects, router.does_not_install = "", False
        self.wrong, self.deaths, self.down = {}, frozenset(), ""
        self.executor().resume()
        for name, problem in self.executor().catch_up().items():
            # What others made while the router was away stays until they remove it.
            assert "configured there, and not by srv6net" in problem
            router = self.routers[name]
            gone = self.theirs[name].keys() - FOREIGN.keys()
            router.entries = {p: v for p, v in router.entries.items() if p not in gone}
            self.theirs[name] = dict(FOREIGN)
        assert self.executor().catch_up() == {}

    def _pause(self) -> None:
        for router in self.routers.values():
            match self.draw(PAUSES, "pause"):
                case "rollback-time":
                    router.roll_back()
                case "confirmed-by-hand":
                    router.awaiting = None

    def check(self) -> None:
        last = self.store.last()
        assert last is None or not last.is_open
        assert self.store.overdue() == {}
        wanted: Mapping[str, Mapping[str, object]] = self.store.revision().routers
        for name, router in self.routers.items():
            assert router.awaiting is None
            assert router.entries == {**wanted.get(name, {}), **self.theirs[name]}, name
        assert set(self.reported) <= {revision.number for revision in self.store.history()}


@settings(max_examples=1000, deadline=None)
@given(st.data())
def test_all_routers_end_as_it_was_decided(data: st.DataObject) -> None:
    history = History(data)
    for number in range(1, data.draw(st.integers(1, 3), "transactions") + 1):
        history.transaction(number)
        history.recover()
        history.check()
