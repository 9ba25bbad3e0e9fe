"""State of the node as a whole, from srv6mgrd to its readers: a small JSON file beside the store.

It holds the members of ``/srv6mgr-srv6:srv6`` that describe the node rather than an object, as
RFC 7951 writes them (docs/adr/0008): readers hand them on without knowing their leaves.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from srv6mgrd.model.capabilities import Capabilities, FrrCapabilities
from srv6mgrd.model.times import time_text
from srv6mgrd.storage import Problems
from srv6mgrd.threads import one_thread

CAPABILITIES = "srv6mgr-operations:capabilities"
STATISTICS = "srv6mgr-operations:statistics"
TRANSACTIONS = "srv6mgr-operations:transactions"
STORAGE = "srv6mgr-operations:storage"
DAEMONS = "srv6mgr-operations:daemons"
ACTIVITY = "srv6mgr-operations:activity"

# What others than the statistics and the problems with files is in.
_SHOWN = (CAPABILITIES, TRANSACTIONS)

MAKE_ROOM = "readers see what it was before; make room there"

# Which inode it is, and when it was written: these distinguish versions of the file.
Version = tuple[int, int]
ABSENT: Version = (0, 0)


def beside(store: Path) -> Path:
    """The path of the file, given the store."""
    return store.with_name("node.json")


def publish(path: Path, content: Mapping[str, Any]) -> None:
    """Put a file beside the store, whole and at once: readers see the one before or this one."""
    publish_text(path, json.dumps(content, separators=(",", ":")))


def publish_text(path: Path, text: str) -> None:
    """The same of JSON as text."""
    _publish(path, text, 0o644, -1)


def publish_secret(path: Path, content: Mapping[str, Any], group: int | None) -> None:
    """The same for a group alone, or for nobody else."""
    text = json.dumps(content, separators=(",", ":"))
    _publish(path, text, *((0o640, group) if group is not None else (0o600, -1)))


def _publish(path: Path, text: str, mode: int, group: int) -> None:
    fresh = path.with_name(path.name + ".new")
    try:
        fresh.unlink(missing_ok=True)
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            os.chown(file.fileno(), -1, group)
            os.chmod(file.fileno(), mode)
            file.write(text)
        fresh.rename(path)
    except OSError:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise


@dataclass(slots=True)
class Statistics:
    """How the node is kept as declared; times in nanoseconds, 0 is never."""

    since: int
    commits: int = 0
    rejected: int = 0
    compares: int = 0
    drifts: int = 0
    repairs: int = 0
    last_drift: int = 0

    def drifted(self, objects: int, repaired: int, now: int) -> None:
        """A comparison found ``objects`` to differ and put ``repaired`` of them back."""
        self.compares += 1
        self.drifts += objects
        self.repairs += repaired
        if objects:
            self.last_drift = now


def statistics(s: Statistics) -> dict[str, Any]:
    """The container ``statistics``."""
    # RFC 7951 section 6.1: 64-bit numbers are strings.
    data = {
        "commits": str(s.commits),
        "refused-commits": str(s.rejected),
        "compares": str(s.compares),
        "drifts": str(s.drifts),
        "repairs": str(s.repairs),
        "discontinuity-time": time_text(s.since),
    }
    if s.last_drift:
        data["last-drift"] = time_text(s.last_drift)
    return data


def capabilities(c: Capabilities, frr: FrrCapabilities) -> dict[str, Any]:
    """The container ``capabilities``."""
    missing = {**c.missing, **frr.missing}
    data: dict[str, Any] = {
        # The identities belong to another module than the leaf-list (RFC 7951 section 6.8).
        "behavior": sorted(f"srv6mgr-srv6:{behavior}" for behavior in c.behaviors),
        "flavor": sorted(f"{behavior} {flavor}" for behavior, flavor in c.flavors),
        "headend-behavior": sorted(c.headends),
        "facility": sorted(c.facilities | frr.facilities),
        "missing": [{"name": n, "reason": reason} for n, reason in sorted(missing.items())],
    }
    data = {name: value for name, value in data.items() if value}
    if c.kernel:
        data["kernel"] = c.kernel
    if frr.version:
        data["frr"] = frr.version
    if c.probed:
        data["probed"] = time_text(c.probed)
    return data


def storage(problems: Mapping[str, tuple[str, int]]) -> dict[str, Any]:
    """The container ``storage``."""
    found = [
        {"file": file, "text": text, "since": time_text(since)}
        for file, (text, since) in sorted(problems.items())
    ]
    return {"problem": found} if found else {}


@one_thread()
class NodeWriter:
    """Writes the file, whole and at once. Statistics of a file that is there go on."""

    def __init__(self, path: Path, now: int, problems: Problems | None = None) -> None:
        self._path = path
        self._problems = problems or Problems()
        kept = _kept(path)
        # Readers have what the process before showed until this one shows it again.
        self._shown: dict[str, Any] = {m: d for m, d in kept.items() if m in _SHOWN}
        self.statistics = _statistics(kept) or Statistics(since=now)
        self._problems.follow(self.write)
        self._problems.retry(path.name, self.write)

    def set_capabilities(self, found: Capabilities, frr: FrrCapabilities) -> None:
        """Make known what the node offers; not that of FRR nothing is known yet, where the process
        before knew it."""
        if frr == FrrCapabilities() and CAPABILITIES in self._shown:
            return
        self.show(CAPABILITIES, capabilities(found, frr))

    def show(self, member: str, data: Mapping[str, Any]) -> None:
        """Make a further member known."""
        self._shown[member] = data
        self.write()

    def write(self) -> None:
        """Make the statistics known."""
        content: dict[str, Any] = {STATISTICS: statistics(self.statistics), **self._shown}
        if problems := storage(self._problems.listed()):
            content[STORAGE] = problems
        # What Statistics holds, exactly: the texts of the times can't be read back that well.
        content["@statistics"] = {n: getattr(self.statistics, n) for n in Statistics.__slots__}
        with self._problems.writing(self._path, MAKE_ROOM):
            publish(self._path, content)


def _kept(path: Path) -> dict[str, Any]:
    """What the file holds; nothing when it makes no sense."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _statistics(kept: Mapping[str, Any]) -> Statistics | None:
    try:
        return Statistics(**kept["@statistics"])
    except (KeyError, TypeError):
        return None


@dataclass(frozen=True, slots=True)
class NodeState:
    """The file's members below ``/srv6mgr-srv6:srv6``."""

    version: Version = ABSENT
    members: Mapping[str, Any] = field(default_factory=dict)


class NodeReader:
    """Reads the file; keeps what it read until it is replaced. Used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state = NodeState()

    def version(self) -> Version:
        """Moves when the file does; costs a stat."""
        try:
            status = os.stat(self._path)
        except OSError:
            return ABSENT
        return status.st_ino, status.st_mtime_ns

    def read(self) -> NodeState:
        """Empty while there is no file."""
        # Asked before reading: a file that is replaced in between is read again.
        version = self.version()
        if version != self._state.version:
            try:
                content = json.loads(self._path.read_text())
            except (OSError, ValueError):
                return NodeState()
            members = {name: v for name, v in content.items() if not name.startswith("@")}
            self._state = NodeState(version, members)
        return self._state
