"""Whether and how often counters of SIDs are published, by ``counterpoll srv6`` of SONiC. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from srv6mgrd.redis.schema import Fields, RowKey, table

POLL_ROW: RowKey = table("CONFIG_DB", "FLEX_COUNTER_TABLE").key("SRV6")
# What counterpoll itself takes is 1000 to 30000 ms (sonic-utilities counterpoll/main.py).
_LEAST = 0.1


@dataclass(frozen=True, slots=True)
class Poll:
    """``interval`` in seconds; None is that of the settings."""

    is_enabled: bool = True
    interval: float | None = None


def poll(fields: Fields) -> Poll:
    """By the row; without one counters are published, as on a router without SONiC."""
    text = fields.get("POLL_INTERVAL", "")
    is_number = text.isascii() and text.isdecimal() and len(text) < 10
    interval = max(_LEAST, int(text) / 1000) if is_number else None
    return Poll(fields.get("FLEX_COUNTER_STATUS") != "disable", interval)
