"""Actions: what a plan consists of. Plain data; each knows its undo."""

from __future__ import annotations

from dataclasses import dataclass

from srv6mgrd.plan.objects import Object


@dataclass(frozen=True, slots=True)
class Create:
    """Add what is not there. Fails when something with this key exists."""

    object: Object

    @property
    def undo(self) -> Action:
        return Delete(self.object)


@dataclass(frozen=True, slots=True)
class Replace:
    """Turn ``before`` into ``object``, without a gap where the kernel allows it."""

    before: Object
    object: Object

    @property
    def undo(self) -> Action:
        return Replace(self.object, self.before)


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove what is there. Missing is no error."""

    object: Object

    @property
    def undo(self) -> Action:
        return Create(self.object)


Action = Create | Replace | Delete
