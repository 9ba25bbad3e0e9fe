"""A commit that is to be confirmed is confirmed, extended, or rolled back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.counters.node import TRANSACTIONS
from srv6mgrd.datastore.config_change import ConfigChange
from srv6mgrd.datastore.connection import NonePendingError, PendingError
from srv6mgrd.datastore.history import Origin, Status
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.notifications import commit_rolled_back
from tests.unit.datastore.coordinator.world import ALICE, BOB, ID, A, B, C, World


async def test_what_is_confirmed_stays(world: World) -> None:
    await world.coordinator.begin(ALICE, 60, B)
    assert world.statuses()[0] == "awaiting-confirmation"
    assert world.node.members[TRANSACTIONS]["pending"]["id"] == ID
    assert not world.running.saved
    await world.coordinator.confirmation.confirm("one")
    assert world.statuses()[0] == "done"
    assert "pending" not in world.node.members[TRANSACTIONS]
    await wait_until_async(lambda: world.running.saved == [B])
    world.running.commit(C, BOB)


async def test_what_is_not_confirmed_is_undone_once(world: World) -> None:
    await world.coordinator.begin(ALICE, 1, B)
    await wait_until_async(lambda: world.history.pending is None)
    assert world.running.tree == A
    assert world.running.replaced == [B, A]
    assert [t.status for t in world.history.transactions()[:2]] == [Status.DONE, Status.ROLLED_BACK]
    assert commit_rolled_back(ID) in world.notifier.reported


async def test_edits_of_the_commit_may_follow_and_those_of_others_wait(world: World) -> None:
    await world.coordinator.begin(ALICE, 60)
    with pytest.raises(PendingError, match=f"commit {ID}: it came through srv6-gnmid of alice and"):
        world.running.commit(B, BOB)
    with pytest.raises(PendingError, match="awaits confirmation"):
        await world.coordinator.begin(Origin("rpc", token="two"), 60, B)
    world.running.commit(B, ALICE)
    world.running.commit(C, ALICE)
    await world.coordinator.confirmation.cancel("one")
    assert world.running.tree == A
    assert world.statuses()[:3] == ["done", "rolled-back", "rolled-back"]


async def test_more_time_is_given_by_its_name(world: World) -> None:
    await world.coordinator.begin(ALICE, 1, B)
    await world.coordinator.confirmation.extend("one", 60)
    world.running.commit(C, ALICE)
    pending = world.history.pending
    assert pending is not None
    assert (pending.before, pending.timeout) == (A, 60)
    with pytest.raises(PendingError, match=f"commit {ID}: it came through"):
        await world.coordinator.begin(ALICE, 60, B)
    await world.coordinator.confirmation.cancel("one")
    assert world.running.tree == A


async def test_it_gets_another_name(world: World) -> None:
    await world.coordinator.begin(ALICE, 60, B)
    await world.coordinator.confirmation.extend("one", 60, "two")
    with pytest.raises(RejectedError, match=f"commit: it is commit {ID} that awaits"):
        await world.coordinator.confirmation.confirm("one")
    world.running.commit(C, replace(ALICE, token="two"))
    await world.coordinator.confirmation.cancel("two")
    assert world.running.tree == A


async def test_it_is_of_who_edits_it(world: World) -> None:
    await world.coordinator.begin(Origin("rpc", token="one"), 60)
    world.running.commit(B, ALICE)
    assert world.node.members[TRANSACTIONS]["pending"]["user"] == "alice"
    pending = world.history.pending
    assert pending is not None
    assert pending.origin == replace(ALICE, token="")
    await world.coordinator.confirmation.cancel("one")
    assert world.running.tree == A


async def test_what_is_rejected_leaves_nothing_pending(world: World) -> None:
    world.manager.reject = {"b"}
    with pytest.raises(RejectedError, match="the kernel refused it"):
        await world.coordinator.begin(ALICE, 60, B)
    assert world.history.pending is None
    assert world.running.tree == A
    world.running.commit(C, BOB)


async def test_an_unknown_commit_is_rejected(world: World) -> None:
    edit = partial(world.running.commit, B, replace(ALICE, token="x"))
    attempts = (
        partial(world.coordinator.confirmation.confirm, "x"),
        partial(world.coordinator.confirmation.extend, "x", 9),
        partial(world.coordinator.confirmation.cancel, "x"),
    )
    for attempt in attempts:
        with pytest.raises(NonePendingError, match="commit: no commit awaits confirmation; it"):
            await attempt()
    with pytest.raises(NonePendingError, match="commit: no commit awaits confirmation; it"):
        edit()
    await world.coordinator.begin(ALICE, 60)
    for attempt in attempts:
        with pytest.raises(RejectedError, match=f"it is commit {ID} that awaits confirmation; ch"):
            await attempt()
    with pytest.raises(PendingError, match=f"commit {ID}: it came through"):
        edit()


async def test_a_rollback_that_is_rejected_is_reported_and_tried_on(world: World) -> None:
    await world.coordinator.begin(ALICE, 60, B)
    world.manager.reject = {"a"}
    with pytest.raises(RejectedError, match="the kernel refused it"):
        await world.coordinator.confirmation.cancel("one")
    await wait_until_async(
        lambda: any(n.name == "rollback-failed" for n in world.notifier.reported)
    )
    assert "the kernel refused it" in world.node.members[TRANSACTIONS]["pending"]["problem"]
    with pytest.raises(PendingError, match="being undone"):
        world.running.commit(C, ALICE)
    world.manager.reject = set()
    await wait_until_async(lambda: commit_rolled_back(ID) in world.notifier.reported)
    assert world.running.tree == A
    assert [n.name for n in world.notifier.reported].count("commit-undone") == 1


async def test_what_can_t_be_undone_may_be_confirmed(world: World) -> None:
    await world.coordinator.begin(ALICE, 60, B)
    world.manager.reject = {"a"}
    with pytest.raises(RejectedError):
        await world.coordinator.confirmation.cancel("one")
    await world.coordinator.confirmation.confirm("one")
    assert world.statuses()[0] == "done"
    world.running.commit(C, BOB)


async def test_it_is_confirmed_by_its_public_id_too(world: World) -> None:
    """srv6ctl goes on by that; who may call the RPCs is for NACM to say."""
    await world.coordinator.begin(ALICE, 60, B)
    with pytest.raises(RejectedError, match="it is commit"):
        await world.coordinator.confirmation.confirm("", "other")
    with pytest.raises(RejectedError, match="it is commit"):
        await world.coordinator.confirmation.confirm(ID)
    await world.coordinator.confirmation.confirm("", ID)
    assert world.statuses()[0] == "done"
    assert world.history.transactions()[0].commit_id == ID


async def test_a_northbound_may_name_a_commit(world: World) -> None:
    await world.coordinator.begin(ALICE, 60, B, "netconf-session-7")
    with pytest.raises(PendingError, match="commit netconf-session-7: it came through"):
        world.running.commit(C, BOB)
    with pytest.raises(RejectedError):
        await world.coordinator.confirmation.confirm("netconf-session-7")
    await world.coordinator.confirmation.cancel("one")


async def test_who_calls_himself_srv6mgrd_does_not_roll_back(world: World) -> None:
    await world.coordinator.begin(ALICE, 60, B)
    with pytest.raises(PendingError):
        world.running.commit(C, Origin("srv6mgrd", "alice", ID))


async def test_a_commit_that_was_left_half_way_keeps_none_waiting(world: World) -> None:
    participant = world.running.participant
    # Of a program that uses sysrepo itself and died: nobody says what became of it.
    participant.change(ConfigChange(lambda: C), BOB)
    beginning = asyncio.create_task(world.coordinator.begin(ALICE, 60))
    await asyncio.sleep(0)
    assert not beginning.done()

    participant.give_up()

    await asyncio.wait_for(beginning, 10)
    assert world.coordinator.pending["origin"] == ALICE.northbound
    # Should sysrepo say it all the same, there is nothing to record.
    recorded = len(world.history.transactions())
    participant.stored()
    assert len(world.history.transactions()) == recorded
