"""Redis as the publisher sees it: a few verbs on rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from srv6mgrd.redis.schema import Fields, tables

DATABASES: Mapping[str, int] = {t.database: t.id for t in tables()}

# One operation of write.lua: its name, then its arguments.
Operation = tuple[str | int | Sequence[str], ...]


class WireError(Exception):
    """Redis can't be reached, or rejects; worth another try later."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where Redis is and how patient to be; ``socket`` goes before ``host``. Times in seconds."""

    socket: str | None = "/var/run/redis/redis.sock"
    host: str = "127.0.0.1"
    port: int = 6379
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    # Over TCP only: files of the authority, and of our own certificate where Redis asks for one.
    tls: bool = False
    tls_ca: str | None = None
    tls_certificate: str | None = None
    tls_key: str | None = None
    timeout: float = 5.0
    counter_interval: float = 1.0
    compare_interval: float = 300.0
    backoff_first: float = 0.1
    backoff_last: float = 5.0

    @property
    def where(self) -> str:
        return self.socket or f"{self.host}:{self.port}"


class Wire(Protocol):
    """An open connection. Every method raises WireError when it is lost."""

    async def owned(self, db: str) -> list[str]:
        """Keys of a database that are ours; what waits for a consumer that is gone is settled."""
        ...

    async def read(self, db: str, keys: Sequence[str]) -> dict[str, Fields]:
        """Rows as they are; one that is absent has no fields."""
        ...

    async def write(self, db: str, operations: Sequence[Operation]) -> list[int]:
        """Carry out operations on rows of one table; return the numbers of those rejected because
        the row belongs to somebody else."""
        ...

    async def count(self, lines: Sequence[str]) -> None:
        """Write counters into rows that are ours: ``<key> <packets> <octets> <errors>\\n`` each.
        One that is not ours any more is passed over: ``changes`` reports what took it away."""
        ...

    async def allocate(self, count: int, floor: int) -> int:
        """First of so many consecutive object indexes, fresh and above ``floor``."""
        ...

    def changes(self) -> AsyncIterator[list[str] | None]:
        """Keys that were changed, of whichever database; None when a database was emptied. Our
        own changes may be among them."""
        ...
