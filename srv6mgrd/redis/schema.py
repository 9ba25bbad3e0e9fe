"""The tables of ``redis-schema/``: names, separators, keys and fields, stated there and only there.

A checkout reads them there; an installed package holds a copy in ``srv6mgrd/redis/tables/``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import Any, NamedTuple


class RowKey(NamedTuple):
    """A key of a database, by the database's name."""

    db: str
    key: str


# First line of a script that needs another one.
_WITH = "-- with "

Fields = Mapping[str, str]
Row = tuple[RowKey, Fields]


class Kind(StrEnum):
    """Redis type of a table."""

    HASH = "hash"
    SET = "set"
    COUNTER = "counter"


@dataclass(frozen=True, slots=True)
class Value:
    """A part of a key, a field, or either side of a map: its type and meaning."""

    name: str
    type: str
    meaning: str
    values: tuple[str, ...] = ()
    required: bool = False

    def fault(self, text: str) -> str | None:
        """What is wrong with this text, None for nothing."""
        ok = text in self.values if self.type == "enum" else _TYPES[self.type](text)
        return None if ok else f"{self.name}: {text!r} is no {self.type}"


# Each is one object, so that it may be a key.
@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table. ``map`` is (name, value) of a hash with a field for each object, else None.

    ``shared``: a hash of which only some fields are ours. ``watched``: a change by somebody else
    is noticed at once. ``consumed``: a reader may be a ConsumerStateTable. ``order``: tables are
    written in rising, removed in falling order.
    """

    name: str
    database: str
    id: int
    separator: str
    kind: Kind
    order: int
    shared: bool
    watched: bool
    consumed: bool
    parts: tuple[Value, ...]
    fields: Mapping[str, Value]
    map: tuple[Value, ...]
    meaning: str
    writer: str
    reader: str
    source: tuple[str, ...]
    deviations: tuple[str, ...]
    prefix: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prefix", self.name + (self.separator if self.parts else ""))

    def key(self, *parts: object) -> RowKey:
        """The key with these parts."""
        if len(parts) != len(self.parts):
            raise TypeError(f"{self.name} has {len(self.parts)} key parts, not {len(parts)}")
        return RowKey(self.database, self.prefix + self.separator.join(map(str, parts)))

    def row(self, *parts: object, **fields: object) -> Row:
        """A row; fields that are None are left out. Names that the schema lacks are rejected."""
        if unknown := fields.keys() - self.fields.keys():
            raise TypeError(f"{self.name} has no field {', '.join(sorted(unknown))}")
        return self.key(*parts), {n: str(v) for n, v in fields.items() if v is not None}

    def faults(self, key: str, fields: Fields) -> list[str]:
        """Where a row departs from the schema."""
        out = [*self._key_faults(key)]
        if self.map:
            name, value = self.map
            out += [f for n in fields if (f := name.fault(n))]
            out += [f for v in fields.values() if (f := value.fault(v))]
        else:
            missing = [n for n, v in self.fields.items() if v.required and n not in fields]
            out += [f"{n}: missing" for n in missing]
            for n, text in fields.items():
                fault = self.fields[n].fault(text) if n in self.fields else f"{n}: unknown field"
                out += [fault] if fault else []
        if not fields:
            out.append("no fields")
        return out

    def _key_faults(self, key: str) -> list[str]:
        if not key.startswith(self.prefix):
            return [f"{key}: does not start with {self.prefix}"]
        if not self.parts:
            return [] if key == self.prefix else [f"{key}: is not {self.prefix}"]
        # The last part may hold separators: so do readers in SONiC cut an IPv6 address off.
        texts = key.removeprefix(self.prefix).split(self.separator, len(self.parts) - 1)
        if len(texts) != len(self.parts):
            return [f"{key}: has {len(texts)} parts, not {len(self.parts)}"]
        return [f for p, t in zip(self.parts, texts, strict=True) if (f := p.fault(t))]


@cache
def tables() -> tuple[Table, ...]:
    """All tables, by database id and name."""
    found = [_table(tomllib.loads(f.read_text(encoding="utf-8"))) for f in _folder().glob("*.toml")]
    return tuple(sorted(found, key=lambda t: (t.id, t.name)))


@cache
def table(database: str, name: str) -> Table:
    return next(t for t in tables() if (t.database, t.name) == (database, name))


@cache
def script(name: str) -> str:
    """Text of a Lua script that lies with the schema, behind those that it begins by naming."""
    text = (_folder() / f"{name}.lua").read_text(encoding="utf-8")
    first, _, _ = text.partition("\n")
    if first.startswith(_WITH):
        return script(first.removeprefix(_WITH)) + text
    return text


@cache
def _folder() -> Path:
    here = Path(__file__).resolve()
    packaged = here.parent / "tables"
    return packaged if packaged.is_dir() else here.parents[2] / "redis-schema"


@cache
def _by_name() -> Mapping[tuple[str, str], Table]:
    return {(t.database, t.name): t for t in tables()}


def table_of(row: RowKey) -> Table | None:
    """The table that a key belongs to; None when it is none of ours."""
    for separator in (":", "|"):
        found = _by_name().get((row.db, row.key.partition(separator)[0]))
        if found is not None and row.key.startswith(found.prefix):
            return found
    return None


def _table(t: dict[str, Any]) -> Table:
    parts = t.get("parts", {})
    return Table(
        name=t["name"],
        database=t["database"],
        id=t["id"],
        separator=t["separator"],
        kind=Kind(t.get("kind", "hash")),
        order=t.get("order", 0),
        shared=t.get("shared", False),
        watched=t.get("watched", True),
        consumed=t.get("consumed", False),
        parts=tuple(_value(name, parts[name]) for name in t.get("key", ())),
        fields={n: _value(n, v) for n, v in t.get("fields", {}).items()},
        map=tuple(_value(n, v) for n, v in t.get("map", {}).items()),
        meaning=t["meaning"],
        writer=t["writer"],
        reader=t["reader"],
        source=tuple(t["source"]),
        deviations=tuple(t["deviations"]),
    )


def _value(name: str, v: dict[str, Any]) -> Value:
    return Value(
        name, v["type"], v["meaning"], tuple(v.get("values", ())), v.get("required", False)
    )


def _canonical(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def ok(text: str) -> bool:
        try:
            return str(parse(text)) == text
        except ValueError:
            return False

    return ok


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


_ADDRESS = _canonical(IPv6Address)
_LENGTH = _matches(r"0|[1-9][0-9]?|1[01][0-9]|12[0-8]")


def _sid_name(text: str) -> bool:
    # An address with a length, not a prefix: the SID may have bits beyond the length.
    address, _, length = text.partition("/")
    return _ADDRESS(address) and _LENGTH(length)


def _uint64(text: str) -> bool:
    return _matches(r"0|[1-9][0-9]{0,19}")(text) and int(text) < 1 << 64


TYPES: Mapping[str, str] = {
    "length": "number of bits, 0 to 128",
    "ipv6-address": "IPv6 address, lower-case RFC 5952 text",
    "ipv6-prefix": "IPv6 prefix, lower-case RFC 5952 text, no bits beyond its length",
    "sid-name": "IPv6 address, slash, number of bits",
    "vrf-name": "Linux device name, 1 to 15 characters",
    "oid": "`oid:0x54` and 12 hexadecimal digits: SAI object identifier of type COUNTER",
    "counted-oid": "the same, or `oid:0x21000000000000`: the switch",
    "uint64": "decimal number of 64 bits",
    "date-and-time": "RFC 3339 time in UTC",
    "enum": "one of the values listed",
    "string": "text",
}
_TYPES: Mapping[str, Callable[[str], bool]] = {
    "length": _LENGTH,
    "ipv6-address": _ADDRESS,
    "ipv6-prefix": _canonical(IPv6Network),
    "sid-name": _sid_name,
    "vrf-name": _matches(r"[^/\s]{1,15}"),
    "oid": _matches(r"oid:0x54[0-9a-f]{12}"),
    "counted-oid": _matches(r"oid:0x(54[0-9a-f]{12}|21000000000000)"),
    "uint64": _uint64,
    "date-and-time": _matches(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"),
    "string": lambda _: True,
}
