"""A world for each test."""

import pytest

from tests.unit.reconciler.world import (
    World,
)


@pytest.fixture
def world():
    return World()
