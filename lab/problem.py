"""The one exception the lab shows to its user: what, why, and what to do."""

from __future__ import annotations


class LabError(Exception):
    """Something the user can act on."""

    def __init__(self, subject: str, cause: str, remedy: str = "") -> None:
        super().__init__(subject, cause, remedy)
        self.subject = subject
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        text = f"{self.subject}: {self.cause}"
        return f"{text} ({self.remedy})" if self.remedy else text


class MachineError(LabError):
    """The machine died or hangs: no fault of anything that ran in it."""
