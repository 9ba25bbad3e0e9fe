"""What goes from one thread to another."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any, cast

from srv6mgrd.apply.reconciler import Report
from srv6mgrd.in_loop import InLoop
from srv6mgrd.manager.relay import FromWriter, NotifierInLoop
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


def test_what_others_changed_during_a_pass_is_compared_soon() -> None:
    asked = list[str]()

    class Loop:
        def published(self, *, failed: bool) -> None:
            asked.append(f"published, failed: {failed}")

        def request_reconcile(self) -> None:
            asked.append("reconcile")

    class Here:
        """Everything in this thread, at once."""

        def submit(self, call: Any, *arguments: Any) -> Any:
            done = Future[Any]()
            done.set_result(call(*arguments))
            return done

        def ask(self, call: Any, *arguments: Any, **named: Any) -> None:
            call(*arguments, **named)

        post = ask

    class Publication:
        has_failed = False

        def is_of(self, _: object) -> bool:
            return True

        def report(self, *_: object) -> None: ...

    here: Any = Here()
    rooms: Any = None, Publication()
    relay = FromWriter(cast("Any", Loop()), here, cast("Any", None), here, rooms)
    relay.report(Report())
    assert asked == ["published, failed: False"]
    relay.report(Report(is_outdated=True))
    assert asked[1:] == ["published, failed: False", "reconcile"]
