"""An edit of one object, for the sake of a row."""

from __future__ import annotations

from dataclasses import dataclass

from srv6mgrd.configdb.objects import Leaves, Object


@dataclass(frozen=True, slots=True)
class Change:
    """An object to declare, or with ``leaves`` None to remove. ``gone`` are members that a row
    declared before and does not any more."""

    row: str
    object: Object
    leaves: Leaves | None
    gone: tuple[str, ...] = ()
