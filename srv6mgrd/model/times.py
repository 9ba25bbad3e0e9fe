"""Times as the YANG models have them."""

from __future__ import annotations

from datetime import UTC, datetime


def time_text(ns: int) -> str:
    """RFC 3339 in UTC with fraction: yang:date-and-time as it is written canonically."""
    seconds, fraction = divmod(ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{fraction:09d}+00:00"
