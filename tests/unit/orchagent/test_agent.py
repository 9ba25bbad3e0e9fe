"""The agent beside a kernel whose neighbors can't always be read."""

from __future__ import annotations

from typing import Any

import pytest

from orchagent import agent
from orchagent.agent import Agent, Timers
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.redis.wire import Settings


class Ended(Exception):
    """The second attempt was made."""


class Redis:
    """A connection on which nothing is asked."""

    def __init__(self, *_: Any) -> None:
        pass

    async def begin(self) -> None:
        pass

    async def close(self) -> None:
        pass


async def test_neighbors_that_can_not_be_read_are_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Links that change all the time interrupt the kernel's dump."""
    attempts = 0

    async def serve(*_: Any) -> None:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise KernelError("netlink dump", "interrupted by changes", "find what changes links")
        raise Ended

    async def alone(*_: Any) -> None:
        pass

    monkeypatch.setattr(agent, "Line", Redis)
    monkeypatch.setattr(agent, "Consumer", Redis)
    monkeypatch.setattr(agent, "guard", alone)
    monkeypatch.setattr(Agent, "_serve", serve)
    with pytest.raises(Ended):
        await Agent(Settings(backoff_first=0.001, backoff_last=0.002), Timers()).run()
    assert attempts == 2
