"""Status of a declared object, as YANG grouping object-state (srv6mgr-types) has it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from srv6mgrd.model.record import record


class InstallStatus(IntEnum):
    """YANG typedef install-status; the value is its number in the store."""

    PENDING = 1
    INSTALLED = 2
    FAILED = 3
    UNSUPPORTED = 4
    DRIFTED = 5
    REJECTED = 6
    UNKNOWN = 7

    # Enum's own is written in Python.
    __hash__ = int.__hash__

    @property
    def text(self) -> str:
        """The YANG enum."""
        return self.name.lower()


class Kind(IntEnum):
    """What kind of object: which YANG list it is in."""

    LOCATOR = 1
    VRF = 2
    SID = 3
    VRF_BGP = 4
    SEGMENT_LIST = 5
    ROUTE = 6
    INTERFACE = 7
    ROUTING_POLICY = 8
    STATIC_ROUTE = 9
    ROUTE_LEAK = 10
    OSPF = 11
    OSPFV3 = 12
    SERVICE_FUNCTION = 13
    SERVICE_FUNCTION_GROUP = 14
    SERVICE_FUNCTION_CHAIN = 15
    CLASSIFIER = 16

    __hash__ = int.__hash__

    @property
    def text(self) -> str:
        """As YANG names it."""
        return self.name.lower().replace("_", "-")


class ObjectRef(NamedTuple):
    """Names a declared object: its kind and its YANG list key (for VRF_BGP the VRF's name)."""

    kind: Kind
    name: str


@record
class ObjectStatus:
    """Times are nanoseconds since the epoch; 0 is never. ``detail`` has the SIDs that a VRF_BGP
    advertises (``yang.advertised``), and what a SID does (``counters.labels``); it is empty for
    other kinds."""

    status: InstallStatus
    reason: str = ""
    since: int = 0
    last_repair: int = 0
    repairs: int = 0
    detail: str = ""


# Bytes of a reason that the store has room for.
REASON_LENGTH = 216


def clipped(reason: str) -> str:
    """A reason as the store holds it."""
    if not reason:
        return reason
    encoded = reason.encode()
    if len(encoded) <= REASON_LENGTH:
        return reason
    return encoded[: REASON_LENGTH - 3].decode(errors="ignore") + "..."


@dataclass(frozen=True, slots=True)
class SidCounters:
    """Accumulated counters of a SID: they never go back. ``discontinuity`` in nanoseconds."""

    packets: int = 0
    octets: int = 0
    errors: int = 0
    discontinuity: int = 0
