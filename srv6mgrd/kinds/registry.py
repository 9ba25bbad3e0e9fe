"""Every kind of object in the kernel, in the order in which they are read: what may refer to a
device comes before the first that asks for links (``Reader``)."""

from __future__ import annotations

from srv6mgrd.kinds.accounting.kernel import TrafficAccounting
from srv6mgrd.kinds.address.kernel import InterfaceAddresses
from srv6mgrd.kinds.admin_state.kernel import AdminStates
from srv6mgrd.kinds.boundary.kernel import Boundaries
from srv6mgrd.kinds.chain.kernel import ServiceFunctionChains
from srv6mgrd.kinds.dummy.kernel import DummyDevices
from srv6mgrd.kinds.encap_source.kernel import EncapSources
from srv6mgrd.kinds.kernel_kind import KernelKind
from srv6mgrd.kinds.l3mdev_rule.kernel import L3mdevRules
from srv6mgrd.kinds.link_mtu.kernel import LinkMtus
from srv6mgrd.kinds.marked_routes import MarkedRoutes
from srv6mgrd.kinds.next_hop.kernel import NextHopRoutes
from srv6mgrd.kinds.proxy.kernel import ServiceProxies
from srv6mgrd.kinds.rule.kernel import Rules
from srv6mgrd.kinds.sid.kernel import SidRoutes
from srv6mgrd.kinds.steering.kernel import SteeringRoutes
from srv6mgrd.kinds.sysctl.kernel import Sysctls
from srv6mgrd.kinds.unreachable.kernel import UnreachableRoutes
from srv6mgrd.kinds.vlan.kernel import VlanDevices
from srv6mgrd.kinds.vrf.kernel import VrfDevices
from srv6mgrd.kinds.vrf_port.kernel import VrfPorts

KINDS: tuple[type[KernelKind], ...] = (
    SidRoutes,
    UnreachableRoutes,
    Rules,
    L3mdevRules,
    InterfaceAddresses,
    DummyDevices,
    VrfDevices,
    VlanDevices,
    VrfPorts,
    LinkMtus,
    AdminStates,
    SteeringRoutes,
    NextHopRoutes,
    # What these two don't know.
    MarkedRoutes,
    ServiceProxies,
    TrafficAccounting,
    ServiceFunctionChains,
    EncapSources,
    Boundaries,
    Sysctls,
)
