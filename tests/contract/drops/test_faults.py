"""Each made fault is sent, and reported with its reason."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from srv6mgrd.model.accounting import Watch
from srv6mgrd.model.drops import Certainty, DropReason
from tests.contract.drops.edge import PACKETS, Edge
from tests.contract.drops.faults import FAULTS, IN_DEFAULT_VRF, Fault

pytestmark = pytest.mark.contract


def test_made_faults(edge: Edge) -> None:
    """In one network, since each takes a second to build."""
    edge.start(Watch.ALWAYS)
    _all_reported(edge, FAULTS)


def test_made_faults_without_vrfs(plain_edge: Edge) -> None:
    """On a kernel that may have tracing, and then says what others drop behind the behavior."""
    plain_edge.start(Watch.ALWAYS)
    _all_reported(plain_edge, IN_DEFAULT_VRF)


def _all_reported(edge: Edge, faults: Iterable[Fault]) -> None:
    wrong = [(fault.name, found) for fault in faults if (found := edge.wrong(fault)) is not None]
    assert not wrong, "\n".join(map(str, wrong))


def test_most_made_faults_are_certain_without_tracing() -> None:
    """At least 38 of 40."""
    made = [fault for fault in FAULTS if fault.reason is not None]
    certain = [fault for fault in made if not fault.traced]
    assert len(made) >= 40
    assert len(certain) / len(made) >= 38 / 40


def test_nothing_is_attached_while_no_errors_are_counted(edge: Edge) -> None:
    """Packets that pass leave the kernel as it was; a SID is watched for 30 s after its last
    error."""
    by_name = {fault.name: fault for fault in FAULTS}
    for _ in range(5):
        edge.send(by_name["DT6 delivers"])
        edge.sample()
        assert not edge.is_attached()
    edge.send(by_name["DT6, segments left"])
    edge.sample()
    assert edge.is_attached()
    edge.sample(31)
    assert not edge.is_attached()


def test_a_vrf_without_a_device(edge: Edge) -> None:
    (fault,) = [fault for fault in FAULTS if fault.name == "DT6 delivers"]
    edge.network.run("ip link delete red")
    for _ in range(2):
        edge.send(fault)
        edge.sample()
    assert edge.found("DT6") == {DropReason.VRF_GONE: (PACKETS, Certainty.CERTAIN, "red")}
