"""Carry out the commands of the state machine on routers and on the store."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from srv6net.compile.configuration import edit, named
from srv6net.transaction import machine, overdue
from srv6net.transaction.machine import Answer, Ask, Decide, Decided, Settle, State, Touch, Verb
from srv6net.transaction.ports import (
    Device,
    DeviceError,
    NoSuchCommitError,
    Store,
    UnreachableError,
)
from srv6net.transaction.presence import missing, repair
from srv6net.transaction.record import Change, Decision, Record, Revision
from srv6net.transaction.routes import expected

# Seconds after which a router rolls back by itself. Longer than all phases take together.
ROLLBACK_S = 120
# Seconds within which a router has to have installed everything.
VERIFY_S = 20.0
# Seconds within which the routes of other routers usually have come. That none come is no reason to
# roll back: the other site's cable may not be there yet.
ROUTES_S = 10.0
# Routers asked at once: in turns, the rollback time of the first might pass before the last is set.
AT_ONCE = 1024

Progress = Callable[[str, str, str], None]
_Job = Callable[[], Answer]


def in_threads(jobs: Sequence[_Job]) -> Iterable[Answer]:
    """All at once: a transaction takes as long as its slowest router."""
    with ThreadPoolExecutor(min(AT_ONCE, len(jobs)), "router") as threads:
        return list(threads.map(lambda job: job(), jobs))


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds until a rollback, and for the verification; ``routes``: how long it waits for those
    of other routers at most; ``poll``: between two looks."""

    rollback: int = ROLLBACK_S
    verify: float = VERIFY_S
    routes: float = ROUTES_S
    poll: float = 0.5


_DEFAULT_TIMING = Timing()


