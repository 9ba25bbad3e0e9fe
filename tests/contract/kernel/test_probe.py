"""What the kernel offers: found by trying, without a trace."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from srv6mgrd.kernel import facilities
from srv6mgrd.kernel.probe import probe
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.capabilities import ROUTE_LOOKUP_TABLE
from srv6mgrd.proxy.programs import Programs
from tests.contract.kernel.conftest import Run, has_vrf

pytestmark = [pytest.mark.contract, pytest.mark.usefixtures("namespace")]

SECONDS = 1.0


def test_everything_has_an_answer() -> None:
    found = probe()
    assert found.kernel == os.uname().release
    for behavior in Behavior:
        assert (behavior in found.behaviors) != (behavior in found.missing)
    for headend in Headend:
        assert (headend in found.headends) != (headend in found.missing)
    facilities = ("vrf", "counters", "route-source", ROUTE_LOOKUP_TABLE, "nftables", "bpf")
    for facility in facilities:
        assert (facility in found.facilities) != (facility in found.missing)
    assert all(found.missing.values())


def test_what_every_kernel_has() -> None:
    found = probe()
    assert found.behaviors >= {Behavior.END, Behavior.END_X, Behavior.END_T, Behavior.END_DX4}
    assert "counters" in found.facilities
    # Rejected by seg6_flv_supp_ops_by_action; and not known to the action, so dropped.
    assert found.missing["End.X psp"] == "Unsupported Flavor operation(s)"
    assert found.missing["End.T psp"] == "the kernel ignores it"
    assert (Behavior.END, Flavor.NEXT_CSID) in found.flavors


def test_proxies_need_their_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    proxies = {behavior for behavior in Behavior if behavior.is_proxy}
    assert probe().behaviors >= proxies

    monkeypatch.setattr(facilities, "Programs", lambda: Programs(tmp_path / "proxy.bpf.o"))
    found = probe()

    assert not found.behaviors & proxies
    assert found.missing[Behavior.END_AM] == f"{tmp_path}/proxy.bpf.o is not installed"


def test_vrf() -> None:
    found = probe()
    offered = has_vrf()
    assert ("vrf" in found.facilities) == offered
    assert (Behavior.END_DT46 in found.behaviors) == offered
    if not offered:
        assert found.missing["vrf"] in found.missing[Behavior.END_DT46]


def test_no_trace(run: Run) -> None:
    def state() -> list[str]:
        shown = ("ip -d link", "ip -6 route show table all", "ip rule", "ip -6 rule")
        return [
            os.readlink("/proc/thread-self/ns/net"),
            *map(run, shown),
            *sorted(os.listdir("/proc/self/fd")),
            str(threading.active_count()),
        ]

    probe()
    before = state()
    probe()
    assert state() == before


def test_time(capsys: pytest.CaptureFixture[str]) -> None:
    start = time.perf_counter()
    probe()
    took = time.perf_counter() - start
    with capsys.disabled():
        print(f"probe {took * 1000:.0f} ms")
    assert took < SECONDS
