"""``show alarms``: what is wrong now, the worst first; or all that was, too."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

import click

from srv6mgrd.cli.alarm_id import alarm_id
from srv6mgrd.cli.completion import alarms as complete_alarms
from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.cli.units import ago, ns_of

_ORDER = ("critical", "major", "minor", "warning")
_STYLES = {"critical": "bad", "major": "bad", "minor": "warn", "warning": "warn", "cleared": "dim"}
_TOP = "/srv6mgr-srv6:srv6/"

# An entry of the list ``alarm``.
_Alarm = Mapping[str, Any]


def _severity(alarm: _Alarm) -> str:
    return "cleared" if alarm["is-cleared"] else str(alarm["perceived-severity"])


def _type(alarm: _Alarm) -> str:
    return str(alarm["alarm-type-id"]).rpartition(":")[2]


def _since(alarm: _Alarm) -> int:
    return ns_of(alarm["status-change"][0]["time"] if alarm["is-cleared"] else alarm["last-raised"])


def _state(alarm: _Alarm) -> str:
    return str(alarm.get("operator-state-change", [{"state": "-"}])[0]["state"])


def _worst_first(alarm: _Alarm) -> tuple[bool, int, str]:
    return alarm["is-cleared"], _ORDER.index(alarm["perceived-severity"]), alarm["resource"]


def _print(session: Session, alarm: _Alarm) -> None:
    """One alarm with its history."""
    if session.out.as_json:
        session.out.json({"alarms": [_json(alarm)]})
        return
    facts = (
        ("alarm", Cell(alarm_id(alarm), "name")),
        ("type", _type(alarm)),
        ("resource", alarm["resource"]),
        ("severity", Cell(_severity(alarm), _STYLES[_severity(alarm)])),
        ("cause", alarm["alarm-text"]),
    )
    session.out.table([Column(""), Column("")], [(Cell(n, "head"), value) for n, value in facts])
    changes = [
        *((c["time"], c["perceived-severity"], c["alarm-text"]) for c in alarm["status-change"]),
        *(
            (c["time"], f"{c['state']} by {c['operator']}", c.get("text", ""))
            for c in alarm.get("operator-state-change", ())
        ),
    ]
    session.out.line()
    session.out.table(
        [Column("TIME"), Column("CHANGE"), Column("TEXT")],
        [(f"{when[:19]}Z", what, text) for when, what, text in sorted(changes, reverse=True)],
    )


def _json(alarm: _Alarm) -> dict[str, Any]:
    return {"id": alarm_id(alarm), **alarm}


ALARMS: Table[_Alarm] = Table(
    "alarms",
    (
        Field("ALARM", lambda a: Cell(alarm_id(a), "name")),
        Field("SEVERITY", lambda a: Cell(_severity(a), _STYLES[_severity(a)]), key=_worst_first),
        Field("SINCE", lambda a: Cell(ago(_since(a), time.time_ns()), "dim"), right=True,
              key=lambda a: -_since(a)),
        Field("TYPE", _type),
        Field("STATE", _state, optional=True),
        Field("SHELF", lambda a: a.get("shelf-name", ""), optional=True),
        Field("RESOURCE", lambda a: a["resource"].removeprefix(_TOP)),
        Field("CAUSE", lambda a: a["alarm-text"]),
    ),
    _json,
    none="no alarm is active",
    name=alarm_id,
    filters={"severity": _severity, "type": _type},
    detail=_print,
    complete=complete_alarms,
)  # fmt: skip


@listed(ALARMS)
@click.option("--all", "everything", is_flag=True, help="Include cleared alarms.")
@click.option("--shelved", is_flag=True, help="Those on shelves, which are in no other list.")
def alarms(session: Session, everything: bool, shelved: bool) -> Iterable[_Alarm]:
    """Active alarms, the worst first, with their remedies.

    PATTERN is the number of an alarm, which is then shown with its history. STATE is the
    operator's: `ack ALARM` acknowledges one.
    """
    found = session.state.shelved_alarms() if shelved else session.state.alarms()
    return sorted((a for a in found if everything or not a["is-cleared"]), key=_worst_first)
