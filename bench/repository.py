"""A sysrepo of the bench's own, on the host."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path("/opt/sysrepo/repository")


@contextmanager
def place() -> Iterator[Path]:
    """A folder with a sysrepo repository, for this process and its children."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        shutil.copytree(REPOSITORY, folder / "repository", symlinks=True)
        os.environ["SYSREPO_REPOSITORY_PATH"] = str(folder / "repository")
        os.environ["SYSREPO_SHM_PREFIX"] = folder.name
        try:
            yield folder
        finally:
            for left in Path("/dev/shm").glob(f"{folder.name}*"):
                left.unlink(missing_ok=True)
