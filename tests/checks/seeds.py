"""Check docs/seeds.md: no empty cell, a known verdict, and tests and benches that exist.

``python -m tests.checks.seeds --ran`` also reads the records of the last run of tests, and lists
the named tests that did not pass in it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.runner import records
from tests.runner.records import Record

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = "docs/seeds.md"
RECORDS = "build/durations.jsonl"

HEADING = "| | it says |"
VERDICTS = ("met", "short", "unclear", "rejected", "open")
# In place of a test, each with the verdict that it needs.
WITHOUT_TEST = {"nothing yet": "open", "nothing, by choice": "rejected"}
_COLUMNS = 7
_NAMED = re.compile(r"`([^`]+)`")
_CASE = re.compile(r"^(?=\S)(?!#|\*\*\*)(.+?)\s*$", re.M)


@dataclass(frozen=True, slots=True)
class Row:
    """A claim. ``shown`` names tests (FILE::CASE) and benches (FILE)."""

    key: str
    cells: tuple[str, ...]

    @property
    def shown(self) -> str:
        return self.cells[3]

    @property
    def named(self) -> list[str]:
        return _NAMED.findall(self.shown)

    @property
    def verdict(self) -> str:
        return self.cells[-1]


def rows(page: str) -> Iterator[Row]:
    """Each claim of the page: rows of the tables that begin with HEADING."""
    of_claims = False
    for line in page.splitlines():
        if not line.startswith("|"):
            of_claims = False
        elif line.startswith(HEADING):
            of_claims = True
        elif of_claims and not line.startswith("|---"):
            cells = tuple(cell.strip() for cell in line.strip("|").split("|"))
            yield Row(cells[0], cells)


def problems(page: str, checkout: Path) -> Iterator[str]:
    """What is wrong with the page, one sentence each."""
    seen: set[str] = set()
    for row in rows(page):
        if len(row.cells) != _COLUMNS or not all(row.cells):
            yield f"{row.key}: a cell is empty, or one too many; a row has {_COLUMNS}"
            continue
        if row.key in seen:
            yield f"{row.key}: there are two such rows"
        seen.add(row.key)
        if row.verdict not in VERDICTS:
            yield f"{row.key}: '{row.verdict}' is no verdict ({', '.join(VERDICTS)})"
        if not row.named and WITHOUT_TEST.get(row.shown) != row.verdict:
            yield f"{row.key}: it is {row.verdict}, so name a test or bench for '{row.shown}'"
        for name in row.named:
            if not exists(name, checkout):
                yield f"{row.key}: there is no {name}"


def exists(name: str, checkout: Path) -> bool:
    """Whether a test or bench is there. A bench is a module of bench/."""
    file, colon, case = name.partition("::")
    place = checkout / file
    if not place.is_file():
        return False
    if not colon:
        return file.startswith("bench/") and place.suffix == ".py"
    text = place.read_text(encoding="utf-8")
    if place.suffix == ".robot":
        _, _, behind = text.partition("*** Test Cases ***\n")
        return case in _CASE.findall(behind.partition("\n*** ")[0])
    return re.search(rf"^(async )?def {re.escape(case)}\(", text, re.M) is not None


def not_passed(page: str, run: Iterable[Record]) -> list[str]:
    """The named tests without a run, or with one that did not pass. Those with parameters ran if
    one of them did, and passed if all that ran did."""
    outcomes: dict[str, set[str]] = {}
    for record in run:
        if record.kind == "test":
            outcomes.setdefault(record.id.partition("[")[0], set()).add(record.outcome)
    tests = {name for row in rows(page) for name in row.named if "::" in name}
    passed = ({"passed"}, {"unsteady"}, {"passed", "unsteady"})
    return sorted(name for name in tests if outcomes.get(name) not in passed)


def main() -> int:
    page = (CHECKOUT / PAGE).read_text(encoding="utf-8")
    found = list(problems(page, CHECKOUT))
    if "--ran" in sys.argv[1:]:
        run = records.read(CHECKOUT / RECORDS)
        found += [f"{name} did not pass in the last run" for name in not_passed(page, run)]
    for one in found:
        print(f"{PAGE}: {one}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
