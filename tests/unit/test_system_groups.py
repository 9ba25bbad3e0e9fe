"""Groups of users who call: nobody waits for a directory that does not answer but who is new."""

from __future__ import annotations

import asyncio
import threading
import time

from srv6mgrd.system_groups import SystemGroups, system_groups


class Directory:
    """Answers when it is let to."""

    def __init__(self) -> None:
        self.answers = threading.Event()
        self.answers.set()
        self.groups = frozenset({"operators"})
        self.asked = 0

    def __call__(self, _user: str) -> frozenset[str]:
        self.asked += 1
        self.answers.wait(5)
        return self.groups


async def test_a_user_who_is_new_waits_and_others_do_not() -> None:
    directory, now = Directory(), [0.0]
    groups = SystemGroups(directory, lambda: now[0])
    await groups.learn("alice")
    assert groups.of("alice") == {"operators"}
    directory.answers.clear()
    new = asyncio.create_task(groups.learn("bob"))
    now[0] = 60.0
    start = time.monotonic()
    await groups.learn("alice")
    await asyncio.gather(*(groups.learn("alice") for _ in range(100)))
    assert time.monotonic() - start < 1
    assert groups.of("alice") == {"operators"}
    assert not new.done()
    assert directory.asked == 3
    directory.answers.set()
    await new
    assert groups.of("bob") == {"operators"}
    groups.close()


async def test_who_left_a_group_is_out_of_it_at_the_next_request() -> None:
    directory, now = Directory(), [0.0]
    groups = SystemGroups(directory, lambda: now[0])
    await groups.learn("alice")
    directory.groups = frozenset()
    now[0] = 2.0
    await groups.learn("alice")
    assert groups.of("alice") == frozenset()
    groups.close()


def test_groups_of_the_system() -> None:
    assert "root" in system_groups("root")
    assert system_groups("nobody of this system") == frozenset()
