"""From a document of services to the change of each router. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from srv6net.allocate.plan import plan
from srv6net.compile.compiler import compile_services
from srv6net.compile.configuration import NOTHING, Edit, edit
from srv6net.intent.checks import check
from srv6net.intent.inventory import Inventory
from srv6net.intent.l3nm import services
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
    """Raises RejectedError with all that is wrong with the services or their numbers."""
    wanted = services(document)
    check(wanted, inventory)
    allocated = plan(wanted, inventory, current.allocations, now)
    compiled = compile_services(wanted, inventory, allocated.allocations)
    # A router without services has no place in a revision, one that left the inventory may have.
    routers = {name: entries for name, entries in compiled.items() if entries}
    revision = Revision(current.number + 1, now, document, allocated.allocations, routers)
    return Proposal(revision, changes(current, revision), allocated.warnings)


def changes(before: Revision, after: Revision) -> dict[str, Change]:
    """Of the routers whose entries differ."""
    found = {}
    for name in sorted({*before.routers, *after.routers}):
        change = Change(before.routers.get(name, NOTHING), after.routers.get(name, NOTHING))
        if edit(change.before, change.after):
            found[name] = change
    return found
