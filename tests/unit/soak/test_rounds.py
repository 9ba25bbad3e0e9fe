"""Tests that ``make soak`` alone runs can begin: no other stage would notice."""

from __future__ import annotations

import subprocess
import sys

from tests.runner.catalogue import CHECKOUT


def test_each_fixture_of_tests_soak_exists() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "--setup-plan", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "tests/soak"], cwd=CHECKOUT, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
