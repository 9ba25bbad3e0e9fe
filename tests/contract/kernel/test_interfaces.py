"""VLAN subinterfaces and addresses, as iproute2 sees them and with what others configured."""

from __future__ import annotations

import errno
import json
import subprocess
from ipaddress import ip_interface
from typing import Any

import pytest

from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kernel.events import KernelEvents
from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.kernel_event import EventKind
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.reserved import LINK_ALIAS, ROUTE_PROTOCOL
from srv6mgrd.plan.actions import Create, Delete, Replace
from tests.contract.kernel.conftest import Run

pytestmark = pytest.mark.contract

VLAN = VlanDevice("p0.5", "p0", 5)
V4, V6, LINK_LOCAL = map(ip_interface, ("10.9.0.1/24", "fc00:8::1/64", "fe80::5/64"))
# What the kernel does behind a request it has done after so many more.
_LOOKS = 20
PROMOTE = Sysctl("net/ipv4/conf/p0/promote_secondaries", "1")


@pytest.fixture(autouse=True)
def p0(run: Run) -> None:
    run("ip link add p0 type veth peer name far; ip link set p0 up; ip link set far up")


@pytest.fixture
def vlans(run: Run) -> None:
    """Skips where the kernel has no VLAN or dummy device."""
    try:
        run("ip link add link p0 name probe type vlan id 9 && ip link del probe")
        run("ip link add probe type dummy && ip link del probe")
    except subprocess.CalledProcessError:
        pytest.skip("kernel without VLANs or dummies")


def of(address: str, interface: str = "p0") -> InterfaceAddress:
    return InterfaceAddress(interface, ip_interface(address))


def addresses(run: Run, interface: str) -> dict[str, dict[str, Any]]:
    (link,) = json.loads(run(f"ip -j addr show dev {interface}"))
    return {f"{a['local']}/{a['prefixlen']}": a for a in link["addr_info"]}


@pytest.mark.usefixtures("vlans")
def test_a_vlan_bears_our_mark(kernel: LinuxKernel, run: Run) -> None:
    assert kernel.apply([Create(VLAN), Create(AdminState("p0.5", up=True))]) == []

    (link,) = json.loads(run("ip -j -d link show p0.5"))
    assert link["ifalias"] == LINK_ALIAS
    assert link["link"] == "p0"
    assert (link["linkinfo"]["info_kind"], link["linkinfo"]["info_data"]["id"]) == ("vlan", 5)
    assert "UP" in link["flags"]
    seen = kernel.observe([]).objects[VLAN.key]
    assert (seen.object, seen.ours) == (VLAN, True)
    assert kernel.apply([Delete(VLAN), Delete(VLAN)]) == []
    assert "p0.5" not in kernel.observe([]).interfaces


@pytest.mark.usefixtures("vlans")
def test_a_vlan_of_somebody_else(kernel: LinuxKernel, run: Run) -> None:
    run("ip link add link p0 name p0.5 type vlan id 5")
    seen = kernel.observe([]).objects[VLAN.key]
    assert (seen.object, seen.ours) == (VLAN, False)

    (rejected,) = kernel.apply([Delete(VLAN)])

    assert rejected.errno == errno.EPERM


@pytest.mark.usefixtures("vlans")
@pytest.mark.parametrize(
    "theirs",
    ["link p0 name p0.5 type vlan protocol 802.1ad id 5", "p0.5 type veth peer name p0.6"],
)
def test_the_name_is_somebody_elses(kernel: LinuxKernel, run: Run, theirs: str) -> None:
    run(f"ip link add {theirs}")
    assert VLAN.key not in kernel.observe([]).objects

    (rejected,) = kernel.apply([Create(VLAN)])

    assert rejected.errno == errno.EEXIST
    assert "which srv6mgr did not make" in rejected.message


@pytest.mark.usefixtures("vlans")
def test_the_id_is_somebody_elses(kernel: LinuxKernel, run: Run) -> None:
    run("ip link add link p0 name theirs type vlan id 5")

    (rejected,) = kernel.apply([Create(VLAN)])

    assert rejected.errno == errno.EEXIST
    assert "p0.5" not in kernel.observe([]).interfaces


@pytest.mark.usefixtures("vlans")
def test_a_loopback(kernel: LinuxKernel, run: Run) -> None:
    device, address = DummyDevice("lo1"), of("fc00:8::1/128", "lo1")
    assert kernel.apply([Create(device), Create(address)]) == []

    observed = kernel.observe([]).objects
    assert observed[device.key].object == device
    assert observed[address.key].ours


