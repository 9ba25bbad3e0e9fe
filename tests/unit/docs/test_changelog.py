"""Lines that are merged from two sides can bring a heading along."""

from __future__ import annotations

import re
from pathlib import Path

_VERSION, _KIND = re.compile(r"^## (.+)$", re.MULTILINE), re.compile(r"^### (.+)$", re.MULTILINE)


def test_each_kind_of_change_is_there_once() -> None:
    _, *parts = _VERSION.split(Path("CHANGELOG.md").read_text())
    versions = dict(zip(parts[::2], parts[1::2], strict=True))
    assert "Unreleased" in versions
    for version, changes in versions.items():
        kinds = _KIND.findall(changes)
        assert len(kinds) == len(set(kinds)), version
