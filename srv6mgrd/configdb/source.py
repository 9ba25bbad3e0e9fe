"""Redis as the northbound sees it: rows of CONFIG_DB in, their results out to STATE_DB."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager

from srv6mgrd.configdb.objects import Content
from srv6mgrd.configdb.rows import TABLES, is_known
from srv6mgrd.redis.connection import Line, loads, text, track
from srv6mgrd.redis.schema import Fields, RowKey, table
from srv6mgrd.redis.wire import DATABASES, Settings

_DB = TABLES[0].database
_STATE = table("STATE_DB", "SRV6MGR_CONFIG")
# SONiC sets it when its configuration has been loaded (sonic-swss-common common/configdb.cpp).
_LOADED = "CONFIG_DB_INITIALIZED"
# Whether the bgp container runs, and bgpcfgd with it.
_FEATURE = "FEATURE|bgp"
_SCAN, _BATCH = 1000, 500


class Source:
    """One connection to work on, one for notifications."""

    def __init__(self, work: Line, watch: Line) -> None:
        self._work, self._watch = work, watch

    async def listen(self) -> None:
        """Have Redis report changes from now on: by keyspace events, as SONiC's own daemons hear
        of them, and by tracking, which reports FLUSHALL too and needs no notifications."""
        await track(self._work, self._watch, [*(t.prefix for t in TABLES), _FEATURE])
        space = f"__keyspace@{DATABASES[_DB]}__:"
        patterns = [*(f"{t.prefix}*" for t in TABLES), _FEATURE]
        await self._watch.call(*(("PSUBSCRIBE", space + pattern) for pattern in patterns))

    async def changes(self) -> AsyncIterator[set[str] | None]:
        """Keys that were written or removed; None when a database was emptied."""
        while True:
            kind, *_, what = message = await self._watch.reported()
            if text(kind) == "pmessage":
                yield {text(message[2]).partition("__:")[2]}
            else:
                yield None if what is None else {text(key) for key in what}

    async def rows(self) -> dict[str, Content]:
        """All rows of our tables."""
        # One scan for all tables: with a pattern for each Redis would go through all keys again.
        found = await self._keys(_DB, "")
        return await self.look(sorted(filter(is_known, found)))

    async def look(self, keys: Sequence[str]) -> dict[str, Content]:
        """Rows as they are now; one that is absent is not among them."""
        out: dict[str, Content] = {}
        for first in range(0, len(keys), _BATCH):
            asked = [_raw(k) for k in keys[first : first + _BATCH]]
            found = loads(await self._work.evaluate(_DB, "read_rows", *asked))
            out.update((k, v) for k, v in found.items() if v != "none")
        return out

    async def bgp_feature(self) -> Fields:
        """The row of SONiC's feature bgp; empty where there is none."""
        found = (await self.look([_FEATURE])).get(_FEATURE, {})
        return found if isinstance(found, Mapping) else {}

    async def is_loaded(self) -> bool:
        """Whether somebody says that all of CONFIG_DB is there."""
        select, exists = ("SELECT", DATABASES[_DB]), ("EXISTS", _LOADED)
        return bool((await self._work.call(select, exists))[-1])

    async def reported(self) -> dict[str, Fields]:
        """The last result of each row."""
        keys = sorted(await self._keys(_STATE.database, _STATE.prefix))
        out: dict[str, Fields] = {}
        for first in range(0, len(keys), _BATCH):
            asked = [_raw(k) for k in keys[first : first + _BATCH]]
            found = loads(await self._work.evaluate(_STATE.database, "read_rows", *asked))
            for key, fields in found.items():
                row = key.removeprefix(_STATE.prefix)
                out[row] = fields if isinstance(fields, Mapping) else {}
        return out

    async def report(self, rows: Iterable[tuple[str, Fields | None]]) -> None:
        """Write the results of rows; with None remove them."""
        todo = list(rows)
        for first in range(0, len(todo), _BATCH):
            commands: list[tuple[object, ...]] = [("SELECT", DATABASES[_STATE.database])]
            for row, fields in todo[first : first + _BATCH]:
                key = _raw(state_key(row).key)
                commands.append(("DEL", key))
                if fields:
                    flat = [_raw(word) for pair in fields.items() for word in pair]
                    commands.append(("HSET", key, *flat))
            await self._work.call(*commands)

    async def close(self) -> None:
        await self._work.close()
        await self._watch.close()

    async def _keys(self, db: str, prefix: str) -> set[str]:
        keys: set[str] = set()
        cursor = 0
        while True:
            scan = ("SCAN", cursor, "MATCH", f"{prefix}*", "COUNT", _SCAN)
            _, (next_, found) = await self._work.call(("SELECT", DATABASES[db]), scan)
            keys.update(map(text, found))
            cursor = int(next_)
            if not cursor:
                return keys


def state_key(row: str) -> RowKey:
    """The key of the result of a row; its key's first separator parts table and row."""
    name, _, rest = row.partition("|")
    return _STATE.key(name, rest)


@asynccontextmanager
async def connect(settings: Settings, name: str) -> AsyncIterator[Source]:
    """A source that listens already."""
    source = Source(Line(settings, name), Line(settings, name))
    try:
        await source.listen()
        yield source
    finally:
        await source.close()


def _raw(key: str) -> bytes:
    return key.encode("utf-8", "surrogateescape")
