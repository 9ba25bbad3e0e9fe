"""Jobs that run and end together."""

import asyncio
import os
import signal

import pytest

from srv6mgrd.jobs import told_to_stop, until_one_ends


class Other:
    """A job that goes on until it is cancelled."""

    ended = False

    async def run(self):
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True


async def fail():
    # The other one has begun by then.
    await asyncio.sleep(0)
    raise ZeroDivisionError


def test_the_others_end_with_the_first():
    other = Other()
    asyncio.run(until_one_ends(other.run(), asyncio.sleep(0)))
    assert other.ended


def test_its_error_is_raised_once_the_others_have_ended():
    other = Other()
    with pytest.raises(ZeroDivisionError):
        asyncio.run(until_one_ends(other.run(), fail()))
    assert other.ended


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_stop(number):
    async def stopped():
        stop = told_to_stop()
        os.kill(os.getpid(), number)
        await asyncio.wait_for(stop.wait(), 5)

    asyncio.run(stopped())
