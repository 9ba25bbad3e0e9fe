"""The token of a confirmed commit is known to its owner alone."""

from __future__ import annotations

import logging
import sqlite3
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from srv6mgrd.datastore.connection import NonePendingError, PendingError
from srv6mgrd.model.rejection import RejectedError
from tests.unit.datastore.coordinator.world import ALICE, BOB, A, B, C, World


async def test_the_token_of_a_commit_is_shown_nowhere(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token = "hunter2-not-for-others"
    said = []
    await world.coordinator.begin(replace(ALICE, token=token), 60)
    world.running.commit(B, replace(ALICE, token=token))
    for wrong in (
        partial(world.coordinator.confirmation.confirm, "x"),
        partial(world.coordinator.confirmation.extend, "x", 9),
        partial(world.coordinator.begin, BOB, 60),
    ):
        with pytest.raises((PendingError, RejectedError)) as rejected:
            await wrong()
        said.append(str(rejected.value))
    with pytest.raises(PendingError) as rejected:
        world.running.commit(C, BOB)
    said += [str(rejected.value), repr(world.history.pending), repr(world.history.transactions())]
    files = [f.read_bytes() for f in tmp_path.iterdir()]
    world.running.commit(A, replace(ALICE, token=token))
    await world.coordinator.confirmation.confirm(token)
    with pytest.raises(NonePendingError) as none:
        await world.coordinator.confirmation.confirm(token)
    await world.kill()
    files += [f.read_bytes() for f in tmp_path.iterdir()]
    world.start()
    said += [str(none.value), str(world.node.members), str(world.notifier.reported), caplog.text]
    assert token not in "".join(said)
    assert not any(token.encode() in content for content in files)


async def test_a_token_outlives_a_restart(world: World) -> None:
    await world.coordinator.begin(ALICE, 60, B)
    await world.kill()
    world.start()
    world.running.commit(C, ALICE)
    world.coordinator.confirmation.check("one")
    await world.coordinator.confirmation.confirm("one")
    assert world.running.tree == C


async def test_tokens_of_an_older_version_are_forgotten(world: World, tmp_path: Path) -> None:
    await world.kill()
    with sqlite3.connect(tmp_path / "history.sqlite") as db:
        db.execute("update transactions set name = 'secret'")
        db.execute("pragma user_version = 0")
    db.close()
    world.start()
    await world.kill()
    assert b"secret" not in (tmp_path / "history.sqlite").read_bytes()
    world.start()
