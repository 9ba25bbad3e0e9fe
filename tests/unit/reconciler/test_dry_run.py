"""Dry runs, and what the node lacks."""

from dataclasses import replace

import pytest

from srv6mgrd.apply.journal import Journal
from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.frr.render import render
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.capabilities import EVERYTHING
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef
from tests.builders import desired, small_vpn, vrf
from tests.fakes.frr import FakeFrr
from tests.fakes.kernel import FakeKernel
from tests.unit.reconciler.world import (
    DT46,
    END,
    INSTALLED,
    NOTHING,
    RED,
    RED_BGP,
    VPN,
    new_objects,
)


def test_a_dry_run_shows_the_plan_and_writes_nothing(world):
    found = world.reconciler.dry_run(VPN)

    assert {a.object for a in found.actions} == set(new_objects(NOTHING, VPN)) | set(render(VPN))
    assert world.writes == 0
    assert list(world.journal.keys) == []


def test_a_dry_run_rejects_what_a_commit_would(world):
    with pytest.raises(RejectedError):
        world.reconciler.dry_run(desired(vrf("red", 8986)))


def test_what_the_node_lacks_is_rejected_or_unsupported():
    kernel, lacking = FakeKernel(), replace(EVERYTHING, behaviors=frozenset({Behavior.END}))
    reconciler = Reconciler(kernel, FakeFrr(), Journal(None), render, capabilities=lacking)
    wanted = small_vpn()
    with pytest.raises(RejectedError, match="End"):
        reconciler.commit(wanted)
    assert not kernel.objects
    with pytest.raises(RejectedError):
        reconciler.dry_run(wanted)
    report = reconciler.commit(replace(wanted, accept_unsupported=True))
    outcome = report.outcomes[ObjectRef(Kind.SID, "fcbb:0:1:64::/64")]
    assert outcome.status is InstallStatus.UNSUPPORTED
    assert outcome.reason
    assert report.outcomes[ObjectRef(Kind.SID, "fcbb:0:1:1::/64")].status is (
        InstallStatus.INSTALLED
    )
    # A kernel that offers less than the one before: the rest stays.
    again = reconciler.repair(wanted)
    assert again.outcomes[ObjectRef(Kind.SID, "fcbb:0:1:64::/64")].status is (
        InstallStatus.UNSUPPORTED
    )
    assert not again.actions


LESS = replace(
    EVERYTHING,
    behaviors=frozenset({Behavior.END}),
    missing={"End.DT46": "Operation not supported"},
)


def test_what_stands_goes_on_standing_whatever_the_node_is_said_to_lack(world):
    world.commit(VPN)
    writes = world.writes
    world.reconciler.capabilities = LESS

    assert world.repair().outcomes[DT46] == INSTALLED
    # Not rejected either, when something else is changed.
    world.commit(replace(VPN, encapsulation_source=None))
    assert world.reconciler.repair().outcomes[RED_BGP] == INSTALLED
    assert f"route6 table 8986 {DT46.name}" in world.kernel.objects
    assert world.writes > writes


def test_what_the_node_lacks_and_does_not_stand_becomes_unsupported(world):
    world.commit(VPN)
    world.reconciler.capabilities = LESS
    world.kernel.remove(f"route6 table 8986 {DT46.name}")

    outcomes = world.repair().outcomes

    assert outcomes[DT46].status is InstallStatus.UNSUPPORTED
    assert "Operation not supported" in outcomes[DT46].reason
    assert outcomes[RED_BGP].status is InstallStatus.UNSUPPORTED
    assert outcomes[END] == outcomes[RED] == INSTALLED
    world.reconciler.capabilities = EVERYTHING
    assert world.repair().outcomes[DT46] == INSTALLED
