"""What the store keeps: revisions of the network, and the transaction from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from srv6net.allocate.plan import Allocations
from srv6net.compile.configuration import Entries


class Decision(StrEnum):
    """Written once; whatever happens later, every router ends as it says."""

    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class Revision:
    """The network as it was decided: the intent, and what it made of each router. ``inventory``:
    digest of the one that it was made with; empty where allocations or routers are others."""

    number: int = 0
    at: float = 0.0
    intent: Mapping[str, Any] = field(default_factory=dict)
    allocations: Allocations = field(default_factory=Allocations)
    routers: Mapping[str, Entries] = field(default_factory=dict)
    inventory: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What a router's entries are, and what they become."""

    before: Entries
    after: Entries


@dataclass(frozen=True, slots=True)
class Record:
    """A transaction. ``proposed`` is current from the decision to commit on; ``settled`` are the
    routers that are known to be as it was decided; ``is_touched``: some may have been changed."""

    id: str
    started: float
    proposed: Revision
    changes: Mapping[str, Change]
    decision: Decision | None = None
    reasons: tuple[str, ...] = ()
    settled: frozenset[str] = frozenset()
    is_touched: bool = False

    @property
    def unsettled(self) -> frozenset[str]:
        return frozenset(self.changes) - self.settled

    @property
    def is_open(self) -> bool:
        return self.decision is None or bool(self.unsettled)
