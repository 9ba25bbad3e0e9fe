"""Groups of the operating system, which NACM counts as its own (RFC 8341, enable-external-groups).

They may come from a directory in the network (nsswitch.conf), so to ask for them may take long.
"""

from __future__ import annotations

import asyncio
import grp
import os
import pwd
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

# Groups that are older are asked for again, and for so long an answer is waited for while older
# ones are known.
_FRESH_S, _TIMEOUT_S = 1.0, 0.25
_MOST = 1000
_THREADS = 4


def system_groups(user: str) -> frozenset[str]:
    """Names; none of a user that the system does not know. May block."""
    try:
        numbers = os.getgrouplist(user, pwd.getpwnam(user).pw_gid)
    except KeyError:
        return frozenset()
    found = set()
    for number in numbers:
        try:
            found.add(grp.getgrgid(number).gr_name)
        except KeyError:
            continue
    return frozenset(found)


class SystemGroups:
    """Those of users who call, for an event loop; ``of`` is for any thread."""

    def __init__(
        self,
        look_up: Callable[[str], frozenset[str]] = system_groups,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look_up, self._clock = look_up, clock
        # With the time at which they were read.
        self._known: OrderedDict[str, tuple[frozenset[str], float]] = OrderedDict()
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._threads = ThreadPoolExecutor(_THREADS, "groups")

    def of(self, user: str) -> frozenset[str]:
        """As they were learned. Never blocks."""
        known = self._known.get(user)
        return frozenset() if known is None else known[0]

    async def learn(self, user: str) -> None:
        """Have those of ``user`` known. Only who is not known yet waits for a directory that does
        not answer."""
        known = self._known.get(user)
        if known is not None and self._clock() - known[1] < _FRESH_S:
            return
        timeout: float | None = None
        if known is not None:
            # Who asked first has waited for it.
            timeout = 0 if user in self._asking else _TIMEOUT_S
        if user not in self._asking:
            self._asking[user] = asyncio.create_task(self._ask(user))
        await asyncio.wait({self._asking[user]}, timeout=timeout)

    async def _ask(self, user: str) -> None:
        try:
            loop = asyncio.get_running_loop()
            found = await loop.run_in_executor(self._threads, self._look_up, user)
            self._known[user] = found, self._clock()
            self._known.move_to_end(user)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        finally:
            del self._asking[user]

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
