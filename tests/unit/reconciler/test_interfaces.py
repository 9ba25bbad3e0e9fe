"""Declared interfaces through commits, drift and rejections."""

import errno
from dataclasses import replace
from ipaddress import ip_interface

import pytest

from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.interfaces import Interface, Vlan
from srv6mgrd.model.outcomes import Outcome
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef
from srv6mgrd.plan.actions import Create, Delete
from tests.builders import desired, vrf
from tests.unit.reconciler.world import NOTHING, rejection, without_sysctls

V = ObjectRef(Kind.INTERFACE, "v")
ADDRESS = ip_interface("10.0.0.1/24")
ON_V = InterfaceAddress("v", ADDRESS)


def port(number=5, *addresses):
    """VRF red with a VLAN of eth1 and its addresses."""
    one = Interface("v", vlan=Vlan("eth1", number), addresses=addresses or (ADDRESS,))
    return replace(desired(vrf("red", 10, "v")), interfaces={"v": one})


def test_one_commit_makes_all_of_it(world):
    report = world.commit(port())

    assert report.not_installed == {}
    objects = world.kernel.objects
    assert objects["link v"].object == VlanDevice("v", "eth1", 5)
    assert objects["port v"].object == VrfPort("v", "red")
    assert objects[ON_V.key].object == ON_V
    assert "v" not in world.kernel.down

    world.commit(NOTHING)
    assert objects == {}
    assert list(world.journal.keys) == []


def test_a_restart_writes_nothing(world):
    world.commit(port())
    writes = world.writes

    world.restart()
    world.repair(port())

    assert world.writes == writes


def test_what_somebody_removes_comes_back(world):
    world.commit(port())
    world.kernel.remove(ON_V.key)

    report = world.repair()

    assert report.actions == [Create(ON_V)]
    assert report.differences == {V: "address 10.0.0.1/24 of v was deleted"}
    world.kernel.set_down("v")
    assert world.repair().differences == {V: "interface v was down"}
    world.kernel.remove("link v")
    world.repair()
    assert {"link v", "port v", ON_V.key} <= world.kernel.objects.keys()


def test_the_parent_goes_down_and_comes_back(world):
    world.commit(port())
    world.kernel.set_down("eth1")

    report = world.repair()

    why = "parent-interface eth1 is down"
    assert report.not_installed == {V: Outcome(InstallStatus.PENDING, why)}
    world.kernel.set_up("eth1")
    assert world.repair().not_installed == {}


def test_an_address_of_somebody_else_stays_when_it_is_no_longer_declared(world):
    theirs = InterfaceAddress("eth1", ADDRESS)
    world.kernel.add_foreign(theirs)
    state = replace(NOTHING, interfaces={"eth1": Interface("eth1", addresses=(ADDRESS,))})

    assert world.commit(state).not_installed == {}
    world.commit(NOTHING)

    assert world.kernel.objects[theirs.key].object == theirs


def test_an_address_that_is_there_with_another_prefix_length(world):
    world.kernel.add_foreign(InterfaceAddress("eth1", ip_interface("10.0.0.1/32")))
    state = replace(NOTHING, interfaces={"eth1": Interface("eth1", addresses=(ADDRESS,))})

    assert rejection(world, state) == (
        "address 10.0.0.1/24 of interface eth1: something that srv6mgr did not make is already"
        " there (address 10.0.0.1/32 of interface eth1); remove it, or declare another name,"
        " table or prefix"
    )


def test_the_id_of_somebody_else(world):
    world.kernel.add_foreign(VlanDevice("theirs", "eth1", 5))

    assert rejection(world, port()) == (
        "interface v (VLAN 5 of eth1): its device can't be made: VLAN device already exists;"
        " declare another name, or remove what is there"
    )
    assert "link red" not in world.kernel.objects


def test_a_rejected_change_of_the_id_leaves_all_as_it_was(world):
    world.commit(port(5, ADDRESS, ip_interface("fe80::1/64")))
    before = world.state()
    world.kernel.reject(lambda a: a.object == AdminState("v", up=True), errno.ENOMEM)

    rejection(world, port(6, ip_interface("10.0.0.2/24")))

    world.kernel.accept_all()
    assert world.state() == before


