"""What a running FRR says that it offers."""

from __future__ import annotations

import time

import pytest

from lab.guest.catalogue import STOCK_FRR
from lab.waiting import wait_until
from tests.contract.frr.conftest import Pe

pytestmark = pytest.mark.contract


def test_offer_and_its_end(pes: tuple[Pe, Pe], capsys: pytest.CaptureFixture[str]) -> None:
    pe, _ = pes
    # zebra and bgpd come first; of those that are there if they are wanted, mgmtd is.
    wait_until(lambda: None not in pe.frr.instances()[:2], "FRR")
    began = time.perf_counter()
    before = pe.frr.instances()
    polled = time.perf_counter()
    capabilities = pe.frr.capabilities()
    asked = time.perf_counter()
    with capsys.disabled():
        print(f"poll {(polled - began) * 1e3:.1f} ms, ask {(asked - polled) * 1e3:.0f} ms")
    assert capabilities.version == ("10.3" if pe.programs == STOCK_FRR else "10.3+srv6mgr1")
    assert capabilities.missing == {}
    assert "frr-export-sid" in capabilities.facilities
    assert pe.frr.instances() == before
    pe.stop("bgpd")
    assert pe.frr.instances() == (before[0], None, *before[2:])
    assert "bgpd can't be reached" in pe.frr.capabilities().missing["frr"]
    pe.start("bgpd")
    wait_until(lambda: pe.frr.instances()[1] is not None, "bgpd")
    assert pe.frr.instances()[1] != before[1]
    assert pe.frr.capabilities() == capabilities
