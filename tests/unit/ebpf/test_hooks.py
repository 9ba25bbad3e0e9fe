"""When the kernel is asked to make haste."""

from __future__ import annotations

from pathlib import Path

import pytest

from srv6mgrd.ebpf import hooks


@pytest.fixture
def switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "rcu_expedited"
    made.write_text("0\n")
    monkeypatch.setattr(hooks, "_EXPEDITED", made)
    return made


def test_haste_is_for_many_changes_and_ends_with_them(switch: Path) -> None:
    with hooks.haste(1000):
        assert switch.read_text() == "1"
    assert switch.read_text() == "0"
    with hooks.haste(8):
        assert switch.read_text() == "0"


def test_haste_ends_with_a_change_that_fails(switch: Path) -> None:
    with pytest.raises(ZeroDivisionError), hooks.haste(1000):
        raise ZeroDivisionError
    assert switch.read_text() == "0"


def test_what_somebody_else_turned_on_stays_on(switch: Path) -> None:
    switch.write_text("1\n")
    with hooks.haste(1000):
        pass
    assert switch.read_text() == "1\n"


def test_without_the_switch_it_just_takes_longer(switch: Path) -> None:
    switch.unlink()
    with hooks.haste(1000):
        pass
    assert not switch.exists()
