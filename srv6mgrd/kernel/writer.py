"""Carries out actions: one message each where that will do, gathered into batches."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from srv6mgrd.kernel import addresses, bpf, headend, routes, rules, sysctl
from srv6mgrd.kernel.boundary import BoundaryTable
from srv6mgrd.kernel.seg6 import Seg6
from srv6mgrd.kernel.stacked import StackedVlans
from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.boundary.object import Boundary, UnknownBoundary
from srv6mgrd.kinds.device import UnknownLink
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.proxy.object import ProxyEntry, ProxyHook, ProxyPrograms
from srv6mgrd.kinds.route import UnknownRoute
from srv6mgrd.kinds.rule.object import Rule, UnknownRule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.unreachable.object import UnreachableDefault, UnreachableSid
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.netlink import links, wire
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.links import Link
from srv6mgrd.netlink.socket import BATCH, NetlinkSocket
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.ports import RejectedAction
from srv6mgrd.proxy.adapter import Proxies

# What a deletion meets when the thing is gone already: routes ESRCH, rules ENOENT, links ENODEV,
# addresses EADDRNOTAVAIL.
_GONE = frozenset({errno.ESRCH, errno.ENOENT, errno.ENODEV, errno.EADDRNOTAVAIL})


class Writer:
    """Single writes, each of them counted in ``writes``."""

    def __init__(
        self,
        netlink: NetlinkSocket,
        seg6: Seg6,
        table: BoundaryTable,
        proc_sys: Path,
        proxies: Proxies,
    ) -> None:
        self._netlink = netlink
        self._seg6 = seg6
        self._table = table
        self._proc_sys = proc_sys
        self._proxies = proxies
        self.writes = 0

    def send(self, requests: Sequence[bytes]) -> dict[int, Failure]:
        self.writes += len(requests)
        return self._netlink.write(requests)

    def link(self, name: str) -> Link | None:
        answer = self._netlink.read(links.get(name))
        return None if isinstance(answer, Failure) else links.decode(answer)

    def links(self) -> list[Link]:
        return links.read_all(self._netlink)

    def set_source(self, source: EncapSource | None) -> Failure | None:
        self.writes += 1
        return self._seg6.set_source(source.address if source else None)

    def set_boundary(self, before: Object | None, wanted: Boundary | None) -> Failure | None:
        """One transaction: the filter that stood is in force until this one is."""
        self.writes += 1
        if wanted is None:
            return self._table.delete()
        if before is None:
            return self._table.create(wanted)
        return self._table.replace(before, wanted)

    def apply_proxy(self, action: Action) -> Failure | None:
        self.writes += 1
        return self._proxies.apply(action)

    def set_sysctl(self, value: Sysctl) -> Failure | None:
        self.writes += 1
        return sysctl.write(value, self._proc_sys)


class Run:
    """One run over a list of actions. What is one message is gathered and sent in batches, in
    order with the rest; what needs an answer before its next step goes alone."""

    def __init__(self, writer: Writer, actions: Sequence[Action]) -> None:
        self._writer = writer
        self._actions = actions
        self._requests: list[bytes] = []
        self._owners: list[int] = []
        self._rejected: dict[int, Failure] = {}
        self._devices: dict[str, int] = {}
        self._stacked = StackedVlans(writer.links, writer.link)

    def carry_out(self) -> list[RejectedAction]:
        for position, action in enumerate(self._actions):
            if not isinstance(action.object, VrfPort):
                self._stacked.settle()
            request = self._packed(action)
            if isinstance(request, bytes):
                self._requests.append(request)
                self._owners.append(position)
                if len(self._requests) == BATCH:
                    self._flush()
            else:
                failure = request or self._single(action)
                if failure is not None:
                    self._rejected[position] = failure
        self._flush()
        self._stacked.settle()
        return [
            RejectedAction(
                self._actions[position],
                failure.errno,
                failure.message,
                # NetlinkSocket.write: the answers were lost, not the requests.
                in_doubt=failure.errno == errno.ENOBUFS,
            )
            for position, failure in sorted(self._rejected.items())
        ]

    def _flush(self) -> None:
        if not self._requests:
            return
        for at, failure in self._writer.send(self._requests).items():
            position = self._owners[at]
            if not (isinstance(self._actions[position], Delete) and failure.errno in _GONE):
                self._rejected[position] = failure
        self._requests.clear()
        self._owners.clear()

    def _packed(self, action: Action) -> bytes | Failure | None:
        """The one message of an action; None when it takes more than that."""
        match action:
            case Create(SidRoute(bpf_program=None) as route):
                return self._sid(route, routes.CREATE)
            case Replace(before, SidRoute(bpf_program=None) as route) if _same_place(before, route):
                return self._sid(route, routes.REPLACE)
            case Delete(SidRoute() as route):
                return routes.delete_sid(route)
            case Create((EncapRoute() | NextHopRoute()) as route):
                return self._headend(route, routes.CREATE)
            case Replace(before, (EncapRoute() | NextHopRoute()) as route) if _same_place(
                before, route
            ):
                return self._headend(route, routes.REPLACE)
            case Delete((EncapRoute() | NextHopRoute()) as route):
                return headend.delete(route)
            case Create((UnreachableDefault() | UnreachableSid()) as route):
                return routes.put_unreachable(route, routes.CREATE)
            case Replace(before, (UnreachableDefault() | UnreachableSid()) as route) if _same_place(
                before, route
            ):
                return routes.put_unreachable(route, routes.REPLACE)
            case Delete((UnreachableDefault() | UnreachableSid() | UnknownRoute()) as route):
                return routes.delete_at_place(route)
            case Create(Rule() as rule):
                return rules.create(rule)
            case Delete((Rule() | UnknownRule()) as rule):
                return rules.delete(rule)
        return None

    def _sid(self, route: SidRoute, flags: int, program: int | None = None) -> bytes | Failure:
        device = self._index(route.device)
        interface = None if route.interface is None else self._index(route.interface)
        if isinstance(device, Failure):
            return device
        if isinstance(interface, Failure):
            return interface
        return routes.put_sid(route, flags, device, interface, program)

    def _headend(self, route: EncapRoute | NextHopRoute, flags: int) -> bytes | Failure:
        device = self._index(route.device)
        return device if isinstance(device, Failure) else headend.put(route, flags, device)

    def _index(self, device: str) -> int | Failure:
        if (index := self._devices.get(device)) is None:
            # The device may be among what is still to be sent.
            self._flush()
            if (link := self._writer.link(device)) is None:
                return Failure(errno.ENODEV, f"device {device} does not exist")
            index = self._devices[device] = link.index
        return index

    def _with_program(self, route: SidRoute, flags: int) -> Failure | None:
        """Write a SID that runs a BPF program: its descriptor has to be open meanwhile."""
        program = bpf.open_pinned(route.bpf_program or "")
        if isinstance(program, Failure):
            return Failure(program.errno, f"BPF program {route.bpf_program}: {program.message}")
        try:
            request = self._sid(route, flags, program)
            return request if isinstance(request, Failure) else self._one(request)
        finally:
            os.close(program)

    def _single(self, action: Action) -> Failure | None:
        self._flush()
        match action:
            case Delete(Sysctl()):
                return None
            case Create(Sysctl() as value) | Replace(_, Sysctl() as value):
                return self._writer.set_sysctl(value)
            case Create(EncapSource() as source) | Replace(_, EncapSource() as source):
                return self._writer.set_source(source)
            case Delete(EncapSource()):
                return self._writer.set_source(None)
            case Create(Boundary() as boundary):
                return self._writer.set_boundary(None, boundary)
            case Replace(before, Boundary() as boundary):
                return self._writer.set_boundary(before, boundary)
            case Delete(Boundary() | UnknownBoundary()):
                return self._writer.set_boundary(None, None)
            case (
                Create(ProxyPrograms() | ProxyEntry() | ProxyHook())
                | Replace(_, ProxyPrograms() | ProxyEntry() | ProxyHook())
                | Delete(ProxyPrograms() | ProxyEntry() | ProxyHook())
            ):
                return self._writer.apply_proxy(action)
            case Delete(LinkMtu() | AdminState()):
                return None
            case Create(AdminState() as state) | Replace(_, AdminState() as state):
                return self._set_state(state)
            case Create(InterfaceAddress() as address):
                return self._put_address(address, wire.NLM_F_CREATE | wire.NLM_F_EXCL)
            case Replace(before, InterfaceAddress() as address) if before == address:
                return self._put_address(address, wire.NLM_F_CREATE | wire.NLM_F_REPLACE)
            case Replace(InterfaceAddress() as before, InterfaceAddress() as address):
                return self._move_address(before, address)
            case Delete(InterfaceAddress() as address):
                return self._delete_address(address)
            case Create(LinkMtu() as link) | Replace(_, LinkMtu() as link):
                return self._set_mtu(link)
            case Create(VrfPort() as port):
                return self._enslave(port, steal=False)
            case Replace(_, VrfPort() as port):
                return self._enslave(port, steal=True)
            case Delete(VrfPort() as port):
                return self._release(port)
            case Create(SidRoute() as route):
                return self._with_program(route, routes.CREATE)
            case Replace(before, SidRoute() as route) if _same_place(before, route):
                return self._with_program(route, routes.REPLACE)
            case Replace((Rule() | UnknownRule()) as before, Rule() as after):
                return self._move_rule(before, after)
            case Replace(before, (SidRoute() | UnreachableDefault() | UnreachableSid()) as after):
                return self._move(before, after)
            case Replace(before, (EncapRoute() | NextHopRoute()) as after):
                return self._move(before, after)
        self._devices.clear()
        self._stacked.forget()
        match action:
            case Create((DummyDevice() | VrfDevice() | VlanDevice()) as device):
                return self._create_link(device)
            case Replace(_, (DummyDevice() | VrfDevice() | VlanDevice()) as device):
                return self._replace_link(device)
            case Delete((DummyDevice() | VrfDevice() | VlanDevice() | UnknownLink()) as device):
                return self._delete_link(device.name)
        return _not_ours_to_write(action.object)

    def _one(self, request: bytes) -> Failure | None:
        return self._writer.send([request]).get(0)

    def _move_rule(self, before: Rule | UnknownRule, after: Rule) -> Failure | None:
        """The new rule stands behind the old one when that goes, in one send: a process that is
        killed leaves the one or the other."""
        failures = self._writer.send([rules.create_beside(after), rules.delete(before)])
        if 0 in failures:
            if isinstance(before, Rule) and 1 not in failures:
                self._one(rules.create_beside(before))
            return failures[0]
        gone = failures.get(1)
        return None if gone is None or gone.errno in _GONE else gone

    def _move(self, before: Object, after: routes.Route) -> Failure | None:
        """A route whose place in the kernel changes: the new one first, then the old."""
        if isinstance(after, SidRoute) and after.bpf_program is not None:
            failure = self._with_program(after, routes.CREATE)
        else:
            request = self._packed(Create(after))
            failure = self._one(request) if isinstance(request, bytes) else request
        return failure or self._away(before)

    def _away(self, before: Object) -> Failure | None:
        gone = self._packed(Delete(before))
        if not isinstance(gone, bytes):
            return _not_ours_to_write(before)
        failure = self._one(gone)
        return None if failure is None or failure.errno in _GONE else failure

    def _create_link(self, device: links.Device) -> Failure | None:
        """Make a device and mark it in one send: a process that is killed leaves both or none.

        The name is looked up first, since the second message would mark a stranger if the first
        one met it.
        """
        if (found := self._writer.link(device.name)) is not None:
            what = f"a {found.kind} device" if found.kind else "a device"
            message = f"{what} of this name is there already, which srv6mgr did not make"
            return Failure(errno.EEXIST, message)
        parent = 0
        if isinstance(device, VlanDevice):
            if (below := self._writer.link(device.parent)) is None:
                return Failure(errno.ENODEV, f"interface {device.parent} does not exist")
            parent = below.index
        failures = self._writer.send([links.create(device, parent), links.mark(device)])
        if 0 in failures:
            return failures[0]
        if 1 in failures:
            self._delete_link(device.name, forced=True)
            return failures[1]
        return None

    def _replace_link(self, device: links.Device) -> Failure | None:
        found = self._writer.link(device.name)
        if found is None:
            return self._create_link(device)
        if self._is_live(found, device):
            return self._one(links.mark(device))
        # vrf_changelink: a live VRF keeps its table; and no link changes its ifindex.
        if failure := self._one(links.delete(found.index)):
            return failure
        return self._create_link(device)

    def _delete_link(self, name: str, *, forced: bool = False) -> Failure | None:
        found = self._writer.link(name)
        if found is None:
            return None
        if not (found.ours or forced):
            return Failure(errno.EPERM, f"link {name} does not bear our alias")
        failure = self._one(links.delete(found.index))
        return None if failure is None or failure.errno in _GONE else failure

    def _is_live(self, found: Link, device: links.Device) -> bool:
        """Whether what stands there only lacks our mark or its administrative state."""
        if isinstance(device, DummyDevice):
            return found.kind == links.DUMMY
        if isinstance(device, VlanDevice):
            below = self._writer.link(device.parent)
            return below is not None and (found.parent, found.vlan) == (below.index, device.id)
        return found.kind == "vrf" and (found.table, found.index) == (device.table, device.ifindex)

    def _set_state(self, state: AdminState) -> Failure | None:
        if (link := self._writer.link(state.interface)) is None:
            return Failure(errno.ENODEV, f"interface {state.interface} does not exist")
        failure = self._one(links.set_up(link.index, up=state.up))
        if failure is None and link.up != state.up:
            self._stacked.changed(link)
        return failure

    def _put_address(self, address: InterfaceAddress, flags: int) -> Failure | None:
        if (link := self._writer.link(address.interface)) is None:
            return Failure(errno.ENODEV, f"interface {address.interface} does not exist")
        return self._one(addresses.put(address, link.index, flags))

    def _move_address(self, before: InterfaceAddress, after: InterfaceAddress) -> Failure | None:
        """Another prefix length: of IPv6 the old one has to go first (ipv6_chk_same_addr)."""
        if failure := self._delete_address(before):
            return failure
        failure = self._put_address(after, wire.NLM_F_CREATE | wire.NLM_F_EXCL)
        if failure is not None:
            self._put_address(before, wire.NLM_F_CREATE)
        return failure

    def _delete_address(self, address: InterfaceAddress) -> Failure | None:
        if (link := self._writer.link(address.interface)) is None:
            return None
        failure = self._one(addresses.delete(address, link.index))
        return None if failure is None or failure.errno in _GONE else failure

    def _enslave(self, port: VrfPort, *, steal: bool) -> Failure | None:
        link, vrf = self._writer.link(port.interface), self._writer.link(port.vrf)
        if link is None:
            return Failure(errno.ENODEV, f"interface {port.interface} does not exist")
        if vrf is None or vrf.kind != "vrf":
            return Failure(errno.ENODEV, f"VRF {port.vrf} does not exist")
        if link.master == vrf.index:
            return None
        if link.master and not steal:
            return Failure(errno.EBUSY, f"interface {port.interface} has another master")
        return self._set_master(link, vrf.index)

    def _set_mtu(self, wanted: LinkMtu) -> Failure | None:
        if (link := self._writer.link(wanted.interface)) is None:
            return Failure(errno.ENODEV, f"interface {wanted.interface} does not exist")
        return self._one(links.set_mtu(link.index, wanted.mtu))

    def _release(self, port: VrfPort) -> Failure | None:
        link, vrf = self._writer.link(port.interface), self._writer.link(port.vrf)
        if link is None or vrf is None or link.master != vrf.index:
            return None
        failure = self._set_master(link, 0)
        return None if failure is None or failure.errno in _GONE else failure

    def _set_master(self, link: Link, master: int) -> Failure | None:
        failure = self._one(links.set_master(link.index, master))
        if failure is None and link.up:  # cycle_netdev
            self._stacked.changed(link)
        return failure


def _same_place(before: Object, after: routes.Route) -> bool:
    return isinstance(before, routes.Route) and routes.place(before) == routes.place(after)


def _not_ours_to_write(obj: Object) -> Failure:
    if isinstance(obj, FrrBlock):
        return Failure(errno.EINVAL, "not an object of the kernel")
    return Failure(errno.EOPNOTSUPP, f"{obj.key} can't be put back: it was not of our making")
