"""The contract of a store. A class of tests derives from it and has a fixture ``store``."""

from __future__ import annotations

import pytest

from srv6net.allocate.plan import Allocations
from srv6net.allocate.pool import Numbers, Released
from srv6net.transaction.ports import BusyError, Store, StoreError
from srv6net.transaction.record import Change, Decision, Record, Revision

ALLOCATIONS = Allocations({"p": Numbers({"red": 1}, {2: Released("blue", 9.5)})})
CHANGES = {"pe1": Change({}, {"/a": {"b": [None]}}), "pe2": Change({"/c": 1}, {})}


def record(number: int = 1, id: str = "one") -> Record:
    proposed = Revision(number, 5.0, {"intent": [1]}, ALLOCATIONS, {"pe1": {"/a": {"b": [None]}}})
    return Record(id, 4.0, proposed, CHANGES)


class StoreContract:
    """Each store keeps all of this."""

    def test_an_empty_store_has_revision_0_and_no_transaction(self, store: Store) -> None:
        assert (store.revision(), store.last(), store.history()) == (Revision(), None, [])

    def test_a_record_comes_back_as_it_was_written(self, store: Store) -> None:
        store.begin(record())
        assert store.last() == record()
        store.touch("one")
        store.settle("one", "pe1")
        last = store.last()
        assert last is not None
        assert (last.is_touched, last.settled, last.unsettled) == (True, {"pe1"}, {"pe2"})

    def test_the_proposed_revision_is_current_from_the_decision_on(self, store: Store) -> None:
        store.begin(record())
        assert store.revision().number == 0
        assert store.decide("one", Decision.COMMITTED, ()) is Decision.COMMITTED
        assert store.revision() == record().proposed
        assert store.revision(1) == record().proposed
        assert [r.number for r in store.history()] == [1]

    def test_an_aborted_transaction_leaves_no_revision(self, store: Store) -> None:
        store.begin(record())
        store.decide("one", Decision.ABORTED, ["router pe1: no"])
        last = store.last()
        assert last is not None
        assert (store.revision().number, last.reasons) == (0, ("router pe1: no",))

    def test_a_decision_is_written_once(self, store: Store) -> None:
        store.begin(record())
        store.decide("one", Decision.ABORTED, ())
        assert store.decide("one", Decision.COMMITTED, ()) is Decision.ABORTED
        assert store.revision().number == 0

    def test_one_transaction_is_open_at_a_time(self, store: Store) -> None:
        store.begin(record())
        store.decide("one", Decision.COMMITTED, ())
        store.settle("one", "pe1")
        with pytest.raises(BusyError):
            store.begin(record(2, "two"))
        store.settle("one", "pe2")
        with pytest.raises(BusyError):
            store.begin(record(1, "two"))
        store.begin(record(2, "two"))

    def test_a_revision_that_does_not_exist_is_reported(self, store: Store) -> None:
        with pytest.raises(StoreError, match="revision 7"):
            store.revision(7)

    def test_a_deferred_router_is_settled_and_overdue(self, store: Store) -> None:
        store.begin(record())
        assert store.overdue() == {}
        store.decide("one", Decision.COMMITTED, (), ["pe2"])
        last = store.last()
        assert last is not None
        assert (last.settled, store.overdue()) == ({"pe2"}, {"pe2": (0,)})
        store.settle("one", "pe1")
        store.begin(record(2, "two"))
        store.decide("two", Decision.COMMITTED, (), ["pe2", "pe1"])
        # It has the revision that it had first.
        assert store.overdue() == {"pe1": (1,), "pe2": (0,)}
        store.set_overdue("pe2", (0, 2))
        store.set_overdue("pe1", ())
        assert store.overdue() == {"pe2": (0, 2)}

    def test_a_deferred_router_has_nothing_to_roll_back(self, store: Store) -> None:
        store.begin(record())
        store.touch("one", ["pe2"])
        last = store.last()
        assert last is not None
        assert (last.is_touched, last.unsettled) == (True, {"pe1"})

    def test_an_aborted_transaction_defers_nothing(self, store: Store) -> None:
        store.begin(record())
        store.decide("one", Decision.ABORTED, (), ["pe2"])
        last = store.last()
        assert last is not None
        assert (last.settled, store.overdue()) == (frozenset(), {})
