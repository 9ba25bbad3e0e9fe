"""Labs are spread over the CPUs."""

from __future__ import annotations

import os

import pytest

from lab import cpu


def test_each_cpu_is_taken_once_before_one_is_taken_twice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    claims = [cpu.claim() for _ in range(6)]
    assert sorted(c.number for c in claims[:3]) == [0, 1, 2]
    assert sorted(c.number for c in claims[3:]) == [0, 1, 2]
    claims[1].release()
    assert cpu.claim().number == claims[1].number
    for claim in (claims[0], *claims[2:]):
        claim.release()
