"""Which alarms are shelved: ``control/alarm-shelving`` of ietf-alarms. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from srv6mgrd.alarms.alarm import Alarm
from srv6mgrd.alarms.catalogue import is_derived
from srv6mgrd.expressions import matches_all_of

# A step of an instance identifier: its name, and predicates that may hold slashes.
_STEP = re.compile(r"/([\w:.-]+)((?:\[[^]=]+=(?:'[^']*'|\"[^\"]*\")\])*)")
_PREDICATE = re.compile(r"\[([^]=]+)=(?:'([^']*)'|\"([^\"]*)\")\]")
# All qualifiers of alarm types are empty here.
_QUALIFIER = ""


@dataclass(frozen=True, slots=True)
class Shelf:
    """``types`` are identities with an expression for the qualifier. Of criteria that are given one
    of each kind has to match."""

    name: str
    resources: tuple[str, ...] = ()
    types: tuple[tuple[str, str], ...] = ()

    def takes(self, alarm: Alarm) -> bool:
        if self.resources and not any(_is_of(alarm.resource, one) for one in self.resources):
            return False
        return not self.types or any(
            is_derived(alarm.type, kind) and matches_all_of(expression, _QUALIFIER)
            for kind, expression in self.types
        )


def parse(control: Mapping[str, Any]) -> tuple[Shelf, ...]:
    """Of the container ``control`` as RFC 7951 JSON, in the order in which they are tried."""
    return tuple(
        Shelf(
            one["name"],
            tuple(one.get("resource", ())),
            tuple(
                (each["alarm-type-id"].rpartition(":")[2], each["alarm-type-qualifier-match"])
                for each in one.get("alarm-type", ())
            ),
        )
        for one in control.get("alarm-shelving", {}).get("shelf", ())
    )


def _is_of(resource: str, match: str) -> bool:
    """A path without the keys of a list stands for all its entries. Other resources are matched by
    expressions."""
    if resource == match:
        return True
    wanted, found = _steps(match), _steps(resource)
    if wanted and found:
        return len(wanted) == len(found) and all(
            name == other and keys <= others
            for (name, keys), (other, others) in zip(wanted, found, strict=True)
        )
    return matches_all_of(match, resource)


def _steps(path: str) -> list[tuple[str, frozenset[tuple[str, str]]]]:
    """Empty for what is no path. A name without a module is of that of the step before (RFC 7951
    section 6.11)."""
    found, at, module = [], 0, ""
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            return []
        prefix, _, name = step[1].rpartition(":")
        module = prefix or module
        keys = {
            (key.rpartition(":")[2], one or two) for key, one, two in _PREDICATE.findall(step[2])
        }
        found.append((f"{module}:{name}", frozenset(keys)))
        at = step.end()
    return found
