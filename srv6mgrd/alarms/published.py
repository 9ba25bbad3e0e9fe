"""The alarm list in a file for readers (``counters.alarms``)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from srv6mgrd.alarms import yang
from srv6mgrd.alarms.alarm import Alarm, Key
from srv6mgrd.counters.node import MAKE_ROOM, publish_text
from srv6mgrd.storage import Problems


class PublishedAlarms:
    """Writes the file, whole and at once, when something changed. Used by one thread at a time."""

    def __init__(self, path: Path, problems: Problems) -> None:
        self._path = path
        self._problems = problems
        self._texts: Mapping[Key, tuple[Alarm, str]] = {}
        self._written: str | None = None
        self._inventory = _json(yang.inventory())

    def write(self, alarms: Sequence[Alarm], changed: int) -> None:
        text = self._encoded(alarms, changed)
        if text == self._written and self._path.exists():
            return
        self._written = None
        with self._problems.writing(self._path, MAKE_ROOM):
            publish_text(self._path, text)
            self._written = text

    def _encoded(self, alarms: Sequence[Alarm], changed: int) -> str:
        # An alarm that stayed the same is not encoded again.
        texts: dict[Key, tuple[Alarm, str]] = {}
        for alarm in alarms:
            known = self._texts.get(alarm.key)
            same = known is not None and known[0] is alarm
            texts[alarm.key] = (
                known if same and known is not None else (alarm, _json(_entry(alarm)))
            )
        self._texts = texts
        shelved = [text for alarm, text in texts.values() if alarm.is_shelved]
        listed = [text for alarm, text in texts.values() if not alarm.is_shelved]
        found = _with(yang.alarm_list(len(listed), changed), "alarm", listed)
        aside = _with(yang.shelved_alarms(len(shelved), changed), "shelved-alarm", shelved)
        return (
            f'{{"alarm-list":{found},"shelved-alarms":{aside},'
            f'"alarm-inventory":{self._inventory},"summary":{_json(yang.summary(alarms))}}}'
        )


def _entry(alarm: Alarm) -> Mapping[str, Any]:
    return yang.shelved_entry(alarm) if alarm.is_shelved else yang.entry(alarm)


def _with(container: Mapping[str, Any], name: str, entries: Sequence[str]) -> str:
    """The container with a list of what is encoded already."""
    text = _json(container)
    return f'{text[:-1]},"{name}":[{",".join(entries)}]}}' if entries else text


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))
