"""Route targets by which routes of one VRF of this router are imported into another.

A route target that the operator declares is that of a VPN, on whatever router; this one is of a VRF
of this router alone: its router ID, and a number that follows from its table (RFC 4360 section 4).
"""

from __future__ import annotations

from srv6mgrd.model.desired import Desired
from srv6mgrd.model.leaking import DEFAULT_VRF

# linux/rtnetlink.h: RT_TABLE_MAIN, which no VRF can have.
_MAIN_TABLE = 254
# Above what operators number their VPNs by.
_FIRST = 0x8000


def number(desired: Desired, vrf: str) -> int | None:
    """The number of a VRF, 15 bits; None where there is none of this name."""
    if vrf == DEFAULT_VRF:
        return _MAIN_TABLE
    found = desired.vrfs.get(vrf)
    return None if found is None else found.table & (_FIRST - 1)


def local_target(desired: Desired, vrf: str) -> str | None:
    """The route target of a VRF of this router, or of the default VRF."""
    own = number(desired, vrf)
    if own is None or desired.bgp is None:
        return None
    return f"{desired.bgp.router_id}:{_FIRST | own}"
