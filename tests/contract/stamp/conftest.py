"""Each test has a network namespace of its own, which ends with it. Needs root."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.contract.kernel.conftest import own_namespace
from tests.contract.stamp.sessions import HERE, OTHER, ip


@pytest.fixture
def namespace() -> Iterator[None]:
    if os.geteuid():
        pytest.skip("needs root")
    with own_namespace():
        yield


@pytest.fixture
def addresses(namespace: None) -> None:
    for address in (HERE, OTHER):
        ip(f"address add {address}/128 dev lo nodad")
