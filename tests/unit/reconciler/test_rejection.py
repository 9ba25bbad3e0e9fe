"""Rejections: of FRR, of the kernel, of checks, of what is foreign."""

import errno
from dataclasses import replace
from ipaddress import IPv6Address

import pytest

from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.frr.render import render
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6mgrd.plan.actions import Delete
from tests.builders import desired, small_vpn, vrf
from tests.unit.reconciler.world import (
    END_KEY,
    NOTHING,
    VPN,
    new_objects,
    rejection,
    without_sysctls,
)


def test_what_frr_cannot_carry_is_rejected_before_anything_is_written(world):
    rejection = Rejection("VRF red", "cause", "remedy", "tag")
    reconciler = Reconciler(
        world.kernel, world.frr, world.journal, render, limits=lambda _: [rejection]
    )
    with pytest.raises(RejectedError, match="VRF red: cause; remedy"):
        reconciler.commit(VPN)
    assert world.kernel.writes == 0


def test_a_check_rejects_before_anything_is_read_or_written(world):
    text = rejection(world, desired(vrf("red", 8986)))

    assert "table 8986 holds the local SIDs" in text
    assert world.writes == 0
    assert world.reconciler.desired == NOTHING


AFTER = replace(
    VPN,
    encapsulation_source=IPv6Address("fcbb:0:1::2"),
    vrfs={"red": replace(VPN.vrfs["red"], table=20)},
)


@pytest.mark.parametrize(
    ("before", "bad"),
    [
        (before, obj)
        for before in (NOTHING, small_vpn(), small_vpn("eth1", "eth2"))
        for obj in new_objects(before, AFTER)
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_a_rejection_by_the_kernel_leaves_all_as_before(world, before, bad):
    world.commit(before)
    there = world.state()
    world.kernel.reject(lambda a: a.object == bad and not isinstance(a, Delete))

    with pytest.raises(RejectedError):
        world.commit(AFTER)

    assert without_sysctls(world.state()) == without_sysctls(there)
    assert world.reconciler.desired == before


def test_a_rejection_is_in_the_operators_words(world):
    world.kernel.reject(
        lambda a: a.object.key == END_KEY, errno.EINVAL, "Invalid table for the action"
    )

    assert rejection(world, VPN) == (
        "SID fcbb:0:1:1::/64: the kernel refused it: Invalid table for the action (EINVAL); "
        "see the kernel's words, correct the configuration and try again"
    )


def test_a_rejection_by_frr_leaves_all_as_before(world):
    world.frr.reject = {"rd vpn export": "Malformed rd"}
    there = world.state()

    text = rejection(world, VPN)

    assert "FRR refused it: bgpd: Malformed rd (at 'rd vpn export 65000:10')" in text
    assert without_sysctls(world.state()) == without_sysctls(there)


def test_what_frr_could_not_take_back_is_removed_later(world):
    world.frr.stuck = True
    assert "stuck" in rejection(world, VPN)
    assert world.frr.contexts
    world.frr.stuck = False

    world.repair()

    assert world.frr.contexts == {}
    assert [key for key in world.journal.keys if key.startswith("frr")] == []


def test_something_foreign_in_the_way_rejects_the_commit_untouched(world):
    theirs = VrfDevice("red", 77, 9)
    world.kernel.add_foreign(theirs)

    assert rejection(world, VPN) == (
        "VRF red: something that srv6mgr did not make is already there (VRF red); "
        "remove it, or declare another name, table or prefix"
    )
    assert world.writes == 0


def test_a_foreign_vrf_on_the_table_rejects_the_commit_with_both_names(world):
    world.kernel.add_foreign(VrfDevice("theirs", 10, 9))

    text = rejection(world, desired(vrf("red", 10)))

    assert text == "\n".join(
        [
            "VRF red: table 10 is already used by VRF theirs; choose another table-id",
            "unreachable IPv4 default of table 10: table 10 belongs to VRF theirs, "
            "which srv6mgr did not make; choose another table-id",
            "unreachable IPv6 default of table 10: table 10 belongs to VRF theirs, "
            "which srv6mgr did not make; choose another table-id",
        ]
    )
    assert world.writes == 0


def test_an_interface_in_a_foreign_vrf_rejects_the_commit_untouched(world):
    world.kernel.add_foreign(VrfDevice("theirs", 99, 9))
    world.kernel.add_foreign(VrfPort("eth1", "theirs"))
    before = world.state()

    said = rejection(world, VPN)

    assert said == (
        "interface eth1 of VRF red: it is in VRF theirs, which srv6mgr did not make; take it out"
        " ('ip link set eth1 nomaster') or declare another one"
    )
    assert world.state() == before


def test_an_interface_of_ours_that_was_moved_to_a_foreign_vrf_comes_back(world):
    world.commit(VPN)
    world.kernel.add_foreign(VrfDevice("theirs", 99, 9))
    world.kernel.put(VrfPort("eth1", "theirs"))

    world.repair()

    assert world.kernel.objects["port eth1"].object == VrfPort("eth1", "red")


def test_an_interface_that_went_to_a_foreign_vrf_stays_there_when_it_is_undeclared(world):
    world.commit(VPN)
    world.kernel.add_foreign(VrfDevice("theirs", 99, 9))
    world.kernel.put(VrfPort("eth1", "theirs"))

    world.commit(small_vpn())

    assert world.kernel.objects["port eth1"].object == VrfPort("eth1", "theirs")
    assert "port eth1" not in world.journal
