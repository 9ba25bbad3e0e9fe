"""Dummy and VRF devices, VRF ports, and the SIDs that decapsulate into VRFs."""

from __future__ import annotations

import errno
import json
from ipaddress import IPv6Network, ip_network

import pytest

from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.device import UnknownLink
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.unreachable.object import UnreachableDefault
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.reserved import LINK_ALIAS, SID_DEVICE
from srv6mgrd.plan.actions import Create, Delete, Replace
from tests.contract.kernel.conftest import Run, encap_of

pytestmark = [pytest.mark.contract, pytest.mark.usefixtures("vrf")]

RED = VrfDevice("red", 100, (1 << 28) | 100)
BLUE = VrfDevice("blue", 200, (1 << 28) | 200)
STRICT = Sysctl("net/vrf/strict_mode", "1")
DT = [Behavior.END_DT4, Behavior.END_DT6, Behavior.END_DT46]


def dt(behavior: Behavior, number: int = 1, table: int = 100) -> SidRoute:
    prefix = IPv6Network(f"fc00:1::{number:x}/128")
    return SidRoute(prefix, behavior, SID_TABLE, vrf_table=table)


def test_dummy(kernel: LinuxKernel, run: Run) -> None:
    device = DummyDevice(SID_DEVICE)
    assert kernel.apply([Create(device)]) == []
    observed = kernel.observe([])
    assert observed.objects[device.key].object == device
    assert observed.objects[device.key].ours
    (link,) = json.loads(run(f"ip -j -d link show {SID_DEVICE}"))
    assert link["ifalias"] == LINK_ALIAS
    assert link["linkinfo"]["info_kind"] == "dummy"
    assert "UP" in link["flags"]
    assert observed.interfaces[SID_DEVICE] == link["ifindex"]
    assert kernel.apply([Delete(device), Delete(device)]) == []
    assert device.key not in kernel.observe([]).objects


def test_dummy_that_went_down_is_set_up(kernel: LinuxKernel, run: Run) -> None:
    device = DummyDevice(SID_DEVICE)
    assert kernel.apply([Create(device)]) == []
    index = kernel.observe([]).interfaces[SID_DEVICE]
    run(f"ip link set {SID_DEVICE} down")
    seen = kernel.observe([]).objects[device.key].object
    assert seen == UnknownLink(SID_DEVICE, "dummy down")
    assert kernel.apply([Replace(seen, device)]) == []
    observed = kernel.observe([])
    assert observed.objects[device.key].object == device
    assert observed.interfaces[SID_DEVICE] == index


def test_vrf(kernel: LinuxKernel, run: Run) -> None:
    assert kernel.apply([Create(RED)]) == []
    observed = kernel.observe(["net/ipv6/conf/red/disable_ipv6"])
    assert observed.objects[RED.key].object == RED
    assert observed.objects[RED.key].ours
    assert observed.objects["sysctl net/ipv6/conf/red/disable_ipv6"].object == Sysctl(
        "net/ipv6/conf/red/disable_ipv6", "0"
    )
    (link,) = json.loads(run("ip -j -d link show red"))
    assert link["ifalias"] == LINK_ALIAS
    assert link["ifindex"] == RED.ifindex
    assert link["linkinfo"] == {"info_kind": "vrf", "info_data": {"table": 100}}
    assert "UP" in link["flags"]
    assert "l3mdev-table" in run("ip -6 rule")
    run("ip -6 addr add fc00:9::1/128 dev red")


