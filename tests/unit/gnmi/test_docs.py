"""docs/gnmi.md names a test for each row; they have to be there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_test_that_is_named_exists() -> None:
    named = re.findall(r"`([\w/]*test_\w+\.py)(?:::(\w+))?`", (ROOT / "docs/gnmi.md").read_text())
    assert len(named) > 50
    for file, function in named:
        place = ROOT / (file if "/" in file else f"tests/contract/gnmi/{file}")
        assert place.exists(), file
        if function:
            assert f"def {function}(" in place.read_text(), f"{file}::{function}"
