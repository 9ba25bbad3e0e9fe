"""Status and counters, read from the store that srv6mgrd writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from srv6mgrd.counters import proxies
from srv6mgrd.counters.node import ABSENT, NodeReader, NodeState, Version, beside
from srv6mgrd.counters.status import ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.counters.store import Records, StoreError, StoreReader

# What moves when a status or the state of the node does.
Moment = tuple[int, Version]


@dataclass(frozen=True, slots=True)
class Status:
    """Status of all objects at one generation, and state of the node; ``problem`` when the store
    can't be read."""

    generation: int = -1
    objects: Mapping[ObjectRef, ObjectStatus] = field(default_factory=dict)
    problem: str = ""
    node: NodeState = field(default_factory=NodeState)

    @property
    def moment(self) -> Moment:
        return self.generation, self.node.version


@dataclass(frozen=True, slots=True)
class Counters:
    """One sample; ``at`` (ns) is when it was taken."""

    sample: int = -1
    at: int = 0
    by_prefix: Mapping[str, SidCounters] = field(default_factory=dict)


class State:
    """Reads the store; keeps what it read until the store says that it changed.

    Used by one thread at a time.
    """

    def __init__(self, path: Path) -> None:
        self._reader = StoreReader(path)
        self._node = NodeReader(beside(path))
        self._status = Status()
        self._counters = Counters()
        self._proxies = NodeReader(proxies.beside(path))
        self._counted = -1, -1
        self._records: Records | None = None

    def moment(self) -> Moment:
        """Cheap; -1 and ABSENT while there is nothing to read."""
        try:
            return self._reader.generation, self._node.version()
        except (StoreError, OSError):
            return -1, ABSENT

    def sampled(self) -> tuple[int, int]:
        """Generation and number of the last sample. Cheap; -1 while there is nothing to read."""
        try:
            return self._reader.generation, self._reader.sample[0]
        except StoreError:
            return -1, -1

    def status(self) -> Status:
        try:
            generation = self._reader.generation
            node = self._node.read()
            if (generation, node.version) != self._status.moment:
                same = generation == self._status.generation
                objects = self._status.objects if same else self._reader.objects()
                self._status = Status(generation, objects, node=node)
        except (StoreError, OSError) as e:
            self._status = Status(problem=str(e))
        return self._status

    def counters(self) -> Counters:
        try:
            sample, at = self._reader.sample
            # A new object owns a record before it is sampled: ask the generation as well.
            read = sample, self._reader.generation
            if read != self._counted:
                self._counted = read
                self._counters = Counters(sample, at, self._reader.counters())
        except (StoreError, OSError):
            self._counters, self._counted = Counters(), (-1, -1)
        return self._counters

    def proxies(self) -> NodeState:
        """State of the proxies, by prefix, in RFC 7951 form. Cheap while it is the same."""
        return self._proxies.read()

    def records(self) -> Records | None:
        """The counters as they are stored; None while there is nothing to read."""
        try:
            self._records = self._reader.records(self._records)
        except (StoreError, OSError):
            self._records = None
        return self._records

    def close(self) -> None:
        self._reader.close()
