"""State of sessions, adjacencies and interfaces, from srv6mgrd to its readers: a JSON file beside
the store, since it has no fixed size (docs/adr/0008). ``counters.node.NodeReader`` reads it.

Members are those of ``/srv6mgr-srv6:srv6`` as RFC 7951 writes them, lists with the keys of declared
objects and with state, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from srv6mgrd.counters.node import MAKE_ROOM, publish_text
from srv6mgrd.storage import Problems


def beside(store: Path) -> Path:
    """Where the file stands, given the store."""
    return store.with_name("observed.json")


class ObservedWriter:
    """Writes the file, whole and at once, when something changed. It has parts; members that
    several of them have are joined, their lists by key. The event loop publishes; what takes long
    is done by the threads that stage."""

    def __init__(self, path: Path, problems: Problems | None = None) -> None:
        self._path = path
        self._problems = problems or Problems()
        self._staging = Lock()
        self._parts: dict[str, Mapping[str, Any]] = {}
        # The members of a part, each encoded.
        self._encoded: dict[str, dict[str, str]] = {}
        # Members of several parts as they were joined last, with what they were made of.
        self._joined: dict[str, tuple[list[str], str]] = {}
        self._staged = ""
        self._written: str | None = None
        self._problems.retry(path.name, self.publish)

    def stage(self, part: str, members: Mapping[str, Any]) -> None:
        """What ``publish`` writes of a part. Encodes it; any thread may, each for its part. The
        members must not change afterwards."""
        encoded = {name: _encode(value) for name, value in members.items()}
        with self._staging:
            self._parts[part], self._encoded[part] = members, encoded
            parts: dict[str, list[str]] = {}
            for each in sorted(self._encoded):
                for name in self._encoded[each]:
                    parts.setdefault(name, []).append(each)
            named = [f"{json.dumps(name)}:{self._member(name, of)}" for name, of in parts.items()]
            self._staged = ",".join(named)

    def staged(self, part: str) -> Mapping[str, Any]:
        """What was staged last of a part."""
        return self._parts.get(part, _NOTHING)

    def publish(self) -> None:
        """Write what is staged, unless it is what was written last."""
        text = self._staged
        if text == self._written:
            return
        self._written = None
        with self._problems.writing(self._path, MAKE_ROOM):
            publish_text(self._path, f"{{{text}}}")
            self._written = text

    def _member(self, name: str, parts: Sequence[str]) -> str:
        sources = [self._encoded[part][name] for part in parts]
        if len(sources) == 1:
            return sources[0]
        known = self._joined.get(name)
        if known is None or known[0] != sources:
            joined: Any = {}
            for part in parts:
                joined = _join(joined, self._parts[part][name])
            known = self._joined[name] = sources, _encode(joined)
        return known[1]


_NOTHING: Mapping[str, Any] = {}
# Keys of the lists that several parts have entries of.
_KEYS = ("name", "prefix")


def _encode(value: object) -> str:
    """Lists entry by entry: thousands of them at once would hold every thread."""
    if isinstance(value, dict):
        return f"{{{','.join(f'{json.dumps(name)}:{_encode(v)}' for name, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_entry, value))}]"
    return _entry(value)


def _entry(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _join(first: Any, second: Any) -> Any:
    """Two views of one object: what one of them lacks the other has."""
    if isinstance(first, dict) and isinstance(second, dict):
        shared = {name: _join(first[name], second[name]) for name in first.keys() & second.keys()}
        return {**first, **second, **shared}
    if isinstance(first, list) and isinstance(second, list):
        entries = {_key(entry): entry for entry in first}
        for entry in second:
            key = _key(entry)
            entries[key] = _join(entries[key], entry) if key in entries else entry
        return list(entries.values())
    return second


def _key(entry: Mapping[str, Any]) -> object:
    return next(entry[key] for key in _KEYS if key in entry)
