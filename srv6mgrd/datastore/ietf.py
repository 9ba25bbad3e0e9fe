"""The IETF view of SIDs in sysrepo's operational datastore, so that NETCONF servers show it.

The modules are other people's text and come from the operator: the view is there when they are
installed in sysrepo at start, and any leaf or identity that they lack is left out.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv6Network
from pathlib import Path
from typing import Any

from srv6mgrd.counters import ietf
from srv6mgrd.counters.store_reader import StoreReader
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.datastore.operational_data import OperationalData
from srv6mgrd.model.desired import Sid
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus, SidCounters

_LOG = logging.getLogger(__name__)

_MODULES = (ietf.ROUTING, ietf.SEGMENT_ROUTING, ietf.SRV6, ietf.TYPES)
_ABOVE = (
    f"{ietf.ROUTING}:routing",
    f"{ietf.SEGMENT_ROUTING}:segment-routing",
    f"{ietf.SRV6}:srv6",
    "sids",
)
PATH = "/" + "/".join(_ABOVE)

Declared = Callable[[], Mapping[IPv6Network, Sid]]


def wanted_sid(asked: str) -> str | None:
    """The one SID that a reader asks for; None when it may want more."""
    if "|" in asked:
        return None
    found = re.match(
        re.escape(PATH) + r"/(?:[\w-]+:)?sid\[(?:[\w-]+:)?sid\s*=\s*(['\"])([^'\"]*)\1\](?:/|$)",
        asked,
    )
    return found[2] if found else None


def tree(
    sids: Iterable[Sid],
    statuses: Mapping[ObjectRef, ObjectStatus],
    counters: Mapping[str, SidCounters],
    identities: frozenset[str],
) -> dict[str, Any]:
    """The view from the root down; ``identities`` are those that the installed modules know."""
    entries = []
    for sid in sids:
        prefix = str(sid.prefix)
        status = statuses.get(ObjectRef(Kind.SID, prefix))
        if status is None:
            continue
        declared = ietf.Declared(
            str(sid.behavior), frozenset(map(str, sid.flavors)), sid.locator, sid.counters
        )
        entry = ietf.entry(prefix, declared, status, counters.get(prefix, SidCounters()))
        if entry.get("behavior", "").rpartition(":")[2] not in identities:
            entry.pop("behavior", None)
        entries.append(entry)
    data: dict[str, Any] = {"sid": entries}
    for member in reversed(_ABOVE):
        data = {member: data}
    return data


class IetfSubscription:
    """Serves the view from the store, in a thread of its own."""

    def __init__(self, store: Path, declared: Declared) -> None:
        """``declared`` returns the desired SIDs; it is called in that thread."""
        self._store = StoreReader(store)
        self._declared = declared
        self._connection = Connection(originator="srv6mgrd")
        self._data = OperationalData(self._connection.session(), self._answer, strict=False)
        self._identities: frozenset[str] = frozenset()
        self._generation = -1
        self._statuses: Mapping[ObjectRef, ObjectStatus] = {}

    def start(self) -> bool:
        """Serve it if the modules are there; whether they are."""
        import libyang

        try:
            with self._connection.context() as context:
                modules = [context.get_module(name) for name in _MODULES]
                self._identities = frozenset(i.name() for i in modules[-1].identities())
                next(context.find_path(PATH))
        except (libyang.LibyangError, StopIteration) as error:
            _LOG.info("the IETF view is not served: %s", error)
            return False
        self._data.subscribe(ietf.ROUTING, PATH)
        return True

    def close(self) -> None:
        self._data.close()
        self._connection.close()
        self._store.close()

    def _answer(self, _path: str, asked: str) -> str | None:
        generation = self._store.generation
        if generation != self._generation:
            self._statuses, self._generation = self._store.objects(), generation
        sids = _wanted(self._declared(), wanted_sid(asked))
        made = tree(sids, self._statuses, self._store.counters(), self._identities)
        return json.dumps(made, separators=(",", ":"))


def _wanted(declared: Mapping[IPv6Network, Sid], only: str | None) -> Iterable[Sid]:
    if only is None:
        return declared.values()
    try:
        sid = declared.get(IPv6Network(only))
    except ValueError:
        return ()
    return () if sid is None else (sid,)
