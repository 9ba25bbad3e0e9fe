"""Times as the YANG models have them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


def time_text(ns: int) -> str:
    """RFC 3339 in UTC with fraction: yang:date-and-time as it is written canonically."""
    seconds, fraction = divmod(ns, 1_000_000_000)
    return f"{_second(seconds)}.{fraction:09d}+00:00"


# Thousands of objects were installed in the same second.
@lru_cache(maxsize=1024)
def _second(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def time_of(text: str) -> int:
    """Nanoseconds of what ``time_text`` made. Raises ValueError."""
    second, _, fraction = text.removesuffix("+00:00").partition(".")
    return int(datetime.fromisoformat(f"{second}+00:00").timestamp()) * 1_000_000_000 + int(
        fraction
    )
