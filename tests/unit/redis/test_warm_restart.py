"""Warm restarts, against a Redis that rejects at first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from srv6mgrd.redis import warm_restart
from srv6mgrd.redis.warm_restart import WarmRestart
from srv6mgrd.redis.wire import Settings, WireError

FAST = Settings(backoff_first=0.001, backoff_last=0.002)


async def test_why_it_is_not_reported_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries: list[Sequence[Any]] = []

    class Rejecting:
        def __init__(self, *_: object) -> None: ...

        async def call(self, *commands: Sequence[Any]) -> list[Any]:
            tries.append(commands)
            if len(tries) < 4:
                raise WireError("WRONGTYPE")
            return [b"OK", None, None]

        async def close(self) -> None: ...

    async def reconciled() -> None: ...

    monkeypatch.setattr(warm_restart, "Line", Rejecting)
    await WarmRestart(FAST, reconciled).run()
    assert caplog.messages == [
        f"Redis at {FAST.where}: WARM_RESTART_TABLE|srv6mgrd: WRONGTYPE; retrying"
    ]
