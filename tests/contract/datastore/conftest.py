"""srv6mgrd's state in a sysrepo of its own.

Run with ``lab/lab chroot -- python -m pytest tests/contract/datastore -m contract``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.gnmi.client import Core


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.contract)


@pytest.fixture(scope="module")
def core(place: Path) -> Iterator[Core]:
    core = Core(place / "store")
    yield core
    core.close()
