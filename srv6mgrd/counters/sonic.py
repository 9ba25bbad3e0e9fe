"""Counters of SIDs in SONiC's words, for Redis and for gNMI. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from srv6mgrd.model.drops import DropReason
from srv6mgrd.model.status import SidCounters

DATABASE = "COUNTERS_DB"

# Of packets, octets, errors.
FIELDS = ("SAI_COUNTER_STAT_PACKETS", "SAI_COUNTER_STAT_BYTES", "SRV6MGR_STAT_ERRORS")

# Of a segment list: packets, octets (SAI inc/saisrv6.h, sai_srv6_sidlist_stat_t).
OF_LIST = ("SAI_SRV6_SIDLIST_STAT_OUT_PACKETS", "SAI_SRV6_SIDLIST_STAT_OUT_OCTETS")

# Object identifier of the switch: of its type alone, as SONiC's first one is.
SWITCH = "oid:0x21000000000000"
_SID, _DECAP, _TOO_BIG, _ACL = "SRV6_LOCAL_SID_DROP", "DECAP_ERROR", "EXCEEDS_L3_MTU", "ACL_ANY"
# What SAI names (inc/saidebugcounter.h) of the reasons of drops. It has none for the others.
_IN_REASONS: Mapping[DropReason, str] = {
    DropReason.NO_SRH: _SID,
    DropReason.NO_SEGMENTS_LEFT: _SID,
    DropReason.SEGMENTS_LEFT: _SID,
    DropReason.SRH_MALFORMED: _SID,
    DropReason.FLAVOR_MISSING: _SID,
    DropReason.HMAC: _SID,
    DropReason.VRF_GONE: _SID,
    DropReason.UPPER_LAYER: _DECAP,
    DropReason.INNER_TYPE: _DECAP,
    DropReason.FRAGMENT: _DECAP,
    DropReason.NO_ROUTE: "LPM_MISS",
    DropReason.POLICY: "BLACKHOLE_ROUTE",
    DropReason.NO_NEIGHBOR: "UNRESOLVED_NEXT_HOP",
    DropReason.HOP_LIMIT: "TTL",
    DropReason.TOO_BIG: _TOO_BIG,
    DropReason.TOO_BIG_SILENT: _TOO_BIG,
    DropReason.BOUNDARY: _ACL,
    DropReason.FIREWALL: _ACL,
}
_LINK_DOWN = "SAI_OUT_DROP_REASON_L3_EGRESS_LINK_DOWN"
DROP_REASONS: Mapping[DropReason, str] = {
    **{reason: f"SAI_IN_DROP_REASON_{name}" for reason, name in _IN_REASONS.items()},
    DropReason.LINK_DOWN: _LINK_DOWN,
}
# The counter of each in the row of the switch; SAI has eight for packets that come in.
DROP_FIELDS: Mapping[str, str] = {
    **{
        name: f"SAI_SWITCH_STAT_IN_CONFIGURED_DROP_REASONS_{number}_DROPPED_PKTS"
        for number, name in enumerate(
            dict.fromkeys(f"SAI_IN_DROP_REASON_{name}" for name in _IN_REASONS.values())
        )
    },
    _LINK_DOWN: "SAI_SWITCH_STAT_OUT_CONFIGURED_DROP_REASONS_0_DROPPED_PKTS",
}

# Most of many SIDs have counted nothing: one mapping serves them all, and is never changed.
_NOTHING: Mapping[str, str] = dict.fromkeys(FIELDS, "0")


def name(prefix: str, block: int, node: int, function: int) -> str:
    """A SID's name: its address and the length of locator and function (sonic-swss
    orchagent/srv6orch.cpp, getMySidPrefix). ``prefix`` may be longer than these."""
    address, _, length = prefix.partition("/")
    whole = function and length == "128"
    return f"{address}/{block + node + function if whole else length}"


def fields(c: SidCounters) -> Mapping[str, str]:
    """Fields of a COUNTERS row; a literal, as it is built for every SID every second."""
    if not (c.packets or c.octets or c.errors):
        return _NOTHING
    return {
        "SAI_COUNTER_STAT_PACKETS": str(c.packets),
        "SAI_COUNTER_STAT_BYTES": str(c.octets),
        "SRV6MGR_STAT_ERRORS": str(c.errors),
    }
