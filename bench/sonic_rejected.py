"""Rows of CONFIG_DB that are rejected: what they cost those that are not.

A real srv6-configdbd between a Redis and a sysrepo of the bench's own. srv6mgrd's checks judge each
commit in this process; nothing is installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis

from bench.report import Goal
from bench.repository import place

ROUNDS = 5
REJECTED, MANY = 2_000, 100_000
# A good row beside rejected ones, against the same with none; many bad rows against good ones.
_BESIDE_GOAL, _MANY_GOAL, _MEMORY_GOAL = 3.0, 1.0, 1.1
_LOCATOR = "SRV6_MY_LOCATORS|MAIN"
_FIELDS = {"action": "uDT6"}


class _Core:
    """In the place of srv6mgrd: it takes part in commits."""

    def __init__(self, folder: Path) -> None:
        from srv6mgrd.commits.service import CommitService
        from srv6mgrd.datastore.connection import Connection

        self._connection = Connection(originator="srv6mgrd")
        self._session = self._connection.session()
        self._session.subscribe_module_change_unsafe("srv6mgr-srv6", None, self._changed)
        self._commits = CommitService(folder / "commit.sock", self)
        self._number = 0

    def current(self) -> str:
        return str(self._number)

    def changed_since(self, revision: str, connection: Any) -> str:
        return f"changed since {revision}"

    def size(self) -> int:
        return 0

    def warnings(self) -> tuple[str, ...]:
        return ()

    def pending(self) -> list[tuple[str, bytes]]:
        return []

    def close(self) -> None:
        """Before its repository goes: sysrepo's threads work on it until then."""
        self._commits.close()
        self._connection.close()

    def _changed(self, session: Any, event: str, req_id: int, private_data: Any) -> None:
        from srv6mgrd.datastore.running import read
        from srv6mgrd.datastore.subscription import rejection
        from srv6mgrd.model.checks import check
        from srv6mgrd.model.parse import parse
        from srv6mgrd.model.rejection import RejectedError

        if event == "change":
            try:
                check(parse(json.loads(read(session))))
            except RejectedError as error:
                raise rejection(session, error) from None
        elif event == "done":
            self._number += 1


class _World:
    def __init__(self, folder: Path, client: Callable[[int], redis.Redis], pid: int) -> None:
        self.config, self._state, self._pid = client(4), client(6), pid

    def write(self, rows: Mapping[str, Mapping[str, str]]) -> None:
        pipe = self.config.pipeline(transaction=False)
        for key, fields in rows.items():
            pipe.hset(key, mapping=dict(fields))
        pipe.execute()

    def wait(self, row: str, status: str) -> None:
        while self._state.hget(f"SRV6MGR_CONFIG|{row}", "status") != status.encode():
            time.sleep(0.002)

    def wait_for_all(self, rows: Mapping[str, object], status: str) -> None:
        for row in rows:
            self.wait(row, status)

    def memory(self) -> float:
        """MB that srv6-configdbd holds."""
        for line in Path(f"/proc/{self._pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1e3
        raise RuntimeError("srv6-configdbd ended")


@contextmanager
def _world(server: Any) -> Iterator[_World]:
    folder = Path(server.socket).parent
    settings = folder / "configdbd.toml"
    settings.write_text(
        f'redis_socket = "{server.socket}"\nruntime_directory = "{folder}/configdb"\n'
        f'state_directory = "{folder}/state"\ncommit_socket = "{folder}/commit.sock"\n'
        'log_level = "error"\ncompare_interval = 3600\n'
    )
    command = [sys.executable, "-m", "srv6mgrd.configdb.daemon", "--config", str(settings)]
    core = _Core(folder)
    daemon = subprocess.Popen(command)
    try:
        yield _World(folder, server.client, daemon.pid)
    finally:
        daemon.terminate()
        daemon.wait()
        core.close()


def _good(count: int, first: int = 1) -> dict[str, dict[str, str]]:
    return {
        f"SRV6_MY_SIDS|MAIN|fcbb:bbbb:20:{n >> 16:x}:{n & 0xFFFF:x}::/80": _FIELDS
        for n in range(first, first + count)
    }


def _outside(count: int) -> dict[str, dict[str, str]]:
    """Outside their locator, which srv6mgrd rejects."""
    return {
        f"SRV6_MY_SIDS|MAIN|fcbb:cccc:20:{n >> 16:x}:{n & 0xFFFF:x}::/80": _FIELDS
        for n in range(count)
    }


def _malformed(count: int) -> dict[str, dict[str, str]]:
    return {f"SRV6_MY_SIDS|MAIN|fcbb:{n:x}": _FIELDS for n in range(count)}


def _one_more(world: _World, first: int) -> list[float]:
    times = []
    for number in range(ROUNDS):
        began = time.perf_counter()
        (row,) = fresh = _good(1, first + number)
        world.write(fresh)
        world.wait(row, "accepted")
        times.append(time.perf_counter() - began)
    return times


def goals(serving: Callable[[], Any], many: int) -> list[Goal]:
    with place(), serving() as server, _world(server) as world:
        world.write({_LOCATOR: {"prefix": "fcbb:bbbb:20::", "func_len": "32"}})
        world.wait(_LOCATOR, "accepted")
        alone = _one_more(world, 1)
        bad = _outside(REJECTED)
        began = time.perf_counter()
        world.write(bad)
        world.wait_for_all(bad, "refused")
        took = time.perf_counter() - began
        beside = _one_more(world, 1 + ROUNDS)
        world.config.delete(*bad)
        malformed = _malformed(many)
        held: list[float] = []
        times: list[float] = []
        for _ in range(3):
            began = time.perf_counter()
            world.write(malformed)
            world.wait_for_all(malformed, "refused")
            times.append(time.perf_counter() - began)
            # The last row of another round: all of them have been looked at again.
            _one_more(world, 1 + (2 + len(held)) * ROUNDS)
            held.append(world.memory())
        for some in range(0, many, 1000):
            world.config.delete(*list(malformed)[some : some + 1000])
        good = _good(many, 1 << 17)
        began = time.perf_counter()
        world.write(good)
        world.wait_for_all(good, "accepted")
        whole = time.perf_counter() - began
    return [
        Goal(f"{REJECTED} rows outside their locator until rejected", [took], [], None),
        Goal(f"a row beside {REJECTED} rejected ones, or alone", beside, alone, _BESIDE_GOAL,
             of="median"),
        Goal(f"{many} malformed rows until rejected, or good ones until accepted", times[:1],
             [whole], _MANY_GOAL),
        # The first time the allocator has not seen such a burst.
        Goal("memory when they are written a third time, or a second", held[-1:], held[1:2],
             _MEMORY_GOAL, "MB"),
    ]  # fmt: skip
