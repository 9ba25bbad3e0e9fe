"""What the kernel reports of its objects."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EventKind(StrEnum):
    LINK = "link"
    ADDRESS = "address"
    ROUTE = "route"
    RULE = "rule"
    BOUNDARY = "boundary"
    SYSCTL = "sysctl"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class KernelEvent:
    """Something changed. ``key`` is that of the plan's object; of a link it is ``link NAME``, its
    VRF port is meant too. LOST: notifications were dropped, so read everything again."""

    kind: EventKind
    key: str = ""
    removed: bool = False
    ours: bool = False
