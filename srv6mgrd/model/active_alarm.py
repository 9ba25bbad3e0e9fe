"""An active alarm as tables show it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from srv6mgrd.model.condition import Severity


@dataclass(frozen=True, slots=True)
class ActiveAlarm:
    """``raised`` and ``acknowledged`` in ns since 1970; the latter None: by nobody yet."""

    type: str
    resource: str
    severity: Severity
    text: str
    raised: int
    acknowledged: int | None = None
