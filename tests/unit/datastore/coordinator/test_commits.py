"""Commits are recorded and can be gone back to."""

from __future__ import annotations

import json

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.counters.node import TRANSACTIONS
from srv6mgrd.datastore.history import Origin, Status
from srv6mgrd.model.rejection import RejectedError
from tests.unit.datastore.coordinator.world import BOB, B, C, World


async def test_a_commit_is_recorded_and_becomes_the_startup_configuration(world: World) -> None:
    world.running.commit(B, BOB)
    newest, first = world.history.transactions()
    assert (newest.origin, newest.actions, newest.status) == (BOB, 1, Status.DONE)
    assert first.origin.northbound == "startup"
    assert world.history.configuration(newest.id).result() == B
    await wait_until_async(lambda: world.running.saved == [B])
    entry = world.node.members[TRANSACTIONS]["transaction"][0]
    assert (entry["origin"], entry["user"], entry["status"]) == ("srv6-netconfd", "bob", "done")


async def test_a_restart_records_only_what_changed_meanwhile(world: World) -> None:
    world.running.commit(B, BOB)
    await world.kill()
    world.start()
    assert len(world.history.transactions()) == 2
    await world.kill()
    world.running.tree = C
    world.start()
    assert world.history.transactions()[0].origin.northbound == "startup"
    assert world.history.latest().result() == C


async def test_the_oldest_transactions_are_forgotten(world: World) -> None:
    for number in range(10):
        world.running.commit(json.dumps({"at": str(number)}), BOB)
    numbers = [t.id for t in world.history.transactions()]
    assert numbers == [11, 10, 9, 8, 7]


async def test_rolling_back_to_a_past_transaction(world: World) -> None:
    world.running.commit(B, BOB)
    world.running.commit(C, BOB)
    number = world.history.transactions()[1].id
    await world.coordinator.roll_back(number, Origin("rpc"))
    assert world.running.tree == B
    with pytest.raises(RejectedError, match="transaction 99: its configuration is not known"):
        await world.coordinator.roll_back(99, Origin("rpc"))
