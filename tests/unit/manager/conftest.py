"""A world for each test, and its clock."""

import asyncio

import pytest

from srv6mgrd.manager import conductor, publication, sampling
from tests.unit.manager.world import (
    World,
)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path / "store")


@pytest.fixture
def clock(monkeypatch):
    """The wall clock and the beat of samples, in nanoseconds and seconds of the loop."""

    class Clock:
        @staticmethod
        def monotonic():
            return asyncio.get_running_loop().time()

        @staticmethod
        def time_ns():
            return int(asyncio.get_running_loop().time() * 1_000_000_000)

    for room in (conductor, publication, sampling):
        monkeypatch.setattr(room, "time", Clock)
