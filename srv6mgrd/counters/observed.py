"""State of sessions, adjacencies and interfaces, from srv6mgrd to its readers: a JSON file beside
the store, since it has no fixed size (docs/adr/0008). ``counters.node.NodeReader`` reads it.

Members are those of ``/srv6mgr-srv6:srv6`` as RFC 7951 writes them, lists with the keys of declared
objects and with state, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from srv6mgrd.counters.node import MAKE_ROOM, publish_text
from srv6mgrd.storage import Problems


def beside(store: Path) -> Path:
    """Where the file stands, given the store."""
    return store.with_name("observed.json")


class ObservedWriter:
    """Writes the file, whole and at once, when something changed. It has parts; members that
    several of them have are joined, their lists by key."""

    def __init__(self, path: Path, problems: Problems | None = None) -> None:
        self._path = path
        self._problems = problems or Problems()
        self._parts: dict[str, Mapping[str, Any]] = {}
        # The members of a part, each encoded.
        self._encoded: dict[str, dict[str, str]] = {}
        # Members of several parts as they were joined last, with what they were made of.
        self._joined: dict[str, tuple[list[str], str]] = {}
        self._written: str | None = None
        self._problems.retry(path.name, self.publish)

    def stage(self, part: str, members: Mapping[str, Any]) -> None:
        """What ``publish`` writes of a part. Encodes it; any thread may, each for its part. The
        members must not change afterwards."""
        self._encoded[part] = {name: _encode(value) for name, value in members.items()}
        self._parts[part] = members

    def staged(self, part: str) -> Mapping[str, Any]:
        """What was staged last of a part."""
        return self._parts.get(part, _NOTHING)

    def publish(self) -> None:
        """Write what is staged, unless it is what was written last."""
        texts: dict[str, list[tuple[str, str]]] = {}
        for part in sorted(self._encoded):
            for name, encoded in self._encoded[part].items():
                texts.setdefault(name, []).append((part, encoded))
        members = [f"{json.dumps(name)}:{self._member(name, of)}" for name, of in texts.items()]
        text = ",".join(members)
        if text == self._written:
            return
        self._written = None
        with self._problems.writing(self._path, MAKE_ROOM):
            publish_text(self._path, f"{{{text}}}")
            self._written = text

    def _member(self, name: str, of: Sequence[tuple[str, str]]) -> str:
        if len(of) == 1:
            return of[0][1]
        sources = [text for _, text in of]
        known = self._joined.get(name)
        if known is None or known[0] != sources:
            joined: Any = {}
            for text in sources:
                joined = _join(joined, json.loads(text))
            known = self._joined[name] = sources, _encode(joined)
        return known[1]


_NOTHING: Mapping[str, Any] = {}
# Keys of the lists that several parts have entries of.
_KEYS = ("name", "prefix")


def _encode(value: object) -> str:
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
