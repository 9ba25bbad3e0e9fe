"""Which rows there are, what became of them, and which objects are theirs. Pure.

Precedence: an object that another northbound declared or changed belongs to it. A row makes one
that nobody has, changes and removes it while it still is as the row made it, and is rejected
otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from srv6mgrd.configdb import compose
from srv6mgrd.configdb.change import Change
from srv6mgrd.configdb.fields import RowError
from srv6mgrd.configdb.leaves import goes, holds
from srv6mgrd.configdb.objects import (
    Content,
    Declared,
    Kind,
    Leaves,
    Object,
    Part,
    references,
)
from srv6mgrd.configdb.parts import Parts
from srv6mgrd.configdb.rejected import Reason, RejectedChanges
from srv6mgrd.configdb.rows import (
    declare,
    is_of_bgpcfgd,
    is_passed_over,
    left_to_bgpcfgd,
    order,
)
from srv6mgrd.configdb.running import Running
from srv6mgrd.configdb.surroundings import Surroundings
from srv6mgrd.configdb.verdict import ACCEPTED, Status, Verdict, not_carried_out

# Tables of VRFs, as vrfmgrd gives them out (sonic-swss cfgmgr/vrfmgr.cpp).
_TABLES = range(1001, 5097)


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


_NOTHING_AROUND = Surroundings()


class OwnershipIndex:
    """``rows`` as they are in CONFIG_DB, or were before they were lost."""

    def __init__(self, owned: Mapping[Object, Owned] | None = None) -> None:
        self.owned = dict(owned or {})
        self.rows: dict[str, Content] = {}
        # What each declares, or what becomes of it without that; in the order of dependence.
        self._declared: dict[str, Declared | Part | Verdict | None] = {}
        self._parts = Parts()
        self._in_order: list[str] | None = None
        self._rejected = RejectedChanges()
        # Rows that were written since they were last judged, be it as they were.
        self._rewritten: set[str] = set()
        # Rows of uA without a next hop.
        self._adjacencies: set[str] = set()

    def write(self, row: str, content: Content) -> None:
        """A row was written, or found to differ from what it was."""
        self._rejected.forget(row)
        self._read(row, content)
        if isinstance(self._declared[row], Declared):
            self._rewritten.add(row)
        elif isinstance(part := self._declared[row], Part):
            self._rewritten.add(part.base)

    def find(self, row: str, content: Content) -> None:
        """A row was found; whether it was written is not known."""
        if self.rows.get(row) != content:
            known = row in self.rows
            self._rejected.forget(row)
            self._read(row, content)
            if known:
                part = self._declared[row]
                self._rewritten.add(part.base if isinstance(part, Part) else row)

    def remove(self, row: str) -> None:
        if self.rows.pop(row, None) is not None:
            self._take_out(row)
            del self._declared[row]
            self._in_order = None
        self._rejected.forget(row)
        self._rewritten.discard(row)
        self._adjacencies.discard(row)

    def retry_temporary(self) -> None:
        """Try objects again that something else than the configuration prevented."""
        self._rejected.retry_temporary()

    def _read(self, row: str, content: Content) -> None:
        if row not in self.rows:
            self._in_order = None
        self._take_out(row)
        self.rows[row] = content
        self._adjacencies.discard(row)
        try:
            declared = declare(row, content)
            if declared is None:
                self._declared[row] = None if is_passed_over(row) else ACCEPTED
                return
            self._declared[row] = declared
            if isinstance(declared, Part):
                self._parts.add(row, declared)
                self._rejected.forget(declared.base)
            elif _lacks_next_hop(declared):
                self._adjacencies.add(row)
        except RowError as error:
            self._declared[row] = Verdict(Status.REJECTED, str(error))
            if (base := self._parts.add_wrong(row)) is not None:
                self._rejected.forget(base)

    def _take_out(self, row: str) -> None:
        """A part of an object is another one now, or none."""
        declared = self._declared.get(row)
        base = self._parts.take_out(row, declared if isinstance(declared, Part) else None)
        if base is not None:
            self._rejected.forget(base)

    def verdicts_of_parts(self, verdicts: Mapping[str, Verdict]) -> dict[str, Verdict]:
        """On rows that add to the object of another row: what became of that one."""
        return self._parts.verdicts(verdicts)

    @property
    def follows_kernel(self) -> bool:
        """Whether a row leaves its next hop to the kernel's neighbors."""
        return bool(self._adjacencies)

    @property
    def remembered(self) -> set[str]:
        """Rows that are, or once made what is still theirs."""
        return self.rows.keys() | {o.row for o in self.owned.values()}

    def judge(
        self,
        running: Running,
        held: Iterable[str] = (),
        around: Surroundings = _NOTHING_AROUND,
    ) -> Judgement:
        """Compare rows with the running configuration. ``held`` are rows that are gone, but may
        only be lost: what they declared stays."""
        out = Judgement()
        staying = {*self.rows, *held}
        claimed: dict[Object, str] = {}
        tables = set(running.tables)
        if self._in_order is None:
            self._in_order = sorted(self.rows, key=order)
        for row in self._in_order:
            declared = self._declared[row]
            if declared is None:
                continue
            left = around.is_bgpcfgd and is_of_bgpcfgd(row)
            if left:
                staying.discard(row)
            if isinstance(declared, Verdict):
                out.verdicts[row] = left_to_bgpcfgd(row) if left else declared
            elif isinstance(declared, Part):
                if left:
                    out.verdicts[row] = left_to_bgpcfgd(row)
            elif (other := claimed.setdefault(declared.object, row)) != row:
                reason = f"{declared.object}: {other} declares it already; remove one of both"
                out.verdicts[row] = Verdict(Status.REJECTED, reason)
            elif left:
                out.verdicts[row] = left_to_bgpcfgd(row)
            elif _is_whole(declared) and (why := self._rejected.stays(row, running)):
                out.verdicts[row] = Verdict(Status.REJECTED, why)
            else:
                whole = self._completed(declared, running, tables, around)
                if isinstance(whole, Verdict):
                    out.verdicts[row] = whole
                else:
                    self._judge(row, whole, running, out)
        self._reject_dangling(running, out)
        for obj, mine in sorted(self.owned.items(), reverse=True):
            if mine.row not in staying:
                self._remove(obj, mine, running, out)
        self._reject_again(running, out)
        return out

    def _reject_again(self, running: Running, out: Judgement) -> None:
        """Leave out changes that would be rejected as before."""
        reasons = {c.row: self._rejected.reason(c, running) for c in out.changes}
        tried = {c.object for c in out.changes if reasons[c.row] is None}
        # What refers to an object that is tried may come with it: a VRF and the SID that it exports
        # refer to each other.
        again = [c for c in out.changes if reasons[c.row] is not None]
        while tried and (more := [c for c in again if self._rejected.concerns(c.row, tried)]):
            tried |= {c.object for c in more}
            again = [c for c in again if c.object not in tried]
        out.verdicts.update((c.row, not_carried_out(c, reasons[c.row] or "")) for c in again)
        if again:
            out.changes = [c for c in out.changes if c.object in tried]

    def _reject_dangling(self, running: Running, out: Judgement) -> None:
        """Rows often arrive before what they refer to. Thousands of those would be rejected a
        few by each commit, since libyang reports the first mistakes only."""
        made = {change.object for change in out.changes}
        # What refers to a row that is left out is left out, too: a chain to its functions.
        is_dangling = True
        while is_dangling:
            found = [(change, _missing(change, made, running)) for change in out.changes]
            out.changes = [change for change, missing in found if missing is None]
            is_dangling = len(out.changes) < len(found)
            for change, missing in found:
                if missing is None:
                    continue
                made.discard(change.object)
                remedy = f"create it or name an existing {missing.kind}"
                if missing.kind is Kind.ENCAPSULATION:
                    remedy = "write a row of SRV6_MY_SOURCE"
                reason = f"{change.object}: {missing!s} does not exist; {remedy}"
                out.verdicts[change.row] = Verdict(Status.REJECTED, reason)

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
                reason = (
                    f"{obj}: another northbound removed it; write the row again to declare it anew"
                )
                out.verdicts[row] = Verdict(Status.REJECTED, reason)
            else:
                out.changes.append(Change(row, obj, leaves))
        elif mine is not None and holds(entry, mine.leaves) and mine.leaves != leaves:
            gone = tuple(sorted(n for n, v in mine.leaves.items() if goes(v, leaves.get(n))))
            out.changes.append(Change(row, obj, leaves, gone))
        elif holds(entry, leaves):
            # Also where another northbound declared the same: then it stays that one's.
            if mine is not None:
                self.owned[obj] = Owned(row, leaves)
            self._rewritten.discard(row)
            out.verdicts[row] = self.accepted(row)
        else:
            self.owned.pop(obj, None)
            reason = (
                f"{obj}: another northbound declares it otherwise; remove it there, or remove this"
                " row"
            )
            out.verdicts[row] = Verdict(Status.REJECTED, reason)

    def _remove(self, obj: Object, mine: Owned, running: Running, out: Judgement) -> None:
        entry = running.get(obj)
        if entry is None or not holds(entry, mine.leaves):
            del self.owned[obj]  # another northbound's by now, or nobody's
            return
        key = obj.kind.path[2]
        more = sorted(n for n in entry if n not in mine.leaves and n != key)
        if obj.kind in (Kind.ENCAPSULATION, Kind.ACCOUNTING):
            more = []  # containers that are always there
        if more:
            names = ", ".join(n.rpartition(":")[2] for n in more)
            reason = (
                f"{obj}: another northbound added {names}; remove that there, and this goes too"
            )
            out.verdicts[mine.row] = Verdict(Status.REMOVED, reason)
        else:
            out.changes.append(Change(mine.row, obj, None))

    def _settle(self, obj: Object, mine: Owned, entry: Mapping[str, Any] | None) -> Owned | None:
        """Whether a write that was begun, and cut short, was carried out."""
        if entry is not None and holds(entry, mine.leaves):
            self.owned[obj] = Owned(mine.row, mine.leaves)
            return self.owned[obj]
        del self.owned[obj]
        return None

    def _completed(
        self, declared: Declared, running: Running, tables: set[int], around: Surroundings
    ) -> Declared | Verdict:
        """With what other rows add, and what no row says."""
        if (fault := self._parts.fault(declared.object)) is not None:
            return fault
        if parts := self._parts.of(declared.object, around):
            sids = self._sids_by_address() if compose.exports(parts) else {}
            try:
                declared = compose.whole(declared, parts, sids)
            except RowError as error:
                return Verdict(Status.WAITING, str(error))
        if declared.object.kind is Kind.VRF:
            return self._with_table(declared, running, tables, around.vrf_tables)
        if _lacks_next_hop(declared):
            return self._with_next_hop(declared, around)
        return declared

    def _sids_by_address(self) -> dict[str, str]:
        objects = (d.object for d in self._declared.values() if isinstance(d, Declared))
        names = (obj.name for obj in objects if obj.kind is Kind.SID)
        return {name.partition("/")[0]: name for name in names}

    def _with_next_hop(self, declared: Declared, around: Surroundings) -> Declared | Verdict:
        interface = str(declared.leaves["interface"])
        next_hop, why = around.adjacency(interface)
        mine = self.owned.get(declared.object)
        if next_hop is None and mine is not None and mine.leaves.get("interface") == interface:
            # A neighbor that nobody talks to is forgotten; that is no reason to forget the SID.
            next_hop = mine.leaves.get("next-hop")
        if next_hop is None:
            return Verdict(Status.WAITING, f"{declared.object}: {why}; wait for one, or add adj")
        return replace(declared, leaves={**declared.leaves, "next-hop": next_hop})

    def _with_table(
        self,
        declared: Declared,
        running: Running,
        tables: set[int],
        given: Mapping[str, int] | None,
    ) -> Declared | Verdict:
        """A VRF with its table: that of vrfmgrd, or the one it has, or the lowest that is free."""
        obj = declared.object
        entry, mine = running.get(obj), self.owned.get(obj)
        if given is not None:
            if obj.name not in given:
                reason = f"{obj}: vrfmgrd has not made its device yet; wait, or see vrfmgrd's log"
                return Verdict(Status.WAITING, reason)
            table = given[obj.name]
        elif mine is not None:
            table = int(mine.leaves["table-id"])
        elif entry is not None:
            table = int(entry["table-id"])
        else:
            table = next((t for t in _TABLES if t not in tables), _TABLES[-1])
        tables.add(table)
        return replace(declared, leaves={**declared.leaves, "table-id": table})


def _missing(change: Change, made: Collection[Object], running: Running) -> Object | None:
    """What a change refers to that is not there, nor made with it."""
    for kind, name in references(change.leaves or {}):
        other = Object(kind, name)
        if other not in made and running.get(other) is None:
            return other
    return None


def _is_whole(declared: Declared) -> bool:
    """Whether neither other rows nor the kernel add to it."""
    kind = declared.object.kind
    return kind not in (Kind.VRF, Kind.BGP) and not _lacks_next_hop(declared)


def _lacks_next_hop(declared: Declared) -> bool:
    return declared.leaves.get("behavior") == "End.X" and "next-hop" not in declared.leaves
