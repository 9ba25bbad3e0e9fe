"""Commits: carried out before they are stored, or taken back."""

import asyncio
import logging

import pytest

from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.sid_changes import SidChange
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.actions import Delete
from tests.unit.manager.world import (
    END,
    END_KEY,
    EXPORT,
    RED,
    in_virtual_time,
    running,
    tree,
)


@in_virtual_time
async def test_a_commit_is_in_the_kernel_before_it_is_stored(world):
    world.manager.commits.change(tree(1))

    assert END_KEY in world.kernel.objects
    assert world.reader.objects() == {}


@in_virtual_time
async def test_a_stored_commit_is_in_the_store_and_outward(world):
    world.commit(tree(1))

    assert {ref for ref, s in world.reader.objects().items() if s.status == 2} == {
        ObjectRef(Kind.LOCATOR, "MAIN"),
        RED,
        END,
        ObjectRef(Kind.SID, str(EXPORT)),
    }
    assert len(world.outward.published) == 1


@in_virtual_time
async def test_a_rejected_commit_changes_nothing(world):
    world.commit(tree(1))
    kernel, store = dict(world.kernel.objects), world.reader.objects()
    world.kernel.reject(lambda a: "fcbb:0:1:2::/64" in a.object.key and not isinstance(a, Delete))

    with pytest.raises(RejectedError):
        world.manager.commits.change(tree(1, 2))
    world.manager.repair.compare()

    assert world.kernel.objects == kernel
    assert world.reader.objects() == store


@in_virtual_time
async def test_an_aborted_commit_is_taken_back(world):
    world.commit(tree(1))
    kernel, frr = dict(world.kernel.objects), dict(world.frr.contexts)
    world.manager.commits.change(tree(2, table=20))

    world.manager.commits.aborted()

    assert world.kernel.objects == kernel
    assert world.frr.contexts == frr
    assert END in world.reader.objects()


@in_virtual_time
async def test_an_abort_after_our_own_rejection_is_harmless(world):
    world.commit(tree(1))
    kernel = dict(world.kernel.objects)
    world.kernel.reject(lambda a: "fcbb:0:1:2::/64" in a.object.key and not isinstance(a, Delete))
    with pytest.raises(RejectedError):
        world.manager.commits.change(tree(2))

    world.manager.commits.aborted()

    assert world.kernel.objects == kernel


@in_virtual_time
async def test_a_change_that_no_status_shows_goes_outward_too(world):
    world.commit(tree(1))
    other = tree(1)
    other["srv6mgr-srv6:srv6"]["local-sids"]["sid"][0] |= {"behavior": "End.DT6", "vrf": "red"}

    world.commit(other)

    assert len(world.outward.published) == 2
    assert world.outward.published[0] != world.outward.published[1]


@in_virtual_time
async def test_the_same_commit_again_writes_nothing(world):
    world.commit(tree(1))
    writes = world.kernel.writes + world.frr.writes

    world.commit(tree(1))

    assert world.kernel.writes + world.frr.writes == writes


@in_virtual_time
async def test_a_commit_that_is_left_half_way_is_taken_back(world):
    world.commit(tree(1))
    given_up = []
    world.manager.commits.given_up = lambda: given_up.append(world.manager.commits.is_under_way)
    world.manager.commits.change(tree(2))

    async with running(world.manager.run(), world.manager.compare_every(30)):
        await asyncio.sleep(61)

    assert given_up == [False]

    assert END_KEY in world.kernel.objects
    assert "route6 table 8986 fcbb:0:1:2::/64" not in world.kernel.objects


@in_virtual_time
async def test_a_commit_that_goes_on_is_not_given_up(world):
    given_up = []
    world.manager.commits.given_up = lambda: given_up.append(1)
    commits = world.manager.commits
    commits.change(tree(1))
    commits.check_staged()
    commits.stored()
    commits.change(tree(2))

    commits.check_staged()

    assert not given_up
    commits.stored()


@in_virtual_time
async def test_at_level_debug_each_stage_is_logged_with_its_time(world):
    log, handler, records = logging.getLogger("srv6mgrd.stages"), logging.Handler(), []
    handler.emit = records.append
    log.setLevel("DEBUG")
    log.addHandler(handler)
    try:
        world.commit(tree(1))
    finally:
        log.removeHandler(handler)
        log.setLevel("NOTSET")

    messages = [record.getMessage() for record in records]
    assert all(message.endswith(" ms") for message in messages)
    shown = [message.partition(":")[0].partition(" ")[0] for message in messages]
    order = ["parse", "check", "observe-frr", "observe-kernel", "journal", "write-kernel",
             "write-frr", "commit", "publish"]  # fmt: skip
    assert [stage for stage in dict.fromkeys(shown) if stage in order] == order
    assert "plan" in shown


THIRD = SidChange(
    "fcbb:0:1:3::/64", whole={"prefix": "fcbb:0:1:3::/64", "locator": "MAIN", "behavior": "End"}
)


@in_virtual_time
async def test_changes_of_sids_are_carried_out_without_the_configuration(world):
    world.manager.commits.start()
    world.commit(tree(1, 2))
    before = dict(world.kernel.objects)

    assert world.manager.commits.change_sids([THIRD]) == 1
    world.manager.commits.stored()
    assert ObjectRef(Kind.SID, "fcbb:0:1:3::/64") in world.reader.objects()

    assert world.manager.commits.change_sids([SidChange("fcbb:0:1:3::/64")]) == 1
    world.manager.commits.stored()
    assert world.kernel.objects == before


@in_virtual_time
async def test_changes_that_are_taken_back_are_none(world):
    world.commit(tree(1))
    kernel = dict(world.kernel.objects)
    world.manager.commits.change_sids([THIRD])
    world.manager.commits.aborted()
    assert world.kernel.objects == kernel

    assert world.manager.commits.change_sids([THIRD]) == 1


@in_virtual_time
async def test_rejected_changes_are_none(world):
    world.commit(tree(1))
    outside = SidChange(
        "fcbb:0:2:3::/64",
        whole={"prefix": "fcbb:0:2:3::/64", "locator": "MAIN", "behavior": "End"},
    )

    with pytest.raises(RejectedError):
        world.manager.commits.change_sids([outside])
    world.manager.commits.stored()

    assert world.manager.commits.change_sids([THIRD]) == 1


@in_virtual_time
async def test_changes_of_what_is_not_known_need_the_configuration(world):
    assert world.manager.commits.change_sids([THIRD]) is None
    assert not world.manager.commits.is_under_way

    world.commit(tree(1))
    world.manager.commits.change(tree(1, 2))
    world.manager.commits.check_staged()
    world.manager.commits.check_staged()
    assert world.manager.commits.change_sids([THIRD]) is None
