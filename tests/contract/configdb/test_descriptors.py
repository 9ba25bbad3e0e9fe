"""srv6-configdbd without a file descriptor left: it neither spins nor ends, and goes on."""

from __future__ import annotations

from tests.contract.configdb.conftest import Northbound
from tests.contract.descriptors import check_calm


def test_without_descriptors_it_waits_and_goes_on(northbound: Northbound) -> None:
    northbound.config.hset("SRV6_MY_LOCATORS|FIRST", mapping={"prefix": "fcbb:0:9::"})
    northbound.wait_until(lambda: "FIRST" in northbound.running("locators", "locator"))
    assert northbound.daemon._process is not None
    check_calm(northbound.daemon._process.pid)
    northbound.config.hset("SRV6_MY_LOCATORS|MAIN", mapping={"prefix": "fcbb:0:1::"})
    northbound.wait_until(lambda: "MAIN" in northbound.running("locators", "locator"))
