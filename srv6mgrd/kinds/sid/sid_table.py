"""What is in the table of our SIDs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from hashlib import blake2b
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from operator import attrgetter
from typing import Any

from srv6mgrd.kinds.route import SID_METRIC, UnknownRoute
from srv6mgrd.kinds.sid import bpf
from srv6mgrd.kinds.sid.notices import Notice
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sid.route_dump import NOTHING, Counters, Row, Template, decode, rows
from srv6mgrd.kinds.sid.seg6local import BEHAVIOR, Extras
from srv6mgrd.model.prefix import Prefix, packed
from srv6mgrd.model.reserved import ROUTE_PROTOCOL
from srv6mgrd.plan.observed import ObservedObject

# By the values that distinguish the SIDs of a template.
_Items = dict[tuple[object, ...], ObservedObject]


# What a SID route has beside its prefix, in the order of its fields.
_NAMES = [f.name for f in fields(SidRoute) if f.init][1:]
_VALUES: Callable[[SidRoute], tuple[Any, ...]] = attrgetter(*_NAMES)
# That of all routes of one kind, and whether they are ours.
_Alike = tuple[tuple[Any, ...], bool]

# So many notices are followed whatever a dump would take.
_FEW = 64


class SidTable:
    """Decodes dumps of the SID table. Keeps what it made of the last dump, since most of the
    next one is the same, and often all of it: prefixes and objects are dearer to build than to
    look up."""

    def __init__(self) -> None:
        self._counted: tuple[bytes, dict[IPv6Network, Counters]] = b"", {}
        self._stood: tuple[bytes, dict[str, ObservedObject]] = b"", {}
        # Whether notifications show what became of it.
        self._followable = False
        # By length and address: a pair for each would take as much as the rest of it.
        self._prefixes: dict[int, dict[bytes, Prefix]] = {}
        self._expected: dict[tuple[bytes, int], SidRoute] = {}
        self._items: dict[tuple[object, ...], _Items] = {}
        self._devices: dict[int, str | None] = {}

    @property
    def followable(self) -> int:
        """How many notices are worth following: to decode one takes as long as four rows of a
        dump; none where a dump is due anyhow."""
        return _FEW + len(self._stood[1]) // 4 if self._followable else 0

    def recognise(self, routes: Iterable[SidRoute]) -> None:
        """Equal objects of a dump are returned as these very ones: there are many of them,
        so one serves all who hold it, and to compare is cheaper than to make. Those that are not in
        the next dump are forgotten."""
        for route in routes:
            prefix = route.prefix
            if isinstance(prefix, Prefix):
                address, length = prefix.packed, prefix.prefixlen
                self._prefixes.setdefault(length, {})[address] = prefix
                self._expected[address, length] = route

    def counters(self, datagrams: Sequence[bytes]) -> Mapping[IPv6Network, Counters]:
        """packets, bytes, errors by prefix; routes without counters are left out. The very
        mapping of the last time when nothing has counted since."""
        digest = _digest(datagrams)
        if digest != self._counted[0]:
            self._counted = digest, self._counters(datagrams)
        return self._counted[1]

    def _counters(self, datagrams: Sequence[bytes]) -> dict[IPv6Network, Counters]:
        found: dict[IPv6Network, Counters] = {}
        known = self._prefixes
        for template, values in rows(datagrams):
            if template is None:
                row = decode(values)
                if not row.unknown and row.counters is not None:
                    found[self._prefix((row.address, row.length))] = row.counters
            else:
                address, length = place = template.prefix(values)
                prefix = known[length].get(address) if length in known else None
                counters = template.counters(values)
                # One for all that were never used.
                found[prefix or self._prefix(place)] = NOTHING if counters == NOTHING else counters
        if sum(map(len, known.values())) > 2 * len(found):
            self._prefixes = {}
        return found

    def observed(
        self, datagrams: Sequence[bytes], devices: Mapping[int, str]
    ) -> dict[str, ObservedObject]:
        """The routes by key. Where several lead to one prefix, ours with our metric has the
        SID's key, else the best that is not behind it; the others have their metric behind it."""
        if any(devices.get(index) != name for index, name in self._devices.items()):
            self._items, self._devices, self._stood = {}, {}, (b"", {})
            self._followable = False
        digest = _digest(datagrams)
        if digest == self._stood[0]:
            return dict(self._stood[1])
        whole = True
        made: dict[tuple[object, ...], _Items] = {}
        kinds: dict[tuple[object, ...], dict[tuple[object, ...], _Alike | None]] = {}
        objects: dict[str, ObservedObject] = {}
        several: dict[str, list[ObservedObject]] = {}
        current: Template | None = None
        alike: dict[tuple[object, ...], _Alike | None] = {}
        before: _Items = {}
        now: _Items = {}
        for template, values in rows(datagrams):
            if template is None:
                # It may depend on more than the message (what runs a program).
                whole = False
                item = self._build(decode(values), devices)
                key = item.object.key
            else:
                if template is not current:
                    current = template
                    before = self._items.get(template.shared, {})
                    now = made.setdefault(template.shared, {})
                    alike = kinds.setdefault(template.shared, {})
                identity = template.identity(values)
                if (known := before.get(identity)) is not None:
                    item = known
                # What all but the prefix makes: one for thousands of SIDs.
                elif (kind := identity[2:]) not in alike:
                    item = self._build(template.row(values), devices)
                    alike[kind] = _alike(item)
                elif (values_of := alike[kind]) is not None:
                    item = self._like(values_of, identity[:2])
                else:
                    item = self._build(template.row(values), devices)
                if isinstance(obj := item.object, SidRoute):
                    # Instead of the dump's copy of the address.
                    identity = packed(obj.prefix), *identity[1:]
                now[identity] = item
                key = obj.key
            if key in objects:
                several.setdefault(key, [objects[key]]).append(item)
            else:
                objects[key] = item
        for key, items in several.items():
            items.sort(key=_precedence)
            objects[key] = items[0]
            for item in items[1:]:
                further = _further(item)
                objects[further.object.key] = further
        before_all, self._items = self._items, made
        # One by one: freed at once, they would hold every thread.
        for known_items in before_all.values():
            while known_items:
                known_items.popitem()
        while self._expected:
            self._expected.popitem()
        # Where several lead to one prefix, a notification does not say which is left.
        self._followable = whole and not several
        self._stood = (digest, dict(objects)) if whole else (b"", {})
        return objects

    def followed(
        self, notices: Iterable[Notice], devices: Mapping[int, str]
    ) -> tuple[dict[str, ObservedObject], set[str]] | None:
        """What ``observed`` would give, from its last result and the notifications since, with the
        keys of the notifications. None when that is not certain: then a dump has to."""
        _, objects = self._stood
        if not self._followable or any(devices.get(i) != n for i, n in self._devices.items()):
            return None
        # Whatever becomes of it, it is no longer what that dump said.
        self._stood = b"", objects
        reported = set()
        for notice in notices:
            if (key := self._follow(objects, notice, devices)) is None:
                self._followable = False
                return None
            reported.add(key)
        return dict(objects), reported

    def _follow(
        self, objects: dict[str, ObservedObject], notice: Notice, devices: Mapping[int, str]
    ) -> str | None:
        """Take one in; its key, or None when it leaves the observed state in doubt. It may be older
        than the dump: then those that follow it end where the dump is."""
        row = decode(memoryview(notice.message))
        item = self._build(row, devices)
        if row.unknown or row.extras.bpf_program is not None:
            return None
        key = item.object.key
        known = objects.get(key)
        if notice.removed:
            if known is None:
                return key
            del objects[key]
            return key if known == item else None
        if known == item:
            return key
        if known is not None and not (notice.replaces and _same_place(known, item)):
            # One more to the same prefix.
            return None
        objects[key] = item
        return key

    def _build(self, row: Row, devices: Mapping[int, str]) -> ObservedObject:
        self._devices[row.oif] = devices.get(row.oif)
        if row.interface is not None:
            self._devices[row.interface] = devices.get(row.interface)
        item = _object(row, self._prefix((row.address, row.length)), devices)
        # A foreign route behind ours leaves room for it.
        return _further(item) if not item.ours and row.metric > SID_METRIC else item

    def _like(self, known: _Alike, place: tuple[bytes, int]) -> ObservedObject:
        """As ``_build`` would make it of a route of this kind."""
        values, ours = known
        route = self._expected.get(place)
        if route is None or _VALUES(route) != values:
            route = SidRoute(self._prefix(place), *values)
        return ObservedObject(route, ours)

    def _prefix(self, key: tuple[bytes, int]) -> Prefix:
        address, length = key
        prefixes = self._prefixes.setdefault(length, {})
        if (prefix := prefixes.get(address)) is None:
            prefix = prefixes[address] = Prefix.of(address, length)
        return prefix


