"""Durations and outcomes of one run, a JSON object per line.

Each job appends to a file of its own (``$TEST_RECORDS``); at the end the runner joins them in
``build/durations.jsonl``.
"""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "TEST_RECORDS"
# Lines of a failure that are kept, and of each service's log beside it.
FAILURE_LINES = 40
LOG_LINES = 6
# Seconds: what was written before has nothing to say about a failure.
RECENT = 60.0


@dataclass(frozen=True, slots=True)
class Record:
    """``kind`` is test, fixture (its set-up alone), suite (set-up and tear-down of a Robot suite),
    boot, job or stage. ``seconds`` is wall time. ``outcome`` is passed, failed, skipped or unsteady
    (failed beside other jobs, passed alone); ``text`` the reason."""

    kind: str
    id: str
    seconds: float
    outcome: str = "passed"
    text: str = ""
    job: str = ""
    setup: float = 0.0
    teardown: float = 0.0
    cpu: float = 0.0

    @property
    def total(self) -> float:
        return self.setup + self.seconds + self.teardown


def append(path: Path, record: Record) -> None:
    """One write, so that several processes can share a file."""
    line = json.dumps(_without_defaults(record)) + "\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def read(path: Path, job: str | None = None) -> Iterator[Record]:
    """The records of a file, none where it does not exist. A line that a killed process left
    unfinished is passed over."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            fields = json.loads(line)
        except ValueError:
            continue
        record = Record(**fields)
        yield record if job is None else dataclasses.replace(record, job=job)


def write(path: Path, records: Iterable[Record]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text("".join(json.dumps(_without_defaults(r)) + "\n" for r in records))
    new.rename(path)


def _without_defaults(record: Record) -> dict[str, object]:
    fields = dataclasses.fields(Record)
    values = ((f, getattr(record, f.name)) for f in fields)
    return {f.name: round(v, 4) if isinstance(v, float) else v for f, v in values if v != f.default}


def last_lines(text: str, count: int) -> str:
    return "\n".join(text.rstrip().splitlines()[-count:])


def log_tails(folder: Path | None = None) -> str:
    """The last lines of each log of the lab that was written of late, newest last."""
    folder = folder or (Path(os.environ["LAB_OUT"]) if "LAB_OUT" in os.environ else None)
    if folder is None or not folder.is_dir():
        return ""
    recent = time.time() - RECENT
    found = [p for p in folder.glob("*/*.log") if p.stat().st_size and p.stat().st_mtime > recent]
    found.sort(key=lambda path: path.stat().st_mtime)
    return "\n".join(
        f"-- {path.parent.name}/{path.name}\n{last_lines(_end_of(path), LOG_LINES)}"
        for path in found
    )


def _end_of(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4096))
        return file.read().decode(errors="replace")
