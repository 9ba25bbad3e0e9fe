"""APPL_DB as its one consumer has it (sonic-swss-common common/consumerstatetable.cpp)."""

from __future__ import annotations

from collections.abc import AsyncIterator

from orchagent.graph import Fields, Kind, Node
from srv6mgrd.redis.connection import Line, loads, text, track
from srv6mgrd.redis.schema import Table, table
from srv6mgrd.redis.wire import DATABASES

_DB = "APPL_DB"
TABLES: dict[Kind, Table] = {
    Kind.VRF: table(_DB, "VRF_TABLE"),
    Kind.NEIGHBOR: table(_DB, "NEIGH_TABLE"),
    Kind.SID_LIST: table(_DB, "SRV6_SID_LIST_TABLE"),
    Kind.SID: table(_DB, "SRV6_MY_SID_TABLE"),
}
_SCAN, _BATCH = 1000, 500
# No key is called so: who tracks it hears of FLUSHALL and nothing else.
_NO_KEY = "SRV6MGR_NO_KEY"


class GuardError(Exception):
    """Another consumer, or an ASIC's own rows, are there; the message says which."""


async def guard(line: Line) -> None:
    """Raises GuardError where a stock orchagent or syncd is at work, or was: who pops a table takes
    its rows from the other one."""
    for name in (*(t.name for t in TABLES.values()), "ASIC_STATE"):
        db = "ASIC_DB" if name == "ASIC_STATE" else _DB
        channel = f"{name}_CHANNEL@{DATABASES[db]}"
        _, count = await _numsub(line, channel)
        if count:
            raise GuardError(
                f"channel {channel} has a subscriber already: another orchagent or syncd is at"
                " work; stop it, or don't run srv6-orchagent"
            )
    select = ("SELECT", DATABASES["ASIC_DB"])
    for pattern in ("ASIC_STATE:SAI_OBJECT_TYPE_SWITCH:*", "LANES*", "HIDDEN*", "VIDTORID"):
        found = {text(k) for k in (await line.call(select, ("KEYS", pattern)))[-1]}
        for key in sorted(found):
            member = ("SISMEMBER", "SRV6MGR_OWNED", key)
            if not (await line.call(select, member))[-1]:
                raise GuardError(
                    f"ASIC_DB holds {key}, which syncd made: this is the database of an ASIC;"
                    " don't run srv6-orchagent here"
                )


async def _numsub(line: Line, channel: str) -> tuple[str, int]:
    ((name, count),) = await line.call(("PUBSUB", "NUMSUB", channel))
    return text(name), int(count)


class Consumer:
    """One connection to work on, one to be told on."""

    def __init__(self, work: Line, watch: Line) -> None:
        self._work, self._watch = work, watch

    async def begin(self) -> None:
        """Be the consumer from now on; ``guard`` comes first."""
        await track(self._work, self._watch, [_NO_KEY])
        channels = [f"{t.name}_CHANNEL@{DATABASES[_DB]}" for t in TABLES.values()]
        await self._watch.call(*(("SUBSCRIBE", channel) for channel in channels))

    async def is_alone(self) -> bool:
        """Whether nobody else subscribes."""
        counts = [await _numsub(self._work, f"{t.name}_CHANNEL@0") for t in TABLES.values()]
        return all(count <= 1 for _, count in counts)

    async def reported(self) -> AsyncIterator[bool]:
        """True whenever there is work; False when a database was emptied."""
        while True:
            _, channel, _ = await self._watch.reported()
            yield text(channel) != "__redis__:invalidate"

    async def rows(self) -> AsyncIterator[tuple[Node, Fields]]:
        """All rows that were consumed before."""
        for kind, t in TABLES.items():
            cursor, keys = -1, list[bytes]()
            while cursor:
                scan = ("SCAN", max(cursor, 0), "MATCH", f"{t.prefix}*", "COUNT", _SCAN)
                select = ("SELECT", DATABASES[_DB])
                _, (next_, found) = await self._work.call(select, scan)
                cursor = int(next_)
                keys += found
            for first in range(0, len(keys), _BATCH):
                some = keys[first : first + _BATCH]
                read = loads(await self._work.evaluate(_DB, "read_effective", *some))
                for row, fields in read.items():
                    if fields:
                        yield node_of(kind, row.removeprefix(t.prefix)), fields

    async def pop(self) -> list[tuple[Node, Fields]]:
        """What waits, a bounded part of it; what depends on nothing first. Without fields the row
        is gone."""
        for kind, t in TABLES.items():
            popped = loads(await self._work.evaluate(_DB, "pop", t.name, _BATCH))
            if popped:
                return [(node_of(kind, key), fields or {}) for key, fields in popped]
        return []


def node_of(kind: Kind, key: str) -> Node:
    """The node of a row."""
    if kind is Kind.NEIGHBOR:
        interface, _, address = key.partition(":")
        return Node(kind, f"{address}@{interface}")
    return Node(kind, key)


def row_of(node: Node) -> str:
    """Table and key of a node's row, as STATE_DB names them."""
    key = node.name
    if node.kind is Kind.NEIGHBOR:
        address, _, interface = key.partition("@")
        key = f"{interface}:{address}"
    return f"{TABLES[node.kind].name}|{key}"