def _alike(item: ObservedObject) -> _Alike | None:
    """What an item has in common with all of its kind; None where they differ in more."""
    return (_VALUES(item.object), item.ours) if isinstance(item.object, SidRoute) else None


def _same_place(one: ObservedObject, other: ObservedObject) -> bool:
    a, b = one.object, other.object
    return isinstance(a, SidRoute) and isinstance(b, SidRoute) and a.metric == b.metric


def _digest(datagrams: Sequence[bytes]) -> bytes:
    """Of all that the kernel said."""
    made = blake2b(digest_size=16)
    for datagram in datagrams:
        made.update(datagram)
    return made.digest()


def _object(row: Row, prefix: Prefix, devices: Mapping[int, str]) -> ObservedObject:
    ours = row.protocol == ROUTE_PROTOCOL
    device = devices.get(row.oif, f"if{row.oif}")
    if row.unknown:
        key = f"route6 table {row.table} {prefix}"
        description = f"{row.unknown}, dev {device}"
        return ObservedObject(
            UnknownRoute(key, 6, row.table, prefix, row.metric, description), ours
        )
    sid = SidRoute(
        prefix=prefix,
        action=BEHAVIOR[row.action],
        table=row.table,
        vrf_table=row.vrf_table,
        device=device,
        metric=row.metric,
        counters=row.counters is not None,
        lookup_table=row.lookup_table,
        next_hop=_address(row.next_hop),
        interface=(
            None if row.interface is None else devices.get(row.interface, f"if{row.interface}")
        ),
        segments=row.extras.segments,
        bpf_program=_program(row.extras),
        flavors=row.extras.flavors,
        csid_lengths=row.extras.csid_lengths,
    )
    return ObservedObject(sid, ours)


def _program(extras: Extras) -> str | None:
    """Path of the program; with its id when it is no longer the one that is pinned there."""
    path, held = extras.bpf_program, extras.bpf_id
    if path is None or held is None or bpf.pinned_id(path) in (None, held):
        return path
    return f"{path}, program {held}"


def _address(packed: bytes | None) -> IPv4Address | IPv6Address | None:
    if packed is None:
        return None
    return IPv4Address(packed) if len(packed) == 4 else IPv6Address(packed)


def _precedence(item: ObservedObject) -> tuple[bool, int]:
    route = item.object
    assert isinstance(route, SidRoute | UnknownRoute)
    return not (item.ours and route.metric == SID_METRIC), route.metric


def _further(item: ObservedObject) -> ObservedObject:
    route = item.object
    assert isinstance(route, SidRoute | UnknownRoute)
    description = route.description if isinstance(route, UnknownRoute) else f"{route.action}"
    key = f"{route.key} metric {route.metric}"
    return ObservedObject(
        UnknownRoute(key, 6, route.table, route.prefix, route.metric, description), item.ours
    )
