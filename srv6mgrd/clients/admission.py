"""Which connections are open, and which give way. Pure.

Who has not authenticated holds a place for a short time only, and gives way to who comes later: so
no number of idle connections locks a client out. Of all that have not authenticated the oldest of
the client with the most of them goes first, hence one with a few is not displaced by a flood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """``total`` connections at once, ``per_peer`` of them of one client (``Peer.group``), and
    ``seconds`` for a client to authenticate."""

    total: int
    per_peer: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Admitted:
    """The connection is taken; another one, which did not authenticate, gives way to it."""

    displaced: int | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """The connection is closed."""

    reason: str


class Admission:
    """The book of open connections, by their numbers."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._groups: dict[int, str] = {}
        self._count: Counter[str] = Counter()
        # In the order in which they came.
        self._unauthenticated: dict[int, float] = {}

    def arrive(
        self, number: int, group: str, now: float, *, authenticated: bool
    ) -> Admitted | Rejected:
        """A client connects."""
        limits = self._limits
        displaced = None
        if self._count[group] >= limits.per_peer:
            displaced = self._oldest(group)
            if displaced is None:
                return Rejected(
                    f"{limits.per_peer} connections of it are open; close some, or raise"
                    " max_connections_per_peer"
                )
        elif len(self._groups) >= limits.total:
            displaced = self._oldest(self._greediest())
            if displaced is None:
                return Rejected(
                    f"{limits.total} connections are open; close some, or raise max_connections"
                )
        if displaced is not None:
            self.leave(displaced)
        self._groups[number] = group
        self._count[group] += 1
        if not authenticated:
            self._unauthenticated[number] = now + limits.seconds
        return Admitted(displaced)

    def authenticate(self, number: int) -> None:
        """A request on the connection was right about who its client is."""
        self._unauthenticated.pop(number, None)

    def leave(self, number: int) -> None:
        """The connection is closed."""
        self._unauthenticated.pop(number, None)
        group = self._groups.pop(number, None)
        if group is None:
            return
        self._count[group] -= 1
        if not self._count[group]:
            del self._count[group]

    def overdue(self, now: float) -> list[int]:
        """Connections whose clients took too long to authenticate."""
        return [number for number, end in self._unauthenticated.items() if end <= now]

    def _oldest(self, group: str | None) -> int | None:
        return next(self._of(group), None)

    def _of(self, group: str | None) -> Iterator[int]:
        return (n for n in self._unauthenticated if self._groups[n] == group)

    def _greediest(self) -> str | None:
        waiting = Counter(self._groups[number] for number in self._unauthenticated)
        return max(waiting, key=waiting.__getitem__, default=None)
