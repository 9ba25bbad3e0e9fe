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
from typing import Any, NamedTuple

from srv6mgrd.counters.node import MAKE_ROOM, publish_text
from srv6mgrd.storage import Problems


def beside(store: Path) -> Path:
    """The path of the file, given the store."""
    return store.with_name("observed.json")


class _Part(NamedTuple):
    members: Mapping[str, Any]
    # Each of them as JSON.
    encoded: Mapping[str, str]


class _Joined(NamedTuple):
    """A member of several parts as JSON, and that of each part that it was made of."""

    sources: tuple[str, ...]
    text: str


class ObservedWriter:
    """Writes the file, whole and at once, when something changed. It has parts; members that
    several of them have are joined, their lists by key. The event loop publishes; what takes long
    is done by the threads that stage."""

    def __init__(self, path: Path, problems: Problems | None = None) -> None:
        self._path = path
        self._problems = problems or Problems()
        # Of all below that ``stage`` replaces.
        self._staging = Lock()
        self._parts: Mapping[str, _Part] = {}
        self._joined: Mapping[str, _Joined] = {}
        # Counts the calls of ``stage``; and the one of which ``_staged`` is.
        self._edition = self._staged_edition = 0
        self._staged = ""
        self._written: str | None = None
        self._problems.retry(path.name, self.publish)

    def stage(self, part: str, members: Mapping[str, Any]) -> None:
        """What ``publish`` writes of a part. Encodes it; any thread may, each for its part. The
        members must not change afterwards."""
        encoded = {name: _encode(value) for name, value in members.items()}
        with self._staging:
            self._parts = {**self._parts, part: _Part(members, encoded)}
            self._edition = edition = self._edition + 1
            parts, joined = self._parts, self._joined
        # Not under the lock: one part would wait until all of the others are encoded.
        text, joined = _composed(parts, joined)
        with self._staging:
            # A later edition has this part, too.
            if edition > self._staged_edition:
                self._staged, self._joined, self._staged_edition = text, joined, edition

    def staged(self, part: str) -> Mapping[str, Any]:
        """What was staged last of a part."""
        known = self._parts.get(part)
        return known.members if known is not None else _NOTHING

    def publish(self) -> None:
        """Write what is staged, unless it is what was written last."""
        text = self._staged
        if text == self._written:
            return
        self._written = None
        with self._problems.writing(self._path, MAKE_ROOM):
            publish_text(self._path, f"{{{text}}}")
            self._written = text


def _composed(
    parts: Mapping[str, _Part], known: Mapping[str, _Joined]
) -> tuple[str, Mapping[str, _Joined]]:
    """All members as JSON; and those that several parts have, with what was ``known`` of them."""
    having: dict[str, list[_Part]] = {}
    for _, part in sorted(parts.items()):
        for name in part.encoded:
            having.setdefault(name, []).append(part)
    joined = {
        name: _joined(name, of, known.get(name)) for name, of in having.items() if len(of) > 1
    }
    named = (
        f"{json.dumps(name)}:{joined[name].text if name in joined else of[0].encoded[name]}"
        for name, of in having.items()
    )
    return ",".join(named), joined


def _joined(name: str, parts: Sequence[_Part], known: _Joined | None) -> _Joined:
    sources = tuple(part.encoded[name] for part in parts)
    if known is not None and known.sources == sources:
        return known
    whole: Any = {}
    for part in parts:
        whole = _join(whole, part.members[name])
    return _Joined(sources, _encode(whole))


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
