"""Rejected changes, and when each is tried again. Pure.

A change that was rejected is rejected again while it, what it refers to and what the reason names
are the same. To try all of them at every wake would starve the others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from srv6mgrd.configdb.change import Change
from srv6mgrd.configdb.objects import Kind, Object, references
from srv6mgrd.configdb.running import Running

# A VRF and the SID that it exports refer to each other.
_MUTUAL = frozenset({Kind.VRF, Kind.SID, Kind.BGP})
# Whose names are prefixes.
_PREFIXES = frozenset({Kind.SID, Kind.ROUTE})
# As ``Object`` is written in messages; a service function group is no service function.
_NAMED = re.compile(rf"\b({'|'.join(sorted(Kind, key=len, reverse=True))}) (\S+)")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a change was rejected. ``is_final``: the same configuration will be rejected again; else
    the kernel, FRR or a full machine did it, and the next compare tries again."""

    text: str
    is_final: bool = True


@dataclass(frozen=True, slots=True)
class _Rejected:
    change: Change
    reason: Reason
    objects: tuple[Object, ...]
    # Those among them that may refer to this one in turn.
    partners: tuple[Object, ...]
    # The configuration as far as it may matter, when the change was judged.
    circumstances: tuple[object, ...]


@dataclass(slots=True)
class RejectedChanges:
    """By row."""

    _by_row: dict[str, _Rejected] = field(default_factory=dict)

    def add(self, change: Change, reason: Reason, running: Running) -> None:
        """``running`` is the configuration that the change was judged against."""
        named = _named(reason.text)
        referred = {Object(kind, name) for kind, name in references(change.leaves or {})}
        objects = (change.object, *sorted((named | referred) - {change.object}))
        known = _circumstances(change, objects, running)
        partners = tuple(o for o in objects[1:] if o.kind in _MUTUAL)
        self._by_row[change.row] = _Rejected(change, reason, objects, partners, known)

    def reason(self, change: Change, running: Running) -> str | None:
        """Why the change would be rejected as before; None when it has to be tried."""
        found = self._by_row.get(change.row)
        if found is None:
            return None
        if found.change == change and found.circumstances == _circumstances(
            change, found.objects, running
        ):
            return found.reason.text
        del self._by_row[change.row]
        return None

    def stays(self, row: str, running: Running) -> str | None:
        """Why a row that has not been written since would be rejected as before, whatever else is
        tried; None where it has to be looked at. Thousands of such rows hold up nobody."""
        found = self._by_row.get(row)
        if found is None or found.partners or found.change.leaves is None:
            return None
        known = _circumstances(found.change, found.objects, running)
        return found.reason.text if found.circumstances == known else None

    def concerns(self, row: str, objects: Collection[Object]) -> bool:
        """Whether a rejected change and one of these may refer to each other."""
        return any(o in objects for o in self._by_row[row].partners)

    def forget(self, row: str) -> None:
        """Try it again: the row was written, or is gone."""
        self._by_row.pop(row, None)

    def retry_temporary(self) -> None:
        """Try again what was not rejected for the configuration alone."""
        self._by_row = {row: r for row, r in self._by_row.items() if r.reason.is_final}


def _named(reason: str) -> set[Object]:
    """Objects that a reason names. "choose a SID in this prefix" names none."""
    found = {Object(Kind(k), n.rstrip(":,;.)")) for k, n in _NAMED.findall(reason)}
    return {
        Object(o.kind) if o.kind.is_container else o
        for o in found
        if o.kind not in _PREFIXES or "/" in o.name
    }


def _circumstances(
    change: Change, objects: tuple[Object, ...], running: Running
) -> tuple[object, ...]:
    entries: list[Mapping[str, Any] | int | None] = [running.get(o) for o in objects]
    if change.leaves is None:
        # What is still in use is not removed.
        entries.append(running.users(change.object))
    return (*entries, running.surroundings)
