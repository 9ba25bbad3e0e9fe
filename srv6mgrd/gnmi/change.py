"""A change as subscribers see it: leaves that changed, nodes that went. Pure.

gnmi-specification.md 3.5.2.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from srv6mgrd.gnmi.budget import Budget
from srv6mgrd.gnmi.mirror import Touched
from srv6mgrd.gnmi.path import Pattern, covers, touches
from srv6mgrd.gnmi.projections import view
from srv6mgrd.gnmi.view import Selection, Snapshot, is_counter
from srv6mgrd.model.status import Kind as Object


class Branch(NamedTuple):
    """A part of the tree that changed: its new or changed leaves, and those that went."""

    at: Pattern
    leaves: list[tuple[Pattern, Any]]
    gone: list[Pattern]


@dataclass(frozen=True)
class Change:
    """Something changed: the tree before and after, and where. ``at`` in ns.

    ``counters``: these are all that changed; otherwise they are left alone.
    """

    at: int
    before: Snapshot
    after: Snapshot
    touched: Touched
    counters: bool = False

    @cached_property
    def branches(self) -> list[Branch]:
        """Leaf by leaf what is new; computed once for all subscribers."""
        return [self._branch(at) for at in self.touched.updated]

    @cached_property
    def projected(self) -> list[Branch]:
        """The same in the views of the objects that it touched; what went is its key's branch."""
        model = self.after.model
        touched = {kind: self._touched(kind) for kind in {view.of: None for view in model.views}}
        return [self._branch(v.at(name)) for v in model.views for name in touched[v.of]]

    def _touched(self, kind: Object) -> list[str]:
        touched: dict[str, None] = {}
        for at in (*self.touched.updated, *self.touched.deleted):
            concerned, name = view.touched(at, kind)
            if name is not None:
                touched[name] = None
            elif concerned:
                for snapshot in (self.before, self.after):
                    touched.update((key[0], None) for key in view.objects_of(snapshot.config, kind))
        return list(touched)

    def _branch(self, at: Pattern) -> Branch:
        old, new = self._leaves(self.before, at), self._leaves(self.after, at)
        changed = [(path, value) for path, value in new.items() if old.get(path, self) != value]
        return Branch(at, changed, [path for path in old if path not in new])

    def _leaves(self, snapshot: Snapshot, at: Pattern) -> dict[Pattern, Any]:
        return {
            path: value
            for found, data in snapshot.find(at)
            for path, value in snapshot.leaves(
                found, data, Selection(lambda node: is_counter(node) is self.counters)
            )
        }


def select(
    change: Change,
    subscribed: Sequence[tuple[Pattern, Selection]],
    budget: Budget | None = None,
) -> tuple[list[tuple[Pattern, Any]], list[Pattern]]:
    """What of a change concerns a subscriber: leaves with values, and paths to delete."""
    updates: dict[Pattern, Any] = {}
    deletes: dict[Pattern, None] = {}
    for pattern, chosen in subscribed:
        viewed = bool(pattern) and change.after.model.is_view(pattern[0].node)
        branches = change.projected if viewed else change.branches
        if budget is not None:
            budget.spend(len(branches) + len(change.touched.deleted))
        for branch in branches:
            if not touches(pattern, branch.at):
                continue
            if viewed and branch.gone and not change.after.has(branch.at):
                # All of an entry went with its SID.
                gone = _deleted(change.before, pattern, branch.at, chosen)
                deletes.update((p, None) for p in gone)
                continue
            if budget is not None:
                budget.spend(len(branch.leaves) + len(branch.gone))
            for path, value in branch.leaves:
                if covers(pattern, path) and chosen.takes(path, len(pattern)):
                    updates[path] = value
            for path in branch.gone:
                if covers(pattern, path) and chosen.takes(path, len(pattern)):
                    deletes[path] = None
        for path in change.touched.deleted:
            gone = _deleted(change.before, pattern, path, chosen)
            deletes.update((p, None) for p in gone)
    return list(updates.items()), list(deletes)


def _deleted(
    before: Snapshot, pattern: Pattern, gone: Pattern, chosen: Selection
) -> Iterator[Pattern]:
    """``gone`` as far as ``pattern`` covers it: itself, or what was subscribed to below it.

    Of a branch that may not be read, the leaves that may.
    """
    if not touches(pattern, gone):
        return
    if len(pattern) > len(gone):
        found = before.find((*gone, *pattern[len(gone) :]))
    elif chosen.depth and len(gone) - len(pattern) > chosen.depth:
        return
    else:
        found = iter([(gone, None)])
    for at, _ in found:
        if chosen.permitted(at):
            yield at
        else:
            readable = Selection(lambda _: True, chosen.permit)
            for whole, data in before.find(at):
                yield from (leaf for leaf, _ in before.leaves(whole, data, readable))
