"""Each test has a network namespace of its own, which ends with it. Needs root."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from ipaddress import IPv6Address

import pytest

from lab.waiting import wait_until
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
    # The kernel adds local routes later, in a work queue (addrconf_dad_work). A socket that is
    # connected before that keeps the route of the prefix, which delivers nothing.
    wait_until(lambda: all(map(_is_local, (HERE, OTHER))), "local routes to both addresses")


def _is_local(address: IPv6Address) -> bool:
    command = ["ip", "-6", "route", "get", str(address)]
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    return found.stdout.startswith("local ")
