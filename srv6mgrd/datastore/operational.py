"""State in sysrepo's operational datastore, for NETCONF and ``sysrepocfg -X -d operational``.

Asked once for each container of lists, not once for each entry; answered from the store, in a
thread of its own, so that a reader neither waits for a commit nor holds one up. Of what a reader
asks for by a plain path nothing else is made: each node of an answer is printed, parsed, merged and
filtered by sysrepo, which takes most of the time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from srv6mgrd.counters import accounting, drops, observed, proxies
from srv6mgrd.counters.accounting import ACCOUNTING
from srv6mgrd.counters.node import (
    ACTIVITY,
    CAPABILITIES,
    DAEMONS,
    STATISTICS,
    STORAGE,
    TRANSACTIONS,
    NodeReader,
    beside,
)
from srv6mgrd.counters.store_reader import Records, StoreReader, since
from srv6mgrd.counters.yang import object_state, sid_counters
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.datastore.operational_data import OperationalData
from srv6mgrd.model.leaking import DEFAULT_VRF
from srv6mgrd.model.parse import CHAINING
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus, SidCounters

MODULE = "srv6mgr-srv6"
_TOP = f"/{MODULE}:srv6"
_BGP, _STEERING = "srv6mgr-bgp:bgp", "srv6mgr-steering:steering"
_ISIS = "srv6mgr-isis:isis"
_MEASUREMENT = "srv6mgr-path-measurement:path-measurement"
_PROXY = "srv6mgr-proxy:proxy"
_ROUTING_POLICY = "srv6mgr-routing-policy:routing-policy"
_STATIC = "srv6mgr-routing:static-routes"
_OSPF = {Kind.OSPF: "srv6mgr-ospf:ospf", Kind.OSPFV3: "srv6mgr-ospf:ospfv3"}
_LEAKING, _DEFAULT = "srv6mgr-routing:route-leaking", "srv6mgr-routing:default-vrf"

Objects = Mapping[ObjectRef, ObjectStatus]
# Those of a SID, by its prefix.
Counters = Callable[[str], SidCounters | None]
Member = dict[str, Any]

# Key of the one list in each container.
_LISTS = {
    "locators": ("locator", "name", Kind.LOCATOR),
    "interfaces": ("interface", "name", Kind.INTERFACE),
    "segment-lists": ("segment-list", "name", Kind.SEGMENT_LIST),
    "local-sids": ("sid", "prefix", Kind.SID),
}
# The same in the container of service chains.
_OF_CHAINING = {
    "service-function": Kind.SERVICE_FUNCTION,
    "service-function-group": Kind.SERVICE_FUNCTION_GROUP,
    "service-function-chain": Kind.SERVICE_FUNCTION_CHAIN,
    "classifier": Kind.CLASSIFIER,
}
_OF_NODE = (CAPABILITIES, STATISTICS, DAEMONS, STORAGE, ACTIVITY, TRANSACTIONS)
# Of these only ``counters.observed`` is reported.
_OBSERVED = (_BGP, _ISIS, _MEASUREMENT)
MEMBERS = (
    *(*_LISTS, "vrfs", _STEERING, _DEFAULT, _ROUTING_POLICY, CHAINING),
    *(*_OBSERVED, ACCOUNTING, *_OF_NODE),
)


# A plain path: names, and a key of the list. Steps may name their module, as the reader likes.
_MODULE = r"(?:[\w-]+:)?"
_PLAIN = re.compile(
    rf"{_TOP}/{_MODULE}(?P<member>[\w-]+)/{_MODULE}(?P<list>[\w-]+)"
    rf"(?:\[{_MODULE}(?P<key>[\w-]+)\s*=\s*(?P<quote>['\"])(?P<value>[^'\"]*)(?P=quote)\])?"
    rf"(?P<below>(?:/{_MODULE}[\w-]+)*)"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a list a reader asks for: the one entry, or all; and what of each, ``("state",
    "counters")`` say, or all of it."""

    key: str | None = None
    below: tuple[str, ...] = ()

    @property
    def state(self) -> bool:
        return self.below[:1] in ((), ("state",))

    @property
    def only_counters(self) -> bool:
        return self.below[:2] == ("state", "counters")

    @property
    def proxy(self) -> bool:
        return self.below[:1] in ((), ("proxy",))

    @property
    def service(self) -> bool:
        return self.below[:1] in ((), ("service",))


