"""What failed before and is declared as it was rejects no commit; a repair tries it again."""

from dataclasses import replace

import pytest

from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.frr.render import render
from srv6mgrd.kinds.device import UnknownLink
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.capabilities import EVERYTHING
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef
from srv6mgrd.plan.observed import ObservedObject
from tests.builders import net, sid, vrf
from tests.unit.reconciler.world import END, END_KEY, RED, VPN, rejection

NEW = "fcbb:0:1:7::/64"
OUTSIDE = "fcbb:0:9:1::/64"


def with_sid(state, prefix, behavior=Behavior.END):
    return replace(state, sids={**state.sids, net(prefix): sid(prefix, behavior)})


def status(report, ref):
    found = report.not_installed.get(ref)
    return found.status if found is not None else InstallStatus.INSTALLED


def test_a_start_carries_out_what_is_valid_and_shows_the_rest(world):
    report = world.repair(with_sid(VPN, OUTSIDE))

    found = report.not_installed[ObjectRef(Kind.SID, OUTSIDE)]
    assert found.status is InstallStatus.REJECTED
    assert found.reason == (
        "SID fcbb:0:9:1::/64: it is outside locator MAIN (fcbb:0:1::/48);"
        " choose a SID in this prefix, or another locator"
    )
    assert list(report.not_installed) == [ObjectRef(Kind.SID, OUTSIDE)]
    assert world.stands(VPN)
    assert net(OUTSIDE) in world.reconciler.desired.sids
    assert net(OUTSIDE) not in world.reconciler.valid.sids


def test_a_repair_keeps_it_rejected(world):
    world.repair(with_sid(VPN, OUTSIDE))
    writes = world.writes

    report = world.repair()

    assert report.not_installed[ObjectRef(Kind.SID, OUTSIDE)].status is InstallStatus.REJECTED
    assert world.writes == writes


def test_a_commit_beside_it_is_accepted_and_it_stays_rejected(world):
    world.repair(with_sid(VPN, OUTSIDE))

    report = world.commit(with_sid(with_sid(VPN, OUTSIDE), NEW))

    assert list(report.not_installed) == [ObjectRef(Kind.SID, OUTSIDE)]
    assert world.stands(with_sid(VPN, NEW))


def test_a_dry_run_beside_it_plans_the_rest(world):
    world.repair(with_sid(VPN, OUTSIDE))

    plan = world.reconciler.dry_run(with_sid(with_sid(VPN, OUTSIDE), NEW))

    assert [a.object.key for a in plan.actions] == [f"route6 table 8986 {NEW}"]


def test_a_commit_that_changes_it_and_leaves_it_invalid_is_rejected(world):
    world.repair(with_sid(VPN, OUTSIDE))

    assert "outside locator MAIN" in rejection(world, with_sid(VPN, OUTSIDE, Behavior.END_T))


def test_a_commit_that_removes_it_clears_it(world):
    world.repair(with_sid(VPN, OUTSIDE))

    assert world.commit(VPN).not_installed == {}
    assert world.stands(VPN)


def occupied(world):
    """Something foreign has the name of VRF red's device."""
    foreign = UnknownLink("red", "a bridge")
    world.kernel.objects[foreign.key] = ObservedObject(foreign, False)


def test_a_conflict_of_the_start_rejects_no_later_commit(world):
    occupied(world)
    assert status(world.repair(VPN), RED) is InstallStatus.FAILED

    report = world.commit(with_sid(VPN, NEW))

    assert status(report, RED) is InstallStatus.FAILED
    assert status(report, ObjectRef(Kind.SID, NEW)) is InstallStatus.INSTALLED
    assert "already there" in report.not_installed[RED].reason


def test_a_changed_object_in_conflict_rejects_the_commit(world):
    occupied(world)
    world.repair(VPN)

    changed = replace(VPN, vrfs={"red": replace(VPN.vrfs["red"], table=11)})

    assert "already there" in rejection(world, changed)


def test_another_conflict_rejects_the_commit(world):
    occupied(world)
    world.repair(VPN)
    foreign = UnknownLink("blue", "a bridge")
    world.kernel.objects[foreign.key] = ObservedObject(foreign, False)

    said = rejection(world, replace(VPN, vrfs={**VPN.vrfs, "blue": vrf("blue", 20)}))

    assert "blue" in said
    assert "red" not in said


def test_what_the_kernel_rejected_at_the_start_rejects_no_later_commit(world):
    world.kernel.reject(lambda a: a.object.key == END_KEY)
    assert status(world.repair(VPN), END) is InstallStatus.FAILED

    report = world.commit(with_sid(VPN, NEW))

    assert status(report, END) is InstallStatus.FAILED
    assert status(report, ObjectRef(Kind.SID, NEW)) is InstallStatus.INSTALLED
    world.kernel.accept_all()
    assert world.repair().not_installed == {}


def test_what_the_kernel_rejected_and_is_changed_rejects_the_commit(world):
    world.kernel.reject(lambda a: a.object.key == END_KEY)
    world.repair(VPN)

    without_counters = replace(VPN.sids[net(END.name)], counters=False)
    changed = replace(VPN, sids={**VPN.sids, net(END.name): without_counters})

    assert "refused it" in rejection(world, changed)


def lacking(world):
    """A start on a node that does not offer End."""
    world.reconciler = Reconciler(
        world.kernel,
        world.frr,
        world.journal,
        render,
        capabilities=replace(EVERYTHING, behaviors=EVERYTHING.behaviors - {Behavior.END}),
    )


def test_what_the_node_lacked_at_the_start_rejects_no_later_commit(world):
    lacking(world)
    assert status(world.repair(VPN), END) is InstallStatus.UNSUPPORTED

    report = world.commit(replace(VPN, vrfs={**VPN.vrfs, "blue": vrf("blue", 20)}))

    assert status(report, END) is InstallStatus.UNSUPPORTED
    assert status(report, ObjectRef(Kind.VRF, "blue")) is InstallStatus.INSTALLED


def test_more_of_what_the_node_lacks_rejects_the_commit(world):
    lacking(world)
    world.repair(VPN)

    with pytest.raises(RejectedError) as caught:
        world.commit(with_sid(VPN, NEW))

    assert [r.object for r in caught.value.rejections] == [f"SID {NEW}"]
