"""Long work of requests, in threads beside the event loop."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import ParamSpec, TypeVar

from srv6mgrd.gnmi.budget import Budget
from srv6mgrd.gnmi.turns import Turns

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: ``user`` None is a client without a name; ``client`` is who shares fairly with
    others, and its connections with each other. ``budget`` is that of the request; ``deadline``
    (monotonic) is when its client stops waiting, None if it does not say;
    ``address`` where it is, empty for a client of this machine."""

    user: str | None = None
    client: str = ""
    connection: str = ""
    budget: Budget = field(default_factory=Budget)
    deadline: float | None = None
    address: str = ""
    # Sent beside the answer; each handler adds to it.
    warnings: list[str] = field(default_factory=list, compare=False)

    @property
    def who(self) -> tuple[str, str]:
        """Who shares with others: the client, and its connection."""
        return self.client, self.connection

    def seconds_left(self, otherwise: float) -> float:
        """Until its client stops waiting; ``otherwise`` if it does not say."""
        return otherwise if self.deadline is None else self.deadline - time.monotonic()

    def again(self) -> Caller:
        """The same with a budget of its own, for the next piece of work of a subscription."""
        return replace(self, budget=self.budget.fresh())


class Workers:
    """Used by the event loop."""

    def __init__(self, most: int) -> None:
        """``most`` connections are served side by side, one piece of work for each."""
        self._turns = Turns()
        self._threads = ThreadPoolExecutor(most, "work")
        self._locks: dict[str, asyncio.Lock] = {}
        self._users: Counter[str] = Counter()

    async def run(
        self, caller: Caller, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """``call`` in a thread, in the turn of its client; it spends the caller's budget. Raises
        BudgetError and DeadlineError; a client that leaves ends it."""
        budget = caller.budget

        def work() -> T:
            with self._turns.turn(caller.client, caller.connection, budget):
                return call(*args, **kwargs)

        try:
            async with asyncio.timeout(budget.seconds), self._alone(caller.connection):
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except asyncio.CancelledError:
            budget.cancel()
            raise
        except TimeoutError:
            budget.cancel()
            raise budget.overdue() from None

    @asynccontextmanager
    async def _alone(self, connection: str) -> AsyncIterator[None]:
        lock = self._locks.setdefault(connection, asyncio.Lock())
        self._users[connection] += 1
        try:
            async with lock:
                yield
        finally:
            self._users[connection] -= 1
            if not self._users[connection]:
                del self._users[connection], self._locks[connection]

    def close(self) -> None:
        self._threads.shutdown()
