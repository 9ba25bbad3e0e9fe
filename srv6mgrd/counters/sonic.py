"""Counters of SIDs in SONiC's words, for Redis and for gNMI. Pure."""

from __future__ import annotations

from srv6mgrd.counters.status import SidCounters

DATABASE = "COUNTERS_DB"


def name(prefix: str, block: int, node: int, function: int) -> str:
    """A SID's name: its address and the length of locator and function (sonic-swss
    orchagent/srv6orch.cpp, getMySidPrefix). ``prefix`` may be longer than these."""
    address, _, length = prefix.partition("/")
    return f"{address}/{block + node + function if length == '128' else length}"


def fields(c: SidCounters) -> dict[str, str]:
    """Fields of a COUNTERS row; a literal, as it is built for every SID every second."""
    return {
        "SAI_COUNTER_STAT_PACKETS": str(c.packets),
        "SAI_COUNTER_STAT_BYTES": str(c.octets),
        "SRV6MGR_STAT_ERRORS": str(c.errors),
    }
