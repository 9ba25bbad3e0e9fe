"""State in sysrepo's operational datastore, for NETCONF and ``sysrepocfg -X -d operational``.

Asked once for each container of lists, not once for each entry; answered from the store, in a
thread of sysrepo's, so that a reader neither waits for a commit nor holds one up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from srv6mgrd.counters import proxies
from srv6mgrd.counters.node import CAPABILITIES, STATISTICS, TRANSACTIONS, NodeReader, beside
from srv6mgrd.counters.status import Kind, ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.counters.store import StoreReader
from srv6mgrd.counters.yang import object_state
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.datastore.ffi import OperationalData

MODULE = "srv6mgr-srv6"
_TOP = f"/{MODULE}:srv6"
_BGP, _STEERING = "srv6mgr-bgp:bgp", "srv6mgr-steering:steering"
_PROXY = "srv6mgr-proxy:proxy"

Objects = Mapping[ObjectRef, ObjectStatus]
Counters = Mapping[str, SidCounters]
Member = dict[str, Any]

# Key of the one list in each container.
_LISTS = {
    "locators": ("locator", "name", Kind.LOCATOR),
    "interfaces": ("interface", "name", Kind.INTERFACE),
    "segment-lists": ("segment-list", "name", Kind.SEGMENT_LIST),
    "local-sids": ("sid", "prefix", Kind.SID),
}
_OF_NODE = (CAPABILITIES, STATISTICS, TRANSACTIONS)
MEMBERS = (*_LISTS, "vrfs", _STEERING, *_OF_NODE)


def wanted_key(member: str, asked: str) -> str | None:
    """The one entry of a list that a reader asks for; None when it may want more."""
    if "|" in asked:
        return None
    _, key, _ = _LISTS.get(member, ("", "name", None))
    where = re.escape(f"{_TOP}/{member}/")
    found = re.match(where + rf"[\w:-]+\[{key}\s*=\s*(['\"])([^'\"]*)\1\](?:/|$)", asked)
    return found[2] if found else None


def lists(member: str, objects: Objects, counters: Counters, only: str | None) -> Member:
    """Entries with their state; of one name if ``only`` is given."""
    entries, key, kind = _LISTS[member]
    return {
        entries: [
            {key: ref.name, "state": object_state(ref, status, counters.get(ref.name))}
            for ref, status in _of(kind, objects, only)
        ]
    }


def with_proxies(sids: Member, proxies: Mapping[str, Any]) -> Member:
    """The SIDs, those of proxies with the state of these."""
    for entry in sids["sid"]:
        if (state := proxies.get(entry["prefix"])) is not None:
            entry[_PROXY] = {"state": state}
    return sids


def vrfs(objects: Objects, only: str | None) -> Member:
    """VRFs with the state of their export and of their routes."""
    entries: dict[str, Member] = {}

    def entry(name: str) -> Member:
        return entries.setdefault(name, {"name": name})

    for ref, status in _of(Kind.VRF, objects, only):
        entry(ref.name)["state"] = object_state(ref, status)
    for ref, status in _of(Kind.VRF_BGP, objects, only):
        entry(ref.name)[_BGP] = {"state": object_state(ref, status)}
    for vrf, route in _routes(objects):
        if vrf != "main" and only in (None, vrf):
            entry(vrf).setdefault(_STEERING, {"route": []})["route"].append(route)
    return {"vrf": list(entries.values())}


def steering(objects: Objects) -> Member:
    """Routes of the main table."""
    return {"route": [route for vrf, route in _routes(objects) if vrf == "main"]}


def _of(kind: Kind, objects: Objects, only: str | None) -> Iterable[tuple[ObjectRef, ObjectStatus]]:
    if only is None:
        return ((ref, status) for ref, status in objects.items() if ref.kind is kind)
    ref = ObjectRef(kind, only)
    return [(ref, objects[ref])] if ref in objects else []


def _routes(objects: Objects) -> Iterable[tuple[str, Member]]:
    for ref, status in objects.items():
        if ref.kind is Kind.ROUTE:
            vrf, _, prefix = ref.name.partition(" ")
            yield vrf, {"prefix": prefix, "state": object_state(ref, status)}


class OperationalSubscription:
    """Serves the state below ``/srv6mgr-srv6:srv6`` from the store."""

    def __init__(self, store: Path) -> None:
        self._store = StoreReader(store)
        self._node = NodeReader(beside(store))
        self._proxies = NodeReader(proxies.beside(store))
        self._generation = -1
        self._objects: Objects = {}
        self._connection = Connection(originator="srv6mgrd")
        self._data = OperationalData(self._connection.session(), self._answer)

    def start(self) -> None:
        for member in MEMBERS:
            self._data.subscribe(MODULE, f"{_TOP}/{member}")

    def close(self) -> None:
        self._data.close()
        self._connection.close()
        self._store.close()

    def _answer(self, path: str, asked: str) -> str | None:
        member = path.removeprefix(f"{_TOP}/")
        made = self._member(member, wanted_key(member, asked))
        if not made:
            return None
        return json.dumps({f"{MODULE}:srv6": {member: made}}, separators=(",", ":"))

    def _member(self, member: str, only: str | None) -> Member:
        if member in _OF_NODE:
            found: Member = self._node.read().members.get(member, {})
            return found
        # One reader asks for several containers in a row.
        generation = self._store.generation
        if generation != self._generation:
            self._objects, self._generation = self._store.objects(), generation
        make: dict[str, Callable[[], Member]] = {
            "vrfs": lambda: vrfs(self._objects, only),
            _STEERING: lambda: steering(self._objects),
        }
        if member in make:
            return make[member]()
        if member == "local-sids":
            sids = lists(member, self._objects, self._store.counters(), only)
            return with_proxies(sids, self._proxies.read().members)
        return lists(member, self._objects, {}, only)
