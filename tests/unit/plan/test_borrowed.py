"""VRFs of another: used as they are, waited for, never made, changed or removed."""

from __future__ import annotations

from dataclasses import replace

from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.diff import plan
from srv6mgrd.plan.observed import ObservedObject
from srv6mgrd.plan.target import target, with_sids
from tests.unit.redis.states import desired, sid

A, B = "fc00:0:1:a::/64", "fc00:0:1:b::/64"
VRF = VrfDevice("Vrf1", 100, 7)
STANDING = {VRF.key: ObservedObject(VRF, False)}


def test_it_is_waited_for() -> None:
    wanted = target(desired(sid(A)), {}, borrowed=True)
    assert not [o for o in wanted.objects.values() if isinstance(o, VrfDevice)]
    reason = "VRF Vrf1 does not exist yet; on SONiC vrfmgrd makes it (CONFIG_DB VRF|Vrf1)"
    assert wanted.pending == {
        ObjectRef(Kind.VRF, "Vrf1"): reason,
        ObjectRef(Kind.SID, A): reason,
    }


def test_it_is_used_as_it_is_and_left() -> None:
    wanted = target(desired(sid(A)), {"Vrf1": 7}, borrowed=True)
    assert wanted.pending == {}
    found = plan(wanted.objects, STANDING, ())
    touched = [a for a in found.actions if isinstance(a.object, VrfDevice)]
    assert (touched, found.conflicts) == ([], [])
    assert any(A in key for key in wanted.objects)
    assert plan({}, STANDING, ()).actions == []


def test_one_on_another_table_is_a_conflict() -> None:
    other = {VRF.key: ObservedObject(replace(VRF, table=1001), False)}
    wanted = target(desired(sid(A)), {"Vrf1": 7}, borrowed=True)
    found = plan(wanted.objects, other, ())
    assert not [a for a in found.actions if isinstance(a.object, VrfDevice)]
    assert VRF in [conflict.wanted for conflict in found.conflicts]


def test_one_more_sid_of_it_is_planned_in_full() -> None:
    old, new = desired(sid(A)), desired(sid(A), sid(B))
    before = target(old, {"Vrf1": 7}, borrowed=True)
    assert with_sids(before, old, new) is None
    assert with_sids(target(old, {}), old, new) is not None
