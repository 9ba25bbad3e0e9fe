"""Redis itself: each verb of ``wire`` is one script, one round trip.

Scripts, because a reply per row costs Python more than all the rest; and because a row and our
claim to it change together or not at all. Watching needs Redis 6 (CLIENT TRACKING).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

from redis.asyncio.connection import Connection, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from srv6mgrd.counters import sonic
from srv6mgrd.redis.counterpoll import POLL_ROW
from srv6mgrd.redis.schema import Fields, RowKey, script, table, table_of, tables
from srv6mgrd.redis.wire import DATABASES, Operation, Settings, WireError

_OWNED: Mapping[str, str] = {t.database: t.name for t in tables() if t.name == "SRV6MGR_OWNED"}
# Where rows may wait for a consumer, they count as taken.
_EFFECTIVE = {t.database for t in tables() if t.order and t.consumed}
# A row of more fields is read in parts of about so many.
_MANY, _PART = 2000, 1000
_VID_COUNTER = table("ASIC_DB", "VIDCOUNTER")
# Of each table: where its keys begin. Redis wants prefixes that don't begin with one another.
_WATCHED = sorted({POLL_ROW.key, *(t.prefix for t in tables() if t.order and t.watched)})


class Line:
    """One connection: commands out, replies in; WireError when it is lost.

    redis-py's connections rather than its clients, which reconnect behind one's back: after a
    reconnection nothing is watched any more, and what we know of the rows is void.
    """

    def __init__(self, settings: Settings, name: str) -> None:
        """``name`` is what CLIENT LIST shows."""
        self._connection = _connection(settings, name)
        self._timeout = settings.timeout

    async def call(self, *commands: Sequence[Any]) -> list[Any]:
        """The replies, one for each command, in one round trip."""
        # Not redis-py's socket_timeout: its wait_for may swallow a cancellation before Python 3.12.
        with _wire_errors():
            async with asyncio.timeout(self._timeout):
                packed = self._connection.pack_commands(commands)
                await self._connection.send_packed_command(packed)
                replies = [await self._connection.read_response() for _ in commands]
        for reply in replies:
            if isinstance(reply, RedisError):  # within a reply it is not raised
                raise WireError(str(reply))
        return replies

    async def evaluate(self, db: str, name: str, *args: str | bytes | int) -> Any:
        """What a script of the schema returns, in this database."""
        with _wire_errors():  # it is read at its first use
            select, evaluate = ("SELECT", DATABASES[db]), ("EVAL", script(name), 0, *args)
        return (await self.call(select, evaluate))[-1]

    async def rows(self, db: str, keys: Sequence[str]) -> dict[str, Fields]:
        """Rows as they are; one that is absent has no fields. One of very many is read in parts: an
        answer of all would be decoded at once, which holds every thread. What changes meanwhile
        may be in it or not."""
        found: dict[str, Fields | Literal[False]] = loads(
            await self.evaluate(db, "read", _MANY, *keys)
        )
        return {
            key: await self._in_parts(db, key) if fields is False else fields
            for key, fields in found.items()
        }

    async def _in_parts(self, db: str, key: str) -> Fields:
        fields: dict[str, str] = {}
        cursor: Any = 0
        while True:
            scan = ("HSCAN", key, cursor, "COUNT", _PART)
            _, (cursor, flat) = await self.call(("SELECT", DATABASES[db]), scan)
            names = map(text, flat[::2])
            fields.update(zip(names, map(text, flat[1::2]), strict=True))
            if not int(cursor):
                return fields

    async def reported(self) -> Any:
        """The next message of what is subscribed to, however long that takes."""
        with _wire_errors():
            return await self._connection.read_response()

    async def close(self) -> None:
        with contextlib.suppress(RedisError, OSError):
            await self._connection.disconnect(nowait=True)


class RedisWire:
    """Two connections: one to work on, one on which Redis reports changes."""

    def __init__(self, work: Line, watch: Line) -> None:
        self._work = work
        self._watch = watch

    async def owned(self, db: str) -> list[str]:
        if consumed := [t.name for t in tables() if t.database == db and t.consumed]:
            await self._eval(db, "flush_pending", _OWNED[db], DATABASES[db], *consumed)
        keys: list[str] = loads(await self._eval(db, "owned", _OWNED[db])) or []
        return keys

    async def read(self, db: str, keys: Sequence[str]) -> dict[str, Fields]:
        if db not in _EFFECTIVE:
            return await self._work.rows(db, keys)
        rows: dict[str, Fields] = loads(await self._eval(db, "read_effective", *keys))
        return rows

    async def write(self, db: str, operations: Sequence[Operation]) -> list[int]:
        # The one place where rows leave; the script sees whether a consumer takes them.
        table = table_of(RowKey(db, str(operations[0][1])))
        consumed = table.name if table is not None and table.consumed else ""
        given = _OWNED[db], dumps(operations), DATABASES[db], consumed
        rejected = await self._eval(db, "write", *given)
        return list(map(int, rejected))

    async def count(self, lines: Sequence[str]) -> None:
        given = _OWNED[sonic.DATABASE], "".join(lines), *sonic.FIELDS
        await self._eval(sonic.DATABASE, "count", *given)

    async def allocate(self, count: int, floor: int) -> int:
        return int(await self._eval(_VID_COUNTER.database, "allocate", floor, count))

    async def changes(self) -> AsyncIterator[list[str] | None]:
        while True:
            _, _, keys = await self._watch.reported()
            yield None if keys is None else [text(key) for key in keys]

    async def watch(self) -> None:
        """Have Redis report changes from now on."""
        await track(self._work, self._watch, _WATCHED)

    async def close(self) -> None:
        for line in (self._work, self._watch):
            await line.close()

    async def _eval(self, db: str, name: str, *args: str | bytes | int) -> Any:
        return await self._work.evaluate(db, name, *args)


async def track(work: Line, watch: Line, prefixes: Iterable[str]) -> None:
    """Have Redis report on ``watch`` which keys with these prefixes others than ``work`` change,
    in whichever way. Needs Redis 6."""
    (client,) = await watch.call(("CLIENT", "ID"))
    await watch.call(("SUBSCRIBE", "__redis__:invalidate"))
    named = [word for prefix in prefixes for word in ("PREFIX", prefix)]
    # NOLOOP spares us our own changes, where Redis sees through scripts (7.0 does not).
    options = ("REDIRECT", client, "BCAST", "NOLOOP", *named)
    await work.call(("CLIENT", "TRACKING", "ON", *options))


@asynccontextmanager
async def connect(settings: Settings) -> AsyncIterator[RedisWire]:
    """A connection that watches already."""
    wire = RedisWire(Line(settings, "srv6mgrd"), Line(settings, "srv6mgrd"))
    try:
        await wire.watch()
        yield wire
    finally:
        await wire.close()


def _connection(settings: Settings, name: str) -> Connection:
    common: dict[str, Any] = {
        "username": settings.username,
        "password": settings.password,
        "socket_timeout": None,
        "socket_connect_timeout": None,
        # Version 3 would mix notifications of changes into the replies.
        "protocol": 2,
        "retry": Retry(NoBackoff(), 0),
        "client_name": name,
    }
    if settings.socket is not None:
        return UnixDomainSocketConnection(path=settings.socket, **common)
    common |= {"host": settings.host, "port": settings.port, "socket_keepalive": True}
    if not settings.tls:
        return Connection(**common)
    return SSLConnection(
        ssl_ca_certs=settings.tls_ca,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        **common,
    )


@contextlib.contextmanager
def _wire_errors() -> Any:
    try:
        yield
    except (RedisError, OSError) as e:
        raise WireError(str(e) or type(e).__name__) from e


# Keys and values of others may hold any bytes; they must come back as they went.
def text(raw: bytes) -> str:
    """Bytes of Redis as text that ``raw`` turns back."""
    return raw.decode("utf-8", "surrogateescape")


def loads(raw: bytes) -> Any:
    """JSON that a script returned."""
    return json.loads(text(raw))


def dumps(value: object) -> bytes:
    """JSON for a script."""
    made = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return made.encode("utf-8", "surrogateescape")
