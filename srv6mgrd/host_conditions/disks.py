"""Room in the file systems that srv6mgr writes to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from srv6mgrd.host_conditions.judge import Disk
from srv6mgrd.settings import Settings

# Where sysrepo works (docs/state.md).
_SHARED_MEMORY = Path("/dev/shm")


def found(settings: Settings) -> Iterator[Disk]:
    """Each file system once."""
    seen = set()
    for directory in (settings.state_directory, settings.runtime_directory, _SHARED_MEMORY):
        with suppress(OSError):
            room, device = os.statvfs(directory), os.stat(directory).st_dev
            if device not in seen:
                seen.add(device)
                size, free = room.f_blocks * room.f_frsize, room.f_bavail * room.f_frsize
                yield Disk(str(directory), size, free)
