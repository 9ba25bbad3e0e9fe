"""The alarm list on disk, so that it survives a restart: a JSON file, replaced as a whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from srv6mgrd.alarms.alarm import Alarm, OperatorAction, OperatorState, StatusChange
from srv6mgrd.model.condition import Severity
from srv6mgrd.storage import Problems, read_text, set_aside

_VERSION = 1
_REMEDY = "make room there; until then a restart forgets the latest alarms"


class AlarmFile:
    """Everything blocks; used by one thread at a time."""

    def __init__(self, path: Path, problems: Problems) -> None:
        self._path = path
        self._problems = problems

    def read(self) -> list[Alarm]:
        """Alarms of before; a file that makes no sense is set aside, and there are none."""
        try:
            return decoded(read_text(self._path))
        except FileNotFoundError:
            return []
        except OSError as error:
            cause = error.strerror or error
            self._problems.report(self._path.name, f"it can't be read ({cause}); {_REMEDY}")
        except (ValueError, KeyError, TypeError) as error:
            set_aside(self._path, self._problems, error)
        return []

    def write(self, alarms: Iterable[Alarm]) -> bool:
        """Report if it was written; a problem is reported elsewhere."""
        fresh = self._path.with_name(self._path.name + ".new")
        with self._problems.writing(self._path, _REMEDY):
            try:
                with fresh.open("w", encoding="utf-8") as file:
                    file.write(encoded(alarms))
                    file.flush()
                    os.fsync(file.fileno())
                fresh.rename(self._path)
            except OSError:
                with suppress(OSError):
                    fresh.unlink(missing_ok=True)
                raise
            return True
        return False


def encoded(alarms: Iterable[Alarm]) -> str:
    return json.dumps({"version": _VERSION, "alarms": [_alarm_json(a) for a in alarms]})


def decoded(text: str) -> list[Alarm]:
    """Raises ValueError, KeyError or TypeError."""
    content = json.loads(text)
    if content["version"] != _VERSION:
        raise ValueError(f"it is of version {content['version']}, which another srv6mgrd wrote")
    return [_alarm(each) for each in content["alarms"]]


def _alarm_json(alarm: Alarm) -> dict[str, Any]:
    return {
        "type": alarm.type,
        "resource": alarm.resource,
        "created": alarm.created,
        "raised": alarm.raised,
        "severity": int(alarm.severity),
        "changes": [[c.time, c.severity, c.cause, c.remedy] for c in alarm.changes],
        "actions": [[a.time, a.operator, a.state, a.text] for a in alarm.actions],
        "sources": sorted(alarm.sources),
    }


def _alarm(found: Mapping[str, Any]) -> Alarm:
    changes = tuple(
        StatusChange(int(time), None if level is None else Severity(level), str(cause), str(remedy))
        for time, level, cause, remedy in found["changes"]
    )
    if not changes:
        raise ValueError("an alarm has no status")
    return Alarm(
        str(found["type"]),
        str(found["resource"]),
        int(found["created"]),
        int(found["raised"]),
        Severity(found["severity"]),
        changes,
        tuple(
            OperatorAction(int(time), str(operator), OperatorState(state), str(text))
            for time, operator, state, text in found["actions"]
        ),
        frozenset(map(str, found["sources"])),
    )