EVERYTHING = Wanted()


def wanted(member: str, asked: str) -> Wanted:
    """The part of a list that a reader asks for; all of it where that is not certain."""
    entries, key, _ = _LISTS.get(member, ("vrf", "name", None))
    found = _PLAIN.fullmatch(asked)
    if not found or (found["member"], found["list"]) != (member, entries):
        return EVERYTHING
    if found["key"] not in (None, key):
        return EVERYTHING
    below = (step.rpartition(":")[2] for step in found["below"].split("/")[1:])
    return Wanted(found["value"], tuple(below))


def lists(member: str, objects: Objects, counters: Counters, want: Wanted) -> Member:
    """Entries with what is wanted of their state."""
    entries, key, kind = _LISTS[member]
    found = _of(kind, objects, want.key)
    if want.only_counters and kind is Kind.SID:
        none = SidCounters()
        made = [
            {key: ref.name, "state": {"counters": sid_counters(counters(ref.name) or none)}}
            for ref, _ in found
        ]
    else:
        made = [
            {key: ref.name, "state": object_state(ref, status, counters(ref.name))}
            for ref, status in found
        ]
    return {entries: made}


def proxies_alone(proxies: Mapping[str, Any], only: str | None) -> Member:
    """SIDs of proxies with the state of these and nothing else."""
    found = {prefix: proxies[prefix] for prefix in proxies if only in (None, prefix)}
    return {"sid": [{"prefix": p, _PROXY: {"state": state}} for p, state in found.items()]}


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
    for kind, container in _OSPF.items():
        for ref, status in _of(kind, objects, only):
            entry(ref.name)[container] = {"state": object_state(ref, status)}
    for vrf, route in _routes(objects, Kind.STATIC_ROUTE):
        if only in (None, vrf):
            entry(vrf).setdefault(_STATIC, {"route": []})["route"].append(route)
    for vrf, leak in _routes(objects, Kind.ROUTE_LEAK, "vrf"):
        if vrf != DEFAULT_VRF and only in (None, vrf):
            entry(vrf).setdefault(_LEAKING, {"import-from": []})["import-from"].append(leak)
    for vrf, route in _routes(objects):
        if vrf != "main" and only in (None, vrf):
            entry(vrf).setdefault(_STEERING, {"route": []})["route"].append(route)
    return {"vrf": list(entries.values())}


def joined(made: Member, seen: Member, entries: str, only: str | None) -> Member:
    """Entries with what was observed of them beside their status."""
    by_key = {_key(entry): entry for entry in made[entries]}
    for entry in _only(only, seen, entries):
        known = by_key.get(_key(entry))
        if known is None:
            made[entries].append(entry)
        else:
            _add(known, entry)
    return made


def _only(key: str | None, seen: Member, entries: str = "sid") -> list[Member]:
    """The entries that were observed, or the one with this key."""
    return [entry for entry in seen.get(entries, ()) if key in (None, _key(entry))]


def _key(entry: Member) -> object:
    return entry["prefix"] if "prefix" in entry else entry["name"]


def _add(known: Member, more: Member) -> None:
    for name, value in more.items():
        if isinstance(value, dict) and isinstance(known.get(name), dict):
            _add(known[name], value)
        else:
            known[name] = value


def steering(objects: Objects) -> Member:
    """Routes of the main table."""
    return {"route": [route for vrf, route in _routes(objects) if vrf == "main"]}


def default_vrf(objects: Objects) -> Member:
    """What the default VRF imports."""
    leaks = _routes(objects, Kind.ROUTE_LEAK, "vrf")
    return {"import-from": [leak for vrf, leak in leaks if vrf == DEFAULT_VRF]}


def chaining(objects: Objects, seen: Member) -> Member:
    """Functions, groups, chains and classifiers with their state, and what was observed of it."""
    found: Member = {}
    for entries, kind in _OF_CHAINING.items():
        of_kind = _of(kind, objects, None)
        made = [{"name": ref.name, "state": object_state(ref, status)} for ref, status in of_kind]
        if whole := joined({entries: made}, seen, entries, None)[entries]:
            found[entries] = whole
    return found


