"""What waits to be sent to one subscriber; grows no further than a slow client makes it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from srv6mgrd.gnmi import frames
from srv6mgrd.gnmi.path import Path, Pattern
from srv6mgrd.gnmi.schema import Node
from srv6mgrd.gnmi.turns import rest
from srv6mgrd.gnmi.view import Snapshot, is_counter

# Several Updates may share a Notification whose time is true for all (3.5.2.1). 500 leaves are
# about 50 kB, well below the 4 MB that gRPC clients accept by default.
_BUNDLE = 500
_BATCHES = 16


@dataclass(slots=True)
class Batch:
    """Updates and deletes of one moment. ``sync`` follows them; ``duplicates`` by path (2.1)."""

    at: int
    updates: dict[Pattern, Any] = field(default_factory=dict)
    deletes: list[Pattern] = field(default_factory=list)
    sync: bool = False
    duplicates: dict[Pattern, int] = field(default_factory=dict)

    def merge(self, later: Batch) -> None:
        """Coalesce with a later batch: its values win, and are counted as duplicates."""
        for gone in later.deletes:
            for path in [p for p in self.updates if p[: len(gone)] == gone]:
                del self.updates[path]
        for path, value in later.updates.items():
            if path in self.updates:
                self.duplicates[path] = self.duplicates.get(path, 0) + 1
            self.updates[path] = value
        # A branch that comes and goes while nobody reads is reported once.
        self.deletes = list(dict.fromkeys((*self.deletes, *later.deletes)))
        self.sync |= later.sync
        self.at = later.at


class Outbox:
    """Batches in order; past a number of them, new ones coalesce with the last."""

    def __init__(self) -> None:
        self._batches: deque[Batch] = deque()
        self._filled = asyncio.Event()

    def put(self, batch: Batch) -> None:
        if len(self._batches) >= _BATCHES and not self._batches[-1].sync:
            self._batches[-1].merge(batch)
        else:
            self._batches.append(batch)
        self._filled.set()

    async def get(self) -> Batch:
        while not self._batches:
            self._filled.clear()
            await self._filled.wait()
        return self._batches.popleft()


@dataclass(frozen=True, slots=True)
class Form:
    """How leaves are written: encoding, prefix as asked, and origin by the first node of a path."""

    encoding: int
    prefix: Path
    origins: Mapping[Node, str] = field(default_factory=dict)

    def origin(self, at: Pattern) -> str:
        return self.origins.get(at[0].node, "") if at and self.origins else ""

    def update(self, at: Pattern, value: Any, duplicates: int = 0) -> bytes:
        return frames.update(self.encoding, at, value, duplicates, self.origin(at))


def batches(values: Mapping[Pattern, Any], snapshot: Snapshot) -> list[Batch]:
    """Counters carry the time of their sample (3.5.2.1), everything else is known now."""
    now = time.time_ns()
    counted = {p: v for p, v in values.items() if is_counter(p[-1].node)}
    other = {p: v for p, v in values.items() if p not in counted} if counted else dict(values)
    return [
        Batch(at, part)
        for at, part in ((now, other), (snapshot.sampled_at or now, counted))
        if part
    ]


def responses(batch: Batch, form: Form) -> Iterator[bytes]:
    """The batch as SubscribeResponses."""
    prefix = frames.prefix(form.prefix)
    deletes = [frames.delete(p, form.origin(p)) for p in batch.deletes]
    for bundle in bundles(batch.updates.items()):
        updates = [form.update(p, value, batch.duplicates.get(p, 0)) for p, value in bundle]
        yield frames.notification(batch.at, prefix, (*updates, *deletes))
        deletes = []
    if deletes:
        yield frames.notification(batch.at, prefix, deletes)
    if batch.sync:
        yield frames.SYNC


def bundles(items: Iterable[tuple[Pattern, Any]]) -> Iterator[list[tuple[Pattern, Any]]]:
    """Leaves that go into one Notification."""
    bundle: list[tuple[Pattern, Any]] = []
    for item in items:
        bundle.append(item)
        if len(bundle) == _BUNDLE:
            rest()
            yield bundle
            bundle = []
    if bundle:
        yield bundle
