"""The work, the time and the memory that one request may take. Pure."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

# A step is a schema node that a path is compared with, or a tenth of a leaf that is read: about a
# microsecond. 100,000 SIDs with all their leaves are 25 million steps.
MOST_STEPS = 60_000_000
MOST_SECONDS = 60.0
# 100,000 SIDs with all their leaves are 60 MB.
MOST_BYTES = 128 << 20
# What a subscriber is sent at once goes out in many messages: the same SIDs as leaves in memory.
MOST_LEAVES_BYTES = 1 << 30
# An answer that is larger needs a place in memory.
_LARGE = 1 << 20
# Between two looks at the clock.
_SLICE = 2000
LEAF = 10


class BudgetError(Exception):
    """A request takes more work or memory than one may."""


class DeadlineError(Exception):
    """A request takes longer than it may."""


class ClientLeftError(Exception):
    """The client of a request left; nobody waits for its result."""


class Room:
    """Memory for a number of large answers at once, from when they are made until their clients
    have read them. For any thread."""

    def __init__(self, places: int) -> None:
        self._places = threading.Semaphore(places)

    def take(self) -> bool:
        return self._places.acquire(blocking=False)

    def give_back(self) -> None:
        self._places.release()


class Budget:
    """Spent by the one thread that works on a request; any thread may cancel it."""

    __slots__ = (
        "_bytes",
        "_cancelled",
        "_clock",
        "_deadline",
        "_due",
        "_has_room",
        "_held",
        "_pause",
        "_room",
        "_steps",
        "what",
    )

    def __init__(
        self,
        what: str = "request",
        *,
        steps: int = MOST_STEPS,
        seconds: float = MOST_SECONDS,
        most_bytes: int = MOST_BYTES,
        clock: Callable[[], float] = time.monotonic,
        room: Room | None = None,
    ) -> None:
        """``what`` names the request in errors; ``room`` is where large answers are."""
        self.what = what
        self._steps, self._bytes, self._held = steps, most_bytes, 0
        self._room, self._has_room = room, False
        self._due = max(0, steps - _SLICE)
        self._clock, self._deadline = clock, clock() + seconds
        self._pause: Callable[[], None] = _go_on
        self._cancelled = False

    def fresh(self) -> Budget:
        """A whole one for the next piece of work of a subscription."""
        return Budget(self.what, most_bytes=MOST_LEAVES_BYTES, room=self._room)

    @property
    def steps(self) -> int:
        """Steps that are left."""
        return self._steps

    @property
    def seconds(self) -> float:
        """Seconds that are left."""
        return max(0.0, self._deadline - self._clock())

    def pausing(self, pause: Callable[[], None] | None) -> None:
        """Have ``pause`` called now and then by who works, to let others work."""
        self._pause = pause or _go_on

    def spend(self, steps: int = 1) -> None:
        """Take steps. Raises BudgetError, DeadlineError, or ClientLeftError."""
        self._steps -= steps
        if self._steps < self._due:
            self._due = max(0, self._steps - _SLICE)
            if self._steps < 0:
                raise BudgetError(
                    f"{self.what}: it takes more work than one request may; name fewer or narrower"
                    " paths"
                )
            self.rest()

    def rest(self) -> None:
        """Let others work, and look at the clock. Raises DeadlineError or ClientLeftError."""
        self._pause()
        self.check()

    def hold(self, size: int) -> None:
        """Take memory for an answer. Raises BudgetError."""
        self._held += size
        if self._held <= _LARGE:
            return
        if self._held > self._bytes:
            raise BudgetError(
                f"{self.what}: its answer is larger than one may be; name narrower paths, or"
                " subscribe"
            )
        if self._room is not None and not self._has_room:
            if not self._room.take():
                raise BudgetError(
                    f"{self.what}: its answer is large, and so are those of others that are not"
                    " read yet; name narrower paths, or try again"
                )
            self._has_room = True

    def release(self) -> None:
        """The answer is written, or given up."""
        self._held = 0
        if self._room is not None and self._has_room:
            self._has_room = False
            self._room.give_back()

    def check(self) -> None:
        """Raises DeadlineError or ClientLeftError."""
        if self._cancelled:
            raise ClientLeftError(f"{self.what}: its client left")
        if self._clock() > self._deadline:
            raise self.overdue()

    def overdue(self) -> DeadlineError:
        """For a request whose time is over."""
        return DeadlineError(
            f"{self.what}: its time is over; name fewer or narrower paths, or try again when the"
            " node has less to do"
        )

    def cancel(self) -> None:
        """The client left. For any thread."""
        self._cancelled = True


def _go_on() -> None:
    """No pause."""
