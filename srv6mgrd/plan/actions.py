"""Actions: what a plan consists of. Plain data; each knows its undo.

``verb`` is the YANG enum of an operation, ``command`` the operation as a command of iproute2, nft,
sysctl or vtysh, for an operator to read; ``difference`` says what it puts right.
"""

from __future__ import annotations

from typing import Literal

from srv6mgrd.kinds.object import Object
from srv6mgrd.model.record import record


@record
class Create:
    """Add what is not there. Fails when something with this key exists."""

    object: Object

    @property
    def undo(self) -> Action:
        return Delete(self.object)

    @property
    def verb(self) -> Literal["create"]:
        return "create"

    @property
    def command(self) -> str:
        return self.object.create_command()

    @property
    def difference(self) -> str:
        return self.object.missing()


@record
class Replace:
    """Turn ``before`` into ``object``, without a gap where the kernel allows it."""

    before: Object
    object: Object

    @property
    def undo(self) -> Action:
        return Replace(self.object, self.before)

    @property
    def verb(self) -> Literal["replace"]:
        return "replace"

    @property
    def command(self) -> str:
        return self.object.replace_command(self.before)

    @property
    def difference(self) -> str:
        return self.object.difference(self.before)


@record
class Delete:
    """Remove what is there. Missing is no error."""

    object: Object

    @property
    def undo(self) -> Action:
        return Create(self.object)

    @property
    def verb(self) -> Literal["delete"]:
        return "delete"

    @property
    def command(self) -> str:
        return self.object.delete_command()

    @property
    def difference(self) -> str:
        return f"{self.object.short_label} was there, though not declared"


Action = Create | Replace | Delete
