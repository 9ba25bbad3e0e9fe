"""The stand-in for the kernel answers as the kernel does."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_interface

import pytest

from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.boundary.object import boundary
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.l3mdev_rule.object import L3mdevRule
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.unreachable.object import UnreachableDefault
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior, Headend
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.reserved import SID_DEVICE
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.ports import Kernel
from tests.contract.kernel.conftest import Run
from tests.fakes.kernel import FakeKernel

pytestmark = [pytest.mark.contract, pytest.mark.usefixtures("vrf")]

DUMMY = DummyDevice(SID_DEVICE)
STRICT = Sysctl("net/vrf/strict_mode", "1")
RED = VrfDevice("red", 100, (1 << 28) | 100)
BLUE = VrfDevice("blue", 200, (1 << 28) | 200)
TWIN = VrfDevice("twin", 100, 12345)
PORT = VrfPort("p0", "red")
END = SidRoute(IPv6Network("fc00:1::1/128"), Behavior.END, SID_TABLE)
DT46 = SidRoute(IPv6Network("fc00:1::2/128"), Behavior.END_DT46, SID_TABLE, vrf_table=100)
RULE = Rule(2000, IPv6Network("fc00:1::/48"), SID_TABLE)
SOURCE = EncapSource(IPv6Address("fc00::1"))
NEXT = IPv6Address("fc00:9::1")
HOP = NextHopRoute(NEXT, "p0", NEXT)
END_X = SidRoute(IPv6Network("fc00:1::3/128"), Behavior.END_X, SID_TABLE, next_hop=NEXT)
DX2 = SidRoute(IPv6Network("fc00:1::4/128"), Behavior.END_DX2, SID_TABLE, interface="p0")
UNCOUNTED = SidRoute(IPv6Network("fc00:1::5/128"), Behavior.END, SID_TABLE, counters=False)
STEER4 = EncapRoute(IPv4Network("198.51.100.0/24"), 254, Headend.H_ENCAPS, (NEXT,))
STEER6 = EncapRoute(IPv6Network("fc00:7::/64"), 100, Headend.H_ENCAPS_RED, (NEXT,))
FILTER = boundary(["p0", "red"], [RULE.to], [SOURCE.address])
NEW: list[Object] = [FILTER, DUMMY, RED, HOP, END_X, DX2, UNCOUNTED, STEER4, STEER6]
VLAN = VlanDevice("v", "p0", 5)
V4, V6, V6_128, LINK_LOCAL = map(
    ip_interface, ("10.9.0.1/24", "fc00:8::1/64", "fc00:8::1/128", "fe80::5/64")
)
KEPT = Sysctl("net/ipv6/conf/p0/keep_addr_on_down", "1")
OF_P0 = InterfaceAddress("p0", V6)
LINKS: list[Object] = [
    VLAN,
    LinkMtu("v", 1400),
    Sysctl("net/ipv6/conf/v/keep_addr_on_down", "1"),
    AdminState("v", up=True),
    *(InterfaceAddress("v", address) for address in (V4, V6, LINK_LOCAL)),
]
DEFAULTS = [UnreachableDefault(4, 100), UnreachableDefault(6, 100)]
ALL: list[Object] = [DUMMY, RED, *DEFAULTS, STRICT, SOURCE, PORT, END, DT46, RULE]
PATHS = [STRICT.path]


@pytest.mark.parametrize(
    "actions",
    [
        pytest.param([Create(o) for o in ALL], id="all"),
        pytest.param([Create(o) for o in ALL] + [Delete(o) for o in reversed(ALL)], id="and back"),
        pytest.param([Create(o) for o in ALL] + [Create(o) for o in ALL[1:4]], id="twice"),
        pytest.param([Delete(o) for o in ALL], id="nothing there"),
        pytest.param([Create(DUMMY), Create(RED), Create(DT46)], id="no strict mode"),
        pytest.param([Create(DUMMY), Create(STRICT), Create(DT46)], id="no VRF"),
        pytest.param([Create(STRICT), Create(RED), Create(DT46)], id="no device"),
        pytest.param([Create(STRICT), Create(RED), Create(TWIN)], id="shared table"),
        pytest.param([Create(RED), Create(TWIN), Create(STRICT)], id="shared before strict"),
        pytest.param([Create(PORT)], id="port without VRF"),
        pytest.param([Create(RED), Create(VrfPort("gone", "red"))], id="port without interface"),
        pytest.param(
            [Create(RED), Create(BLUE), Create(PORT), Create(VrfPort("p0", "blue"))], id="stolen"
        ),
        pytest.param(
            [Create(RED), Create(BLUE), Create(PORT), Replace(PORT, VrfPort("p0", "blue"))],
            id="port moves",
        ),
        pytest.param([Create(o) for o in ALL] + [Delete(RED)], id="VRF goes"),
        pytest.param([Create(o) for o in ALL] + [Delete(DUMMY)], id="dummy goes"),
        pytest.param(
            [Create(o) for o in ALL] + [Replace(RED, VrfDevice("red", 300, (1 << 28) | 300))],
            id="VRF moves",
        ),
        pytest.param([Create(DUMMY), Create(END), Replace(END, END)], id="replace"),
        pytest.param(
            [Create(RED), Create(HOP), Create(PORT), Create(PORT)], id="port takes its routes"
        ),
        pytest.param(
            [Create(RED), Create(PORT), Create(HOP), Create(PORT)], id="port that is there already"
        ),
        pytest.param(
            [Create(RED), Create(PORT), Create(HOP), Delete(PORT)], id="port goes with its routes"
        ),
        pytest.param(
            [Create(RED), Create(PORT), Create(HOP), Delete(RED)], id="VRF goes with its port's"
        ),
        pytest.param([Replace(LinkMtu("p0", 1500), LinkMtu("p0", 1400))], id="MTU"),
        pytest.param([Create(LinkMtu("p0", 1400)), Delete(LinkMtu("p0", 1400))], id="MTU stays"),
        pytest.param([Create(LinkMtu("gone", 1400))], id="MTU without interface"),
        pytest.param([Create(o) for o in NEW], id="more"),
        pytest.param([Create(o) for o in LINKS], id="links"),
        pytest.param([Create(o) for o in LINKS] * 2, id="links twice"),
        pytest.param(
            [Create(o) for o in LINKS] + [Delete(o) for o in reversed(LINKS)], id="links and back"
        ),
        pytest.param([Create(o) for o in LINKS] + [Delete(VLAN)], id="VLAN goes with its own"),
        pytest.param([Create(VLAN), Create(VlanDevice("w", "p0", 5))], id="VLAN id in use"),
        pytest.param([Create(VlanDevice("w", "gone", 5))], id="VLAN without parent"),
        pytest.param([Create(InterfaceAddress("gone", V4))], id="address without interface"),
        pytest.param(
            [Create(VLAN), Create(AdminState("p0", up=False)), Create(AdminState("v", up=True))],
            id="VLAN can't be up",
        ),
        pytest.param(
            [*(Create(o) for o in LINKS), Create(RED), Create(VrfPort("v", "red"))],
            id="addresses of a port",
        ),
        pytest.param(
            # Without the link-local one: newer kernels take VLANs down later, if at all.
            [*(Create(o) for o in LINKS[:-1]), Create(RED), Create(PORT)],
            id="addresses on a port",
        ),
        pytest.param(
            [Create(KEPT), Create(OF_P0), Replace(OF_P0, InterfaceAddress("p0", V6_128))],
            id="prefix length",
        ),
        pytest.param([Create(OF_P0), Replace(OF_P0, OF_P0)], id="address again"),
        pytest.param([Create(o) for o in NEW] + [Create(o) for o in NEW], id="more twice"),
        pytest.param(
            [Create(o) for o in NEW] + [Delete(o) for o in (*NEW[3:], FILTER)], id="more and back"
        ),
        pytest.param([Create(o) for o in NEW] + [Delete(DUMMY)], id="dummy goes with more"),
        pytest.param([Create(END_X), Create(STEER4), Create(STEER6)], id="more, no device"),
    ],
)
def test_agrees(kernel: LinuxKernel, run: Run, actions: Sequence[Action]) -> None:
    run("ip link add p0 type dummy; ip link set p0 up")
    before = kernel.observe([])
    fake = FakeKernel({"p0": before.interfaces["p0"]})
    # The fixture has made a VRF.
    found = (item.object for item in before.objects.values())
    fake.l3mdev_rules = {obj.family for obj in found if isinstance(obj, L3mdevRule)}

    def outcome(on: Kernel) -> tuple[object, ...]:
        rejected = [(r.action, r.errno) for r in on.apply(actions)]
        observed = on.observe(PATHS)
        # The kernel makes link-local ones itself.
        objects = {
            key: item
            for key, item in observed.objects.items()
            if item.ours or not isinstance(item.object, InterfaceAddress)
        }
        return rejected, objects, observed.interfaces.keys(), on.sid_counters()

    assert outcome(fake) == outcome(kernel)
