"""Passwords: checked in threads of their own, so that guesses delay nobody but who guesses."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
import math
import os
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from srv6mgrd.clients.denied import NotAuthenticatedError, ThrottledError
from srv6mgrd.clients.peer import Peer
from srv6mgrd.clients.throttle import FailureDelay, Throttle

_N, _R, _P = 1 << 14, 8, 1
# The value of the setting ``users`` for a user whose password PAM checks.
BY_PAM = "pam"
# A client with more wrong passwords for a name waits, and with many more for any names: others
# behind the same address are not to be locked out at once. So does a name that many clients guess
# at, but shortly: its owner is not to be locked out by others.
_BY_PAIR = FailureDelay(free=5, first=1, longest=60)
_BY_PEER = FailureDelay(free=30, first=1, longest=60)
_BY_USER = FailureDelay(free=50, first=1, longest=5)
# Checks of one client that wait for each other, and of all clients.
_QUEUE_OF_PEER, _QUEUE = 8, 64
# PAM is asked again after so long: an account may have been locked.
_FRESH_S = 300.0
_MOST_KNOWN = 10_000
_LONGEST = 1024
# Answers to wrong passwords come at multiples of this: the time of a check depends on its user.
_GRAIN_S = 0.25
# Rejecting is work, too: a client that guesses on waits for it.
_PENALTY_S = 1.0
_GUESSES, _RENEWALS = 2, 2

_LOG = logging.getLogger(__name__)

# Whether a password is right; the client's address is for logs of the system's.
System = Callable[[str, str, str], bool]


def hash_password(password: str) -> str:
    """The form that the setting ``users`` takes."""
    salt = os.urandom(16)
    return f"scrypt${base64.b64encode(salt).decode()}${_derive(password, salt)}"


def _derive(password: str, salt: bytes) -> str:
    derived = hashlib.scrypt(password.encode(), salt=salt, n=_N, r=_R, p=_P)
    return base64.b64encode(derived).decode()


def _matches(password: str, stored: str) -> bool:
    kind, _, rest = stored.partition("$")
    salt, _, wanted = rest.partition("$")
    if kind != "scrypt":
        return False
    return hmac.compare_digest(_derive(password, base64.b64decode(salt)), wanted)


class Passwords:
    """Checks passwords; one that was right is remembered by its digest."""

    def __init__(
        self,
        users: Mapping[str, str],
        system: System | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``system`` checks those of users that ``users`` has no hash of; None: nobody does."""
        self._users = users
        self._system = system
        self._clock = clock
        self._key = os.urandom(32)
        # For names that are unknown: it takes as long as for others.
        self._dummy = hash_password(base64.b64encode(os.urandom(16)).decode())
        # Digests of right passwords, and until when they need no other check.
        self._known: OrderedDict[bytes, float] = OrderedDict()
        self._running: dict[bytes, asyncio.Future[bool]] = {}
        self._pairs = Throttle(_BY_PAIR)
        self._peers = Throttle(_BY_PEER)
        self._names = Throttle(_BY_USER)
        self._turns: dict[str, asyncio.Lock] = {}
        self._waiting: Counter[str] = Counter()
        # Behind a guess no client waits whose password was right before.
        self._guesses = ThreadPoolExecutor(_GUESSES, "password", initializer=_step_back)
        self._renewals = ThreadPoolExecutor(_RENEWALS, "password-again")

    async def check(self, user: str, password: str, peer: Peer) -> None:
        """Raises NotAuthenticatedError unless the password is the user's, or ThrottledError."""
        started = self._clock()
        digest = hmac.digest(self._key, f"{user}\0{password}".encode(), "sha256")
        until = self._known.get(digest)
        if until is not None and started < until:
            return
        if until is not None:
            right = await self._run(digest, self._renewals, user, password, peer)
        else:
            try:
                right = await self._guess(digest, user, password, peer)
            except ThrottledError:
                await asyncio.sleep(_PENALTY_S)
                raise
        if right:
            return
        self._known.pop(digest, None)
        elapsed = self._clock() - started
        await asyncio.sleep(_GRAIN_S - elapsed % _GRAIN_S)
        raise NotAuthenticatedError(f"user {user}: unknown, or the password is wrong")

    async def _guess(self, digest: bytes, user: str, password: str, peer: Peer) -> bool:
        """Check a password for the first time: one after the other of each client."""
        group = peer.group
        self._hold_back(user, group)
        if self._waiting[group] >= _QUEUE_OF_PEER or self._waiting.total() >= _QUEUE:
            raise ThrottledError(
                f"user {user}: too many passwords are being checked"
                + (f" for {group}" if self._waiting[group] >= _QUEUE_OF_PEER else "")
                + "; try again in a second",
            )
        self._waiting[group] += 1
        turn = self._turns.setdefault(group, asyncio.Lock())
        try:
            async with turn:
                if digest not in self._known:
                    self._hold_back(user, group)
                    return await self._run(digest, self._guesses, user, password, peer)
                return True
        finally:
            self._waiting[group] -= 1
            if not self._waiting[group]:
                del self._waiting[group]
                self._turns.pop(group, None)

    def _hold_back(self, user: str, group: str) -> None:
        now = self._clock()
        wait = max(
            self._pairs.wait(_pair(user, group), now),
            self._peers.wait(group, now),
            self._names.wait(user, now),
        )
        if wait > 0:
            raise ThrottledError(
                f"user {user}: too many wrong passwords from {group}, or for this user; try again"
                f" in {math.ceil(wait)} s",
            )

    async def _run(
        self, digest: bytes, pool: ThreadPoolExecutor, user: str, password: str, peer: Peer
    ) -> bool:
        """Check in a thread; who asks the same meanwhile gets the same answer."""
        running = self._running.get(digest)
        if running is None:
            loop = asyncio.get_running_loop()
            running = loop.run_in_executor(pool, self._is_right, user, password, peer.address)
            self._running[digest] = running
            running.add_done_callback(lambda done: self._note(digest, user, peer.group, done))
        # A client that leaves does not end the check: it is counted all the same.
        return await asyncio.shield(running)

    def _note(self, digest: bytes, user: str, group: str, done: asyncio.Future[bool]) -> None:
        self._running.pop(digest, None)
        now = self._clock()
        if not done.cancelled() and done.exception() is None and done.result():
            self._known[digest] = now + (_FRESH_S if self._is_systems(user) else math.inf)
            self._known.move_to_end(digest)
            while len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        else:
            _LOG.warning("user %.64r from %s: wrong password", user, group)
            self._pairs.failed(_pair(user, group), now)
            self._peers.failed(group, now)
            self._names.failed(user, now)

    def _is_systems(self, user: str) -> bool:
        if self._system is None:
            return False
        # Who is under no rules is not found by guessing unless the operator says so.
        return self._users.get(user) == BY_PAM or (user not in self._users and user != "root")

    def _is_right(self, user: str, password: str, host: str) -> bool:
        if len(password) > _LONGEST:
            return False
        if self._system is not None and self._is_systems(user):
            return self._system(user, password, host)
        stored = self._users.get(user)
        right = _matches(password, stored or self._dummy)
        return right and stored is not None

    def close(self) -> None:
        """End the threads."""
        for pool in (self._guesses, self._renewals):
            pool.shutdown(wait=False, cancel_futures=True)


def _pair(user: str, group: str) -> str:
    return f"{group} {user}"


def _step_back() -> None:
    # setpriority(2): on Linux a thread has a nice value of its own.
    os.nice(10)