@pytest.mark.parametrize("address", [V4, V6, LINK_LOCAL], ids=str)
def test_an_address_bears_our_mark_and_is_used_at_once(
    kernel: LinuxKernel, run: Run, address: Any
) -> None:
    wanted = InterfaceAddress("p0", address)
    assert kernel.apply([Create(wanted)]) == []

    shown = addresses(run, "p0")[str(address)]
    assert int(shown["protocol"], 0) == ROUTE_PROTOCOL
    assert not shown.get("tentative")
    seen = kernel.observe([]).objects[wanted.key]
    assert (seen.object, seen.ours) == (wanted, True)
    assert kernel.apply([Delete(wanted), Delete(wanted)]) == []
    assert wanted.key not in kernel.observe([]).objects


def test_an_address_of_somebody_else(kernel: LinuxKernel, run: Run) -> None:
    run("ip addr add 10.9.0.1/24 dev p0; ip addr add fc00:8::1/64 dev p0")
    observed = kernel.observe([]).objects

    assert not observed[of("10.9.0.1/24").key].ours
    assert not observed[of("fc00:8::1/64").key].ours
    rejected = kernel.apply([Create(of("10.9.0.1/24")), Create(of("fc00:8::1/128"))])
    assert [r.errno for r in rejected] == [errno.EEXIST, errno.EEXIST]


def test_ours_is_seen_beside_one_with_another_prefix_length(kernel: LinuxKernel, run: Run) -> None:
    run("ip addr add 10.9.0.1/32 dev p0")
    assert kernel.apply([Create(of("10.9.0.1/24"))]) == []

    seen = kernel.observe([]).objects[of("10.9.0.1/24").key]

    assert (seen.object, seen.ours) == (of("10.9.0.1/24"), True)


def test_others_of_the_subnet_stay_when_ours_goes(kernel: LinuxKernel, run: Run) -> None:
    """The kernel would take the later ones along (__inet_del_ifa)."""
    assert kernel.apply([Create(PROMOTE), Create(of("10.9.0.1/24"))]) == []
    run("ip addr add 10.9.0.2/24 dev p0")

    assert kernel.apply([Delete(of("10.9.0.1/24"))]) == []

    assert "10.9.0.2/24" in addresses(run, "p0")


@pytest.mark.parametrize("pair", [("10.9.0.1/24", "10.9.0.1/32"), ("fc00:8::1/64", "fc00:8::1/48")])
def test_another_prefix_length(kernel: LinuxKernel, run: Run, pair: tuple[str, str]) -> None:
    before, after = map(of, pair)
    assert kernel.apply([Create(PROMOTE), Create(before)]) == []

    assert kernel.apply([Replace(before, after)]) == []

    assert pair[1] in addresses(run, "p0")
    assert pair[0] not in addresses(run, "p0")


def test_links_say_what_is_down_and_what_a_bridge_has(kernel: LinuxKernel, run: Run) -> None:
    run("ip link add br0 type bridge; ip link set p0 master br0; ip link set far down")

    found = kernel.links()

    assert found.bridged == {"p0": "br0"}
    assert "far" in found.down
    assert "p0" not in found.down


def test_changes_are_reported(run: Run) -> None:
    events = KernelEvents()
    run("ip addr add 10.9.0.1/24 dev p0; ip addr add fc00:8::1/64 dev p0 nodad")
    run("ip addr del 10.9.0.1/24 dev p0; ip addr del fc00:8::1/64 dev p0")

    reported = [e for e in events.take() if e.kind is EventKind.ADDRESS]

    assert [e.removed for e in reported if e.key.endswith(("0a090001", "0001"))] == [True, True]
    events.close()


@pytest.mark.usefixtures("vlans", "vrf")
def test_a_vlan_that_is_declared_down_stays_down(kernel: LinuxKernel, run: Run) -> None:
    """The kernel raises it behind the request that puts its parent into a VRF (Linux 7.3)."""
    run("ip link add red type vrf table 10 && ip link set red up")
    run("ip link add link p0 name v5 type vlan id 5")
    port, down = VrfPort("p0", "red"), AdminState("v5", up=False, order=1)
    address = of("fe80::5/64", "v5")
    for _ in range(20):
        assert not kernel.apply([Create(port), Replace(down, down), Create(address)])
        assert all("v5" in kernel.links().down for _ in range(_LOOKS))
        assert not kernel.apply([Delete(address), Delete(port), Replace(down, down)])
        assert all("v5" in kernel.links().down for _ in range(_LOOKS))


@pytest.mark.usefixtures("vlans")
def test_an_address_on_a_vlan_stays_when_its_parent_went_down_before(
    kernel: LinuxKernel, run: Run
) -> None:
    run("ip link add link p0 name v5 type vlan id 5 && ip link set v5 up")
    up, down = AdminState("p0", up=True), AdminState("p0", up=False)
    address = of("fe80::5/64", "v5")
    for _ in range(20):
        assert not kernel.apply([Replace(up, down), Create(address)])
        assert all(address.key in kernel.observe([]).objects for _ in range(_LOOKS))
        assert not kernel.apply([Delete(address), Replace(down, up)])
        assert kernel.links().down.isdisjoint({"p0", "v5"})
