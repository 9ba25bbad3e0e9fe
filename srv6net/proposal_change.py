"""The services in which a document differs from the current revision. Pure.

A network has many services, and a change concerns few. Parsing, checking and compiling those alone
gives the same as doing so with all, on these conditions, without which nothing is said here:

- the revision was made with the same inventory, so what did not change would come out the same;
- of the services that did not change, those with numbers that an operator chose are checked, too:
  other services must not have these numbers;
- no access that is new has an interface that a service has which did not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from srv6net.intent.inventory import Inventory
from srv6net.intent.l3nm import ROOT, services
from srv6net.intent.service import Service
from srv6net.transaction.record import Revision

_Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Changed:
    """``gone``: services as they are in the current revision, ``made``: as they become.
    ``checked``: those of ``made``, and all in which operators chose numbers."""

    gone: tuple[Service, ...]
    made: tuple[Service, ...]
    checked: tuple[Service, ...]


def changed_services(
    document: Mapping[str, Any], inventory: Inventory, current: Revision
) -> Changed | None:
    """None where everything has to be compiled. Raises RejectedError."""
    if not inventory.digest or inventory.digest != current.inventory:
        return None
    before, after = _listed(current.intent), _listed(document)
    if before is None or after is None:
        return None
    made = {id: raw for id, raw in after.items() if before.get(id) != raw}
    gone = [raw for id, raw in before.items() if id in made or id not in after]
    checked = [raw for id, raw in after.items() if id in made or _may_choose(raw)]
    found = _parsed(checked)
    changed = Changed(_parsed(gone), tuple(s for s in found if s.id in made), found)
    return None if _takes_an_interface(changed, current) else changed


def _listed(document: Mapping[str, Any]) -> dict[str, _Raw] | None:
    """The services by their id; None where the document is not as it should be."""
    match document:
        case {**top} if top.keys() == {ROOT}:
            match top[ROOT]:
                case {"vpn-services": {"vpn-service": list(found), **more}, **beside}:
                    if more or beside or not all(isinstance(one, Mapping) for one in found):
                        return None
                    listed = {str(one.get("vpn-id", "")): one for one in found}
                    return listed if len(listed) == len(found) else None
    return None


def _may_choose(raw: _Raw) -> bool:
    """Numbers are chosen in profiles, and a node has only those that its service declares."""
    return "vpn-instance-profiles" in raw


def _parsed(found: Sequence[_Raw]) -> tuple[Service, ...]:
    return services({ROOT: {"vpn-services": {"vpn-service": list(found)}}})


def _takes_an_interface(changed: Changed, current: Revision) -> bool:
    """Whether a new access is on an interface of a service that did not change."""
    own = set(_claims(changed.gone))
    new = set(_claims(changed.made)) - own
    routers = {router for router, _ in new}
    taken = {
        (router, interface)
        for router in routers
        for value in current.routers.get(router, {}).values()
        if "table-id" in value
        for interface in value.get("interface", ())
    }
    return not new.isdisjoint(taken)


def _claims(found: Iterable[Service]) -> Iterable[tuple[str, str]]:
    return (
        (node.router, access.interface)
        for service in found
        for node in service.nodes
        for access in node.accesses
    )
