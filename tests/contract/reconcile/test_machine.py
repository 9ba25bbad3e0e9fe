"""Random commits, drift, rejections and restarts on the real kernel."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.conftest import IS_SOAK
from tests.contract.kernel.conftest import own_namespace
from tests.contract.reconcile.real import RealKernel
from tests.property.machine import Router
from tests.property.world import World

pytestmark = [pytest.mark.contract, pytest.mark.usefixtures("vrf")]


class RealWorld(World):
    kernel_of = RealKernel


class RealRouter(Router):
    """Each run has a network namespace of its own."""

    world_of = RealWorld

    def __init__(self) -> None:
        self._namespace = own_namespace()
        self._namespace.__enter__()
        super().__init__()

    def teardown(self) -> None:
        self.world.kernel.close()
        self._namespace.__exit__(None, None, None)


def test_ends_as_declared() -> None:
    run_state_machine_as_test(
        RealRouter,
        settings=settings(
            max_examples=50 if IS_SOAK else 5,
            stateful_step_count=20,
            # Others change the kernel as well, so that a failure may not come again.
            phases=[Phase.generate],
            database=None,
            deadline=None,
            derandomize=not IS_SOAK,
            suppress_health_check=list(HealthCheck),
        ),
    )
