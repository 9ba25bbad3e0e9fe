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
from typing import Any

from redis.asyncio.connection import Connection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from srv6mgrd.redis.schema import Fields, script, table, tables
from srv6mgrd.redis.wire import DATABASES, Operation, Settings, WireError

_OWNED: Mapping[str, str] = {t.database: t.name for t in tables() if t.name == "SRV6MGR_OWNED"}
_VID_COUNTER = table("ASIC_DB", "VIDCOUNTER")
# Of each table: where its keys begin. Redis wants prefixes that don't begin with one another.
_WATCHED = sorted({t.prefix for t in tables() if t.order and t.watched})


class RedisWire:
    """Two connections: one to work on, one on which Redis tells of changes.

    redis-py's connections rather than its clients, which reconnect behind one's back: after a
    reconnection nothing is watched any more, and what we know of the rows is void.
    """

    def __init__(self, work: Connection, watch: Connection, timeout: float) -> None:
        self._work = work
        self._watch = watch
        self._timeout = timeout

    async def owned(self, db: str) -> list[str]:
        keys: list[str] = _loads(await self._eval(db, "owned", _OWNED[db])) or []
        return keys

    async def read(self, db: str, keys: Sequence[str]) -> dict[str, Fields]:
        rows: dict[str, Fields] = _loads(await self._eval(db, "read", *keys))
        return rows

    async def write(self, db: str, operations: Sequence[Operation]) -> list[int]:
        # The one place where rows leave. A table with a consumer (PUBSUB NUMSUB <name>_CHANNEL@<id>
        # above 0) wants the protocol of ProducerStateTable instead: that choice belongs here.
        refused = await self._eval(db, "write", _OWNED[db], _dumps(operations))
        return list(map(int, refused))

    async def allocate(self, count: int, floor: int) -> int:
        return int(await self._eval(_VID_COUNTER.database, "allocate", floor, count))

    async def changes(self) -> AsyncIterator[list[str] | None]:
        while True:
            with _wire_errors():
                _, _, keys = await self._watch.read_response()
            yield None if keys is None else [_text(key) for key in keys]

    async def watch(self) -> None:
        """Have Redis tell of changes from now on."""
        client = await self._call(self._watch, ("CLIENT", "ID"))
        await self._call(self._watch, ("SUBSCRIBE", "__redis__:invalidate"))
        prefixes = [word for prefix in _WATCHED for word in ("PREFIX", prefix)]
        # NOLOOP spares us our own changes, where Redis sees through scripts (7.0 does not).
        options = ("REDIRECT", client[0], "BCAST", "NOLOOP", *prefixes)
        await self._call(self._work, ("CLIENT", "TRACKING", "ON", *options))

    async def close(self) -> None:
        for connection in (self._work, self._watch):
            with contextlib.suppress(RedisError, OSError):
                await connection.disconnect(nowait=True)

    async def _eval(self, db: str, name: str, *args: str | bytes | int) -> Any:
        select, evaluate = ("SELECT", DATABASES[db]), ("EVAL", script(name), 0, *args)
        return (await self._call(self._work, select, evaluate))[-1]

    async def _call(self, connection: Connection, *commands: Iterable[Any]) -> list[Any]:
        # Not redis-py's socket_timeout: its wait_for may swallow a cancellation before Python 3.12.
        with _wire_errors():
            async with asyncio.timeout(self._timeout):
                await connection.send_packed_command(connection.pack_commands(commands))
                return [await connection.read_response() for _ in commands]


@asynccontextmanager
async def connect(settings: Settings) -> AsyncIterator[RedisWire]:
    """A connection that watches already."""
    wire = RedisWire(_connection(settings), _connection(settings), settings.timeout)
    try:
        await wire.watch()
        yield wire
    finally:
        await wire.close()


def _connection(settings: Settings) -> Connection:
    common = {
        "username": settings.username,
        "password": settings.password,
        "socket_timeout": None,
        "socket_connect_timeout": None,
        # Version 3 would mix news of changes into the replies.
        "protocol": 2,
        "retry": Retry(NoBackoff(), 0),
        "client_name": "srv6mgrd",
    }
    if settings.socket is not None:
        return UnixDomainSocketConnection(path=settings.socket, **common)
    return Connection(host=settings.host, port=settings.port, socket_keepalive=True, **common)


@contextlib.contextmanager
def _wire_errors() -> Any:
    try:
        yield
    except (RedisError, OSError) as e:
        raise WireError(str(e) or type(e).__name__) from e


# Keys and values of others may hold any bytes; they must come back as they went.
def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _loads(raw: bytes) -> Any:
    return json.loads(_text(raw))


def _dumps(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogateescape")
