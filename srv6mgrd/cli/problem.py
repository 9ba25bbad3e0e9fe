"""What srv6ctl can't do, in words an operator can act on, and with which status it ends."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple


class Exit(IntEnum):
    """Exit statuses of srv6ctl (docs/srv6ctl.md)."""

    DONE = 0
    # The node or its YANG modules reject it; nothing has changed. ping, trace: not reached.
    REJECTED = 1
    # The command line can't be understood (click's own number). ping, trace: any error.
    USAGE = 2
    # srv6mgrd or sysrepo can't be asked.
    UNREACHABLE = 3
    DENIED = 4
    # Another commit awaits confirmation, or the configuration is locked.
    BUSY = 5
    # What was looked at is not as it should be: the SID is not installed, with --exit-code there
    # are differences.
    FOUND = 6
    # 128 and the number of the signal, as shells have it.
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class Complaint(NamedTuple):
    """``VRF blue: table 100 is already used by VRF red; choose another table-id``."""

    object: str
    cause: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.object}: {self.cause}; {self.remedy}"


class Problem(Exception):
    """Ends srv6ctl with ``status``."""

    def __init__(self, complaints: Sequence[Complaint], status: Exit) -> None:
        super().__init__("\n".join(map(str, complaints)))
        self.complaints = tuple(complaints)
        self.status = status

    @staticmethod
    def of(object: str, cause: str, remedy: str, status: Exit = Exit.REJECTED) -> Problem:
        """One with a single complaint."""
        return Problem([Complaint(object, cause, remedy)], status)


def complaint_of(text: str, object: str = "srv6mgr", remedy: str = "see its log") -> Complaint:
    """The parts of a message ``object: cause; remedy``; ``object`` and ``remedy`` replace
    those that it lacks."""
    head, _, tail = text.rpartition("; ")
    if not head:
        head, tail = text, remedy
    name, colon, cause = head.partition(": ")
    return Complaint(name, cause, tail) if colon else Complaint(object, head, tail)
