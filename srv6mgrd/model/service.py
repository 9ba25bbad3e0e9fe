"""State of a service: of a VRF, or of a SID. Pure."""

from __future__ import annotations

from enum import IntEnum


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
