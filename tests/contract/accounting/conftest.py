"""An edge with accounting as srv6mgrd writes it. Needs root, VRFs and the compiled programs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from srv6mgrd.accounting.programs import OBJECT, AccountingPrograms
from srv6mgrd.kernel.adapter import LinuxKernel
from tests.contract.accounting.network import Network
from tests.contract.kernel.conftest import namespace, run, vrf

__all__ = ["namespace", "run", "vrf"]


@pytest.fixture
def programs(namespace: None) -> Iterator[AccountingPrograms]:
    if not OBJECT.exists():
        pytest.skip(f"{OBJECT} is not compiled; run this in the lab")
    made = AccountingPrograms(folder=Path(f"/sys/fs/bpf/test-accounting-{os.getpid()}"))
    yield made
    made.remove()


@pytest.fixture
def network(programs: AccountingPrograms, vrf: None) -> Iterator[Network]:
    kernel = LinuxKernel(accounting=programs)
    made = Network(kernel, programs)
    try:
        made.build()
        yield made
    finally:
        made.take_down()
        kernel.close()
