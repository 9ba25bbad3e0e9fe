"""Paths of chains in their maps, and which of them flows take."""

from __future__ import annotations

import errno
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from srv6mgrd.chains import layout
from srv6mgrd.chains.layout import PathInside, PathValue, SelectorKey
from srv6mgrd.chains.names import Named, NameTable
from srv6mgrd.chains.programs import Maps
from srv6mgrd.chains.selection import select
from srv6mgrd.ebpf import libbpf
from srv6mgrd.kinds.chain.object import ServicePath
from srv6mgrd.model.chain_state import ChainDrops, PathName, Traffic
from srv6mgrd.model.chains import FunctionState, Way
from srv6mgrd.netlink.errors import Failure


class _Placed(NamedTuple):
    number: int
    path: ServicePath


class PathTable:
    """Paths are written at once; what flows take is computed for all that changed by ``settle``."""

    def __init__(self, maps: Maps, names: NameTable) -> None:
        self._maps = maps
        self._names = names
        self._selectors: dict[SelectorKey, int] = {}
        # By selector, then by key.
        self._paths: dict[int, dict[str, _Placed]] = {}
        self._read()
        self._states = {
            layout.name_of(key).text: layout.state_of(value)
            for key, value in maps.states.items(layout.NAME_SIZE)
        }
        taken = {placed.number for some in self._paths.values() for placed in some.values()}
        self._free = [n for n in range(layout.MAX_PATHS - 1, 0, -1) if n not in taken]
        used = set(self._selectors.values())
        self._free_selectors = [n for n in range(layout.MAX_SELECTORS - 1, 0, -1) if n not in used]
        self._changed: set[int] = set()
        # Numbers and places.
        self._gone: list[tuple[int, bytes]] = []

    def _read(self) -> None:
        keys: dict[int, SelectorKey] = {}
        for raw, value in self._maps.selectors.items(layout.NUMBER_SIZE):
            key = layout.selector_of(value)
            keys[layout.number_of(raw)] = key
            self._selectors[key] = layout.number_of(raw)
        records = dict(self._maps.path_records.items(layout.NUMBER_SIZE))
        for raw, value in self._maps.paths.items(layout.NUMBER_SIZE):
            found = PathValue.unpack(value)
            selector = keys.get(found.selector)
            if selector is None or (record := records.get(raw)) is None:
                continue
            preference, weight, functions = layout.path_record_of(record)
            path = ServicePath(
                self._names.of(selector.chain),
                selector.way,
                selector.family,
                tuple(map(self._names.of, functions)),
                found.segments,
                found.source,
                preference,
                weight,
            )
            placed = _Placed(layout.number_of(raw), path)
            self._paths.setdefault(found.selector, {})[path.key] = placed

    # Reading.

    def paths(self) -> Iterator[ServicePath]:
        for some in self._paths.values():
            yield from (placed.path for placed in some.values())

    def path_counts(self) -> dict[PathName, Traffic]:
        last = max((p.number for some in self._paths.values() for p in some.values()), default=0)
        counted = counts_of(self._maps.path_counts, last)
        return {
            PathName(p.path.chain, p.path.way, p.path.family, p.path.functions): layout.traffic_of(
                counted[p.number]
            )
            for some in self._paths.values()
            for p in some.values()
        }

    def drop_counts(self) -> dict[tuple[str, Way], ChainDrops]:
        counted = counts_of(self._maps.drop_counts, max(self._selectors.values(), default=0))
        found: dict[tuple[str, Way], ChainDrops] = {}
        for key, number in self._selectors.items():
            name = self._names.of(key.chain), key.way
            found[name] = found.get(name, ChainDrops()) + layout.drops_of(counted[number])
        return found

    @property
    def states(self) -> Mapping[str, FunctionState]:
        """Of functions that anything is known of."""
        return self._states

    # Writing.

    def selector(self, key: SelectorKey) -> int:
        """The number of a selector, which is made without a path if there is none. Raises
        ValueError when there are too many."""
        if (known := self._selectors.get(key)) is not None:
            return known
        if not self._free_selectors:
            raise ValueError(f"there are {layout.MAX_SELECTORS} ways through chains already")
        number = self._free_selectors[-1]
        zero = bytes(layout.DROPS_SIZE * libbpf.possible_cpus())
        self._maps.drop_counts.put(layout.number(number), zero)
        empty = layout.selector(key, [0] * layout.SLOTS)
        if failure := self._maps.selectors.put(layout.number(number), empty):
            raise ValueError(failure.message)
        self._free_selectors.pop()
        self._selectors[key] = number
        return number

    def put(self, path: ServicePath) -> Failure | None:
        if len(path.segments) > layout.MAX_SEGMENTS or len(path.functions) > layout.MAX_FUNCTIONS:
            return Failure(
                errno.E2BIG,
                f"{len(path.segments)} segments by {len(path.functions)} functions;"
                f" {layout.MAX_SEGMENTS} and {layout.MAX_FUNCTIONS} are possible",
            )
        try:
            chain = self._names.need(Named.CHAIN, path.chain)
            functions = [self._names.need(Named.FUNCTION, name) for name in path.functions]
            selector = self.selector(SelectorKey(chain, path.way, path.family))
        except ValueError as error:
            return Failure(errno.ENOSPC, str(error))
        some = self._paths.setdefault(selector, {})
        known = some.get(path.key)
        if known is None and not self._free:
            return Failure(errno.ENOSPC, f"there are {layout.MAX_PATHS - 1} paths already")
        number = self._free[-1] if known is None else known.number
        key = layout.number(number)
        if known is None:
            zero = bytes(layout.COUNT_SIZE * libbpf.possible_cpus())
            self._maps.path_counts.put(key, zero)
        record = layout.path_record(path.preference, path.weight, functions)
        place = layout.place_of(path.functions)
        inside = PathInside(path.family, place)
        value = layout.path(number, selector, path.source, path.segments, inside)
        if failure := (
            self._maps.path_records.put(key, record)
            or self._maps.paths.put(key, value)
            or self._maps.places.put(layout.place_key(selector, place), key)
        ):
            return failure
        if known is None:
            self._free.pop()
        some[path.key] = _Placed(number, path)
        self._changed.add(selector)
        return None

    def take(self, path: ServicePath) -> None:
        chain = self._names.number(Named.CHAIN, path.chain)
        if chain is None:
            return
        selector = self._selectors.get(SelectorKey(chain, path.way, path.family))
        if selector is None or path.key not in self._paths.get(selector, {}):
            return
        number = self._paths[selector].pop(path.key).number
        self._gone.append((number, layout.place_key(selector, layout.place_of(path.functions))))
        self._changed.add(selector)

    def set_states(self, states: Mapping[str, FunctionState]) -> Failure | None:
        """Those of other functions stay."""
        differing = {
            name: state
            for name, state in states.items()
            if self._states.get(name, FunctionState.UP) is not state
        }
        if not differing:
            return None
        # First: of some the state may be written, and not be among those that differ next time.
        for selector, some in self._paths.items():
            if any(not differing.keys().isdisjoint(p.path.functions) for p in some.values()):
                self._changed.add(selector)
        for name, state in differing.items():
            try:
                key = layout.name(Named.FUNCTION, name)
            except ValueError as error:
                return Failure(errno.ENAMETOOLONG, str(error))
            if failure := self._maps.states.put(key, layout.state(state)):
                return failure
            self._states[name] = state
        return self.settle()

    def settle(self, used_chains: Collection[int] | None = None) -> Failure | None:
        """Write what flows take. With ``used_chains``, those that rules name, ways through others
        go when they have no path."""
        keys = {number: key for key, number in self._selectors.items()}
        for selector in self._changed:
            if failure := self._write_slots(selector, keys[selector]):
                return failure
        self._changed.clear()
        for number, place in self._gone:
            key = layout.number(number)
            self._set_usable(number, 0)
            # Another path may have come into it.
            if self._maps.places.get(place) == key:
                self._maps.places.delete(place)
            self._maps.paths.delete(key)
            self._maps.path_records.delete(key)
            self._free.append(number)
        self._gone = []
        if used_chains is not None:
            self._tidy(keys, used_chains)
        return None

    def resettle(self) -> Failure | None:
        """The same of all paths, as after a process that died before it had written them."""
        self._changed.update(self._paths)
        return self.settle()

    def _write_slots(self, selector: int, key: SelectorKey) -> Failure | None:
        placed = list(self._paths.get(selector, {}).values())
        selection = select([one.path for one in placed], self._states)
        slots = [0 if n is None else placed[n].number for n in selection.slots]
        # Paths that new flows take have to be usable before, those that they leave until then.
        for number in {slots[n] for n in range(layout.SLOTS)} - {0}:
            self._set_usable(number, selector)
        if failure := self._maps.selectors.put(
            layout.number(selector), layout.selector(key, slots)
        ):
            return failure
        for place, one in enumerate(placed):
            self._set_usable(one.number, selector if place in selection.kept else 0)
        return None

    def _set_usable(self, number: int, selector: int) -> None:
        """By the flows of a selector, or of none: those that a path had are forgotten then."""
        key = layout.number(number)
        raw = self._maps.usable.get(key)
        before, epoch = layout.usable_of(raw) if raw is not None else (0, 0)
        if before != selector:
            epoch = epoch + 1 & 0xFFFFFFFF if before else epoch
            self._maps.usable.put(key, layout.usable(selector, epoch))

    def _tidy(self, keys: Mapping[int, SelectorKey], used_chains: Collection[int]) -> None:
        for number, key in keys.items():
            if not self._paths.get(number) and key.chain not in used_chains:
                self._paths.pop(number, None)
                self._maps.selectors.delete(layout.number(number))
                del self._selectors[key]
                self._free_selectors.append(number)
        self._names.keep(Named.CHAIN, {key.chain for key in self._selectors} | set(used_chains))
        functions = {name for path in self.paths() for name in path.functions}
        numbers = {self._names.number(Named.FUNCTION, name) for name in functions}
        self._names.keep(Named.FUNCTION, {number for number in numbers if number is not None})


def counts_of(counts: libbpf.Map, last: int) -> list[bytes]:
    """Elements of an array up to this one."""
    found: list[bytes] = []
    for _, value in counts.items(layout.NUMBER_SIZE):
        found.append(value)
        if len(found) > last:
            break
    return found
