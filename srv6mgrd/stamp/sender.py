"""Session-Sender: one session, sent and received in the event loop."""

from __future__ import annotations

import asyncio
import logging
import socket
import time

from srv6mgrd.stamp import packet, sockets, tlvs
from srv6mgrd.stamp.assignments import SessionAssignment
from srv6mgrd.stamp.path_state import Evidence, Judgement, Problem, judge
from srv6mgrd.stamp.statistics import Measurement, Statistics, first_end
from srv6mgrd.stamp.tlvs import TlvType

_LOG = logging.getLogger(__name__)
_MS, _NS = 1_000_000, 1_000_000_000
_MOST = 64
# How many test packets wait for their answer at most.
_OPEN = 4_096
_SEQUENCES = 1 << 32
# A connected socket keeps its route, which a route in another table does not end (ip6_dst_check):
# one without answers for so long is replaced.
_REPLACE_NS = 3_000_000_000


class SessionSender:
    """Measures until it is closed. ``session_id`` distinguishes sessions of this router (RFC 8972
    section 3)."""

    def __init__(self, assignment: SessionAssignment, session_id: int) -> None:
        session = self.session = assignment.session
        self._assignment = assignment
        self._id = session_id
        asked = []
        if session.node_address is not None:
            asked.append(tlvs.node_address(session.node_address))
        if assignment.return_segments:
            asked.append(tlvs.return_path(assignment.return_segments))
        self._asked = tuple(asked)
        self._types = tuple(TlvType(one.kind) for one in asked)
        # Of ours that the reflector does not follow.
        self._unused: frozenset[TlvType] = frozenset()
        # Of a test packet.
        self._length = 0
        self._socket: socket.socket | None = None
        self._opened = 0
        self._sequence = 0
        # How many left this router.
        self._left = 0
        # When packets were sent by the wall clock: as we say, and then as the kernel says.
        self._sent: dict[int, int] = {}
        now = time.monotonic_ns()
        length = session.measurement_interval * _NS
        self._statistics = Statistics(first_end(now, time.time_ns(), length), length)
        self._heard: int | None = None
        # When the first test packet was sent that nothing was heard after.
        self._unanswered: int | None = None
        self._problem: Problem | None = None
        self.measurement: Measurement | None = None
        self.kernel_timestamps = False

    async def run(self) -> None:
        """Until cancelled."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        try:
            while True:
                self._send()
                # After a gap it goes on from now: packets in a burst measure the burst.
                due = max(due + self.session.interval / 1e3, loop.time())
                await asyncio.sleep(due - loop.time())
        finally:
            self._close()

    def judgement(self, now: int) -> Judgement:
        """State of the path at a time of the monotonic clock."""
        if (found := self._statistics.close(now, time.time_ns())) is not None:
            self.measurement = found
        evidence = Evidence(
            self._heard is not None,
            self._unanswered,
            self.measurement,
            self._problem,
            self._unused,
        )
        return judge(self.session, evidence, now)

    def _send(self) -> None:
        sequence, now = self._sequence, time.monotonic_ns()
        self._sequence = (sequence + 1) % _SEQUENCES
        self._statistics.sent(sequence, now)
        if self._unanswered is None:
            self._unanswered = now
        try:
            one = self._open(now)
            wall = time.time_ns()
            made = packet.SenderPacket(sequence, wall, self._id, self._left + 1, self._asked)
            data = packet.encode(made, self.session.key)
            self._length = len(data)
            one.sendto(data, (str(self.session.destination), self.session.port))
            self._left += 1
        except OSError as error:
            self._fail(error)
            self._statistics.unsent(sequence)
            return
        self._sent[sequence] = wall
        if len(self._sent) > _OPEN:
            del self._sent[next(iter(self._sent))]

    def _open(self, now: int) -> socket.socket:
        if now - max(self._heard or 0, self._opened) > _REPLACE_NS:
            self._close()
        if self._socket is None:
            self._opened = now
            session, assigned = self.session, self._assignment
            self._socket = sockets.sender(
                assigned.source,
                (session.destination, session.port),
                assigned.segments,
                session.vrf,
                from_anyone=session.node_address is not None,
            )
            asyncio.get_running_loop().add_reader(self._socket, self._receive, self._socket)
        return self._socket

    def _close(self) -> None:
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self._socket = None

    def _fail(self, error: OSError) -> None:
        reason = (
            f"{self.session.destination} answers at port {self.session.port} that nothing listens"
            if isinstance(error, ConnectionRefusedError)
            else f"test packets cannot be sent: {error.strerror}"
        )
        self._problem = Problem(reason, time.monotonic_ns())
        # The address may come, or the route: a new socket finds them.
        if not isinstance(error, ConnectionRefusedError):
            self._close()

    def _receive(self, one: socket.socket) -> None:
        for sequence, at in sockets.sent(one, self._length):
            if sequence in self._sent:
                self._sent[sequence] = at
                self.kernel_timestamps = True
        try:
            for answer in sockets.receive(one, _MOST):
                self._take(answer)
        except OSError as error:
            self._fail(error)

    def _take(self, answer: sockets.Datagram) -> None:
        try:
            found = packet.decode_reflected(answer.data, self.session.key, self._types)
        except packet.AuthenticationError as error:
            reason = f"answers are {error}; see that both routers have the same key"
            self._problem = Problem(reason, time.monotonic_ns())
            return
        except packet.PacketError:
            return
        # Reflectors of RFC 8762 without RFC 8972 put zeros in its place.
        if found.session_id not in (0, self._id):
            return
        began = self._sent.pop(found.sender_sequence, None)
        if began is None:
            return
        delay = answer.at - began - (found.timestamp - found.received)
        now = time.monotonic_ns()
        counters = found.answered.counters
        if self._statistics.answered(found.sender_sequence, delay, now, counters):
            self._heard, self._unanswered, self._problem = now, None, None
            self._unused = found.answered.unused
