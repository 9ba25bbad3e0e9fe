"""From a document of services to the change of each router. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from srv6mgrd.model.rejection import RejectedError
from srv6net.allocate.plan import plan, plan_change
from srv6net.compile.compiler import compile_change, compile_services
from srv6net.compile.configuration import NOTHING, Edit, Entries, edit
from srv6net.intent.checks import check
from srv6net.intent.inventory import Inventory
from srv6net.intent.l3nm import services
from srv6net.proposal_change import Changed, changed_services
from srv6net.transaction.record import Change, Revision


@dataclass(frozen=True, slots=True)
class Proposal:
    """The revision that would become current, and what changes on which router for it."""

    revision: Revision
    changes: Mapping[str, Change]
    warnings: tuple[str, ...] = ()

    def edits(self) -> dict[str, Edit]:
        return {name: edit(c.before, c.after) for name, c in self.changes.items()}


def propose(
    document: Mapping[str, Any], inventory: Inventory, current: Revision, now: float
) -> Proposal:
    """Raises RejectedError with all that is wrong with the services or their numbers.

    Only what differs from ``current`` is compiled again, where that says the same.
    """
    changed = changed_services(document, inventory, current)
    if changed is not None:
        # What is wrong is said of all services together.
        with suppress(RejectedError):
            return _of_change(document, changed, inventory, current, now)
    return _of_all(document, inventory, current, now)


def changes(before: Revision, after: Revision) -> dict[str, Change]:
    """Of the routers whose entries differ."""
    found = {}
    for name in sorted({*before.routers, *after.routers}):
        change = Change(before.routers.get(name, NOTHING), after.routers.get(name, NOTHING))
        if change.before is not change.after and edit(change.before, change.after):
            found[name] = change
    return found


def _of_all(
    document: Mapping[str, Any], inventory: Inventory, current: Revision, now: float
) -> Proposal:
    wanted = services(document)
    check(wanted, inventory)
    allocated = plan(wanted, inventory, current.allocations, now)
    routers = compile_services(wanted, inventory, allocated.allocations)
    revision = Revision(
        current.number + 1,
        now,
        document,
        allocated.allocations,
        _with_services(routers),
        inventory.digest,
    )
    return Proposal(revision, changes(current, revision), allocated.warnings)


def _of_change(
    document: Mapping[str, Any],
    changed: Changed,
    inventory: Inventory,
    current: Revision,
    now: float,
) -> Proposal:
    check(changed.checked, inventory)
    allocated = plan_change(
        changed.gone,
        changed.made,
        chosen_in=changed.checked,
        inventory=inventory,
        before=current.allocations,
        now=now,
    )
    compiled = compile_change(
        changed.gone,
        changed.made,
        inventory,
        before=current.allocations,
        after=allocated.allocations,
        routers=current.routers,
    )
    revision = replace(
        current,
        number=current.number + 1,
        at=now,
        intent=document,
        allocations=allocated.allocations,
        routers=_with_services({**current.routers, **compiled}),
    )
    return Proposal(revision, changes(current, revision), allocated.warnings)


def _with_services(compiled: Mapping[str, Entries]) -> dict[str, Entries]:
    """A router without services has no place in a revision."""
    return {name: entries for name, entries in compiled.items() if entries}
