"""What ``top`` shows, before it is drawn. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from srv6mgrd.cli.show.rows import UNKNOWN, prefix_key
from srv6mgrd.cli.top.history import History
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus


class Order(StrEnum):
    """What the SIDs are ordered by."""

    RATE = "packets/s"
    BITS = "bit/s"
    ERRORS = "errors"
    SID = "SID"

    def next(self) -> Order:
        every = list(Order)
        return every[(every.index(self) + 1) % len(every)]


@dataclass(frozen=True, slots=True)
class Scene:
    """All that is on the screen. ``names`` are the SIDs in the order that was chosen, of which
    ``bad`` are not installed. ``declared`` are entries of the
    model's list by prefix, and empty where sysrepo can't be asked. ``drops`` is why most packets of
    a SID were dropped, of those of which that is known."""

    node: str
    clock: str
    about: str
    managed: bool
    history: History
    statuses: Mapping[ObjectRef, ObjectStatus]
    declared: Mapping[str, Mapping[str, Any]]
    drops: Mapping[str, str] = field(default_factory=dict)
    names: Sequence[str] = ()
    bad: int = 0
    order: Order = Order.RATE
    paused: bool = False
    first: int = 0
    height: int = 24
    width: int = 80
    plain: bool = False


def ordered(history: History, order: Order) -> list[str]:
    """SIDs in an order; those alike by their prefix."""
    counters = history.last.counters if history.last else {}
    names = sorted(counters, key=prefix_key)
    match order:
        case Order.RATE:
            names.sort(key=lambda n: -history.now(n).packets)
        case Order.BITS:
            names.sort(key=lambda n: -history.now(n).bits)
        case Order.ERRORS:
            names.sort(key=lambda n: (-history.now(n).errors, -counters[n].errors))
    return names


def not_installed(names: Iterable[str], statuses: Mapping[ObjectRef, ObjectStatus]) -> int:
    """How many of the SIDs are not."""
    found = (statuses.get(ObjectRef(Kind.SID, name), UNKNOWN) for name in names)
    return sum(status.status is not InstallStatus.INSTALLED for status in found)


def main_reasons(drops: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Why most packets of a SID were dropped, by SID; ``?`` marks what is only likely."""
    most: dict[str, tuple[int, str]] = {}
    for drop in drops:
        reason = drop["reason"] + ("" if drop["certainty"] == "certain" else "?")
        most[drop["sid"]] = max(most.get(drop["sid"], (0, "")), (int(drop["packets"]), reason))
    return {sid: reason for sid, (_, reason) in most.items()}
