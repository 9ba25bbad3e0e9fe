"""Routers with commit-confirmed, a store, and everything that can go wrong with either."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from srv6net.compile.configuration import Edit, Entries, tree
from srv6net.transaction.ports import (
    BusyError,
    DeviceError,
    NoSuchCommitError,
    StoreError,
    UnreachableError,
)
from srv6net.transaction.record import Decision, Record, Revision


class KilledError(BaseException):
    """The controller died here. No handler of errors catches it."""


@dataclass
class Faults:
    """``next`` says for each contact with a router what becomes of it: "" (nothing), "unreachable",
    "lost" (done, and the answer is lost), "killed" before or "killed-after" it."""

    next: Callable[[], str] = lambda: ""

    @contextmanager
    def contact(self) -> Iterator[None]:
        fault = self.next()
        if fault == "killed":
            raise KilledError
        if fault == "unreachable":
            raise UnreachableError("it does not answer; see its link")
        yield
        if fault == "killed-after":
            raise KilledError
        if fault == "lost":
            raise UnreachableError("the connection broke; see its link")


@dataclass
class FakeRouter:
    """Satisfies Device and Observable. ``rejects``, ``does_not_install``: as faulty routers do."""

    faults_: Faults = field(default_factory=Faults)
    entries: dict[str, object] = field(default_factory=dict)
    rejects: str = ""
    rejects_dry_run: str = ""
    does_not_install: bool = False
    awaiting: tuple[str, dict[str, object]] | None = None
    writes: int = 0
    # To how many SIDs of other routers the routes of each VRF lead.
    routes_of: int = 1000
    # Called with each confirmation, to see that the decision was written before.
    at_confirm: Callable[[str], None] = lambda _: None

    def read(self, paths: Iterable[str]) -> Entries:
        with self.faults_.contact():
            return {path: self.entries[path] for path in paths if path in self.entries}

    def check(self, edit: Edit) -> None:
        with self.faults_.contact():
            if self.rejects_dry_run:
                raise DeviceError(self.rejects_dry_run)

    def set(self, edit: Edit) -> None:
        with self.faults_.contact():
            self._set(edit)

    def set_confirmed(self, edit: Edit, id: str, seconds: int) -> None:
        with self.faults_.contact():
            before = dict(self.entries)
            self._set(edit)
            self.awaiting = (id, before)

    def confirm(self, id: str) -> None:
        with self.faults_.contact():
            self._expect(id)
            self.at_confirm(id)
            self.awaiting = None

    def cancel(self, id: str) -> None:
        with self.faults_.contact():
            self._expect(id)
            self.roll_back()

    def faults(self, paths: Iterable[str]) -> Sequence[str]:
        with self.faults_.contact():
            return ["VRF red: the kernel lacks it"] if self.does_not_install else []

    def remote_sids(self, paths: Iterable[str]) -> Mapping[str, int]:
        with self.faults_.contact():
            return dict.fromkeys(paths, self.routes_of)

    def states(self, paths: Iterable[str]) -> Mapping[str, Mapping[str, object]]:
        with self.faults_.contact():
            status = "failed" if self.does_not_install else "installed"
            return {
                path: {
                    "state": {"install-status": status, "reason": "the kernel lacks it"},
                    **({"service": {"service-state": "up"}} if "/vrf[" in path else {}),
                }
                for path in paths
                if path in self.entries
            }

    def configuration(self) -> Mapping[str, object]:
        with self.faults_.contact():
            (below,) = tree(self.entries).values()
            return dict(below)

    def close(self) -> None:
        pass

    def roll_back(self) -> None:
        """The rollback time has passed, or the commit was cancelled."""
        if self.awaiting is not None:
            self.entries = self.awaiting[1]
            self.awaiting = None

    def _set(self, edit: Edit) -> None:
        if self.awaiting is not None:
            raise DeviceError("another commit awaits confirmation; confirm or cancel it")
        if self.rejects:
            raise DeviceError(self.rejects)
        self.writes += 1
        kept = {path: v for path, v in self.entries.items() if path not in edit.delete}
        self.entries = {**kept, **edit.replace}

    def _expect(self, id: str) -> None:
        if self.awaiting is None or self.awaiting[0] != id:
            raise NoSuchCommitError("no commit awaits confirmation")


class FakeStore:
    """Satisfies Store, in memory. ``write`` is asked before and after each write."""

    def __init__(self, write: Callable[[], None] = lambda: None) -> None:
        self.revisions = [Revision()]
        self.records: list[Record] = []
        self.write = write
        self._overdue: dict[str, Sequence[int]] = {}

    @contextmanager
    def lead(self) -> Iterator[None]:
        yield

    def revision(self, number: int | None = None) -> Revision:
        if number is None:
            return self.revisions[-1]
        if number >= len(self.revisions):
            raise StoreError(f"revision {number}: the store has none of this number")
        return self.revisions[number]

    def history(self) -> Sequence[Revision]:
        return self.revisions[:0:-1]

    def last(self) -> Record | None:
        return self.records[-1] if self.records else None

    def begin(self, record: Record) -> None:
        last = self.last()
        if last is not None and last.is_open:
            raise BusyError("a transaction is open")
        if record.proposed.number != self.revision().number + 1:
            raise BusyError("another revision became current")
        with self._written():
            self.records.append(record)

    def touch(self, id: str, deferred: Sequence[str] = ()) -> None:
        with self._written():
            self._change(id, is_touched=True, settled=frozenset(deferred))

    def decide(
        self, id: str, decision: Decision, reasons: Sequence[str], deferred: Sequence[str] = ()
    ) -> Decision:
        found = self._of(id)
        if found.decision is not None:
            return found.decision
        with self._written():
            self._change(id, decision=decision, reasons=tuple(reasons))
            if decision is Decision.COMMITTED:
                self.revisions.append(found.proposed)
                self._change(id, settled=found.settled.union(deferred))
                for router in deferred:
                    self._overdue.setdefault(router, (found.proposed.number - 1,))
        return decision

    def settle(self, id: str, router: str) -> None:
        with self._written():
            self._change(id, settled=self._of(id).settled | {router})

    def overdue(self) -> Mapping[str, Sequence[int]]:
        return dict(self._overdue)

    def set_overdue(self, router: str, numbers: Sequence[int]) -> None:
        with self._written():
            self._overdue.pop(router, None)
            if numbers:
                self._overdue[router] = tuple(numbers)

    @contextmanager
    def _written(self) -> Iterator[None]:
        self.write()
        yield
        self.write()

    def _of(self, id: str) -> Record:
        return next(record for record in self.records if record.id == id)

    def _change(self, id: str, **values: object) -> None:
        self.records = [
            replace(record, **values) if record.id == id else record  # type: ignore[arg-type]
            for record in self.records
        ]
