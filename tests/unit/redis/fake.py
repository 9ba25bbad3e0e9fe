"""Redis in memory, as far as the publisher needs it, with the rules of write.lua."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from srv6mgrd.counters import sonic
from srv6mgrd.redis.schema import Fields
from srv6mgrd.redis.wire import Operation, Settings, WireError


class FakeRedis:
    """Holds the data and breaks on demand; ``connect`` takes the place of wire.connect."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, dict[str, str]]] = {}
        self.lists: dict[str, set[str]] = {}
        self.counter = 0
        self.down = False
        # Cleared: it writes nothing and does not answer.
        self.answers = asyncio.Event()
        self.answers.set()
        self.connections = 0
        self.log: list[tuple[str, Operation]] = []
        self._wire: FakeWire | None = None

    @asynccontextmanager
    async def connect(self, _: Settings) -> AsyncIterator[FakeWire]:
        if self.down:
            raise WireError("refused")
        self.connections += 1
        self._wire = FakeWire(self)
        yield self._wire

    def db(self, name: str) -> dict[str, dict[str, str]]:
        return self.rows.setdefault(name, {})

    def invalidate(self, keys: list[str] | None) -> None:
        """As CLIENT TRACKING does."""
        if self._wire is not None:
            self._wire.notifications.put_nowait(keys)

    def flush(self) -> None:
        self.rows.clear()
        self.lists.clear()
        self.counter = 0
        self.invalidate(None)

    def lose(self) -> None:
        """Cut the connection."""
        if self._wire is not None:
            self._wire.lost = True
            self._wire.notifications.put_nowait([])


class FakeWire:
    def __init__(self, redis: FakeRedis) -> None:
        self.redis = redis
        self.lost = False
        self.notifications: asyncio.Queue[list[str] | None] = asyncio.Queue()

    async def owned(self, db: str) -> list[str]:
        self._alive()
        return sorted(self.redis.lists.get(db, set()))

    async def read(self, db: str, keys: Sequence[str]) -> dict[str, Fields]:
        self._alive()
        return {key: dict(self.redis.db(db).get(key, {})) for key in keys}

    async def allocate(self, count: int, floor: int) -> int:
        self._alive()
        first = max(self.redis.counter, floor) + 1
        self.redis.counter = first + count - 1
        return first

    async def write(self, db: str, operations: Sequence[Operation]) -> list[int]:
        await self.redis.answers.wait()
        self._alive()
        self.redis.log += [(db, o) for o in operations]
        return [n for n, o in enumerate(operations) if not self._do(db, o)]

    async def count(self, lines: Sequence[str]) -> None:
        self._alive()
        for line in lines:
            key, *values = line.split()
            if key in self.redis.lists.get("COUNTERS_DB", set()):
                self.redis.db("COUNTERS_DB")[key] = dict(zip(sonic.FIELDS, values, strict=True))

    async def changes(self) -> AsyncIterator[list[str] | None]:
        while True:
            keys = await self.notifications.get()
            self._alive()
            yield keys

    def _alive(self) -> None:
        if self.lost or self.redis.down:
            raise WireError("connection lost")

    def _do(self, db: str, operation: Operation) -> bool:
        rows, mine = self.redis.db(db), self.redis.lists.setdefault(db, set())
        match operation:
            case ("put", str(key), whole, [*pairs], [*gone]):
                if key not in mine and key in rows:
                    return False
                mine.add(key)
                row = {} if whole else dict(rows.get(key, {}))
                for field in gone:
                    row.pop(str(field), None)
                row.update(zip(map(str, pairs[::2]), map(str, pairs[1::2]), strict=True))
                rows[key] = row
            case ("drop", str(key)):
                if key in mine:
                    mine.discard(key)
                    rows.pop(key, None)
            case ("cell", str(key), str(field), str(old), str(new)):
                return self._cell(rows, key, field, old, new)
        return True

    def _cell(
        self, rows: dict[str, dict[str, str]], key: str, field: str, old: str, new: str
    ) -> bool:
        row = rows.setdefault(key, {})
        now = row.get(field, "")
        if new and now not in ("", old, new):
            return False
        if new:
            row[field] = new
        elif now == old:
            row.pop(field, None)
        if not row:
            del rows[key]
        return True
