"""The cache outside the checkout: entries named by a hash of what they are built from.

An entry appears by one rename of a finished folder, so a broken build leaves none.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.problem import LabError
from lab.progress import Progress

MIB = 1024 * 1024
KEEP_UNUSED = 7 * 24 * 3600.0


def cache_dir() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "srv6mgr"


def digest(*parts: str | bytes) -> str:
    """A short key over parts; their borders count."""
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        sha.update(len(data).to_bytes(8, "big") + data)
    return sha.hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to have in the cache, and how to make it. What takes long and what no other entry
    needs is built ``apart``: other builds do not wait for it."""

    kind: str
    key: str
    need_mib: int
    build: Callable[[Path, Progress], None]
    apart: bool = False

    @property
    def path(self) -> Path:
        return cache_dir() / f"{self.kind}-{self.key}"

    @property
    def lock(self) -> str:
        return f".lock-{self.kind}" if self.apart else ".lock"

    @property
    def unfinished(self) -> str:
        """What the names of folders begin with that are built under the same lock."""
        return f".apart-{self.kind}-" if self.apart else ".building-"


def log_file(kind: str) -> Path:
    """The output of the latest build of this kind; outside the entry, to survive a failure."""
    return cache_dir() / "log" / f"{kind}.log"


def ensure(entry: Entry, progress: Progress) -> Path:
    """The entry's folder, built first when it is not there."""
    if entry.path.is_dir():
        os.utime(entry.path)  # when it was used last
        return entry.path
    with _lock(entry, progress):
        if entry.path.is_dir():  # another process built it while this one waited
            return entry.path
        _sweep(entry)
        require_space(entry.need_mib, f"build of {entry.kind}")
        target = Path(tempfile.mkdtemp(prefix=entry.unfinished, dir=cache_dir()))
        log_file(entry.kind).parent.mkdir(exist_ok=True)
        log_file(entry.kind).unlink(missing_ok=True)
        target.chmod(0o755)  # apt reads in it as a user of its own
        try:
            with progress.part(entry.kind):
                entry.build(target, progress)
            target.rename(entry.path)
            _prune(entry)
        finally:
            shutil.rmtree(target, ignore_errors=True)
    return entry.path


def ensure_all(entries: Sequence[Entry], progress: Progress) -> list[Path]:
    """The folders of entries, each of which may need those before it."""
    missing = [entry.kind for entry in entries if not entry.path.is_dir()]
    if missing:
        progress.say(f"builds {', '.join(missing)} in {cache_dir()}, once")
    progress.expect(missing)
    try:
        return [ensure(entry, progress) for entry in entries]
    finally:
        progress.expect(())


def make_folder(
    folder: Path, remedy: str = "set XDG_CACHE_HOME to a folder on another disk"
) -> Path:
    """The folder, made where it is missing; LabError where it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(str(folder), f"cannot be created: {error.strerror}", remedy) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise LabError(str(folder), "cannot be written", remedy)
    return folder


def _prune(entry: Entry) -> None:
    """Remove what the entry replaces, once no checkout has used it for a while."""
    for old in cache_dir().glob(f"{entry.kind}-*"):
        if old != entry.path and time.time() - old.stat().st_mtime > KEEP_UNUSED:
            shutil.rmtree(old, ignore_errors=True)


def require_space(need_mib: int, subject: str) -> None:
    folder = cache_dir()
    stat = os.statvfs(folder)
    free = stat.f_bavail * stat.f_frsize // MIB
    if free < need_mib:
        raise LabError(
            subject,
            f"needs {need_mib} MiB in {folder}, {free} MiB are free",
            "free some space, or set XDG_CACHE_HOME to another disk",
        )


def folder_mib(path: Path) -> int:
    total = 0
    for root, _, names in os.walk(path):
        for name in names:
            total += os.lstat(os.path.join(root, name)).st_blocks * 512
    return total // MIB


@contextmanager
def _lock(entry: Entry, progress: Progress) -> Iterator[None]:
    folder = make_folder(cache_dir())
    with (folder / entry.lock).open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with progress.step("wait for another build of the lab"):
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _sweep(entry: Entry) -> None:
    """Remove what a killed build left; called under its lock, so nobody is at work on it.

    Mounts need no care: builds mount in namespaces of their own, which died with them.
    """
    for left in cache_dir().glob(f"{entry.unfinished}*"):
        shutil.rmtree(left, ignore_errors=True)
