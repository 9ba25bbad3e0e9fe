"""Names of chains, functions and classifiers, which other maps have the numbers of."""

from __future__ import annotations

from enum import IntEnum

from srv6mgrd.chains import layout
from srv6mgrd.ebpf.libbpf import Map


class Named(IntEnum):
    CHAIN = 1
    FUNCTION = 2
    CLASSIFIER = 3


class NameTable:
    """The map, as it was read and since written."""

    def __init__(self, names: Map) -> None:
        self._map = names
        self._names = {
            layout.number_of(key): layout.name_of(value)
            for key, value in names.items(layout.NUMBER_SIZE)
        }
        self._numbers = {name: number for number, name in self._names.items()}
        self._next = max(self._names, default=0) + 1

    def of(self, number: int) -> str:
        """A number that has no name reads as one that none can have."""
        name = self._names.get(number)
        return f"number {number}" if name is None else name.text

    def number(self, kind: Named, text: str) -> int | None:
        return self._numbers.get(layout.NameKind(kind, text))

    def need(self, kind: Named, text: str) -> int:
        """The number of a name, which gets one if it has none. Raises ValueError when it is too
        long, or there are too many."""
        name = layout.NameKind(kind, text)
        if (known := self._numbers.get(name)) is not None:
            return known
        raw, number = layout.name(kind, text), self._next
        if failure := self._map.put(layout.number(number), raw):
            raise ValueError(f"name {text}: {failure.message}")
        self._next += 1
        self._names[number] = name
        self._numbers[name] = number
        return number

    def keep(self, kind: Named, used: set[int]) -> None:
        """Of a kind only these."""
        for number, name in list(self._names.items()):
            if name.kind == kind and number not in used:
                self._map.delete(layout.number(number))
                del self._names[number], self._numbers[name]
