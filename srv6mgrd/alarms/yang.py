"""Alarms in the words of ietf-alarms, as RFC 7951 JSON. Pure.

``alarm-text`` is ``cause; remedy``, since RFC 8632 wants both in it; the remedy has a leaf of
srv6mgr-alarms, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from srv6mgrd.alarms.alarm import Alarm, StatusChange
from srv6mgrd.alarms.catalogue import CATALOGUE
from srv6mgrd.model.condition import Severity
from srv6mgrd.model.times import time_text
from srv6mgrd.notifications import Notification

_TYPES = "srv6mgr-alarms"
_LISTED_ONLY = ("time-created", f"{_TYPES}:remedy")
_LIST = "/ietf-alarms:alarms/alarm-list"


def entry(alarm: Alarm) -> dict[str, Any]:
    """Of the list ``alarm``."""
    made: dict[str, Any] = {
        **_key(alarm),
        "time-created": time_text(alarm.created),
        "is-cleared": alarm.is_cleared,
        "last-raised": time_text(alarm.raised),
        "last-changed": time_text(alarm.changed),
        "perceived-severity": alarm.severity.text,
        "alarm-text": alarm.text,
        f"{_TYPES}:remedy": alarm.remedy,
        "status-change": [_status_change(change) for change in alarm.changes],
    }
    if alarm.actions:
        made["operator-state-change"] = [
            {
                "time": time_text(action.time),
                "operator": action.operator,
                "state": str(action.state),
                **({"text": action.text} if action.text else {}),
            }
            for action in alarm.actions
        ]
    return made


def shelved_entry(alarm: Alarm) -> dict[str, Any]:
    """Of the list ``shelved-alarm``, which lacks the time of its creation and our own leaves."""
    made = {name: value for name, value in entry(alarm).items() if name not in _LISTED_ONLY}
    made["status-change"] = [
        {name: value for name, value in change.items() if name not in _LISTED_ONLY}
        for change in made["status-change"]
    ]
    return {**made, "shelf-name": alarm.actions[0].text.removeprefix("shelf ")}


def shelved_alarms(count: int, changed: int) -> dict[str, Any]:
    """The container ``shelved-alarms`` without its list."""
    made: dict[str, Any] = {"number-of-shelved-alarms": count}
    if changed:
        made["shelved-alarms-last-changed"] = time_text(changed)
    return made


def alarm_list(count: int, changed: int) -> dict[str, Any]:
    """The container ``alarm-list`` without its list."""
    made: dict[str, Any] = {"number-of-alarms": count}
    if changed:
        made["last-changed"] = time_text(changed)
    return made


def summary(alarms: Iterable[Alarm]) -> dict[str, Any]:
    """The container ``summary``: of all alarms but those on shelves, which it says there are."""
    counts = {
        severity: dict.fromkeys(
            (
                "total",
                "not-cleared",
                "cleared",
                "cleared-not-closed",
                "cleared-closed",
                "not-cleared-closed",
                "not-cleared-not-closed",
            ),
            0,
        )
        for severity in reversed(Severity)
    }
    shelved = False
    for alarm in alarms:
        if alarm.is_shelved:
            shelved = True
            continue
        found = counts[alarm.severity]
        status = "cleared" if alarm.is_cleared else "not-cleared"
        closed = "closed" if alarm.operator_state == "closed" else "not-closed"
        for leaf in ("total", status, f"{status}-{closed}"):
            found[leaf] += 1
    listed = [{"severity": severity.text, **found} for severity, found in counts.items()]
    return {"alarm-summary": listed, **({"shelves-active": [None]} if shelved else {})}


def inventory() -> dict[str, Any]:
    """The container ``alarm-inventory``."""
    return {
        "alarm-type": [
            {
                "alarm-type-id": f"{_TYPES}:{name}",
                "alarm-type-qualifier": "",
                "will-clear": True,
                "severity-level": [severity.text for severity in known.severities],
                "description": known.description,
            }
            for name, known in CATALOGUE.items()
        ]
    }


def status_notification(alarm: Alarm) -> Notification:
    """``alarm-notification`` of the latest change of status."""
    leaves = {**_key(alarm), **_status_change(alarm.changes[0])}
    return Notification("alarm-notification", leaves, "/ietf-alarms:")


def operator_notification(alarm: Alarm) -> Notification:
    """``operator-action`` of the latest one."""
    action = alarm.actions[0]
    leaves = {
        "time": time_text(action.time),
        "operator": action.operator,
        "state": str(action.state),
        **({"text": action.text} if action.text else {}),
    }
    return Notification("operator-action", leaves, f"{path(alarm)}/")


def path(alarm: Alarm) -> str:
    """Data path of the alarm."""
    keys = "".join(f"[{name}={_quoted(value)}]" for name, value in _key(alarm).items())
    return f"{_LIST}/alarm{keys}"


def _key(alarm: Alarm) -> dict[str, str]:
    return {
        "resource": alarm.resource,
        "alarm-type-id": f"{_TYPES}:{alarm.type}",
        "alarm-type-qualifier": "",
    }


def _status_change(change: StatusChange) -> dict[str, str]:
    return {
        "time": time_text(change.time),
        "perceived-severity": "cleared" if change.severity is None else change.severity.text,
        "alarm-text": change.text,
        f"{_TYPES}:remedy": change.remedy,
    }


def _quoted(value: str) -> str:
    # XPath 1.0 has no way to escape a quote.
    return f'"{value}"' if "'" in value else f"'{value}'"