def test_a_rejected_removal_leaves_a_vlan_up_and_its_mtu(world):
    state = port()
    world.commit(replace(state, interfaces={"v": replace(state.interfaces["v"], mtu=1400)}))
    before = world.state()
    world.kernel.reject(lambda a: isinstance(a, Delete) and a.object.key == "link red")

    rejection(world, NOTHING)

    world.kernel.accept_all()
    assert world.state() == before
    assert "v" not in world.kernel.down
    assert world.kernel.mtus["v"] == 1400


def test_a_rejected_commit_leaves_link_local_addresses_above_its_port(world):
    """The interface goes down when it enters the VRF, and again when that is undone."""
    above = Interface("v", vlan=Vlan("eth1", 5), addresses=(ip_interface("fe80::1/64"),))
    world.commit(replace(NOTHING, interfaces={"v": above}))
    before = world.state()
    world.kernel.reject(lambda a: a.object == InterfaceAddress("red", ADDRESS))

    red = replace(desired(vrf("red", 10, "eth1")), interfaces={})
    rejection(world, replace(red, interfaces={"red": Interface("red", addresses=(ADDRESS,))}))

    world.kernel.accept_all()
    assert without_sysctls(world.state()) == without_sysctls(before)


def test_a_rejected_move_of_a_vlan_leaves_its_mtu(world):
    """Declared for its parent alone, which it followed."""
    parent, there = Interface("eth1", mtu=9000), Interface("v", vlan=Vlan("eth1", 5))
    world.commit(replace(NOTHING, interfaces={"eth1": parent, "v": there}))
    before = dict(world.kernel.mtus)
    world.kernel.reject(lambda a: a.object == InterfaceAddress("lo1", ADDRESS))

    moved = {"v": Interface("v", vlan=Vlan("eth2", 5))}
    loopback = {"lo1": Interface("lo1", loopback=True, addresses=(ADDRESS,))}
    rejection(world, replace(NOTHING, interfaces={**moved, **loopback}))

    assert world.kernel.mtus == before


@pytest.mark.parametrize("stays", [False, True])
def test_a_rejected_commit_leaves_a_vlan_down_above_an_interface_that_was_set_down(world, stays):
    vlan = Interface("v", vlan=Vlan("eth1", 5), enabled=False)
    world.commit(replace(NOTHING, interfaces={"v": vlan}))
    before = world.state()
    world.kernel.reject(lambda a: a.object == InterfaceAddress("eth2", ADDRESS))

    down = Interface("eth1", enabled=False)
    interfaces = {"eth1": down, "eth2": Interface("eth2", addresses=(ADDRESS,))}
    interfaces |= {"v": vlan} if stays else {}
    rejection(world, replace(NOTHING, interfaces=interfaces))

    world.kernel.accept_all()
    assert without_sysctls(world.state()) == without_sysctls(before)
    assert world.kernel.down == {"v"}


def test_a_commit_that_is_rejected_at_once_leaves_a_vlan_that_is_down_as_it_was(world):
    address = ip_interface("fe80::1/64")
    vlan = Interface("v", vlan=Vlan("eth1", 5), enabled=False, addresses=(address,))
    world.commit(replace(desired(vrf("red", 10, "eth1")), interfaces={"v": vlan}))
    before = world.state()
    world.kernel.reject(lambda a: a == Delete(InterfaceAddress("v", address)))

    rejection(world, NOTHING)

    world.kernel.accept_all()
    assert world.state() == before


def test_what_was_on_a_vrf_that_somebody_made_again_comes_with_one_repair(world):
    red = replace(
        desired(vrf("red", 10)), interfaces={"red": Interface("red", addresses=(ADDRESS,))}
    )
    world.commit(red)
    made = world.kernel.objects["link red"].object
    world.kernel.put(VrfDevice("red", 10, 90), ours=False)

    report = world.repair()

    assert report.rejections == ()
    assert world.kernel.objects["link red"].object == made
    assert InterfaceAddress("red", ADDRESS).key in world.kernel.objects
