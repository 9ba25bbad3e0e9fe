"""What a chaos campaign calls a violation."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from tests.soak.chaos.invariants import BASE_SIDS, Counters, Flat, Usage, compared


def world(**members: Any) -> Any:
    return SimpleNamespace(rebooted=False, **members)


class Counting:
    """gNMI, of which the counters are read."""

    def __init__(self) -> None:
        self.packets = 0
        self.session = self

    def get(self, path: str) -> list[str]:
        return [str(self.packets)]


def test_what_lacks_and_what_is_too_much_are_both_named() -> None:
    found = compared("kernel", frozenset("ab"), frozenset("bc"))
    assert found == ["kernel lacks c", "kernel has a, which is not declared"]


def test_counters_that_go_back_are_found_and_a_reboot_is_none() -> None:
    gnmi, counters = Counting(), Counters()
    there = world(gnmi=gnmi)
    gnmi.packets = 7
    assert counters.check(there) == []
    gnmi.packets = 3
    assert len(counters.check(there)) == len(BASE_SIDS)
    gnmi.packets, there.rebooted = 0, True
    assert counters.check(there) == []


def test_growth_of_a_process_that_lives_on_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    usages = iter([Usage(100, 20, 5)] * 4 + [Usage(100, 20, 5)] * 3 + [Usage(400, 20, 5)])
    monkeypatch.setattr(Usage, "of", lambda pid: next(usages))
    there = world(target=SimpleNamespace(pid=len))
    flat = Flat()
    assert flat.check(there) == []
    (line,) = flat.check(there)
    assert "memory 400" in line


def test_a_process_that_is_gone_is_found() -> None:
    there = world(target=SimpleNamespace(pid=lambda service: os.getpid() * (service != "srv6mgrd")))
    assert Flat().check(there) == ["srv6mgrd does not run"]
