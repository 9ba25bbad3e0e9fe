"""A router of its own for each test: a manager on the real kernel, with a journal on disk."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.contract.kernel.conftest import Run, kernel, namespace, run, vrf
from tests.contract.reconcile.router import Router

__all__ = ["kernel", "namespace", "router", "run", "vrf"]


@pytest.fixture
def own_pins() -> Iterator[None]:
    """What proxies pin is no part of a network namespace: others would find it."""
    place = "/sys/fs/bpf"
    subprocess.run(["mount", "-t", "bpf", "bpf", place], check=True)
    yield
    subprocess.run(["umount", place], check=True)


@pytest.fixture
async def router(
    run: Run, vrf: None, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Router]:
    """It watches the kernel's events, and nothing is compared without one. The parameter is the
    size of the buffer for events."""
    made = Router(run, tmp_path, getattr(request, "param", 32 << 20))
    made.start()
    made.watch()
    yield made
    made.close()
