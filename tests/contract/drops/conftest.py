"""An edge whose drops are explained. Needs root, and the compiled programs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from srv6mgrd.accounting.programs import AccountingPrograms
from srv6mgrd.kernel.adapter import LinuxKernel
from tests.contract.accounting.conftest import network, programs
from tests.contract.accounting.network import Network
from tests.contract.drops.edge import Edge
from tests.contract.kernel.conftest import kernel, namespace, run, sid_device, vrf

__all__ = ["kernel", "namespace", "network", "programs", "run", "sid_device", "vrf"]


@pytest.fixture
def edge(network: Network) -> Iterator[Edge]:
    yield from _built(Edge(network))


@pytest.fixture
def plain_edge(
    programs: AccountingPrograms, kernel: LinuxKernel, sid_device: str
) -> Iterator[Edge]:
    """One without VRFs."""
    made = Network(kernel, programs)
    try:
        made.build()
        yield from _built(Edge(made, has_vrf=False))
    finally:
        made.take_down()


def _built(edge: Edge) -> Iterator[Edge]:
    try:
        edge.build()
        yield edge
    finally:
        edge.program.close()
