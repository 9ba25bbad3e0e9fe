"""Routes between VRFs of one router as declared."""

from __future__ import annotations

from dataclasses import dataclass

# The one that is no VRF; no VRF can have this name.
DEFAULT_VRF = "default"


@dataclass(frozen=True, slots=True)
class Leak:
    """``/srv6/vrfs/vrf/route-leaking/import-from`` and, where ``importer`` is DEFAULT_VRF,
    ``/srv6/default-vrf/import-from``."""

    importer: str
    source: str
    policy: str | None = None

    @property
    def name(self) -> str:
        """Its name among the objects: the VRF that imports, a blank, the other one."""
        return f"{self.importer} {self.source}"
