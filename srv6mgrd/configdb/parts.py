"""Rows that add to the objects of other rows. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from srv6mgrd.configdb.chains import whole_of
from srv6mgrd.configdb.fields import shown
from srv6mgrd.configdb.objects import Object, Part
from srv6mgrd.configdb.rows import is_of_bgpcfgd
from srv6mgrd.configdb.surroundings import Surroundings
from srv6mgrd.configdb.verdict import Status, Verdict


class Parts:
    """By object and row. A row that is wrong keeps its object as it is: a chain without one of its
    hops, or a classifier without one of its rules, would lead packets past a function."""

    def __init__(self) -> None:
        self._by_object: dict[Object, dict[str, Part]] = {}
        self._wrong: dict[Object, set[str]] = {}

    def add(self, row: str, part: Part) -> None:
        self._by_object.setdefault(part.object, {})[row] = part

    def add_wrong(self, row: str) -> str | None:
        """The row that declares the object that this one was to be a part of, where its key
        says."""
        if (whole := whole_of(row)) is None:
            return None
        obj, base = whole
        self._wrong.setdefault(obj, set()).add(row)
        return base

    def take_out(self, row: str, part: Part | None) -> str | None:
        """The row that declares the object that this one was a part of; None when it was none."""
        if part is not None:
            others = self._by_object[part.object]
            del others[row]
            if not others:
                del self._by_object[part.object]
            return part.base
        whole = whole_of(row)
        if whole is None or row not in self._wrong.get(whole[0], ()):
            return None
        obj, base = whole
        self._wrong[obj].remove(row)
        if not self._wrong[obj]:
            del self._wrong[obj]
        return base

    def of(self, obj: Object, around: Surroundings) -> list[Part]:
        """Those that count: routes and BGP of SONiC's bgp container do not, nor interfaces where
        VRFs are SONiC's."""
        if obj not in self._by_object:
            return []
        return [
            part
            for row, part in sorted(self._by_object[obj].items())
            if not (around.vrf_tables is not None and "interfaces" in part.content)
            and not (around.is_bgpcfgd and is_of_bgpcfgd(row))
        ]

    def fault(self, obj: Object) -> Verdict | None:
        """On an object of which a part is wrong."""
        if obj not in self._wrong:
            return None
        row = shown(min(self._wrong[obj]))
        reason = f"{obj}: {row} is a part of it, and wrong; correct or remove that row"
        return Verdict(Status.REJECTED, reason)

    def verdicts(self, verdicts: Mapping[str, Verdict]) -> dict[str, Verdict]:
        """What became of the objects, on rows that have no verdict."""
        out = {}
        for parts in self._by_object.values():
            for row, part in parts.items():
                if row in verdicts:
                    continue
                verdict = verdicts.get(part.base)
                if verdict is None:
                    reason = f"{part.object}: no row declares it yet; write {part.base}"
                    verdict = Verdict(Status.WAITING, reason)
                elif verdict.status is Status.ACCEPTED:
                    verdict = Verdict(Status.ACCEPTED, "; ".join(part.warnings))
                out[row] = verdict
        return out
