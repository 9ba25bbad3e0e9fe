"""Loss of each direction, by what sender and reflector count. Pure.

Counters are of 32 bits and go on over a wrap; a reflector that starts again begins at 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

_WRAP = 1 << 32
_HALF = _WRAP >> 1


class Counters(NamedTuple):
    """Test packets of a session up to one packet, that one included: what the sender sent, and what
    the reflector received and answered (RFC 8972 section 4.5)."""

    sent: int
    received: int
    answered: int


@dataclass(frozen=True, slots=True)
class Directions:
    """Of some test packets: how many came to the reflector, how many of those it answered, and how
    many answers arrived."""

    sent: int
    reflected: int
    answers: int
    arrived: int

    @property
    def forward_loss(self) -> float:
        return 1 - self.reflected / self.sent

    @property
    def backward_loss(self) -> float:
        return 1 - self.arrived / self.answers if self.answers else 0.0


class DirectionCount:
    """Takes the counters of answers in the order in which they arrive. Without a ``base``, the
    counters before, the first answer is where counting begins."""

    def __init__(self, base: Counters | None = None) -> None:
        self._base = self._newest = base
        self._arrived = 0

    def add(self, counters: Counters) -> None:
        if self._base is None:
            self._base = self._newest = counters
            return
        self._arrived += 1
        self._newest = newest(self._newest, counters)

    def result(self) -> Directions | None:
        """None where nothing was counted, or the reflector did not count on."""
        if self._base is None or self._newest is None:
            return None
        sent, received, answered = (
            (now - before) % _WRAP for now, before in zip(self._newest, self._base, strict=True)
        )
        if not 0 < received <= sent < _HALF or not 0 < answered <= received:
            return None
        return Directions(sent, received, answered, min(self._arrived, answered))


def newest(before: Counters | None, counters: Counters) -> Counters:
    """Those of the packet that was sent last."""
    if before is None or 0 < (counters.sent - before.sent) % _WRAP < _HALF:
        return counters
    return before
