"""Documents name tests for what they promise; they have to be there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("page", "folder", "least"),
    [
        ("gnmi.md", "tests/contract/gnmi", 50),
        ("netconf.md", "tests/contract/netconf", 20),
        ("security.md", "tests", 50),
    ],
)
def test_every_test_that_is_named_exists(page: str, folder: str, least: int) -> None:
    named = re.findall(r"`([\w/]*test_\w+\.py)(?:::(\w+))?`", (ROOT / "docs" / page).read_text())
    assert len(named) > least
    for file, function in named:
        place = ROOT / (file if file.startswith("tests/") else f"{folder}/{file}")
        assert place.exists(), file
        if function:
            assert f"def {function}(" in place.read_text(), f"{file}::{function}"
