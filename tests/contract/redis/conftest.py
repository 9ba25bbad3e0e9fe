"""A redis-server of the test's own, on a UNIX socket in a directory of its own."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import redis

from srv6mgrd.redis.publisher import Publisher
from srv6mgrd.redis.wire import DATABASES, Settings
from tests.unit.redis.states import State


class Server:
    """redis-server, with nothing on disk: a restart loses all, as on a SONiC switch."""

    def __init__(self, directory: Path) -> None:
        self.socket = str(directory / "redis.sock")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str) -> None:
        command = ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", ""]
        self._process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while True:
            try:
                self.client("APPL_DB").ping()
                return
            except redis.AuthenticationError:
                return
            except redis.ConnectionError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def client(self, db: str) -> redis.Redis:
        return redis.Redis(
            unix_socket_path=self.socket,
            db=DATABASES[db],
            decode_responses=True,
            encoding_errors="replace",
            protocol=2,
        )

    def dump(self) -> dict[tuple[str, str], object]:
        """All keys of all databases that we write, with their values."""
        out: dict[tuple[str, str], object] = {}
        for db in DATABASES:
            client = self.client(db)
            for key in client.scan_iter():
                kind = client.type(key)
                read = {"hash": client.hgetall, "set": client.smembers}.get(kind, client.get)
                out[db, key] = read(key)
        return out

    @property
    def changes(self) -> int:
        """Changes of data since the start, as Redis itself counts them."""
        return int(self.client("APPL_DB").info("persistence")["rdb_changes_since_last_save"])


class Running:
    """A publisher that runs against the server."""

    def __init__(self, settings: Settings) -> None:
        self.publisher = Publisher(settings)

    async def publish(self, wanted: State) -> None:
        self.publisher.publish(*wanted)
        await self.settled()

    async def settled(self, timeout: float = 10) -> None:
        async with asyncio.timeout(timeout):
            await self.publisher.settled()


@pytest.fixture
def server() -> Iterator[Server]:
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")
    # Not tmp_path: the name of a UNIX socket has 107 characters at most.
    with tempfile.TemporaryDirectory(prefix="srv6mgr-redis-") as directory:
        s = Server(Path(directory))
        s.start()
        yield s
        s.stop()


@pytest.fixture
def settings(server: Server) -> Settings:
    return Settings(
        socket=server.socket, backoff_first=0.01, backoff_last=0.05, counter_interval=0.05
    )


@asynccontextmanager
async def publisher(settings: Settings) -> AsyncIterator[Running]:
    running = Running(settings)
    task = asyncio.create_task(running.publisher.run())
    try:
        yield running
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled(), task.exception()


@pytest.fixture
async def running(settings: Settings) -> AsyncIterator[Running]:
    async with publisher(settings) as r:
        yield r
