"""Histories of transactions over several routers, with everything that can go wrong: no history
ends with a half tenant, and none loses a decided change."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from srv6net.transaction.executor import Executor, Timing
from srv6net.transaction.record import Change, Decision, Revision
from tests.fakes.network import FakeRouter, FakeStore, Faults, KilledError

NAMES = ("pe1", "pe2", "pe3")
# Entries of others, which no history may touch.
FOREIGN = {"/theirs": "as it was"}
TIMING = Timing(verify=0)
FAULTS = st.sampled_from(["", "", "", "", "unreachable", "lost", "killed", "killed-after"])
# What may happen between two lives of the controller.
PAUSES = st.sampled_from(["", "rollback-time", "reboot"])


class History:
    """A network, and controllers that follow each other."""

    def __init__(self, data: st.DataObject) -> None:
        self.draw = data.draw
        self.is_healed = False
        self.faults = Faults(lambda: "" if self.is_healed else self.draw(FAULTS, "contact"))
        self.store = FakeStore(self._at_write)
        self.routers = {n: FakeRouter(self.faults, dict(FOREIGN)) for n in NAMES}
        for router in self.routers.values():
            router.at_confirm = self._at_confirm
        # Transactions whose success was reported to the operator.
        self.reported: list[int] = []

    def _at_write(self) -> None:
        if not self.is_healed and self.draw(st.integers(0, 9), "write") == 0:
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
        touched = self.draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True), "routers")
        for router in self.routers.values():
            router.rejects = self.draw(st.sampled_from(["", "", "", "no"]), "rejects")
            router.does_not_install = self.draw(st.integers(0, 5), "installs") == 0
        before = self.store.revision()
        after = {
            **before.routers,
            **{n: {f"/vrf[{number}]": number, f"/sid[{n}]": number} for n in touched},
        }
        changes = {n: Change(before.routers.get(n, {}), after[n]) for n in touched}
        try:
            outcome = self.executor().apply(Revision(before.number + 1, routers=after), changes)
        except KilledError:
            return
        if outcome.decision is Decision.COMMITTED:
            self.reported.append(before.number + 1)

    def recover(self) -> None:
        """Controllers that may die, too, and then one that does not, with routers that answer."""
        for _ in range(self.draw(st.integers(0, 3), "lives")):
            self._pause()
            try:
                self.executor().resume()
            except KilledError:
                continue
        self._pause()
        for router in self.routers.values():
            # A router that rejects repairs for good stays pending, which is not the subject here.
            router.rejects, router.does_not_install = "", False
        self.is_healed = True
        self.executor().resume()
        self.is_healed = False

    def _pause(self) -> None:
        for router in self.routers.values():
            if self.draw(PAUSES, "pause"):
                router.roll_back()

    def check(self) -> None:
        last = self.store.last()
        assert last is None or not last.is_open
        wanted: Mapping[str, Mapping[str, object]] = self.store.revision().routers
        for name, router in self.routers.items():
            assert router.awaiting is None
            assert router.entries == {**FOREIGN, **wanted.get(name, {})}, name
        assert set(self.reported) <= {revision.number for revision in self.store.history()}


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_all_routers_end_as_it_was_decided(data: st.DataObject) -> None:
    history = History(data)
    for number in range(1, data.draw(st.integers(1, 3), "transactions") + 1):
        history.transaction(number)
        history.recover()
        history.check()
