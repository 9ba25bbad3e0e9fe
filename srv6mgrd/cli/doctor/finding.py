"""What a check of ``doctor`` found."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

# A remedy, or the end of one: true while srv6mgrd runs.
SELF_REPAIR = "srv6mgrd puts it back by itself while it runs (srv6ctl reconcile: at once)"


class Level(StrEnum):
    """How bad it is. ``NOTE``: good to know; ``SKIP``: it could not be looked at."""

    OK = "ok"
    NOTE = "note"
    SKIP = "skip"
    WARN = "warn"
    FAIL = "fail"


class Finding(NamedTuple):
    """``check`` names what was looked at, ``message`` what is the case, ``remedy`` what to do."""

    level: Level
    check: str
    message: str
    remedy: str = ""


def ok(check: str, message: str) -> Finding:
    return Finding(Level.OK, check, message)


def note(check: str, message: str, remedy: str = "") -> Finding:
    return Finding(Level.NOTE, check, message, remedy)


def skip(check: str, message: str, remedy: str = "") -> Finding:
    return Finding(Level.SKIP, check, message, remedy)


def warn(check: str, message: str, remedy: str) -> Finding:
    return Finding(Level.WARN, check, message, remedy)


def fail(check: str, message: str, remedy: str) -> Finding:
    return Finding(Level.FAIL, check, message, remedy)


def or_ok(check: str, message: str, found: Iterable[Finding]) -> list[Finding]:
    """What was found; where that is nothing bad, that all is well."""
    listed = list(found)
    bad = any(f.level in {Level.WARN, Level.FAIL} for f in listed)
    return listed if bad else [ok(check, message), *listed]