def test_new_devices_inherit_disabled_ipv6(kernel: LinuxKernel, run: Run) -> None:
    """Hardened hosts set conf.default.disable_ipv6: SIDs are then rejected until the device of the
    SIDs is reported otherwise, and a VRF takes no IPv6 address."""
    run("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
    sid = dt(Behavior.END_DT46)
    objects: list[Object] = [DummyDevice(SID_DEVICE), RED, STRICT, sid]
    (rejected,) = kernel.apply([Create(o) for o in objects])
    assert rejected.errno == errno.EACCES
    enable = [Sysctl(f"net/ipv6/conf/{name}/disable_ipv6", "0") for name in (SID_DEVICE, "red")]
    assert kernel.apply([*map(Create, enable), Create(sid)]) == []
    assert kernel.observe([]).objects[sid.key].object == sid
    run("ip -6 addr add fc00:9::1/128 dev red")


def test_name_taken_by_a_stranger(kernel: LinuxKernel, run: Run) -> None:
    run("ip link add red type bridge || ip link add red type dummy")
    (rejected,) = kernel.apply([Create(RED)])
    assert rejected.errno == errno.EEXIST
    (link,) = json.loads(run("ip -j link show red"))
    assert "ifalias" not in link


def test_ifindex_taken_by_a_stranger(kernel: LinuxKernel, run: Run) -> None:
    run(f"ip link add x index {RED.ifindex} type dummy")
    (rejected,) = kernel.apply([Create(RED)])
    assert rejected.errno in (errno.EEXIST, errno.EBUSY)
    (link,) = json.loads(run("ip -j link show x"))
    assert "ifalias" not in link
    assert "red" not in kernel.observe([]).interfaces


def test_foreign_vrf(kernel: LinuxKernel, run: Run) -> None:
    run(f"ip link add red index {RED.ifindex} type vrf table 100; ip link set red up")
    seen = kernel.observe([]).objects[RED.key]
    assert seen.object == RED
    assert not seen.ours
    (rejected,) = kernel.apply([Delete(RED)])
    assert rejected.errno == errno.EPERM
    assert "red" in kernel.observe([]).interfaces


def test_vrf_down_is_set_up_in_place(kernel: LinuxKernel, run: Run) -> None:
    assert kernel.apply([Create(RED)]) == []
    run("ip link add p0 type dummy; ip link set p0 master red; ip link set red down")
    seen = kernel.observe([]).objects[RED.key].object
    assert isinstance(seen, VrfDevice)
    assert not seen.up
    assert kernel.apply([Replace(seen, RED)]) == []
    objects = kernel.observe([]).objects
    assert objects[RED.key].object == RED
    assert objects["port p0"].object == VrfPort("p0", "red")


def test_vrf_moves_to_another_table(kernel: LinuxKernel) -> None:
    after = VrfDevice("red", 300, (1 << 28) | 300)
    assert kernel.apply([Create(RED), Replace(RED, after)]) == []
    seen = kernel.observe([]).objects[RED.key]
    assert seen.object == after
    assert seen.ours


def test_two_vrfs_on_a_table(kernel: LinuxKernel) -> None:
    other = VrfDevice("blue", 100, BLUE.ifindex)
    (rejected,) = kernel.apply([Create(STRICT), Create(RED), Create(other)])
    assert rejected.action.object == other
    assert "another VRF" in rejected.message
    assert "blue" not in kernel.observe([]).interfaces


def test_strict_mode_with_a_shared_table(kernel: LinuxKernel) -> None:
    other = VrfDevice("blue", 100, BLUE.ifindex)
    (rejected,) = kernel.apply([Create(RED), Create(other), Create(STRICT)])
    assert rejected.action.object == STRICT
    assert (rejected.errno, rejected.message) == (errno.EBUSY, "two VRF devices share a table")


@pytest.mark.parametrize("keep", [True, False])
def test_port_keeps_its_addresses(kernel: LinuxKernel, run: Run, keep: bool) -> None:
    run("ip link add eth0.100 type dummy; ip link set eth0.100 up")
    run("ip -6 addr add fc00:5::1/64 dev eth0.100 nodad; ip addr add 10.5.0.1/24 dev eth0.100")
    port = VrfPort("eth0.100", "red")
    sysctl = Sysctl("net/ipv6/conf/eth0.100/keep_addr_on_down", "1" if keep else "0")
    assert kernel.apply([Create(RED), Create(sysctl), Create(port)]) == []
    seen = kernel.observe([]).objects[port.key]
    assert seen.object == port
    assert not seen.ours
    addresses = run("ip addr show dev eth0.100")
    assert "10.5.0.1/24" in addresses
    assert ("fc00:5::1/64" in addresses) == keep
    assert ("fc00:5::/64" in run("ip -6 route show vrf red")) == keep


def test_port_moves_and_leaves(kernel: LinuxKernel, run: Run) -> None:
    run("ip link add p0 type dummy; ip link set p0 up")
    red, blue = VrfPort("p0", "red"), VrfPort("p0", "blue")
    assert kernel.apply([Create(RED), Create(BLUE), Create(red), Create(red)]) == []
    (rejected,) = kernel.apply([Create(blue)])
    assert rejected.errno == errno.EBUSY
    assert kernel.apply([Replace(red, blue)]) == []
    assert kernel.observe([]).objects["port p0"].object == blue
    assert kernel.apply([Delete(red)]) == []
    assert kernel.observe([]).objects["port p0"].object == blue
    assert kernel.apply([Delete(blue), Delete(blue)]) == []
    assert "port p0" not in kernel.observe([]).objects


def test_port_without_interface(kernel: LinuxKernel) -> None:
    port = VrfPort("gone", "red")
    (rejected,) = kernel.apply([Create(RED), Create(port)])
    assert (rejected.errno, "gone" in rejected.message) == (errno.ENODEV, True)
    assert kernel.apply([Delete(port)]) == []


@pytest.mark.parametrize("behavior", DT)
def test_sid_reads_back(kernel: LinuxKernel, run: Run, sid_device: str, behavior: Behavior) -> None:
    sid = dt(behavior)
    assert kernel.apply([Create(STRICT), Create(RED), Create(sid)]) == []
    seen = kernel.observe([]).objects[sid.key]
    assert seen.object == sid
    assert seen.ours
    (route,) = json.loads(run(f"ip -6 -j -d -s route show table {SID_TABLE}"))
    encap = encap_of(route)
    assert encap["action"] == behavior.value
    assert encap["vrftable"] in (100, "100")
    assert kernel.sid_counters() == {sid.prefix: (0, 0, 0)}


@pytest.mark.parametrize("behavior", DT)
def test_sid_needs_strict_mode(kernel: LinuxKernel, sid_device: str, behavior: Behavior) -> None:
    (rejected,) = kernel.apply([Create(RED), Create(dt(behavior))])
    assert (rejected.errno, rejected.message) == (errno.EPERM, "Strict mode for VRF is disabled")


@pytest.mark.parametrize("behavior", DT)
def test_sid_needs_its_vrf(kernel: LinuxKernel, sid_device: str, behavior: Behavior) -> None:
    (rejected,) = kernel.apply([Create(STRICT), Create(dt(behavior))])
    assert (rejected.errno, rejected.message) == (
        errno.ENODEV,
        "Table has no associated VRF device",
    )


def test_behavior_changes_in_place(kernel: LinuxKernel, sid_device: str) -> None:
    before, after = dt(Behavior.END_DT4), dt(Behavior.END_DT46, table=200)
    assert kernel.apply([Create(STRICT), Create(RED), Create(BLUE), Create(before)]) == []
    assert kernel.apply([Replace(before, after)]) == []
    assert kernel.observe([]).objects[after.key].object == after


def test_mixed_table(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    sids = [dt(DT[i % 3], i, 100 if i % 2 else 200) for i in range(1, 1501)]
    sids += [
        SidRoute(IPv6Network(f"fc00:2:0:{i:x}::/64"), Behavior.END, SID_TABLE) for i in range(500)
    ]
    actions = [Create(STRICT), Create(RED), Create(BLUE), *map(Create, sids)]
    assert kernel.apply(actions) == []
    run(f"ip -6 route add fc00:1::4:1 dev srv6mgr table {SID_TABLE} proto 86")
    for _ in range(2):
        objects = kernel.observe([]).objects
        assert all(objects[s.key].object == s for s in sids)
    assert kernel.sid_counters().keys() == {s.prefix for s in sids}


def test_vrf_goes_with_what_stands_on_it(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    run("ip link add p0 type dummy; ip link set p0 up")
    sid, port = dt(Behavior.END_DT46), VrfPort("p0", "red")
    defaults = [UnreachableDefault(4, 100), UnreachableDefault(6, 100)]
    everything: list[Object] = [STRICT, RED, port, sid, *defaults]
    assert kernel.apply([Create(o) for o in everything]) == []
    assert kernel.apply([Delete(RED)]) == []
    objects = kernel.observe([]).objects
    assert port.key not in objects
    # The SID depends on its own device, so it stays, and is dead until the VRF is back.
    assert objects[sid.key].object == sid
    assert all(objects[d.key].object == d for d in defaults)
    assert kernel.apply([Create(RED)]) == []
    assert kernel.observe([]).objects[RED.key].object == RED


def test_static_routes_that_frr_left_go_and_others_stay(kernel: LinuxKernel, run: Run) -> None:
    """A zebra that died before it could: the next VRF on the table would drop packets."""
    for line in (
        "ip route add blackhole 10.78.0.0/24 table 100 proto 196 metric 20",
        "ip route add unreachable 10.78.1.0/24 table 100 proto 196 metric 20",
        "ip -6 route add blackhole fd78::/64 table 100 proto 196 metric 20",
        # Of others, of other protocols, and in the table of another VRF.
        "ip route add blackhole 10.79.0.0/24 table 100 proto 196 metric 20",
        "ip route add blackhole 10.78.0.0/24 table 100 proto 4 metric 30",
        "ip -6 route add blackhole fd78::/64 table 100 proto 4 metric 30",
        "ip route add blackhole 10.78.0.0/24 table 200 proto 196",
    ):
        run(line)

    prefixes = [ip_network(p) for p in ("10.78.0.0/24", "10.78.1.0/24", "fd78::/64", "fd79::/64")]
    kernel.clear_static_routes(100, prefixes)

    left = [line.split()[:2] for line in run("ip route show table 100").splitlines()]
    assert left == [["blackhole", "10.78.0.0/24"], ["blackhole", "10.79.0.0/24"]]
    assert "metric 30" in run("ip route show 10.78.0.0/24 table 100")
    assert len(run("ip -6 route show table 100").splitlines()) == 1
    assert "10.78.0.0/24" in run("ip route show table 200")
