"""The startup configuration, saved after commits; one that can't be saved is tried again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from srv6mgrd.backoff import Backoff
from srv6mgrd.datastore.connection import DatastoreError
from srv6mgrd.storage import Problems

# Seconds until a failed save is tried again, doubling.
RETRY_FIRST, RETRY_LAST = 1.0, 60.0

_FILE = "startup configuration"
_REMEDY = "a reboot begins with an older one until it is saved, which is tried again"


class Startup:
    """Runs in the event loop."""

    def __init__(
        self,
        is_saved: Callable[[], Awaitable[bool]],
        save: Callable[[], Awaitable[None]],
        problems: Problems,
    ) -> None:
        """Both raise DatastoreError."""
        self._is_saved = is_saved
        self._save = save
        self._problems = problems
        self._wanted = asyncio.Event()
        self._saving: asyncio.Task[None] | None = None
        self._failed = self._closing = False

    def request(self) -> None:
        """Have it saved, also when that is being done already: something has changed since."""
        self._wanted.set()
        if self._saving is None:
            self._saving = asyncio.get_running_loop().create_task(self._run())

    def resume(self) -> None:
        """Have it saved if the last process ended before it was."""
        self._saving = asyncio.get_running_loop().create_task(self._resumed())

    async def close(self) -> None:
        """What was committed last is saved then, unless that fails."""
        self._closing = True
        if self._saving is not None:
            if self._failed:
                self._wanted.set()
            await self._saving

    async def _resumed(self) -> None:
        try:
            saved = await self._is_saved()
        except DatastoreError:
            saved = False  # trying to save it says why
        if not saved:
            self._wanted.set()
        await self._run()

    async def _run(self) -> None:
        backoff = Backoff(RETRY_FIRST, RETRY_LAST)
        try:
            while self._wanted.is_set():
                self._wanted.clear()
                try:
                    await self._save()
                except DatastoreError as problem:
                    self._problems.report(_FILE, f"it was not saved ({problem}); {_REMEDY}")
                    if self._closing:
                        return
                    self._failed = True
                    # A commit meanwhile is worth a try at once.
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._wanted.wait(), backoff.delay())
                    self._wanted.set()
                else:
                    backoff.reset()
                    self._problems.resolve(_FILE)
                self._failed = False
        finally:
            self._saving = None