@dataclass(frozen=True, slots=True)
class Outcome:
    """``pending``: routers that are not yet as it was decided, each with the reason. ``notes``:
    what is not as it should be, and no reason to roll back."""

    id: str
    decision: Decision
    reasons: tuple[str, ...] = ()
    pending: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Executor:
    """Runs one transaction at a time. ``progress`` gets router, verb and result."""

    def __init__(
        self,
        store: Store,
        devices: Mapping[str, Device],
        *,
        timing: Timing = _DEFAULT_TIMING,
        progress: Progress = lambda *_: None,
        run: Callable[[Sequence[_Job]], Iterable[Answer]] = in_threads,
    ) -> None:
        self._store = store
        self._devices = devices
        self._timing = timing
        self._progress = progress
        self._run = run
        self._notes: list[str] = []

    def apply(
        self,
        proposed: Revision,
        changes: Mapping[str, Change],
        *,
        is_partial: bool = False,
        deferred: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Change the routers, all or none. The store must have no open transaction. With
        ``is_partial`` those that do not answer the dry run get their part later, as those of
        ``deferred`` do, which are not asked."""
        # The id is a secret of the commits on the routers: who knows it may confirm them.
        record = Record(secrets.token_hex(16), time.time(), proposed, changes)
        self._store.begin(record)
        return self._drive(record, machine.begin(changes, deferred, is_partial=is_partial))

    def check(self, changes: Mapping[str, Change]) -> dict[str, str]:
        """Dry run on all routers; the problems by router. Changes nothing."""
        record = Record("", time.time(), Revision(), changes)
        answers = self._answers(record, [Ask(Verb.CHECK, name) for name in sorted(changes)])
        return {answer.router: answer.problem for answer in answers if answer.problem}

    def catch_up(self) -> dict[str, str]:
        """Bring routers that were down to the current revision; the problems by router."""
        return overdue.catch_up(self._store, self._devices, self._run)

    def resume(self) -> Outcome | None:
        """Bring an open transaction to its end; None if there is none."""
        record = self._store.last()
        if record is None or not record.is_open:
            return None
        return self._drive(
            record, machine.resume(record.unsettled, record.decision, is_touched=record.is_touched)
        )

    def _drive(self, record: Record, first: machine.Step) -> Outcome:
        state, commands = first
        reasons = record.reasons
        pending: dict[str, str] = {}
        self._notes = []
        while commands:
            following: list[machine.Command] = []
            for command in commands:
                if isinstance(command, Touch):
                    self._store.touch(record.id, command.deferred)
                elif isinstance(command, Decide):
                    reasons = command.reasons
                    decision = self._store.decide(
                        record.id, command.decision, command.reasons, command.deferred
                    )
                    state, more = machine.step(state, Decided(decision))
                    following += more
                elif isinstance(command, Settle):
                    self._store.settle(record.id, command.router)
            asks = [command for command in commands if isinstance(command, Ask)]
            for answer in self._answers(record, asks):
                if state.phase is machine.Phase.SETTLING and answer.problem:
                    pending[answer.router] = answer.problem
                state, more = machine.step(state, answer)
                following += more
            commands = tuple(following)
        if state.decision is Decision.COMMITTED:
            pending |= state.deferred
        return Outcome(record.id, _decision(state), reasons, pending, tuple(sorted(self._notes)))

    def _answers(self, record: Record, asks: Sequence[Ask]) -> Iterable[Answer]:
        if not asks:
            return ()
        return self._run([partial(self._answer, record, ask) for ask in asks])

    def _answer(self, record: Record, ask: Ask) -> Answer:
        problem, is_unanswered = "", False
        device = self._devices.get(ask.router)
        try:
            if device is None:
                raise DeviceError("the inventory lacks it; add it again")
            self._carry_out(record, ask.verb, device, ask.router)
        except DeviceError as error:
            problem = f"router {ask.router}: {error}"
            is_unanswered = isinstance(error, UnreachableError)
        self._progress(ask.router, ask.verb, problem)
        return Answer(ask.router, problem, is_unanswered)

    def _carry_out(self, record: Record, verb: Verb, device: Device, router: str) -> None:
        change = record.changes[router]
        if verb is Verb.CHECK:
            _reject_foreign(device, change)
            device.check(edit(change.before, change.after))
        elif verb is Verb.INSTALL:
            wanted = edit(change.before, change.after)
            device.set_confirmed(wanted, record.id, self._timing.rollback)
        elif verb is Verb.VERIFY:
            self._verify(device, change)
            self._wait_for_routes(device, record, router)
        elif verb is Verb.CONFIRM:
            _end(device, lambda: device.confirm(record.id), Change(change.before, change.after))
        else:
            _end(device, lambda: device.cancel(record.id), Change(change.after, change.before))

    def _verify(self, device: Device, change: Change) -> None:
        until = time.monotonic() + self._timing.verify
        while True:
            absent = missing(change.after, device.read(change.after))
            found = [f"{named(path)} is not in its configuration" for path in absent]
            found += device.faults(change.after)
            if not found:
                return
            if time.monotonic() >= until:
                more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
                raise DeviceError(
                    f"it accepted the change and did not install it: {found[0]}{more};"
                    " run srv6ctl doctor there"
                )
            time.sleep(self._timing.poll)

    def _wait_for_routes(self, device: Device, record: Record, router: str) -> None:
        """Until the VRFs have routes to all other routers that export to them, or for some time."""
        after = {router: record.changes[router].after}
        wanted = {p: n for p, n in expected(after, record.proposed.routers)[router].items() if n}
        until = time.monotonic() + self._timing.routes
        while wanted:
            found = device.remote_sids(wanted)
            wanted = {path: n for path, n in wanted.items() if found.get(path, 0) < n}
            if time.monotonic() >= until:
                break
            if wanted:
                time.sleep(self._timing.poll)
        self._notes += [
            f"router {router}: {named(path)} has routes of {found.get(path, 0)} of {count} other"
            " routers so far"
            for path, count in wanted.items()
        ]


def _reject_foreign(device: Device, change: Change) -> None:
    """An entry that srv6net would make, and that others made before."""
    fresh = [path for path in change.after if path not in change.before]
    for path in device.read(fresh):
        raise DeviceError(
            f"{named(path)} is configured there, and not by srv6net; remove it, or rename the"
            " service or access that needs it"
        )


def _end(device: Device, end: Callable[[], None], change: Change) -> None:
    """Confirm or cancel. A router that has rolled back, or was confirmed, is compared with
    what was decided, and gets it once more where it differs."""
    try:
        end()
    except NoSuchCommitError:
        found = device.read({*change.before, *change.after})
        if wanted := repair(change.after, change.before, found):
            device.set(wanted)


def _decision(state: State) -> Decision:
    assert state.decision is not None
    return state.decision
