"""The hops of a path, found by hop limits, and where it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from srv6mgrd.cli.oam.exchange import Exchange, Outcome, Shot
from srv6mgrd.cli.oam.packet import Address
from srv6mgrd.cli.oam.probe import Echo, Loop, Vpn
from srv6mgrd.cli.oam.reply import Kind, Reply, cause

# So many hops are probed at once. Routers limit errors to some per second for each that asks
# (icmp_ratelimit): what is sent beyond the end costs answers.
_WINDOW = 4
_GAP = 0.01
_TRIES = 2

# A probe that hops are found with.
Traced = Echo | Loop | Vpn


@dataclass(frozen=True, slots=True)
class Hop:
    """``number`` is its hop limit. ``active`` is where the packet was going to there, ``left`` its
    segments left."""

    number: int
    router: Address | None = None
    seconds: float = 0.0
    active: Address | None = None
    left: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """Why the trace ended: it ``arrived``, at the host itself or not, or where packets stop.
    ``next_sid`` is where they were going to, ``after`` the last hop."""

    arrived: bool
    message: str
    router: Address | None = None
    after: int = 0
    next_sid: Address | None = None
    at_host: bool = False
    is_silence: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """``hops`` at most; ``timeout`` of each answer in seconds."""

    hops: int = 30
    timeout: float = 1.0


class Trace:
    """Hops come one by one; ``end`` is known afterwards."""

    def __init__(self, exchange: Exchange, probe: Traced, limits: Limits) -> None:
        self._exchange = exchange
        self._probe = probe
        self._limits = limits
        self.end = End(False, "no hop was probed")
        self.found: list[Hop] = []

    def hops(self) -> Iterator[Hop]:
        """To the target: for a VPN the edge that takes packets out."""
        yield from self._walk(lambda number: Shot(self._probe, number))

    def inner_hops(self) -> Iterator[Hop]:
        """Those behind the edge, to the inner destination."""
        assert isinstance(self._probe, Vpn)
        probe, edge = self._probe, len(self.found)

        def shot(number: int) -> Shot:
            return Shot(replace(probe, inner_hop_limit=number - edge + 1))

        yield from self._walk(shot, first=edge + 1)

    def _walk(self, shot: Callable[[int], Shot], first: int = 1) -> Iterator[Hop]:
        last = first + self._limits.hops - 1
        for start in range(first, last + 1, _WINDOW):
            numbers = range(start, min(start + _WINDOW, last + 1))
            outcomes = self._window({number: shot(number) for number in numbers})
            if not any(_is_heard(one) for one in outcomes.values()):
                self.end = self._silence()
                return
            for number in numbers:
                hop, end = self._judge(number, outcomes[number])
                end = end or self._loop(hop)
                if end is None or not end.arrived:
                    hop = self._with_progress(hop)
                self.found.append(hop)
                yield hop
                if end is not None:
                    self.end = end
                    return
        self.end = End(False, f"it did not arrive within {self._limits.hops} hops")

    def _window(self, shots: Mapping[int, Shot]) -> dict[int, Outcome]:
        found: dict[int, Outcome] = {}
        for _ in range(_TRIES):
            ended = (n for n, one in found.items() if self._judge(n, one)[1] is not None)
            # What is behind the end need not answer.
            last = min(ended, default=max(shots))
            numbers = {
                shots[n]: n
                for n in shots
                if n <= last and (n not in found or not _is_heard(found[n]))
            }
            for outcome in self._exchange.run([*numbers], _GAP, self._limits.timeout):
                found[numbers[outcome.shot]] = outcome
        return found

    def _judge(self, number: int, outcome: Outcome) -> tuple[Hop, End | None]:
        """A hop, and the end of the trace if it is there."""
        probe, reply = outcome.shot.probe, outcome.reply
        assert isinstance(probe, Traced)
        if outcome.problem:
            message = f"it stops at this router: {outcome.problem}"
            return Hop(number, note=outcome.problem), End(False, message, next_sid=self._next())
        if reply is None:
            return Hop(number), None
        active = reply.quoted.destination if reply.quoted is not None else None
        left = reply.quoted.left if reply.quoted is not None else None
        hop = Hop(number, reply.sender, outcome.seconds, active, left)
        if outcome.arrived:
            return _arrived(hop, probe, reply)
        if reply.kind is Kind.TIME_EXCEEDED:
            return hop, None
        why = cause(reply)
        where = f" to {active}" if active is not None else ""
        # A router looks at the hop limit first, and then at MTU and filters.
        at = next((h.number for h in self.found if h.router == reply.sender), number)
        message = f"it stops at {reply.sender} (hop {at}): {why}{where}"
        return replace(hop, note=why), End(False, message, reply.sender, at, active)

    def _with_progress(self, hop: Hop) -> Hop:
        """Linux, unlike RFC 8986, goes on to the next segment before it looks at the hop limit: the
        SID may be one of this router, or of the one before."""
        before = self._next()
        if hop.active is None or hop.active == before:
            return hop
        return replace(hop, note=f"{hop.note}, past {before}" if hop.note else f"past {before}")

    def _loop(self, hop: Hop) -> End | None:
        """The same router again, with no SID passed in between."""
        if hop.router is None or hop.active is None:
            return None
        for first in self.found[:-1]:
            if (first.router, first.active) == (hop.router, hop.active):
                others = dict.fromkeys(
                    str(one.router or "*") for one in self.found[first.number - 1 :]
                )
                message = f"it loops between {' and '.join(others)}, on the way to {hop.active}"
                return End(False, message, first.router, first.number, hop.active)
        return None

    def _next(self) -> Address:
        """Where the packet goes at the last hop that answered."""
        actives = (hop.active for hop in reversed(self.found) if hop.active is not None)
        return next(actives, self._probe.segments[0])

    def _silence(self) -> End:
        answered = [hop for hop in self.found if hop.router is not None]
        following = self._next()
        if not answered:
            message = f"no answer from any hop on the way to {following}"
            return End(False, message, next_sid=following, is_silence=True)
        last = answered[-1]
        message = (
            f"no answer after hop {last.number} ({last.router}): lost there or at the next hop, on"
            f" the way to {following}"
        )
        return End(False, message, last.router, last.number, following, is_silence=True)


def _is_heard(outcome: Outcome) -> bool:
    return outcome.reply is not None or bool(outcome.problem)


def _arrived(hop: Hop, probe: Traced, reply: Reply) -> tuple[Hop, End | None]:
    target = probe.segments[-1]
    if isinstance(probe, Loop):
        note = "on its way back" if reply.is_error else "came back"
        message = f"{target} is reached: the packet was on its way back at hop {hop.number}"
    elif isinstance(probe, Vpn) and reply.is_error:
        if probe.inner_hop_limit > 1:
            return replace(hop, note="in the VRF"), None
        note, message = f"took the packet out of {target}", f"{target} is reached"
    else:
        reached = probe.inner.destination if isinstance(probe, Vpn) else target
        note, message = "answers", f"{reached} is reached"
    end = End(True, message, reply.sender, hop.number, at_host=not reply.is_error)
    return replace(hop, note=note), end
