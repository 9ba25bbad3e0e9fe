"""Each test has a network namespace of its own, which ends with it. Needs root."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.contract.kernel.conftest import own_namespace


@pytest.fixture
def namespace() -> Iterator[None]:
    if os.geteuid():
        pytest.skip("needs root")
    with own_namespace():
        yield
