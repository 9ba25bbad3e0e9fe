"""Accounting: the plan's objects in maps and hooks, written and read, and the counters."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from ipaddress import IPv6Address

from srv6mgrd.accounting import layout
from srv6mgrd.accounting.programs import AccountingPrograms, Maps
from srv6mgrd.accounting.tables import NO_VRF, Tables
from srv6mgrd.ebpf import libbpf
from srv6mgrd.kinds.accounting.object import (
    RECEIVED,
    SENT,
    AccountedPort,
    AccountedSid,
    AccountedVrf,
    AccountingHook,
    AccountingSources,
)
from srv6mgrd.kinds.accounting.object import AccountingPrograms as ProgramsObject
from srv6mgrd.kinds.object import Object
from srv6mgrd.model.accounting import Accounted, Count, Direction, Family, Row
from srv6mgrd.model.leaking import DEFAULT_VRF
from srv6mgrd.netlink import links
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.links import Link
from srv6mgrd.netlink.socket import NetlinkSocket
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.plan.observed import ObservedObject

_SIDES = {SENT: libbpf.EGRESS, RECEIVED: libbpf.INGRESS}


class Accounting:
    """Reads and writes the kinds of ``kinds.accounting``. Not thread-safe."""

    def __init__(self, netlink: NetlinkSocket, programs: AccountingPrograms | None = None) -> None:
        self._netlink = netlink
        self._programs = programs or AccountingPrograms()
        self._tables: Tables | None = None
        self._links: Mapping[str, int] = {}
        # Whether pins are left of interfaces that are gone.
        self._untidy = False
        # Segments by the key of their list: a list never changes.
        self._lists: dict[bytes, tuple[IPv6Address, ...]] = {}
        self._others: Mapping[tuple[Direction, Family], Count] = {}
        # When the maps began to count, as last seen.
        self._since = 0

    def close(self) -> None:
        self._programs.close()

    # Reading.

    def observe(self, found: Sequence[Link]) -> Iterator[ObservedObject]:
        """What is in place, given all links."""
        self._links = {link.name: link.index for link in found}
        if not self._programs.present:
            return
        names = {index: name for name, index in self._links.items()}
        self._tables = None
        tables, intact = self._opened(), self._programs.intact
        objects: list[Object] = [ProgramsObject(intact and tables is not None)]
        if tables is not None:
            objects += self._in_maps(tables, names)
        objects += self._hooks(names, intact=intact)
        yield from (ObservedObject(obj, ours=True) for obj in objects)

    @staticmethod
    def _in_maps(tables: Tables, names: Mapping[int, str]) -> Iterator[Object]:
        if sources := tables.sources():
            yield AccountingSources(sources)
        for name, ifindex in tables.accounted_vrfs():
            yield AccountedVrf(name, ifindex)
        for ifindex, of in tables.accounted_ports():
            # One that has gone has no name, and is to be removed.
            yield AccountedPort(names.get(ifindex, f"if{ifindex}"), ifindex, of)
        for prefix, vrf, families in tables.sids():
            yield AccountedSid(prefix, vrf, families)

    def _hooks(self, names: Mapping[int, str], *, intact: bool) -> Iterator[Object]:
        ids = self._programs.ids()
        for item in self._programs.hooks.attached():
            self._untidy |= not item.ifindex
            if (name := names.get(item.ifindex)) is not None:
                program = ids.get(item.program_id)
                side = SENT if item.side == libbpf.EGRESS else RECEIVED
                yield AccountingHook(name, program or side, program is not None and intact)

    def accounted(self, lists: Iterable[Sequence[IPv6Address]] = ()) -> Accounted:
        """All rows, with what all CPUs counted; those of VRFs that are not declared are left
        out. The rows of these segment lists, which are declared, never make room for others."""
        tables = self._opened() if self._programs.present else None
        if tables is None:
            return Accounted()
        maps = tables.maps
        vrfs = {number: vrf.name for number, vrf in tables.vrfs.items() if vrf.ifindex}
        vrfs[NO_VRF] = DEFAULT_VRF
        rows: dict[Direction, dict[Row, Count]] = {direction: {} for direction in Direction}
        used = unseen = 0
        digests = set()
        for key, value in maps.rows.items(layout.KEY_SIZE):
            used += 1
            number, direction, family, digest, remote = layout.key_of(key)
            if (vrf := vrfs.get(number)) is None:
                unseen += 1
                continue
            segments = self._segments(maps, digest) if digest else ()
            digests.add(digest)
            rows[direction][Row(vrf, family, remote, segments)] = layout.count_of(value)
        if crowded := unseen > 0 and used > layout.ALMOST * layout.MAX_ROWS:
            tables.forget()
        crowded |= len(digests) > layout.ALMOST * layout.MAX_LISTS
        others = _others(maps)
        if crowded or others != self._others:
            folded = tables.drop_lists({b"".join(one.packed for one in some) for some in lists})
            self._lists = {d: known for d, known in self._lists.items() if d in digests}
            others = self._others = _others(maps)
            if folded:
                return self.accounted(lists)
        return Accounted(self._began(), rows, others)

    def _segments(self, maps: Maps, digest: bytes) -> tuple[IPv6Address, ...]:
        if (known := self._lists.get(digest)) is None:
            raw = maps.lists.get(digest)
            known = self._lists[digest] = () if raw is None else layout.segments_of(raw)
        return known

    def _began(self) -> int:
        """When the maps were made: they are pinned at once. Somebody may have removed a pin since;
        the maps go on counting, and the next repair pins them again."""
        with contextlib.suppress(FileNotFoundError):
            self._since = (self._programs.folder / "maps" / "rows").stat().st_mtime_ns
        return self._since

    # Writing.

    def forget(self, names: Set[str]) -> None:
        """These links are others than when they were observed."""
        if names:
            self._links = {n: link for n, link in self._links.items() if n not in names}

    def apply(self, action: Action) -> Failure | None:
        if self._untidy:
            self._programs.hooks.tidy()
            self._untidy = False
        match action:
            case Create(ProgramsObject()) | Replace(_, ProgramsObject()):
                self._tables = None
                return self._programs.install()
            case Delete(ProgramsObject()):
                self._tables, self._lists = None, {}
                self._programs.remove()
                return None
            case Create(AccountingHook() as hook) | Replace(_, AccountingHook() as hook):
                return self._attach(hook)
            case Delete(AccountingHook() as hook):
                if (ifindex := self._ifindex(hook.interface)) is not None:
                    self._programs.hooks.take_down(ifindex, _SIDES[hook.program])
                return None
        tables = self._opened()
        if isinstance(action, Delete):
            if tables is not None:
                self._take(tables, action.object)
            return None
        if tables is None:
            return _not_loaded()
        match action:
            case Replace(AccountedPort() as before, AccountedPort()):
                tables.take_port(before.ifindex)
        return self._put(tables, action.object)

    def _put(self, tables: Tables, obj: Object) -> Failure | None:
        match obj:
            case AccountingSources():
                return tables.put_sources(obj.addresses)
            case AccountedVrf():
                return tables.put_vrf(obj.name, obj.ifindex)
            case AccountedPort():
                return tables.put_port(obj.ifindex, obj.vrf)
            case AccountedSid():
                return tables.put_sid(obj.prefix, obj.vrf, obj.families)
        return Failure(errno.EOPNOTSUPP, f"{obj.key} is no part of accounting")

    def _take(self, tables: Tables, obj: Object) -> None:
        match obj:
            case AccountingSources():
                tables.put_sources(())
            case AccountedVrf():
                tables.take_vrf(obj.name, obj.ifindex)
            case AccountedPort():
                tables.take_port(obj.ifindex)
            case AccountedSid():
                tables.take_sid(obj.prefix)

    def _opened(self) -> Tables | None:
        """The maps, as they were last observed and since written."""
        if self._tables is None and (maps := self._programs.maps()) is not None:
            self._tables = Tables(maps)
        return self._tables

    def _attach(self, hook: AccountingHook) -> Failure | None:
        ifindex = self._ifindex(hook.interface)
        if ifindex is None:
            return None
        program = self._programs.program(hook.program)
        if program is None:
            return _not_loaded()
        try:
            failure = self._programs.hooks.hang(ifindex, _SIDES[hook.program], program)
        finally:
            os.close(program)
        # The interface may have gone meanwhile.
        return None if failure is not None and failure.errno == errno.ENODEV else failure

    def _ifindex(self, name: str) -> int | None:
        if (known := self._links.get(name)) is not None:
            return known
        answer = self._netlink.read(links.get(name))
        return None if isinstance(answer, Failure) else links.decode(answer).index


def _others(maps: Maps) -> dict[tuple[Direction, Family], Count]:
    found = {}
    for place in range(layout.OTHERS):
        key = layout.number(place)
        count = layout.count_of(maps.others.get(key) or b"")
        count += layout.count_of(maps.folded.get(key) or b"")
        if count.packets or count.outer_octets:
            found[layout.other_of(place)] = count
    return found


def _not_loaded() -> Failure:
    return Failure(errno.ENOENT, "the programs of accounting are not loaded")
