"""Our modules in a libyang context.

Run with ``lab/lab chroot -- /opt/srv6mgr/bin/python -m pytest tests/contract/yang``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.yang.judge import STANDARD, context


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.contract)


@pytest.fixture(scope="session")
def modules() -> Iterator[Any]:
    if not Path(STANDARD).exists():
        pytest.skip("no modules of sysrepo; run this in the lab")
    made = context()
    yield made
    made.destroy()
