"""Which rows there are, what became of them, and which objects are theirs. Pure.

Who wins between doors: what another door declared or changed is that door's. A row makes an object
that nobody has, changes and removes it while it still is as the row made it, and is refused
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from srv6mgrd.configdb.change import Change
from srv6mgrd.configdb.rejected import Reason, RejectedChanges
from srv6mgrd.configdb.rows import (
    Content,
    Declared,
    Kind,
    Leaves,
    Object,
    RowError,
    declare,
    order,
    references,
)
from srv6mgrd.configdb.running import Running

# Tables of VRFs, as vrfmgrd gives them out (sonic-swss cfgmgr/vrfmgr.cpp).
_TABLES = range(1001, 5097)


class Status(StrEnum):
    """What became of a row."""

    ACCEPTED = "accepted"
    REJECTED = "refused"
    WAITING = "waiting"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Verdict:
    status: Status
    reason: str = ""


ACCEPTED = Verdict(Status.ACCEPTED)


def not_carried_out(change: Change, reason: str) -> Verdict:
    """On a change that is not carried out."""
    return Verdict(Status.REMOVED if change.leaves is None else Status.REJECTED, reason)


@dataclass(frozen=True, slots=True)
class Owned:
    """An object that a row made: its leaves as written last. With ``written`` False the write was
    begun; whether it was carried out shows in the running configuration."""

    row: str
    leaves: Leaves
    written: bool = True


@dataclass(slots=True)
class Judgement:
    """What is to be done now, and what became of rows about which nothing is."""

    changes: list[Change] = field(default_factory=list)
    verdicts: dict[str, Verdict] = field(default_factory=dict)


class OwnershipIndex:
    """``rows`` as they are in CONFIG_DB, or were before they were lost."""

    def __init__(self, owned: Mapping[Object, Owned] | None = None) -> None:
        self.owned = dict(owned or {})
        self.rows: dict[str, Content] = {}
        # What each declares, or what becomes of it without that; in the order of dependence.
        self._declared: dict[str, Declared | Verdict] = {}
        self._in_order: list[str] | None = None
        self._rejected = RejectedChanges()
        # Rows that were written since they were last judged, be it as they were.
        self._rewritten: set[str] = set()

    def write(self, row: str, content: Content) -> None:
        """A row was written, or found to differ from what it was."""
        self._rejected.forget(row)
        self._read(row, content)
        if isinstance(self._declared[row], Declared):
            self._rewritten.add(row)

    def find(self, row: str, content: Content) -> None:
        """A row was found; whether it was written is not known."""
        if self.rows.get(row) != content:
            known = row in self.rows
            self._read(row, content)
            if known:
                self._rewritten.add(row)

    def remove(self, row: str) -> None:
        if self.rows.pop(row, None) is not None:
            del self._declared[row]
            self._in_order = None
        self._rejected.forget(row)
        self._rewritten.discard(row)

    def retry_temporary(self) -> None:
        """Try again what something else than the configuration stood in the way of."""
        self._rejected.retry_temporary()

    def _read(self, row: str, content: Content) -> None:
        if row not in self.rows:
            self._in_order = None
        self.rows[row] = content
        try:
            self._declared[row] = declare(row, content) or ACCEPTED
        except RowError as error:
            self._declared[row] = Verdict(Status.REJECTED, str(error))

    @property
    def remembered(self) -> set[str]:
        """Rows that are, or once made what is still theirs."""
        return self.rows.keys() | {o.row for o in self.owned.values()}

    def judge(self, running: Running, held: Iterable[str] = ()) -> Judgement:
        """Compare rows with the running configuration. ``held`` are rows that are gone, but may
        only be lost: what they declared stays."""
        out = Judgement()
        claimed: dict[Object, str] = {}
        tables = set(running.tables)
        if self._in_order is None:
            self._in_order = sorted(self.rows, key=order)
        for row in self._in_order:
            declared = self._declared[row]
            if isinstance(declared, Verdict):
                out.verdicts[row] = declared
            elif (other := claimed.setdefault(declared.object, row)) != row:
                reason = f"{declared.object}: {other} declares it already; remove one of both"
                out.verdicts[row] = Verdict(Status.REJECTED, reason)
            else:
                self._judge(row, self._with_table(declared, running, tables), running, out)
        self._reject_dangling(running, out)
        staying = {*self.rows, *held}
        for obj, mine in sorted(self.owned.items(), reverse=True):
            if mine.row not in staying:
                self._remove(obj, mine, running, out)
        self._reject_again(running, out)
        return out

    def _reject_again(self, running: Running, out: Judgement) -> None:
        to_try = []
        for change in out.changes:
            if (reason := self._rejected.reason(change, running)) is None:
                to_try.append(change)
            else:
                out.verdicts[change.row] = not_carried_out(change, reason)
        out.changes = to_try

    def _reject_dangling(self, running: Running, out: Judgement) -> None:
        """Rows often arrive before what they refer to. Thousands of those would be rejected a
        few by each commit, since libyang reports the first mistakes only."""
        made = {change.object for change in out.changes}
        sound = []
        for change in out.changes:
            missing = next(
                (
                    other
                    for kind, name in references(change.leaves or {})
                    if (other := Object(kind, name)) not in made and running.get(other) is None
                ),
                None,
            )
            if missing is None:
                sound.append(change)
                continue
            reason = (
                f"{change.object}: {missing!s} does not exist; create it or name an existing"
                f" {missing.kind}"
            )
            out.verdicts[change.row] = Verdict(Status.REJECTED, reason)
        out.changes = sound

    def accepted(self, row: str) -> Verdict:
        """The verdict on a row that is in the running configuration, with what has no effect."""
        declared = self._declared.get(row)
        if not isinstance(declared, Declared) or not declared.warnings:
            return ACCEPTED
        return Verdict(Status.ACCEPTED, "; ".join(declared.warnings))

    def begin(self, change: Change) -> None:
        """A change is about to be written."""
        if change.leaves is not None:
            before = self.owned.get(change.object)
            if before is None:
                self.owned[change.object] = Owned(change.row, change.leaves, written=False)

    def done(self, change: Change) -> None:
        """A change was carried out."""
        self._rewritten.discard(change.row)
        if change.leaves is None:
            self.owned.pop(change.object, None)
        else:
            self.owned[change.object] = Owned(change.row, change.leaves)

    def reject(self, change: Change, reason: Reason, running: Running) -> None:
        """A change was not carried out; it was judged against ``running``."""
        self._rejected.add(change, reason, running)
        mine = self.owned.get(change.object)
        if mine is not None and not mine.written:
            del self.owned[change.object]

    def _judge(self, row: str, declared: Declared, running: Running, out: Judgement) -> None:
        obj, leaves = declared.object, declared.leaves
        entry, mine = running.get(obj), self.owned.get(obj)
        if mine is not None and not mine.written:
            mine = self._settle(obj, mine, entry)
        if entry is None:
            if mine is not None and row not in self._rewritten:
                reason = f"{obj}: another door removed it; write the row again to declare it anew"
                out.verdicts[row] = Verdict(Status.REJECTED, reason)
            else:
                out.changes.append(Change(row, obj, leaves))
        elif _holds(entry, leaves):
            # Also where another door declared the same: then it stays that door's.
            if mine is not None:
                self.owned[obj] = Owned(row, leaves)
            self._rewritten.discard(row)
            out.verdicts[row] = self.accepted(row)
        elif mine is not None and _holds(entry, mine.leaves):
            gone = tuple(sorted(mine.leaves.keys() - leaves.keys()))
            out.changes.append(Change(row, obj, leaves, gone))
        else:
            self.owned.pop(obj, None)
            reason = (
                f"{obj}: another door declares it otherwise; remove it there, or remove this row"
            )
            out.verdicts[row] = Verdict(Status.REJECTED, reason)

    def _remove(self, obj: Object, mine: Owned, running: Running, out: Judgement) -> None:
        entry = running.get(obj)
        if entry is None or not _holds(entry, mine.leaves):
            del self.owned[obj]  # another door's by now, or nobody's
            return
        key = obj.kind.path[2]
        more = sorted(n for n in entry if n not in mine.leaves and n != key)
        if more:
            names = ", ".join(n.rpartition(":")[2] for n in more)
            reason = f"{obj}: another door added {names}; remove that there, and this goes too"
            out.verdicts[mine.row] = Verdict(Status.REMOVED, reason)
        else:
            out.changes.append(Change(mine.row, obj, None))

    def _settle(self, obj: Object, mine: Owned, entry: Mapping[str, Any] | None) -> Owned | None:
        """Whether a write that was begun, and cut short, was carried out."""
        if entry is not None and _holds(entry, mine.leaves):
            self.owned[obj] = Owned(mine.row, mine.leaves)
            return self.owned[obj]
        del self.owned[obj]
        return None

    def _with_table(self, declared: Declared, running: Running, tables: set[int]) -> Declared:
        """A VRF with its table: the one it has, or the lowest that is free."""
        obj = declared.object
        if obj.kind is not Kind.VRF:
            return declared
        entry, mine = running.get(obj), self.owned.get(obj)
        if mine is not None:
            table = int(mine.leaves["table-id"])
        elif entry is not None:
            table = int(entry["table-id"])
        else:
            table = next((t for t in _TABLES if t not in tables), _TABLES[-1])
        tables.add(table)
        return replace(declared, leaves={**declared.leaves, "table-id": table})


# YANG's defaults, which the running configuration leaves out.
_DEFAULTS: Leaves = {
    "block-length": 32,
    "node-length": 16,
    "function-length": 16,
    "argument-length": 0,
}


def _holds(entry: Mapping[str, Any], leaves: Leaves) -> bool:
    """Whether an entry has these leaves; others beside them don't matter."""
    return all(entry.get(n, _DEFAULTS.get(n)) == v for n, v in leaves.items())
