"""Check that names in Python, C and Lua use the terms of docs/glossary.md.

Identifiers are split into words (``problem_of_row``: problem, of, row), and so are the names of
files. Comments, strings and prose are not looked at, nor are names that others define.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

CHECKOUT = Path(__file__).resolve().parents[2]

# Each old word, and the term to use.
TERMS: Mapping[str, str] = {
    "blame": "error_path",
    "departure": "uninstall",
    "door": "northbound, client or listener",
    "doors": "northbounds, clients or listeners",
    "fought": "flapping",
    "herald": "notifier",
    "news": "notifications",
    "offering": "capabilities",
    "refusal": "rejection",
    "refusals": "rejections",
    "refuse": "reject",
    "refused": "rejected",
    "refuses": "rejects",
    "refusing": "rejecting",
    "patience": "timeout or retry policy",
    "tell": "report, notify or print",
    "told": "reported",
    "worded": "translated",
}

# Old names as a whole, which are ordinary words as a part of others.
NAMES: Mapping[str, str] = {
    "Book": "OwnershipIndex, MapIndex or RowCache",
    "CommitClock": "CommitCoordinator",
    "Feed": "TelemetryFeed or OrchagentFeed",
    "FrrOffer": "FrrCapabilities",
    "Pace": "DutyCycle, RateLimiter, SampleLimits or Timers",
    "Patience": "RetryPolicy",
    "TooBig": "PacketTooBig",
    "alone_in": "single_instance_in",
    "disturbed": "request_reconcile",
}

# Names that keep an old word, each with the reason.
EXCEPTIONS: Mapping[str, str] = {
    "ConnectionRefusedError": "Python's",
    "ECONNREFUSED": "the C library's",
    "told_to_stop": "an idiom: the daemon is told to stop",
}
# The same of one file.
EXCEPTIONS_IN: Mapping[tuple[str, str], str] = {
    ("tests/soak/chaos/invariants.py", "tell"): "a method of Python's files",
    ("tests/property/machine.py", "disturbed"): "the state that a test makes, not the method",
}

_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_STRING = r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|([A-Za-z_]\w*)"""
_TRIPLE = r'"""(?:\\.|[^\\])*?"""|' + r"'''(?:\\.|[^\\])*?'''"
# Comments and strings, which are passed over, or a name.
_TOKENS = {
    ".py": re.compile(r"#[^\n]*|" + _TRIPLE + _STRING, re.S),
    ".c": re.compile(r"//[^\n]*|/\*.*?\*/" + _STRING, re.S),
    ".h": re.compile(r"//[^\n]*|/\*.*?\*/" + _STRING, re.S),
    ".lua": re.compile(r"--[^\n]*" + _STRING, re.S),
}
# The files that are named by what they test, or by us at all.
_NAMED = frozenset({".py", ".c", ".h", ".lua", ".robot", ".sh"})


@dataclass(frozen=True, slots=True)
class Finding:
    """An old word in a name; ``line`` is 0 where it is that of the file."""

    file: str
    line: int
    name: str
    term: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: '{self.name}': say {self.term} (docs/glossary.md)"


def identifiers(file: str, text: str) -> Iterator[tuple[int, str]]:
    """Each identifier of a source once, with the place of the first one."""
    seen: set[str] = set()
    for match in _TOKENS[PurePosixPath(file).suffix].finditer(text):
        name = match[1]
        if name and name not in seen:
            seen.add(name)
            yield match.start(), name


@cache
def term(name: str) -> str | None:
    """What to say instead of a name; None if there is nothing against it."""
    if name in EXCEPTIONS:
        return None
    if name in NAMES:
        return NAMES[name]
    return next((TERMS[p] for p in map(str.lower, _PARTS.findall(name)) if p in TERMS), None)


def findings(file: str, text: str) -> Iterator[Finding]:
    """Old words in the name of a file and in the identifiers of its text."""
    path = PurePosixPath(file)
    if path.suffix in _NAMED:
        for part in (*path.parts[:-1], path.stem):
            if (say := term(part)) is not None:
                yield Finding(file, 0, part, say)
    # Most files have no old word, not even in a comment.
    if path.suffix in _TOKENS and any(map(term, set(_NAME.findall(text)))):
        for place, name in identifiers(file, text):
            if (file, name) not in EXCEPTIONS_IN and (say := term(name)) is not None:
                yield Finding(file, text.count("\n", 0, place) + 1, name, say)


def check(files: Iterable[tuple[str, str]]) -> list[Finding]:
    """The findings of many files, each with its text."""
    return [found for file, text in files for found in findings(file, text)]


def _sources(checkout: Path) -> Iterator[tuple[str, str]]:
    listed = ("git", "ls-files", "-z")
    names = subprocess.run(listed, cwd=checkout, check=True, capture_output=True, text=True).stdout
    for name in names.split("\0"):
        file = checkout / name
        if file.suffix in _NAMED and file.is_file():
            yield name, file.read_text(encoding="utf-8")


def main() -> int:
    found = check(_sources(CHECKOUT))
    for one in found:
        print(one)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
