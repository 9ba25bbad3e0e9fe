"""Runs of the lab: written in a boot, read in ``bench.seeds``."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from bench.seeds_boots import OUTPUT

# By scenario.
Runs = dict[str, list[float]]
_FILE = "runs.json"


def write(runs: Runs) -> None:
    (Path(os.environ["LAB_OUT"]) / _FILE).write_text(json.dumps(runs))


def read(part: str, kernel: str) -> list[Runs]:
    """Each boot of a kernel, in order."""
    boots = {}
    for folder in (OUTPUT / part).glob(f"{kernel}-*"):
        if number := re.fullmatch(rf"{kernel}-(\d+)", folder.name):
            boots[int(number[1])] = json.loads((folder / _FILE).read_text())
    if not boots:
        raise SystemExit(f"{part}: the lab left no runs of kernel {kernel}: bench.seeds_boots")
    return [boots[number] for number in sorted(boots)]
