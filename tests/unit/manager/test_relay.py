"""What goes from one thread to another."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.in_loop import InLoop
from srv6mgrd.manager.relay import NotifierInLoop
from srv6mgrd.notifications import QUEUE, Notification


def test_notifications_that_the_queue_has_no_room_for_are_counted() -> None:
    got = list[tuple[list[Notification], int]]()

    class Queue:
        def put(self, notifications: list[Notification], left_out: int = 0) -> None:
            got.append((notifications, left_out))

    def made() -> Iterator[Notification]:
        for number in range(QUEUE + 500):
            yield Notification(f"{number}")

    NotifierInLoop(Queue(), InLoop()).put(made())
    ((first, left_out),) = got
    assert [one.name for one in first] == [f"{number}" for number in range(QUEUE)]
    assert left_out == 500
