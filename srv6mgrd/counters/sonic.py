"""Counters of SIDs in SONiC's words, for Redis and for gNMI. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from srv6mgrd.model.status import SidCounters

DATABASE = "COUNTERS_DB"

# Of packets, octets, errors.
FIELDS = ("SAI_COUNTER_STAT_PACKETS", "SAI_COUNTER_STAT_BYTES", "SRV6MGR_STAT_ERRORS")

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
