"""A thousand VRFs are planned in a thousand times what one takes."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench import vrfs
from srv6mgrd.frr.render import render
from srv6mgrd.model.expand import expand
from srv6mgrd.model.parse import parse
from srv6mgrd.plan.diff import plan
from srv6mgrd.plan.target import target


def calls(work: Callable[[], object]) -> int:
    """How many functions are called: unlike time, it is the same on a busy machine."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def planned(count: int) -> int:
    desired = expand(parse(vrfs.config(count)))
    blocks = render(desired)

    def work() -> None:
        found = target(desired, {"to-p": 2}, blocks)
        assert len(plan(found.objects, {}, ()).actions) > 3 * count

    return calls(work)


def test_planning_vrfs_takes_as_long_for_each_of_many() -> None:
    assert planned(160) < 5 * planned(40)
