"""Every moment of every transition: a death, a rejection by the kernel, a journal that can't be
written. All is then as before or as declared, and what belongs to others is as it was."""

import itertools

import pytest

from srv6mgrd.model.rejection import RejectedError
from tests.fakes.fate import FULL
from tests.property.test_crash import crashed, ready, restarted
from tests.transitions import TRANSITIONS

pytestmark = pytest.mark.parametrize("transition", TRANSITIONS, ids=str)


def test_a_death_at_any_moment(transition):
    start = ready(transition.old)

    for moment in itertools.count(1):
        world = crashed(start, transition.new, moment)
        if world is None:
            break
        restarted(world.copy(), transition.old)
        restarted(world, transition.new)
    assert moment > 2


def test_a_rejection_of_any_write_by_the_kernel(transition):
    start = ready(transition.old)
    before = start.state()

    for number in itertools.count(1):
        world = start.copy()
        world.fate.begin(rejection=number)
        rejected = rejection(world, transition.new)
        if rejected is None:
            break
        assert world.fate.rejected.object.label in rejected
        assert "Cannot allocate memory (ENOMEM)" in rejected
        assert world.state() == before
        world.fate.begin()
        world.reconciler.repair()
        assert world.state() == before
    assert number > 1 or all(key.startswith("frr") for key in changed(start, transition.new))


@pytest.mark.parametrize("stays_full", [False, True])
def test_a_journal_that_can_not_be_written_at_any_write(transition, stays_full):
    start = ready(transition.old)
    before = start.state()[:-1]
    rejections = 0

    for number in itertools.count(1):
        world = start.copy()
        world.fate.begin(full=number, stays_full=stays_full)
        now = transition.new
        if (rejected := rejection(world, now)) is not None:
            rejections += 1
            assert FULL in rejected
            assert world.state()[:-1] == before
            now = transition.old
        if world.fate.disk_writes < number:
            break
        # Whatever it could not write down, it names no less than what is ours.
        world.fate.begin()
        assert set(world.kernel.objects) - set(world.foreign) <= set(world.journal.keys)
        restarted(world.copy(), now)
        world.reconciler.repair()
        restarted(world, now)
    assert rejections or not any(key not in start.journal for key in changed(start, transition.new))


def rejection(world, state):
    """Why the commit was rejected; None when it was not."""
    try:
        world.reconciler.commit(state)
    except RejectedError as rejected:
        return str(rejected)
    return None


def changed(world, state):
    return [a.object.key for a in world.reconciler.dry_run(state).actions]
