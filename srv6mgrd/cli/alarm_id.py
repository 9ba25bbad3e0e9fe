"""How an operator names an alarm: a short number made of its key, which stays the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from srv6mgrd.cli.problem import Problem

_DIGITS = 6


def alarm_id(alarm: Mapping[str, Any]) -> str:
    """Of an entry of the list ``alarm``."""
    key = f"{alarm['alarm-type-id']} {alarm['alarm-type-qualifier']} {alarm['resource']}"
    return sha256(key.encode()).hexdigest()[:_DIGITS]


def chosen(name: str, alarms: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The alarm that is meant: by its number or the begin of it, or by its type where no other
    active one has it. Raises Problem."""
    listed = list(alarms)
    found = [alarm for alarm in listed if alarm_id(alarm).startswith(name)]
    if not found:
        of_type = [a for a in listed if a["alarm-type-id"].rpartition(":")[2] == name]
        found = [alarm for alarm in of_type if not alarm["is-cleared"]] or of_type
    if len(found) == 1:
        return found[0]
    cause = f"{len(found)} alarms are named so" if found else "there is no such alarm"
    raise Problem.of(f"alarm {name}", cause, "name it as srv6ctl show alarms --all does")


def data_path(alarm: Mapping[str, Any]) -> str:
    """Of the entry."""
    keys = "".join(
        f"[{name}={_quoted(alarm[name])}]"
        for name in ("resource", "alarm-type-id", "alarm-type-qualifier")
    )
    return f"/ietf-alarms:alarms/alarm-list/alarm{keys}"


def _quoted(value: str) -> str:
    return f'"{value}"' if "'" in value else f"'{value}'"
