from __future__ import annotations

import json

import pytest

from srv6mgrd.datastore.config_change import SMALL, ConfigChange


def change_of(diff: str) -> ConfigChange:
    """One whose diff is cut as sysrepo's is (``ffi.change_diff``)."""
    return ConfigChange(str, lambda: diff.encode()[:SMALL].decode(errors="replace"))


@pytest.mark.parametrize("letter", ["o", "\u00f6", "\u4e16", "\U0001f600"])
@pytest.mark.parametrize("before", range(4))
def test_a_diff_that_was_cut_is_not_read(letter: str, before: int) -> None:
    diff = json.dumps({"d": "." * before + letter * SMALL}, ensure_ascii=False)
    assert change_of(diff).small_diff() is None


def test_a_small_diff_is_read() -> None:
    assert change_of('{"d":"Köln"}').small_diff() == {"d": "Köln"}
    assert change_of("").small_diff() is None
