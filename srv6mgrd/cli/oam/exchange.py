"""Sends probes at their times and finds the answer of each."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from srv6mgrd.cli.oam.probe import HOP_LIMIT, Probe
from srv6mgrd.cli.oam.reply import Kind, Reply

_NUMBERS = 1 << 16


class Wire(Protocol):
    """Where packets go out and answers come in (``sockets.RawSockets``)."""

    def send(self, data: bytes, vrf: str) -> None:
        """Raises OSError."""

    def receive(self, timeout: float) -> Reply | None:
        """None when nothing came in time."""


@dataclass(frozen=True, slots=True)
class Shot:
    """One probe to send."""

    probe: Probe
    hop_limit: int = HOP_LIMIT


@dataclass(frozen=True, slots=True)
class Outcome:
    """``shot`` with its answer after ``seconds``. ``problem`` is why this router did not send
    it; no answer and no problem is a packet that was lost."""

    shot: Shot
    reply: Reply | None = None
    seconds: float = 0.0
    problem: str = ""

    @property
    def arrived(self) -> bool:
        return self.reply is not None and self.shot.probe.arrived(self.reply)


class Exchange:
    """One ping or trace: ``ident`` distinguishes its answers from those to others."""

    def __init__(
        self, wire: Wire, ident: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._wire = wire
        self._ident = ident or int.from_bytes(os.urandom(2))
        self._clock = clock
        self._sequence = 0

    def run(self, shots: Sequence[Shot], interval: float, timeout: float) -> Iterator[Outcome]:
        """The outcome of each shot, as they come. ``timeout`` counts from when it was sent."""
        due, waiting = self._clock(), list(shots)
        open_: dict[int, tuple[Shot, float]] = {}
        while waiting or open_:
            now = self._clock()
            while waiting and due <= now:
                shot = waiting.pop(0)
                sequence = self._next()
                data = shot.probe.pack(self._ident, sequence, shot.hop_limit)
                open_[sequence] = shot, self._clock()
                due += interval
                try:
                    self._wire.send(data, shot.probe.vrf)
                except OSError as error:
                    del open_[sequence]
                    yield Outcome(shot, problem=error.strerror or str(error))
            for sequence in [n for n, (_, sent) in open_.items() if sent + timeout <= now]:
                yield Outcome(open_.pop(sequence)[0])
            ends = [sent + timeout for _, sent in open_.values()]
            if waiting:
                ends.append(due)
            if not ends:
                continue
            reply = self._wire.receive(max(0.0, min(ends) - self._clock()))
            if reply is None or reply.ident != self._ident or reply.sequence not in open_:
                continue
            shot, sent = open_[reply.sequence]
            if reply.kind is Kind.RETURNED and not shot.probe.loops:
                # A request to an address of this router: the answer follows.
                continue
            del open_[reply.sequence]
            yield Outcome(shot, reply, self._clock() - sent)

    def _next(self) -> int:
        self._sequence = (self._sequence + 1) % _NUMBERS
        return self._sequence
