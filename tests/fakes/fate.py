"""Deaths and full disks at a chosen moment, counted over kernel, FRR and journal together."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterable
from typing import Any, cast

from srv6mgrd.netlink.errors import Failure
from srv6mgrd.plan.actions import Action
from tests.fakes.frr import FakeFrr
from tests.fakes.kernel import Crash, FakeKernel

FULL = "database or disk is full"


class Fate:
    """``moments`` lie before and after every write. The process dies at ``death``; the kernel
    rejects its write number ``rejection``; the disk fails at its write number ``full``, and from
    then on if ``stays_full``. All count from 1, from the last ``begin``."""

    def __init__(self) -> None:
        self.begin()

    def begin(
        self,
        *,
        death: int | None = None,
        rejection: int | None = None,
        full: int | None = None,
        stays_full: bool = False,
    ) -> None:
        self.moments = self.kernel_writes = self.disk_writes = 0
        self.rejected: Action | None = None
        self._death, self._rejection, self._full = death, rejection, full
        self._stays_full = stays_full

    def moment(self) -> None:
        self.moments += 1
        if self.moments == self._death:
            raise Crash

    def rejects(self, action: Action) -> bool:
        self.kernel_writes += 1
        if self.kernel_writes != self._rejection:
            return False
        self.rejected = action
        return True

    def disk_write(self) -> None:
        self.disk_writes += 1
        if self._full is not None and (
            self.disk_writes == self._full or (self._stays_full and self.disk_writes > self._full)
        ):
            raise sqlite3.OperationalError(FULL)


class MortalKernel(FakeKernel):
    """Rejects with ENOMEM."""

    def __init__(self, fate: Fate, interfaces: dict[str, int]) -> None:
        super().__init__(interfaces)
        self._fate = fate

    def _carry_out(self, action: Action) -> Failure | None:
        self._fate.moment()
        if self._fate.rejects(action):
            return Failure.of(errno.ENOMEM)
        failure = super()._carry_out(action)
        self._fate.moment()
        return failure


class MortalFrr(FakeFrr):
    fate: Fate

    def _carry_out(self, action: Action) -> None:
        self.fate.moment()
        super()._carry_out(action)
        self.fate.moment()


class Disk:
    """What a journal lies on. ``connect`` opens it as the next process finds it."""

    def __init__(self, fate: Fate) -> None:
        self._fate = fate
        self._db = sqlite3.connect(":memory:", isolation_level=None)

    def connect(self, *_: object, **__: object) -> sqlite3.Connection:
        self._recover()
        return cast(sqlite3.Connection, _Connection(self._db, self._fate))

    def copy_to(self, other: Disk) -> None:
        self._recover()
        self._db.backup(other._db)

    def _recover(self) -> None:
        """What a death left unfinished is not there."""
        if self._db.in_transaction:
            self._db.execute("rollback")


class _Connection:
    def __init__(self, db: sqlite3.Connection, fate: Fate) -> None:
        self._db = db
        self._fate = fate

    def execute(self, sql: str) -> Any:
        if sql not in ("begin", "commit"):
            return self._db.execute(sql)
        self._fate.moment()
        self._fate.disk_write()
        done = self._db.execute(sql)
        self._fate.moment()
        return done

    def executemany(self, sql: str, rows: Iterable[tuple[str, ...]]) -> None:
        self._fate.moment()
        self._fate.disk_write()
        self._db.executemany(sql, rows)
        self._fate.moment()

    def close(self) -> None:
        pass
