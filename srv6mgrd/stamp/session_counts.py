"""What a reflector counts of each session. Pure."""

from __future__ import annotations

from collections import OrderedDict

from srv6mgrd.stamp.sockets import Peer

# The least recently seen makes room; it counts from 0 then.
_SESSIONS = 4_096


class SessionCounts:
    """Test packets received and answered, by sender and session identifier."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[tuple[Peer, int], tuple[int, int]] = OrderedDict()

    def received(self, peer: Peer, session_id: int) -> tuple[int, int]:
        """Count a packet; received and answered with it, as its answer says."""
        key = peer, session_id
        received, answered = self._sessions.get(key, (0, 0))
        self._sessions[key] = received + 1, answered
        self._sessions.move_to_end(key)
        if len(self._sessions) > _SESSIONS:
            self._sessions.popitem(last=False)
        return received + 1, answered + 1

    def answered(self, peer: Peer, session_id: int) -> None:
        """Its answer was sent."""
        key = peer, session_id
        received, answered = self._sessions.get(key, (1, 0))
        self._sessions[key] = received, answered + 1
