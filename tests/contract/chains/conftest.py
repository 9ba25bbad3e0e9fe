"""A router with classifiers as srv6mgrd writes them. Needs root, and the compiled programs: the lab
has them, on its own kernel and on the host's (``lab chroot``)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from srv6mgrd.chains.programs import OBJECT, ChainPrograms
from srv6mgrd.kernel.adapter import LinuxKernel
from tests.contract.chains.network import Network
from tests.contract.kernel.conftest import namespace, run, vrf

__all__ = ["namespace", "run", "vrf"]


@pytest.fixture
def programs(namespace: None) -> Iterator[ChainPrograms]:
    if not OBJECT.exists():
        pytest.skip(f"{OBJECT} is not compiled; run this in the lab")
    made = ChainPrograms(folder=Path(f"/sys/fs/bpf/test-chains-{os.getpid()}"))
    yield made
    made.remove()


@pytest.fixture
def network(programs: ChainPrograms) -> Iterator[Network]:
    kernel = LinuxKernel(chains=programs)
    made = Network(kernel, programs)
    try:
        made.build()
        yield made
    finally:
        made.take_down()
        kernel.close()
