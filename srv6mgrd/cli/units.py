"""Numbers and times as people read and write them. Pure."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

NS = 1_000_000_000
_PREFIXES = ("", "k", "M", "G", "T", "P")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST = 86400


@lru_cache(maxsize=4096)
def short(value: float) -> str:
    """Three digits and a prefix of thousand: ``1.25k``, ``843``."""
    for prefix in _PREFIXES:
        if abs(value) < 999.5 or prefix == _PREFIXES[-1]:
            break
        value /= 1000
    whole = not prefix and (value >= 100 or value == int(value))
    return f"{value:.0f}{prefix}" if whole or value >= 99.95 else f"{value:.3g}{prefix}"


def ago(ns: int, now: int) -> str:
    """How long a time (ns since the epoch) is past: ``3 s``, ``5 min``, ``2 h``, ``4 d``."""
    if not ns:
        return "never"
    seconds = max(0, now - ns) // NS
    for size, word in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {word}"
    return f"{seconds} s"


def ns_of(text: str) -> int:
    """Nanoseconds since the epoch of a yang:date-and-time."""
    moment = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))
    return int(moment.timestamp() * NS)


def seconds_of(text: str) -> int:
    """Seconds of ``90``, ``90s``, ``10m``, ``1h``: 1 to a day. Raises ValueError."""
    found = re.fullmatch(r"(\d+)\s*([smhd]?)", text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no time; write 90s, 10m or 1h")
    seconds = int(found[1]) * _SECONDS[found[2]]
    if not 1 <= seconds <= _LONGEST:
        raise ValueError(f"{text!r} is not between a second and a day")
    return seconds


def counted(number: int, what: str) -> str:
    """``1 operation``, ``3 operations``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
