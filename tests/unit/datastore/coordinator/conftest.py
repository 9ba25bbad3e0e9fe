"""A world for each test, with short retries and an id that is known."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import pytest

from tests.unit.datastore.coordinator.world import ID, World


@pytest.fixture
async def world(tmp_path: Path) -> Any:
    made = World(tmp_path)
    yield made
    await made.kill()


@pytest.fixture(autouse=True)
def short_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("srv6mgrd.datastore.confirmation._RETRY_FIRST", 0.01)
    monkeypatch.setattr("srv6mgrd.datastore.recording._RETRY_FIRST", 0.01)
    monkeypatch.setattr("srv6mgrd.datastore.startup.RETRY_FIRST", 0.01)


@pytest.fixture(autouse=True)
def made_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    made = secrets.token_hex
    monkeypatch.setattr(
        "srv6mgrd.datastore.pending.secrets.token_hex", lambda n: ID if n == 4 else made(n)
    )
