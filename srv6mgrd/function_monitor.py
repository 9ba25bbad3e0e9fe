"""Watches whether service functions let packets through, and has chains go around those that do
not."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Any, Protocol

from srv6mgrd.function_health.checks import Check, Port, checks
from srv6mgrd.function_health.packet import Mark, echo, frame
from srv6mgrd.function_health.verdict import FunctionHistory, Verdict
from srv6mgrd.model.chains import FailureAction, FunctionState, ServiceFunction
from srv6mgrd.model.condition import Condition, ConditionType, Severity
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.function_sids import bypassable, failure_actions
from srv6mgrd.model.parse import CHAINING
from srv6mgrd.model.paths import service_function_path
from srv6mgrd.model.times import time_text
from srv6mgrd.ports import AdapterError
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

PART = SOURCE = "service-functions"
# Seconds: the shortest sleep, how long interfaces and neighbors are known, and how often delays
# are made known that nothing else is.
_TICK, _KNOWN, _DELAYS = 0.01, 1.0, 10.0
# How many times as long as a look takes there is none behind it, also while a neighbor is awaited.
_REST = 4
# Functions after which others in the event loop have their turn.
_AT_A_TIME = 50
_REMEDY = "start the function again, or see its interfaces and what it filters"


class Kernel(Protocol):
    """``function_health.ports.Ports``; in a thread. Raises KernelError."""

    def read(self) -> Mapping[str, Port]: ...

    def macs(self) -> Mapping[tuple[int, str], bytes]: ...


class Senders(Protocol):
    """``function_health.ports.Senders``."""

    def keep(self, ports: Mapping[str, Port], names: Iterable[str]) -> None: ...

    def send(self, name: str, index: int, frames: Sequence[bytes]) -> tuple[str, bool]: ...


class Answer(Protocol):
    """``proxy.health_checks.Returned``; ``at`` in nanoseconds of CLOCK_MONOTONIC."""

    @property
    def number(self) -> int: ...

    @property
    def at(self) -> int: ...


class Answers(Protocol):
    """``proxy.health_checks.HealthChecks``."""

    run: int

    @property
    def is_current(self) -> bool: ...

    def expect(self, checks: Iterable[int]) -> bool: ...

    def returned(self, check: int) -> Answer | None: ...


class Writer(Protocol):
    """``counters.observed.ObservedWriter``."""

    def stage(self, part: str, members: Mapping[str, Any]) -> None: ...

    def publish(self) -> None: ...


class Alarms(Protocol):
    """``manager.ports.Alarms``."""

    def report(self, source: str, conditions: Iterable[Condition]) -> None: ...


@dataclass(frozen=True, slots=True)
class Outside:
    """What the monitor works with. ``steer`` gives chains the states of all functions, and has
    packets to some SIDs go on without these; ``steered`` are the states that chains have. Both
    raise KernelError, and may wait for a commit that writes. ``resolve`` has the kernel ask for a
    neighbor."""

    kernel: Kernel
    senders: Senders
    answers: Answers
    writer: Writer
    alarms: Alarms
    steer: Callable[[Mapping[str, FunctionState], Collection[IPv6Network]], None]
    steered: Callable[[], Mapping[str, FunctionState]]
    resolve: Callable[[str, IPv4Address | IPv6Address], None]


@dataclass(slots=True)
class _Watched:
    """A function and its checks; ``numbers`` of these are those that packets carry. ``sent`` is the
    number of the last packets, at ``sent_at`` in nanoseconds of CLOCK_MONOTONIC; 0 for none."""

    function: ServiceFunction
    history: FunctionHistory = field(default_factory=FunctionHistory)
    checks: tuple[Check, ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)
    due: float = 0.0
    sent: int = 0
    sent_at: int = 0
    awaited: frozenset[str] = frozenset()
    verdict: Verdict = field(default_factory=Verdict)
    since: int = field(default_factory=time.time_ns)


@one_thread()
class FunctionMonitor:
    """Lives in the event loop."""

    def __init__(self, desired: Callable[[], Desired], outside: Outside) -> None:
        self._desired = desired
        self._outside = outside
        self._of: Desired | None = None
        self._watched: dict[str, _Watched] = {}
        self._ports: Mapping[str, Port] = {}
        self._macs: Mapping[tuple[int, str], bytes] = {}
        self._shown = -_DELAYS
        # When to look at interfaces and neighbors again, and how long the last look took.
        self._look_at = self._looked = 0.0
        # The checks that the programs note, and the states that chains have.
        self._expected: frozenset[int] = frozenset()
        self._steered: Mapping[str, FunctionState] | None = None
        # SIDs that packets go on from without functions.
        self._bypassed: Sequence[IPv6Network] = ()
        self._published: object = None

    async def run(self) -> None:
        """Until cancelled. A problem that stays is reported once."""
        reported = ""
        while True:
            try:
                pause, problem = await self.beat(), ""
            except (AdapterError, OSError) as error:
                pause, problem = _KNOWN, str(error)
                if problem != reported:
                    _LOG.error("service functions: %s", problem)
            except Exception:
                # Health is not worth a daemon that ends: chains stay as they are.
                pause, problem = _KNOWN, reported
                _LOG.exception("service functions")
            reported = problem
            await asyncio.sleep(pause)

    async def beat(self) -> float:
        """Judge what was sent, send what is due. Returns how long nothing is to do, in seconds.
        Raises KernelError."""
        desired = self._desired()
        if desired.chains is not getattr(self._of, "chains", None):
            known = await asyncio.to_thread(self._outside.steered)
            self._of = desired
            self._declare(desired.chains.functions, known)
        if not self._watched:
            if self._bypassed:
                await self._steer(desired)
            self._publish()
            return _KNOWN
        now = time.monotonic()
        if now >= self._look_at or self._is_outdated():
            self._look_at = 0.0
            await asyncio.to_thread(self._look)
            self._renew()
            self._look_at, self._looked = now + _KNOWN, time.monotonic() - now
        for number, one in enumerate(self._watched.values(), 1):
            if one.due <= now:
                self._judge(one)
                self._send(one)
                one.due = _following(one.due, one.function.health_check.interval / 1000, now)
            if not number % _AT_A_TIME:
                await asyncio.sleep(0)
        await self._steer(desired)
        self._publish()
        next_due = min(one.due for one in self._watched.values())
        return min(max(next_due - time.monotonic(), _TICK), _KNOWN)

    def _declare(
        self, functions: Mapping[str, ServiceFunction], known: Mapping[str, FunctionState]
    ) -> None:
        watched = {}
        for name, function in functions.items():
            if (one := self._watched.get(name)) is None:
                was_down = known.get(name) is FunctionState.DOWN
                one = _Watched(function, FunctionHistory(was_down))
            one.function = function
            self._conclude(one)
            watched[name] = one
        # Functions are others, or what may be gone on without.
        self._steered = None
        self._watched = watched
        self._look_at = 0.0

    def _look(self) -> None:
        """In a thread, while the event loop awaits it."""
        self._ports, self._macs = self._outside.kernel.read(), self._outside.kernel.macs()

    def _renew(self) -> None:
        """Checks of the interfaces as they are now."""
        number, expected = 0, set()
        for one in self._watched.values():
            one.checks = tuple(checks(one.function, self._ports))
            numbers = {check.name: number + n for n, check in enumerate(one.checks)}
            if numbers != one.numbers:
                # Answers come under the numbers of another function.
                one.numbers, one.awaited = numbers, frozenset()
            one.history.keep(one.numbers)
            expected |= set(one.numbers.values())
            number += len(one.checks)
        interfaces = {check.enters for one in self._watched.values() for check in one.checks}
        self._outside.senders.keep(self._ports, interfaces)
        wanted = frozenset(expected)
        if wanted != self._expected or not self._outside.answers.is_current:
            self._expected = frozenset()
            if self._outside.answers.expect(wanted):
                self._expected = wanted
            for one in self._watched.values():
                one.awaited = frozenset()

    def _is_outdated(self) -> bool:
        """Whether the programs were loaded again, and note nothing where answers are sought."""
        return bool(self._expected) and not self._outside.answers.is_current

    def _judge(self, one: _Watched) -> None:
        rules = one.function.health_check
        for check in one.checks:
            if check.name not in one.awaited:
                continue
            answer = self._outside.answers.returned(one.numbers[check.name])
            if answer is None or answer.number != one.sent:
                ms = rules.interval
                why = f"no packet came back by {check.leaves} within {ms} ms"
                one.history.add(check.name, why, rules)
            else:
                one.history.add(check.name, None, rules)
                one.history.took(check.name, (answer.at - one.sent_at) / 1000)
        self._conclude(one)

    def _send(self, one: _Watched) -> None:
        rules = one.function.health_check
        one.sent, one.sent_at = (one.sent + 1) & 0xFFFFFFFF or 1, time.monotonic_ns()
        awaited = set()
        for check in one.checks:
            problem, at_once, frames = self._packet(one, check)
            if not problem and frames:
                index = self._ports[check.enters].index
                problem, at_once = self._outside.senders.send(check.enters, index, frames)
                if not problem and self._expected:
                    awaited.add(check.name)
            if problem:
                one.history.add(check.name, problem, rules, at_once=at_once)
            elif not rules.enabled or not check.is_possible:
                one.history.add(check.name, None, rules)
        one.awaited = frozenset(awaited)
        self._conclude(one)

    def _packet(self, one: _Watched, check: Check) -> tuple[str, bool, list[bytes]]:
        """Why there is none, and whether that is certain; or the packet. Neither where nothing can
        be said of the function."""
        if check.problem and check.is_possible:
            return check.problem, True, []
        enabled = one.function.health_check.enabled
        port = self._ports[check.enters]
        mark = Mark(self._outside.answers.run, one.numbers[check.name], one.sent)
        if check.next_hop is None:
            back = self._ports[check.leaves].mac
            return "", False, [frame(mark, back, port.mac)] if enabled else []
        to = self._macs.get((port.index, str(check.next_hop)))
        if to is None:
            self._outside.resolve(check.enters, check.next_hop)
            soon = time.monotonic() + max(_TICK, _REST * self._looked)
            self._look_at = min(self._look_at, soon)
            return f"next hop {check.next_hop} on {check.enters} does not resolve", False, []
        if not enabled or check.source is None or check.destination is None:
            return "", False, []
        return "", False, [echo(mark, to, port.mac, (check.source, check.destination))]

    def _conclude(self, one: _Watched) -> None:
        verdict = one.history.verdict(drain=one.function.drain)
        if verdict.state is not one.verdict.state:
            _LOG.warning(
                "service function %s is %s%s",
                one.function.name,
                verdict.state,
                f": {verdict.reason}" if verdict.reason else "",
            )
            one.since = time.time_ns()
        one.verdict = verdict

    async def _steer(self, desired: Desired) -> None:
        """Also without chains: what was gone on without for one of them is no longer. The programs
        may not be there yet: it is tried again."""
        states = {name: one.verdict.state for name, one in self._watched.items()}
        if states != self._steered:
            permitted = bypassable(desired)
            bypassed = [
                sid.prefix
                for name, state in states.items()
                if state is FunctionState.DOWN
                for sid in permitted.get(name, ())
            ]
            await asyncio.to_thread(self._outside.steer, states, bypassed)
            self._steered, self._bypassed = states, bypassed

    # What others see.

    def _publish(self) -> None:
        """At once when a state changes, with delays now and then."""
        now = time.monotonic()
        verdicts = {
            name: (one.verdict, one.history.delay is None) for name, one in self._watched.items()
        }
        if verdicts == self._published and now - self._shown < _DELAYS:
            return
        if verdicts != self._published:
            self._outside.alarms.report(SOURCE, list(self._conditions()))
        self._published, self._shown = verdicts, now
        entries = [_entry(one) for one in self._watched.values()]
        self._outside.writer.stage(
            PART, {CHAINING: {"service-function": entries}} if entries else {}
        )
        self._outside.writer.publish()

    def _conditions(self) -> Iterator[Condition]:
        actions = failure_actions(self._of.chains) if self._of is not None else {}
        for name, one in self._watched.items():
            if one.verdict.state is FunctionState.DOWN:
                yield Condition(
                    ConditionType.SERVICE_FUNCTION_DOWN,
                    service_function_path(name),
                    _severity(actions.get(name)),
                    f"service function {name} is down: {one.verdict.reason}",
                    _REMEDY,
                )


def _following(due: float, interval: float, now: float) -> float:
    """When the answer to what is sent now is due: not much sooner than ``interval``, also where it
    is sent late."""
    return due + interval if now - due <= _TICK else now + interval


def _severity(actions: set[FailureAction] | None) -> Severity:
    """Without chains nobody misses it; some may drop what they lead to it."""
    if actions is None:
        return Severity.WARNING
    return Severity.MINOR if actions == {FailureAction.BYPASS} else Severity.MAJOR


def _entry(one: _Watched) -> dict[str, Any]:
    state: dict[str, Any] = {"function-state": one.verdict.state.value}
    reason = one.verdict.reason or _unchecked(one)
    if reason:
        state["function-state-reason"] = reason
    state["last-change"] = time_text(one.since)
    if (delay := one.history.delay) is not None:
        state["delay"] = delay
    return {"name": one.function.name, "state": state}


def _unchecked(one: _Watched) -> str:
    """Why a function is not checked, where it is not."""
    if one.function.proxied is None:
        return "another router has it, or it knows SRv6: it is not checked"
    if not one.function.health_check.enabled:
        return "health-check is not enabled"
    found = next((check for check in one.checks if not check.is_possible), None)
    return "" if found is None else f"{found.name} is not checked: {found.problem}"
