"""Actions: what a plan consists of. Plain data; each knows its undo."""

from __future__ import annotations

from srv6mgrd.model.record import record
from srv6mgrd.plan.objects import Object


@record
class Create:
    """Add what is not there. Fails when something with this key exists."""

    object: Object

    @property
    def undo(self) -> Action:
        return Delete(self.object)


@record
class Replace:
    """Turn ``before`` into ``object``, without a gap where the kernel allows it."""

    before: Object
    object: Object

    @property
    def undo(self) -> Action:
        return Replace(self.object, self.before)


@record
class Delete:
    """Remove what is there. Missing is no error."""

    object: Object

    @property
    def undo(self) -> Action:
        return Create(self.object)


Action = Create | Replace | Delete
