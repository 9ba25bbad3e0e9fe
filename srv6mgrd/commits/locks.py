"""The lock on the running configuration that an operator holds (RFC 6241 section 7.5). Pure."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request: the northbound, the user it has authenticated, the session and the
    client address as the northbound shows them. ``is_restricted``: the access rules (NACM) for the
    user apply."""

    northbound: str
    user: str = ""
    session: str = ""
    address: str = ""
    is_restricted: bool = False

    def __str__(self) -> str:
        session = f" session {self.session}" if self.session else ""
        user = f" of {self.user}" if self.user else ""
        address = f" from {self.address}" if self.address else ""
        return f"{self.northbound}{session}{user}{address}"


@dataclass(frozen=True, slots=True)
class Lock:
    """``owner`` identifies the connection that holds it; ``since`` in seconds since the epoch."""

    owner: int
    caller: Caller
    since: float

    def __str__(self) -> str:
        return f"{self.caller} since {time.strftime('%H:%M:%S UTC', time.gmtime(self.since))}"


class Locks:
    """At most one holder. Ends with its connection."""

    def __init__(self) -> None:
        self.held: Lock | None = None

    def take(self, owner: int, caller: Caller, now: float) -> Lock | None:
        """Take the lock; the lock of the holder when there is one, also when it is the caller."""
        if self.held is not None:
            return self.held
        self.held = Lock(owner, caller, now)
        return None

    def release(self, owner: int) -> bool:
        """False when ``owner`` does not hold it."""
        if self.held is None or self.held.owner != owner:
            return False
        self.held = None
        return True

    def in_way_of(self, owner: int | None) -> Lock | None:
        """The lock that keeps ``owner`` (None: a client without connection) from writing."""
        return self.held if self.held is not None and self.held.owner != owner else None
