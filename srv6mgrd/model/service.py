"""State of a service: of a VRF, or of a SID. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from srv6mgrd.model.condition import Condition


class ServiceState(IntEnum):
    """A greater one is worse; ``UNKNOWN`` is not judged yet, as after a commit."""

    UP = 1
    UNKNOWN = 2
    DEGRADED = 3
    DOWN = 4

    @property
    def text(self) -> str:
        """The YANG enum."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class ServiceReport:
    """The state of a service since a time (ns), and the worst condition that it is due to."""

    state: ServiceState
    since: int
    condition: Condition | None = None
