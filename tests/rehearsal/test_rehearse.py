"""``srv6net rehearse`` on real routers: what is right passes, and what is wrong is caught.

Each intent boots a lab, half a minute; ``make nightly`` runs them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.srv6net.rehearsed import BAD, GOOD

pytestmark = pytest.mark.contract

CHECKOUT = Path(__file__).parents[2]
INVENTORY = CHECKOUT / "examples/network/inventory.toml"


def rehearse(folder: Path, wanted: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    (folder / "intent.json").write_text(json.dumps(wanted))
    command = [
        sys.executable, "-m", "srv6net.command.main", "--inventory", str(INVENTORY),
        "--store", str(folder / "store"), "rehearse", str(folder / "intent.json"),
    ]  # fmt: skip
    return subprocess.run(
        command, cwd=CHECKOUT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", GOOD)
def test_what_is_right_passes(tmp_path: Path, name: str) -> None:
    done = rehearse(tmp_path, GOOD[name])
    assert (done.returncode, done.stdout[:7]) == (0, "passed:"), done.stderr


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_caught(tmp_path: Path, name: str) -> None:
    done = rehearse(tmp_path, BAD[name][1])
    assert done.returncode == 1, done.stderr
    assert ("routers started" in done.stderr) == (BAD[name][0] == "lab"), done.stderr
