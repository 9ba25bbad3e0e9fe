"""What tests against sysrepo share. One repository for all: libsysrepo looks for it once."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# A password that is looked for wherever something could show it.
MARKER = "Marker-of-a-secret"
REPOSITORY = Path("/opt/sysrepo/repository")


@pytest.fixture(scope="session")
def place() -> Iterator[Path]:
    """A folder with a sysrepo repository, which this process and its children use."""
    if not REPOSITORY.exists():
        pytest.skip("no sysrepo repository with our modules; run this in the lab")
    with tempfile.TemporaryDirectory(prefix="gnmi-") as folder:
        path = Path(folder)
        shutil.copytree(REPOSITORY, path / "repository", symlinks=True)
        os.environ["SYSREPO_REPOSITORY_PATH"] = str(path / "repository")
        os.environ["SYSREPO_SHM_PREFIX"] = path.name
        yield path
        for left in Path("/dev/shm").glob(f"{path.name}*"):
            left.unlink(missing_ok=True)
