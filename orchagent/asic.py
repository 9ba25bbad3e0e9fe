"""The view: objects as sairedis would have them in ASIC_DB. It programs no ASIC."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import TypeVar

from orchagent import sai, sai_tunnels
from orchagent.backend import Rejected
from orchagent.nodes import ROUTER, Create, Kind, Node, Operation, Remove
from orchagent.plans import address, destination
from orchagent.sai import Attributes, Reference
from srv6mgrd.redis.connection import Line, dumps, loads, text
from srv6mgrd.redis.schema import table
from srv6mgrd.redis.wire import DATABASES

_DB = "ASIC_DB"
_STATE = table(_DB, "ASIC_STATE")
_OWNED, _OIDS = table(_DB, "SRV6MGR_OWNED"), table(_DB, "SRV6MGR_OID")
_NAMES, _SID_OIDS = (
    table("COUNTERS_DB", "COUNTERS_SRV6_NAME_MAP"),
    table("COUNTERS_DB", "SRV6MGR_SID_OID"),
)
# No ASIC limits the view; ``crm show resources`` wants a number.
_ROOM = (1 << 32) - 1
_BATCH = 500
_T = TypeVar("_T")

# SAI inc/saitypes.h: the number of each object type, which is part of its identifiers.
_TYPES: Mapping[Kind, tuple[str, int]] = {
    Kind.VRF: ("SAI_OBJECT_TYPE_VIRTUAL_ROUTER", 0x03),
    Kind.ROUTER_INTERFACE: ("SAI_OBJECT_TYPE_ROUTER_INTERFACE", 0x06),
    Kind.NEXT_HOP: ("SAI_OBJECT_TYPE_NEXT_HOP", 0x04),
    Kind.SRV6_NEXT_HOP: ("SAI_OBJECT_TYPE_NEXT_HOP", 0x04),
    Kind.GROUP: ("SAI_OBJECT_TYPE_NEXT_HOP_GROUP", 0x05),
    Kind.GROUP_MEMBER: ("SAI_OBJECT_TYPE_NEXT_HOP_GROUP_MEMBER", 0x2D),
    Kind.TUNNEL_MAP: ("SAI_OBJECT_TYPE_TUNNEL_MAP", 0x29),
    Kind.TUNNEL: ("SAI_OBJECT_TYPE_TUNNEL", 0x2A),
    Kind.TUNNEL_TERM: ("SAI_OBJECT_TYPE_TUNNEL_TERM_TABLE_ENTRY", 0x2B),
    Kind.TUNNEL_MAP_ENTRY: ("SAI_OBJECT_TYPE_TUNNEL_MAP_ENTRY", 0x3B),
    Kind.SID_LIST: ("SAI_OBJECT_TYPE_SRV6_SIDLIST", 0x3D),
    Kind.COUNTER: ("SAI_OBJECT_TYPE_COUNTER", 0x54),
}
# Objects without an identifier: their key describes them.
_KEYED = frozenset({Kind.NEIGHBOR_ENTRY, Kind.SID, Kind.ROUTE})
# An attribute that is a list of objects.
_LISTS = frozenset({"SAI_TUNNEL_ATTR_ENCAP_MAPPERS"})
_KINDS: Mapping[int, str] = {int(kind): kind.name for kind in Kind}
SWITCH = "oid:0x21000000000000"
_SWITCH_KEY = f"{_STATE.prefix}SAI_OBJECT_TYPE_SWITCH:{SWITCH}"
_ROUTER = Node(Kind.VRF, ROUTER)


class AsicView:
    """Rows of ASIC_DB, ours by the list beside them."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._oids: dict[str, str] = {}
        # Rows from before the start that nobody has asked for since; rows as they are.
        self._old: set[str] = set()
        self._rows: dict[str, Mapping[str, str]] = {}

    async def begin(self) -> None:
        owned = loads(await self._line.evaluate(_DB, "owned", _OWNED.name)) or []
        self._old, self._rows = set(owned), {}
        for keys in _batches(owned):
            self._rows.update(await self._line.rows(_DB, keys))
        select = ("SELECT", DATABASES[_DB])
        flat = (await self._line.call(select, ("HGETALL", _OIDS.name)))[-1]
        self._oids = {text(k): text(v) for k, v in zip(flat[::2], flat[1::2], strict=True)}
        await self._identify([_ROUTER])
        router = self._key(_ROUTER)
        await self._put({_SWITCH_KEY: {"NULL": "NULL"}, router: {"NULL": "NULL"}})

    async def apply(self, operations: Sequence[Operation]) -> list[Rejected]:
        rejected: list[Rejected] = []
        # One kind of operation after the other, as they come.
        group: list[Operation] = []
        for operation in operations:
            if group and isinstance(group[0], Remove) != isinstance(operation, Remove):
                rejected += await self._carry_out(group)
                group = []
            group.append(operation)
        return rejected + await self._carry_out(group)

    async def sweep(self) -> None:
        for keys in _batches(sorted(self._old)):
            await self._write(_DB, _OWNED.name, [("drop", key) for key in keys])
            for key in keys:
                self._rows.pop(key, None)
        self._old = set()

    async def _carry_out(self, group: Sequence[Operation]) -> list[Rejected]:
        nodes = [o.node for o in group]
        if group and isinstance(group[0], Remove):
            await self._remove(nodes)
            return []
        await self._identify([n for n in nodes if n.kind not in _KEYED])
        rows: dict[str, Mapping[str, str]] = {}
        by_key: dict[str, Node] = {}
        for operation in group:
            if isinstance(operation, Remove) or operation.node.kind is Kind.PREFIX_AGG:
                continue
            key = self._key(operation.node)
            fields = self._fields(operation.attributes)
            before = {} if isinstance(operation, Create) else self._rows.get(key, {})
            rows[key], by_key[key] = {**before, **fields}, operation.node
        failed = await self._put(rows)
        reason = "another writer made this row of ASIC_DB; remove it there"
        return [Rejected(by_key[key], reason) for key in failed]

    async def _put(self, rows: Mapping[str, Mapping[str, str]]) -> list[str]:
        """Write what differs; the keys that are somebody else's."""
        self._old -= rows.keys()
        todo = {k: f for k, f in rows.items() if self._rows.get(k) != f}
        failed: list[str] = []
        for keys in _batches(list(todo)):
            puts: list[object] = [
                ("put", k, 1, [w for p in todo[k].items() for w in p], []) for k in keys
            ]
            wrong = await self._write(_DB, _OWNED.name, puts)
            failed += [keys[n] for n in wrong]
        self._rows.update((k, f) for k, f in todo.items() if k not in failed)
        return failed

    async def _remove(self, nodes: Sequence[Node]) -> None:
        for some in _batches([n for n in nodes if n.kind is not Kind.PREFIX_AGG]):
            keys = [self._key(node) for node in some]
            await self._write(_DB, _OWNED.name, [("drop", key) for key in keys])
            for key in keys:
                self._rows.pop(key, None)
        gone = [n for n in nodes if n.kind not in _KEYED]
        counters = [n for n in gone if n.kind is Kind.COUNTER]
        theirs = await self._given(counters)
        await self._name((n, self._oids[_name(n)], "") for n in counters if n not in theirs)
        for some in _batches(gone):
            fields = [_name(n) for n in some]
            await self._line.call(("SELECT", DATABASES[_DB]), ("HDEL", _OIDS.name, *fields))
            for field in fields:
                self._oids.pop(field, None)

    async def _identify(self, nodes: Sequence[Node]) -> None:
        """Give identifiers to those that have none."""
        counters = [n for n in nodes if n.kind is Kind.COUNTER]
        given = await self._given(counters)
        wanted = {_name(n): n for n in nodes if n not in given and _name(n) not in self._oids}
        fresh = {_name(n): oid for n, oid in given.items() if self._oids.get(_name(n)) != oid}
        aggs = [name for name, n in wanted.items() if n.kind is Kind.PREFIX_AGG]
        fresh |= self._numbered(aggs)
        for name in aggs:
            del wanted[name]
        if wanted:
            first = int(await self._line.evaluate(_DB, "allocate", 0, len(wanted)))
            for index, (name, node) in enumerate(wanted.items(), first):
                fresh[name] = f"oid:{_TYPES[node.kind][1] << 48 | index & (1 << 39) - 1:#x}"
        for names in _batches(list(fresh)):
            flat = [w for n in names for w in (n, fresh[n])]
            await self._line.call(("SELECT", DATABASES[_DB]), ("HSET", _OIDS.name, *flat))
        self._oids |= fresh
        # Those of srv6mgrd's SIDs are in the name map already, or soon will be.
        await self._name((n, "", self._oids[_name(n)]) for n in counters if n not in given)

    def _numbered(self, aggs: Sequence[str]) -> dict[str, str]:
        """The lowest free numbers, as Srv6Orch gives them out (getAggId)."""
        prefix = f"{Kind.PREFIX_AGG.name}|"
        taken = {oid for name, oid in self._oids.items() if name.startswith(prefix)} if aggs else ()
        free = (text for n in count(1) if (text := str(n)) not in taken)
        return dict(zip(aggs, free, strict=False))

    async def _given(self, counters: Sequence[Node]) -> dict[Node, str]:
        """Identifiers that srv6mgrd gave to the counters of its SIDs."""
        out: dict[Node, str] = {}
        for some in _batches(counters):
            names = [sai.counter_name(n.name) for n in some]
            select, get = ("SELECT", DATABASES["COUNTERS_DB"]), ("HMGET", _SID_OIDS.name, *names)
            found = (await self._line.call(select, get))[-1]
            out.update((n, text(oid)) for n, oid in zip(some, found, strict=True) if oid)
        return out

    async def _name(self, cells: Iterable[tuple[Node, str, str]]) -> None:
        """Put identifiers of counters into the name map, or take them out: node, old, new."""
        for some in _batches(list(cells)):
            made = [
                ("cell", _NAMES.name, sai.counter_name(node.name), old, new)
                for node, old, new in some
            ]
            await self._write("COUNTERS_DB", "", made)

    async def report_usage(self, used: Mapping[str, tuple[int, int]]) -> None:
        """Report resources to CRM: how many were used before, and are now."""
        cells = [
            ("cell", "CRM:STATS", f"crm_stats_{n}_{what}", str(old), str(new))
            for n, (before, now) in used.items()
            for what, old, new in (
                ("used", before, now),
                ("available", _ROOM - before, _ROOM - now),
            )
        ]
        await self._write("COUNTERS_DB", "", cells)

    async def _write(self, db: str, owned: str, operations: Sequence[object]) -> list[int]:
        given = owned, dumps(operations), DATABASES[db], ""
        return [int(n) for n in await self._line.evaluate(db, "write", *given)]

    def _key(self, node: Node) -> str:
        if node.kind is Kind.SID:
            entry = sai.entry_key(node.name, SWITCH, self._oids[_name(_ROUTER)])
            return f"{_STATE.prefix}SAI_OBJECT_TYPE_MY_SID_ENTRY:{entry}"
        if node.kind is Kind.ROUTE:
            vrf, prefix = destination(node.name)
            entry = sai_tunnels.route_key(prefix, SWITCH, self._oids[_name(Node(Kind.VRF, vrf))])
            return f"{_STATE.prefix}SAI_OBJECT_TYPE_ROUTE_ENTRY:{entry}"
        if node.kind is Kind.NEIGHBOR_ENTRY:
            interface = Node(Kind.ROUTER_INTERFACE, node.name.partition("@")[2])
            oid = self._oids[_name(interface)]
            entry = sai_tunnels.neighbor_key(address(node), oid, SWITCH)
            return f"{_STATE.prefix}SAI_OBJECT_TYPE_NEIGHBOR_ENTRY:{entry}"
        return f"{_STATE.prefix}{_TYPES[node.kind][0]}:{self._oids[_name(node)]}"

    def _fields(self, attributes: Attributes) -> dict[str, str]:
        return {
            name: self._value(name, value) if isinstance(value, Reference) else value
            for name, value in attributes.items()
        }

    def _value(self, name: str, value: Reference) -> str:
        oid = self._oids[f"{_KINDS[value.kind]}|{value.name}"]
        return f"1:{oid}" if name in _LISTS else oid


def _name(node: Node) -> str:
    return f"{_KINDS[node.kind]}|{node.name}"


def _batches(items: Sequence[_T]) -> Iterable[Sequence[_T]]:
    return (items[first : first + _BATCH] for first in range(0, len(items), _BATCH))
