"""APPL_DB as its one consumer has it (sonic-swss-common common/consumerstatetable.cpp)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from enum import Enum, auto

from orchagent import decap
from orchagent.nodes import ROUTER, Fields, Kind, Node
from orchagent.plans import is_srv6
from srv6mgrd.redis.connection import Line, loads, text, track
from srv6mgrd.redis.schema import Table, table
from srv6mgrd.redis.wire import DATABASES

_DB = "APPL_DB"
TABLES: dict[Kind, Table] = {
    Kind.VRF: table(_DB, "VRF_TABLE"),
    Kind.INTERFACE: table(_DB, "INTF_TABLE"),
    Kind.NEIGHBOR: table(_DB, "NEIGH_TABLE"),
    Kind.SID_LIST: table(_DB, "SRV6_SID_LIST_TABLE"),
    Kind.NEXT_HOP_GROUP: table(_DB, "NEXTHOP_GROUP_TABLE"),
    Kind.PIC_CONTEXT: table(_DB, "PIC_CONTEXT_TABLE"),
    Kind.SID: table(_DB, "SRV6_MY_SID_TABLE"),
    Kind.ROUTE: table(_DB, "ROUTE_TABLE"),
}
# The DSCP mode of SIDs, which is not in APPL_DB.
_CONFIGURED = (table("CONFIG_DB", "SRV6_MY_SIDS"), table("CONFIG_DB", "SRV6_MY_LOCATORS"))
_SCAN, _BATCH = 1000, 500


class Reported(Enum):
    """What there is to do: rows of APPL_DB wait, CONFIG_DB has changed, a database is empty."""

    ROWS = auto()
    CONFIGURATION = auto()
    EMPTIED = auto()


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
    """One connection to work on, one for notifications."""

    def __init__(self, work: Line, watch: Line) -> None:
        self._work, self._watch = work, watch

    async def begin(self) -> None:
        """Be the consumer from now on; ``guard`` comes first."""
        await track(self._work, self._watch, [t.prefix for t in _CONFIGURED])
        channels = [f"{t.name}_CHANNEL@{DATABASES[_DB]}" for t in TABLES.values()]
        await self._watch.call(*(("SUBSCRIBE", channel) for channel in channels))

    async def is_alone(self) -> bool:
        """Whether nobody else subscribes."""
        counts = [await _numsub(self._work, f"{t.name}_CHANNEL@0") for t in TABLES.values()]
        return all(count <= 1 for _, count in counts)

    async def reported(self) -> AsyncIterator[Reported]:
        """Whenever there is something to do."""
        while True:
            _, channel, content = await self._watch.reported()
            if text(channel) != "__redis__:invalidate":
                yield Reported.ROWS
            else:
                yield Reported.EMPTIED if content is None else Reported.CONFIGURATION

    async def rows(self) -> AsyncIterator[tuple[Node, Fields]]:
        """All rows that were consumed before."""
        for kind, t in TABLES.items():
            keys = await self._keys(t)
            for first in range(0, len(keys), _BATCH):
                some = keys[first : first + _BATCH]
                read = loads(await self._work.evaluate(_DB, "read_effective", *some))
                for row, fields in read.items():
                    node = node_of(kind, row.removeprefix(t.prefix))
                    if node is not None and fields and is_srv6(kind, fields):
                        yield node, fields

    async def decap_modes(self) -> decap.DecapModes:
        """The DSCP modes of SIDs, as they are configured now."""
        sids, locators = [await self._configured(t) for t in _CONFIGURED]
        return decap.modes(sids, dict(locators))

    async def _configured(self, t: Table) -> list[tuple[str, Fields]]:
        out: list[tuple[str, Fields]] = []
        keys = await self._keys(t)
        for first in range(0, len(keys), _BATCH):
            some = keys[first : first + _BATCH]
            found = loads(await self._work.evaluate(t.database, "read_rows", *some))
            # One that is no hash has the name of its type in place of fields.
            out += [
                (key.removeprefix(t.prefix), fields)
                for key, fields in found.items()
                if isinstance(fields, dict)
            ]
        return out

    async def _keys(self, t: Table) -> list[bytes]:
        cursor, keys = -1, list[bytes]()
        while cursor:
            scan = ("SCAN", max(cursor, 0), "MATCH", f"{t.prefix}*", "COUNT", _SCAN)
            _, (next_, found) = await self._work.call(("SELECT", DATABASES[t.database]), scan)
            cursor = int(next_)
            keys += found
        return keys

    async def pop(self) -> list[tuple[Node, Fields]]:
        """What waits, a bounded part of it; what depends on nothing first. Without fields the row
        is gone."""
        for kind, t in TABLES.items():
            popped = loads(await self._work.evaluate(_DB, "pop", t.name, _BATCH))
            if popped:
                nodes = ((node_of(kind, key), fields or {}) for key, fields in popped)
                # A row that has become one of no SRv6 is gone from the view.
                return [
                    (node, fields if is_srv6(kind, fields) else {})
                    for node, fields in nodes
                    if node is not None
                ]
        return []


def node_of(kind: Kind, key: str) -> Node | None:
    """The node of a row; None where it is of no object of the view."""
    if kind is Kind.INTERFACE and (":" in key or key.startswith(("Loopback", "lo"))):
        return None  # an address; and loopbacks are no interfaces of next hops
    if kind is Kind.VRF and key == ROUTER:
        return None  # the switch has it without any row, and keeps it
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
