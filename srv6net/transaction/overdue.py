"""Routers that were down when it was decided: they get the current revision when they are back.

The store has the numbers of the revisions whose entries such a router may have. What it has at
other paths was made by others, and is no less theirs because the router was away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from srv6net.compile.configuration import NOTHING, Edit, Entries, named
from srv6net.transaction.machine import Answer
from srv6net.transaction.ports import Device, DeviceError, Store
from srv6net.transaction.presence import repair
from srv6net.transaction.record import Decision

Run = Callable[[Sequence[Callable[[], Answer]]], Iterable[Answer]]


def catch_up(store: Store, devices: Mapping[str, Device], run: Run) -> dict[str, str]:
    """Bring overdue routers to the current revision. The reasons of those that are left."""
    overdue = store.overdue()
    if not overdue:
        return {}
    current = store.revision()
    others = {router: _entries_of(store, router, overdue[router]) for router in overdue}
    edits: dict[str, Edit] = {}
    problems: dict[str, str] = {}

    def compare(router: str) -> None:
        wanted = current.routers.get(router, NOTHING)
        edits[router] = _difference(_device(devices, router), wanted, others[router])

    def write(router: str) -> None:
        _device(devices, router).set(edits[router])

    def each(routers: Iterable[str], do: Callable[[str], None]) -> list[str]:
        names = [name for name in sorted(routers) if name not in problems]
        answers = run([partial(_answer, name, do) for name in names]) if names else ()
        problems.update({a.router: a.problem for a in answers if a.problem})
        return [name for name in names if name not in problems]

    compared = each(overdue, compare)
    changed = [name for name in compared if edits[name]]
    for name in changed:
        # Written first: if the answer is lost, what it has then is known to be ours.
        numbers = dict.fromkeys((*overdue[name], current.number))
        store.set_overdue(name, tuple(numbers))
    each(changed, write)
    for name in compared:
        if name not in problems:
            store.set_overdue(name, ())
    return problems


def defer_open(store: Store) -> None:
    """The routers that a decided transaction still waits for become overdue, so that it ends."""
    last = store.last()
    if last is None or last.decision is not Decision.COMMITTED:
        return
    number = last.proposed.number
    known = store.overdue()
    for router in sorted(last.unsettled):
        numbers = dict.fromkeys((*known.get(router, ()), number - 1, number))
        store.set_overdue(router, tuple(numbers))
        store.settle(last.id, router)


def _entries_of(store: Store, router: str, numbers: Iterable[int]) -> Entries:
    """What srv6net may have made there."""
    entries: dict[str, object] = {}
    for number in numbers:
        entries.update(store.revision(number).routers.get(router, NOTHING))
    return entries


def _difference(device: Device, wanted: Entries, others: Entries) -> Edit:
    found = device.read({*wanted, *others})
    for path in found:
        if path not in others:
            raise DeviceError(
                f"{named(path)} is configured there, and not by srv6net; remove it, or rename the"
                " service or access that needs it"
            )
    return repair(wanted, others, found)


def _device(devices: Mapping[str, Device], router: str) -> Device:
    device = devices.get(router)
    if device is None:
        raise DeviceError("the inventory lacks it; add it again")
    return device


def _answer(router: str, do: Callable[[str], None]) -> Answer:
    try:
        do(router)
    except DeviceError as error:
        return Answer(router, f"router {router}: {error}")
    return Answer(router)
