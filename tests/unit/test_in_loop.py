"""Calls from other threads into the event loop."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from srv6mgrd.in_loop import InLoop


async def test_another_thread_has_it_called_in_the_loop() -> None:
    in_loop, called = InLoop(asyncio.get_running_loop()), []
    main = threading.get_ident()

    def work() -> str:
        in_loop.post(lambda: called.append(("posted", threading.get_ident())))
        return in_loop.ask(lambda: f"asked {threading.get_ident() == main}")

    assert await asyncio.to_thread(work) == "asked True"
    # What was posted before is done before.
    assert called == [("posted", main)]


async def test_what_it_raises_reaches_who_asks() -> None:
    in_loop = InLoop(asyncio.get_running_loop())

    with pytest.raises(ValueError, match="no"):
        await asyncio.to_thread(in_loop.ask, int, "no")


@pytest.mark.parametrize("loop", [True, False])
async def test_in_its_own_thread_and_without_a_loop_it_is_called_at_once(*, loop: bool) -> None:
    in_loop, called = InLoop(asyncio.get_running_loop() if loop else None), []

    in_loop.post(called.append, 1)
    assert in_loop.ask(int, "2") == 2
    assert called == [1]


@pytest.mark.parametrize("closed", [True, False])
def test_who_asks_a_loop_that_has_ended_does_not_wait(
    monkeypatch: pytest.MonkeyPatch, *, closed: bool
) -> None:
    monkeypatch.setattr("srv6mgrd.in_loop._LOOK", 0.01)
    loop = asyncio.new_event_loop()
    in_loop = InLoop(loop)
    if closed:
        loop.close()

    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match=r"[Ee]vent loop"):
        pool.submit(in_loop.ask, int, "1").result(10)
    loop.close()
