"""State of sessions, adjacencies and interfaces, from srv6mgrd to its readers: a JSON file beside
the store, since it has no fixed size (docs/adr/0008). ``counters.node.NodeReader`` reads it.

Members are those of ``/srv6mgr-srv6:srv6`` as RFC 7951 writes them, lists with the keys of declared
objects and with state, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from srv6mgrd.counters.node import MAKE_ROOM, publish_text
from srv6mgrd.storage import Problems


def beside(store: Path) -> Path:
    """Where the file stands, given the store."""
    return store.with_name("observed.json")


class ObservedWriter:
    """Writes the file, whole and at once, when something changed. It has parts, each of them with
    members of its own."""

    def __init__(self, path: Path, problems: Problems | None = None) -> None:
        self._path = path
        self._problems = problems or Problems()
        self._parts: dict[str, str] = {}
        self._written: str | None = None
        self._problems.retry(path.name, self.publish)

    def stage(self, part: str, members: Mapping[str, Any]) -> None:
        """What ``publish`` writes of a part. Encodes it; any thread may, each for its part."""
        # Without the braces, so that the parts are joined without another look at them.
        self._parts[part] = json.dumps(members, separators=(",", ":"))[1:-1]

    def publish(self) -> None:
        """Write what is staged, unless it is what was written last."""
        text = ",".join(filter(None, [self._parts[part] for part in sorted(self._parts)]))
        if text == self._written:
            return
        self._written = None
        with self._problems.writing(self._path, MAKE_ROOM):
            publish_text(self._path, f"{{{text}}}")
            self._written = text
