"""A controller dies before or after each write to SQLite; the next one reads the file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from srv6net.store.sqlite import SqliteStore
from srv6net.transaction.executor import Executor, Timing
from srv6net.transaction.record import Change, Decision, Revision
from tests.fakes.network import FakeRouter, KilledError

NAMES = ("pe1", "pe2", "pe3")
# begin, touch, decide, and settle for each router.
WRITES = 3 + len(NAMES)
RED = {"/vrf[red]": {"name": "red"}}


class Dying(SqliteStore):
    """Dies at a moment: each write has one before and one after it."""

    def __init__(self, path: Path, death: int) -> None:
        super().__init__(path)
        self._death, self.moments = death, count()

    def _written(self, write: Callable[..., Any], *values: Any) -> Any:
        self._moment()
        result = write(*values)
        self._moment()
        return result

    def _moment(self) -> None:
        if next(self.moments) == self._death:
            raise KilledError

    def begin(self, *values: Any) -> None:
        self._written(super().begin, *values)

    def touch(self, *values: Any) -> None:
        self._written(super().touch, *values)

    def decide(self, *values: Any) -> Decision:
        return Decision(self._written(super().decide, *values))

    def settle(self, *values: Any) -> None:
        self._written(super().settle, *values)


def moments(path: Path, routers: dict[str, FakeRouter], death: int) -> int:
    """Apply a change with a controller that dies; how many moments it saw."""
    with closing(Dying(path, death)) as store:
        executor = Executor(store, routers, timing=Timing(verify=0))
        changes = {name: Change({}, RED) for name in NAMES}
        with suppress(KilledError):
            executor.apply(Revision(1, routers=dict.fromkeys(NAMES, RED)), changes)
        return next(store.moments)


@pytest.mark.parametrize("has_rolled_back", [False, True])
@pytest.mark.parametrize("death", range(2 * WRITES))
def test_all_routers_end_as_the_file_says(
    tmp_path: Path, death: int, *, has_rolled_back: bool
) -> None:
    path = tmp_path / "network.sqlite"
    routers = {name: FakeRouter() for name in NAMES}
    assert moments(path, routers, death) == death + 1
    if has_rolled_back:
        for one in routers.values():
            one.roll_back()
    with closing(SqliteStore(path)) as store:
        Executor(store, routers, timing=Timing(verify=0)).resume()
        last, wanted = store.last(), store.revision().routers
    assert last is None or not last.is_open
    assert {n: r.entries for n, r in routers.items()} == {n: wanted.get(n, {}) for n in NAMES}
    assert [r.awaiting for r in routers.values()] == [None] * len(NAMES)


def test_no_other_write_is_made(tmp_path: Path) -> None:
    routers = {name: FakeRouter() for name in NAMES}
    assert moments(tmp_path / "network.sqlite", routers, -1) == 2 * WRITES
