"""The configuration of accounting in its maps, as it was read and since written: one SID more needs
no look at the others."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from ipaddress import IPv6Address, IPv6Network
from typing import NamedTuple

from srv6mgrd.accounting import layout
from srv6mgrd.accounting.programs import Maps
from srv6mgrd.model.accounting import Family
from srv6mgrd.netlink.errors import Failure

# Number of the default VRF.
NO_VRF = 0


class AccountedName(NamedTuple):
    """A VRF; ``ifindex`` is 0 while it is not declared. Its number stays: made again under its name
    it goes on counting, and no other VRF gets what it counted."""

    name: str
    ifindex: int


class Tables:
    """Reads and writes all maps but those of the counters."""

    def __init__(self, maps: Maps) -> None:
        self.maps = maps

    @cached_property
    def vrfs(self) -> dict[int, AccountedName]:
        """By number."""
        return {
            layout.number_of(key): AccountedName(*layout.vrf_of(value))
            for key, value in self.maps.names.items(layout.NUMBER_SIZE)
        }

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {vrf.name: number for number, vrf in self.vrfs.items()}

    @cached_property
    def _lengths(self) -> Counter[int]:
        keys = self.maps.sids.items(layout.PREFIX_SIZE)
        return Counter(layout.prefix_of(key).prefixlen for key, _ in keys)

    # Reading.

    def accounted_vrfs(self) -> Iterator[tuple[str, int]]:
        """Name and ifindex of VRFs that the programs know."""
        for number, vrf in self.vrfs.items():
            if self.maps.vrfs.get(layout.number(vrf.ifindex)) == layout.number(number):
                yield vrf.name, vrf.ifindex

    def accounted_ports(self) -> Iterator[tuple[int, str]]:
        """Ifindex and VRF of ports that the programs know."""
        devices = {vrf.ifindex for vrf in self.vrfs.values()}
        for key, value in self.maps.vrfs.items(layout.NUMBER_SIZE):
            ifindex, vrf = layout.number_of(key), self.vrfs.get(layout.number_of(value))
            if ifindex not in devices:
                yield ifindex, "" if vrf is None else vrf.name

    def sids(self) -> Iterator[tuple[IPv6Network, str | None, tuple[Family, ...]]]:
        """Prefix, VRF (None: the default one) and families. A number that no VRF has reads as a
        name that none can have, so that the SID is written again."""
        for key, value in self.maps.sids.items(layout.PREFIX_SIZE):
            number, families = layout.sid_of(value)
            vrf = self.vrfs.get(number)
            name = f"number {number}" if vrf is None else vrf.name
            yield layout.prefix_of(key), None if number == NO_VRF else name, families

    def sources(self) -> tuple[IPv6Address, ...]:
        first = layout.first_source(self.maps.nodes.get(layout.FIRST) or bytes(layout.NODE_SIZE))
        if not int(first):
            return ()
        more = (IPv6Address(key) for key, _ in self.maps.sources.items(layout.ADDRESS_SIZE))
        return first, *sorted(more)

    # Writing.

    def put_vrf(self, name: str, ifindex: int) -> Failure | None:
        if len(self.vrfs) >= layout.MAX_VRFS:
            self.forget()
        number = self._numbers.get(name)
        if number is None:
            number = max(self.vrfs, default=NO_VRF) + 1
        elif self.vrfs[number].ifindex not in (0, ifindex):
            self.maps.vrfs.delete(layout.number(self.vrfs[number].ifindex))
        return self._name(number, AccountedName(name, ifindex)) or self.maps.vrfs.put(
            layout.number(ifindex), layout.number(number)
        )

    def take_vrf(self, name: str, ifindex: int) -> None:
        if (number := self._numbers.get(name)) is None:
            return
        self._name(number, AccountedName(name, 0))
        key = layout.number(ifindex)
        # Another VRF may have taken over its table, and its ifindex with that.
        if self.maps.vrfs.get(key) == layout.number(number):
            self.maps.vrfs.delete(key)

    def put_port(self, ifindex: int, vrf: str) -> Failure | None:
        number = self._numbers.get(vrf)
        if number is None:
            return Failure(errno.ENOENT, f"VRF {vrf} is not accounted")
        return self.maps.vrfs.put(layout.number(ifindex), layout.number(number))

    def take_port(self, ifindex: int) -> None:
        self.maps.vrfs.delete(layout.number(ifindex))

    def _name(self, number: int, vrf: AccountedName) -> Failure | None:
        if failure := self.maps.names.put(layout.number(number), layout.vrf(*vrf)):
            return failure
        self.vrfs[number] = vrf
        self._numbers[vrf.name] = number
        return None

    def forget(self) -> None:
        """Make room: VRFs that are not declared lose their rows."""
        gone = {number for number, vrf in self.vrfs.items() if not vrf.ifindex}
        for key in [k for k, _ in self.maps.rows.items(layout.KEY_SIZE)]:
            if layout.vrf_of_key(key) in gone:
                self.maps.rows.delete(key)
        for number in gone:
            self.maps.names.delete(layout.number(number))
            del self._numbers[self.vrfs.pop(number).name]

    def drop_lists(self, keep: Collection[bytes]) -> bool:
        """Make room for segment lists: those go that no row has, then those that are not in
        ``keep``, with their rows. What these counted goes on in ``folded``. Whether rows went."""
        rows: dict[bytes, list[bytes]] = {}
        for key, _ in self.maps.rows.items(layout.KEY_SIZE):
            rows.setdefault(layout.key_of(key)[3], []).append(key)
        found = dict(self.maps.lists.items(layout.DIGEST_SIZE))
        for digest in [one for one in found if one not in rows]:
            del found[digest]
            self.maps.lists.delete(digest)
        if len(found) <= layout.ALMOST * layout.MAX_LISTS:
            return False
        gone = [digest for digest, one in found.items() if layout.segment_list(one) not in keep]
        for digest in gone:
            # Before its rows: a row that a packet makes meanwhile comes with its list again.
            self.maps.lists.delete(digest)
            for key in rows[digest]:
                self._fold(key)
        return bool(gone)

    def _fold(self, key: bytes) -> None:
        value = self.maps.rows.get(key)
        self.maps.rows.delete(key)
        _, direction, family, _, _ = layout.key_of(key)
        place = layout.number(layout.place_of(direction, family))
        counted = layout.count_of(value or b"") + layout.count_of(
            self.maps.folded.get(place) or b""
        )
        self.maps.folded.put(place, layout.count(counted))

    def put_sid(
        self, prefix: IPv6Network, vrf: str | None, families: Sequence[Family]
    ) -> Failure | None:
        number = NO_VRF if vrf is None else self._numbers.get(vrf)
        if number is None:
            return Failure(errno.ENOENT, f"VRF {vrf} is not accounted")
        key, lengths = layout.prefix_key(prefix), self._lengths
        known = self.maps.sids.get(key) is not None
        if failure := self.maps.sids.put(key, layout.sid(number, families)):
            return failure
        lengths[prefix.prefixlen] += not known
        return self._write_node(self.sources()) if lengths[prefix.prefixlen] == 1 else None

    def take_sid(self, prefix: IPv6Network) -> None:
        key, lengths = layout.prefix_key(prefix), self._lengths
        if self.maps.sids.get(key) is None:
            return
        self.maps.sids.delete(key)
        lengths[prefix.prefixlen] -= 1
        if not lengths[prefix.prefixlen]:
            self._write_node(self.sources())

    def put_sources(self, addresses: Sequence[IPv6Address]) -> Failure | None:
        wanted = {address.packed for address in addresses[1:]}
        known = {key for key, _ in self.maps.sources.items(layout.ADDRESS_SIZE)}
        for key in wanted - known:
            if failure := self.maps.sources.put(key, layout.FIRST):
                return failure
        if failure := self._write_node(addresses):
            return failure
        for key in known - wanted:
            self.maps.sources.delete(key)
        return None

    def _write_node(self, sources: Sequence[IPv6Address]) -> Failure | None:
        try:
            node = layout.node(+self._lengths, sources)
        except ValueError as error:
            return Failure(errno.E2BIG, str(error))
        nodes = self.maps.nodes
        return None if nodes.get(layout.FIRST) == node else nodes.put(layout.FIRST, node)