def routing_policy(objects: Objects) -> Member:
    """Policies with their state."""
    found = _of(Kind.ROUTING_POLICY, objects, None)
    entries = [{"name": ref.name, "state": object_state(ref, status)} for ref, status in found]
    return {"policy-definitions": {"policy-definition": entries}}


def _of(kind: Kind, objects: Objects, only: str | None) -> Iterable[tuple[ObjectRef, ObjectStatus]]:
    if only is None:
        return ((ref, status) for ref, status in objects.items() if ref.kind is kind)
    ref = ObjectRef(kind, only)
    return [(ref, objects[ref])] if ref in objects else []


def _routes(
    objects: Objects, kind: Kind = Kind.ROUTE, key: str = "prefix"
) -> Iterable[tuple[str, Member]]:
    """Entries of lists in a VRF, each with the VRF."""
    for ref, status in objects.items():
        if ref.kind is kind:
            vrf, _, name = ref.name.partition(" ")
            yield vrf, {key: name, "state": object_state(ref, status)}


def _not_counted(_: str) -> None:
    """Objects that are no SIDs have no counters."""


class OperationalSubscription:
    """Serves the state below ``/srv6mgr-srv6:srv6`` from the store."""

    def __init__(self, store: Path) -> None:
        self._store = StoreReader(store)
        self._node = NodeReader(beside(store))
        self._proxies = NodeReader(proxies.beside(store))
        self._observed = NodeReader(observed.beside(store))
        self._accounting = NodeReader(accounting.beside(store))
        self._drops = NodeReader(drops.beside(store))
        self._generation = -1
        self._records: Records | None = None
        self._objects: Objects = {}
        self._connection = Connection(originator="srv6mgrd")
        self._data = OperationalData(self._connection.session(), self._answer)

    def start(self) -> None:
        self._data.subscribe(MODULE, *(f"{_TOP}/{member}" for member in MEMBERS))

    def close(self) -> None:
        self._data.close()
        self._connection.close()
        self._store.close()

    def _answer(self, path: str, asked: str) -> str | None:
        member = path.removeprefix(f"{_TOP}/")
        made = self._member(member, wanted(member, asked))
        if not made:
            return None
        return json.dumps({f"{MODULE}:srv6": {member: made}}, separators=(",", ":"))

    def _member(self, member: str, want: Wanted) -> Member:
        if member in _OF_NODE:
            found: Member = self._node.read().members.get(member, {})
            return found
        if member == ACCOUNTING:
            parts = (reader.read().members for reader in (self._accounting, self._drops))
            counted: Member = accounting.joined(*parts).get(member, {})
            return counted
        seen: Member = self._observed.read().members.get(member, {})
        if member in _OBSERVED:
            return seen
        # One reader asks for several containers in a row.
        generation = self._store.generation
        if generation != self._generation:
            self._objects, self._generation = self._store.objects(), generation
        make: dict[str, Callable[[], Member]] = {
            "vrfs": lambda: joined(vrfs(self._objects, want.key), seen, "vrf", want.key),
            _STEERING: lambda: steering(self._objects),
            _DEFAULT: lambda: default_vrf(self._objects),
            _ROUTING_POLICY: lambda: routing_policy(self._objects),
            CHAINING: lambda: chaining(self._objects, seen),
            "local-sids": lambda: self._sids(want, seen),
        }
        if member in make:
            return make[member]()
        if not want.state:
            return {}
        made = lists(member, self._objects, _not_counted, want)
        return joined(made, seen, _LISTS[member][0], want.key) if seen else made

    def _sids(self, want: Wanted, seen: Member) -> Member:
        if not (want.state or want.proxy):
            return {"sid": _only(want.key, seen)} if want.service else {}
        if not want.state:
            return proxies_alone(self._proxies.read().members, want.key)
        sids = lists("local-sids", self._objects, self._counters(), want)
        if want.service:
            sids = joined(sids, seen, "sid", want.key)
        return with_proxies(sids, self._proxies.read().members) if want.proxy else sids

    def _counters(self) -> Counters:
        records = self._records = self._store.records(self._records)

        def counted(prefix: str) -> SidCounters | None:
            slot = records.slots.get(prefix)
            return None if slot is None else since(records.counters, records.cleared, slot)

        return counted
