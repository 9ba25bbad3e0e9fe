"""srv6-configdbd without a file descriptor left: it neither spins nor ends, and goes on."""

from __future__ import annotations

from tests.contract.configdb.conftest import Door
from tests.contract.descriptors import check_calm


def test_without_descriptors_it_waits_and_goes_on(door: Door) -> None:
    door.config.hset("SRV6_MY_LOCATORS|FIRST", mapping={"prefix": "fcbb:0:9::"})
    door.wait_until(lambda: "FIRST" in door.running("locators", "locator"))
    assert door.daemon._process is not None
    check_calm(door.daemon._process.pid)
    door.config.hset("SRV6_MY_LOCATORS|MAIN", mapping={"prefix": "fcbb:0:1::"})
    door.wait_until(lambda: "MAIN" in door.running("locators", "locator"))
