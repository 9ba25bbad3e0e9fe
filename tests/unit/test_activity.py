"""What is carried out, as state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.activity import Activity
from srv6mgrd.counters.node import ACTIVITY
from srv6mgrd.progress import Progress

SECOND = 1_000_000_000


class Node:
    """Keeps what it is to show."""

    def __init__(self) -> None:
        self.shown: list[Mapping[str, Any]] = []

    def show(self, member: str, data: Mapping[str, Any]) -> None:
        assert member == ACTIVITY
        self.shown.append(data)


def test_what_lasts_is_shown_until_it_ends() -> None:
    now, node = [1000 * SECOND], Node()
    progress = Progress(clock=lambda: now[0])
    activity = Activity(progress, node, now=lambda: now[0])
    activity.update()

    progress.begin("commit")
    progress.enter("plan")
    activity.update()
    # It may be over within the second, as most are.
    assert node.shown == []
    now[0] += 2 * SECOND
    activity.update()
    progress.write(5000, 100_000, "route6 table 8986 fcbb:0:1:1::/64")
    now[0] += SECOND
    activity.update()
    progress.end()
    activity.update()
    activity.update()

    first, second, last = node.shown
    assert (first["kind"], first["stage"], first["elapsed"], first["total"]) == (
        "commit", "plan", 2, 0,
    )  # fmt: skip
    assert first["started"].startswith("1970-01-01T00:16:40")
    assert (second["elapsed"], second["done"], second["total"]) == (3, 5000, 100_000)
    assert second["object"] == "route6 table 8986 fcbb:0:1:1::/64"
    assert last == {}


def test_another_commit_is_not_taken_for_the_same() -> None:
    now, node = [0], Node()
    progress = Progress(clock=lambda: now[0])
    activity = Activity(progress, node, now=lambda: now[0])

    for number in range(3):
        now[0] = number * SECOND
        progress.begin("commit")
        activity.update()

    assert node.shown == []
