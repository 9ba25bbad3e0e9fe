"""FakeKernel: ports.Kernel in memory, with the rules of the real one that matter to a plan."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network

from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.boundary.object import UnknownBoundary
from srv6mgrd.kinds.chain.object import ClassifierHook
from srv6mgrd.kinds.device import UnknownLink
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.l3mdev_rule.object import L3mdevRule
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.proxy.object import ProxyEntry, ProxyHook
from srv6mgrd.kinds.route import Family, UnknownRoute
from srv6mgrd.kinds.rule import kernel as rules
from srv6mgrd.kinds.rule.object import Rule, UnknownRule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.accounting import Accounted
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.chain_state import ChainCounts
from srv6mgrd.model.chains import FunctionState
from srv6mgrd.model.proxy_state import ProxyCounts, ProxyState
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.plan.observed import Links, Observed, ObservedObject
from srv6mgrd.ports import RejectedAction

STRICT_MODE = "net/vrf/strict_mode"
# Of a link unless it was set, and of a VRF (vrf_setup).
MTU, VRF_MTU = 1500, 65575
NEW_PROXY = ProxyState(ProxyCounts())
_LINKS = (DummyDevice, VrfDevice, VlanDevice, UnknownLink)
# Routes, which go with their device.
_ON_DEVICE = (SidRoute, EncapRoute, NextHopRoute)


class Crash(BaseException):
    """The process dies here: nothing after it runs, as with SIGKILL."""


@dataclass(frozen=True, slots=True)
class _Rejection:
    predicate: Callable[[Action], bool]
    failure: Failure


class FakeKernel:
    """``objects`` is what is installed, by key; change it freely, that is what operators do.

    ``interfaces`` are links that are neither VRF nor dummy of ours: name to ifindex.
    """

    def __init__(self, interfaces: Mapping[str, int] | None = None) -> None:
        self.objects: dict[str, ObservedObject] = {}
        self.interfaces: dict[str, int] = {"lo": 1, **(interfaces or {})}
        self.sysctls: dict[str, str] = {STRICT_MODE: "0"}
        # Of links that have another one than their kind.
        self.mtus: dict[str, int] = {"lo": 65536}
        # Links that are administratively down.
        self.down: set[str] = set()
        self.counters: dict[IPv6Network, tuple[int, int, int]] = {}
        self.proxy_states: dict[IPv6Network, ProxyState] = {}
        self.chains = ChainCounts()
        self.applied: list[Action] = []
        # Static routes of FRR that were removed, with their tables.
        self.cleared: list[tuple[int, str]] = []
        self._writes = 0
        self._rejections: list[_Rejection] = []
        self._crash_after: int | None = None
        self._next_index = 100
        self._had_vrf = False
        # Families whose l3mdev rule is there: from the first VRF on, until somebody flushes it.
        self.l3mdev_rules: set[Family] = set()
        # The VRF ifindex that End.DT4/DT46 remember from when they were built.
        self._bound: dict[str, int] = {}
        # What was installed at the last ``observe``; None: everything may be otherwise.
        self._seen: dict[str, ObservedObject] | None = None
        # Rules of others that were at the place of one of ours before it, by the key of that.
        self._beside: dict[str, ObservedObject] = {}

    @property
    def writes(self) -> int:
        return self._writes

    # Scripting.

    def reject(
        self, predicate: Callable[[Action], bool], number: int = errno.EINVAL, message: str = ""
    ) -> None:
        """Reject every action that the predicate is true for."""
        self._rejections.append(_Rejection(predicate, Failure.of(number, message)))

    def accept_all(self) -> None:
        """Forget what ``reject`` said."""
        self._rejections.clear()

    def crash_after(self, count: int | None) -> None:
        """Raise Crash after that many further actions were carried out; None: don't."""
        self._crash_after = count

    def add_foreign(self, obj: Object) -> None:
        """Something that is there without our mark."""
        self.put(obj, ours=False)

    def put(self, obj: Object, *, ours: bool = True) -> None:
        """Something that is there, not counted as a write and not checked."""
        if isinstance(obj, Sysctl):
            self.sysctls[obj.path] = obj.value
            return
        self.objects[obj.key] = ObservedObject(obj, ours and obj.bears_mark)
        if isinstance(obj, SidRoute):
            self._built(obj)
        elif isinstance(obj, DummyDevice | VrfDevice | VlanDevice | UnknownLink):
            self._add_link(obj)

    def remove(self, key: str) -> None:
        """Take something away behind the daemon's back, with all that the kernel takes with it."""
        for family in (4, 6):
            if key == L3mdevRule(family).key:
                self.l3mdev_rules.remove(family)
                return
        self._remove(self.objects[key].object)

    def forwards(self, sid: SidRoute) -> bool:
        """Whether the SID passes packets: it is there, and so is the VRF it was built on."""
        seen = self.objects.get(sid.key)
        if seen is None or not isinstance(seen.object, SidRoute):
            return False
        if seen.object.action not in (Behavior.END_DT4, Behavior.END_DT46):
            return True
        vrf = self._vrf_on(seen.object.vrf_table)
        return vrf is not None and self._bound.get(sid.key) == vrf.ifindex

    # ports.Kernel.

    def links(self) -> Links:
        ours = {
            seen.object.name for seen in self.objects.values() if isinstance(seen.object, _LINKS)
        }
        others = frozenset(self.interfaces.keys() - ours - {"lo"})
        marked = frozenset(name for name in ours if self.objects[f"link {name}"].ours)
        return Links(dict(self.interfaces), others, frozenset(self.down), ours=marked)

    def force_full_resync(self) -> None:
        self._seen = None

    def observe(self, sysctls: Iterable[str]) -> Observed:
        # Of routes outside the SID table the kernel is asked for ours alone.
        objects = {
            key: seen
            for key, seen in self.objects.items()
            if seen.ours or not isinstance(seen.object, EncapRoute | NextHopRoute)
        }
        for path in sysctls:
            if (value := self.sysctls.get(path)) is not None:
                item = Sysctl(path, value)
                objects[item.key] = ObservedObject(item, ours=False)
        for family in self.l3mdev_rules:
            rule = L3mdevRule(family)
            objects[rule.key] = ObservedObject(rule, ours=False)
        for name in self.interfaces:
            mtu = LinkMtu(name, self._mtu(name))
            objects[mtu.key] = ObservedObject(mtu, ours=False)
            state = AdminState(name, name not in self.down)
            objects[state.key] = ObservedObject(state, ours=False)
        before, self._seen = self._seen, objects
        changed = None if before is None else frozenset(_changed(before, objects))
        return Observed(objects, dict(self.interfaces), changed=changed)

    def sid_counters(self) -> Mapping[IPv6Network, tuple[int, int, int]]:
        return {
            seen.object.prefix: self.counters.get(seen.object.prefix, (0, 0, 0))
            for seen in self.objects.values()
            if seen.ours
            and (
                isinstance(seen.object, ProxyEntry)
                or (isinstance(seen.object, SidRoute) and seen.object.counters)
            )
        }

    def chain_counts(self) -> ChainCounts:
        return self.chains

    def function_states(self) -> Mapping[str, FunctionState]:
        return {}

    def accounted(self, lists: Iterable[Sequence[IPv6Address]] = ()) -> Accounted:
        return Accounted()

    def proxies(self) -> Mapping[IPv6Network, ProxyState]:
        return {
            seen.object.prefix: self.proxy_states.get(seen.object.prefix, NEW_PROXY)
            for seen in self.objects.values()
            if isinstance(seen.object, ProxyEntry)
        }

    def apply(self, actions: Sequence[Action]) -> list[RejectedAction]:
        rejected = []
        for action in actions:
            if self._crash_after == 0:
                self._crash_after = None
                raise Crash
            self._writes += 1
            failure = self._scripted(action) or self._carry_out(action)
            if failure is not None:
                rejected.append(RejectedAction(action, failure.errno, failure.message))
                continue
            self.applied.append(action)
            if self._crash_after is not None:
                self._crash_after -= 1
        if self._crash_after == 0:
            self._crash_after = None
            raise Crash
        return rejected

    def clear_static_routes(
        self, table: int, prefixes: Sequence[IPv4Network | IPv6Network]
    ) -> None:
        self.cleared += [(table, str(prefix)) for prefix in prefixes]

    def _scripted(self, action: Action) -> Failure | None:
        for rejection in self._rejections:
            if rejection.predicate(action):
                return rejection.failure
        return None

    def _carry_out(self, action: Action) -> Failure | None:
        obj = action.object
        if isinstance(obj, FrrBlock):
            return Failure.of(errno.EINVAL, "not an object of the kernel")
        if isinstance(action, Delete):
            return self._delete(obj)
        if isinstance(obj, UnknownBoundary | UnknownLink | UnknownRule | UnknownRoute):
            return Failure.of(errno.EOPNOTSUPP, f"{obj.key} can't be put back")
        if isinstance(obj, Sysctl):
            return self._sysctl(obj)
        if isinstance(obj, LinkMtu):
            return self._set_mtu(obj)
        if isinstance(obj, AdminState):
            return self._set_state(obj)
        if isinstance(obj, L3mdevRule):
            self.l3mdev_rules.add(obj.family)
            return None
        if isinstance(action, Create) and (failure := self._occupied(obj)):
            return failure
        if failure := self._check(obj):
            return failure
        if isinstance(action, Replace) and isinstance(obj, VrfDevice):
            seen = self.objects.get(obj.key)
            if seen is not None and not _same_vrf(seen.object, obj):
                # The kernel can't change it in place: out with it, and all that needs it.
                self._remove(seen.object)
        self._place(obj)
        return None

    def _mtu(self, name: str) -> int:
        seen = self.objects.get(f"link {name}")
        is_vrf = seen is not None and isinstance(seen.object, VrfDevice)
        return self.mtus.get(name, VRF_MTU if is_vrf else MTU)

    def _set_mtu(self, wanted: LinkMtu) -> Failure | None:
        if wanted.interface not in self.interfaces:
            return Failure(errno.ENODEV, f"interface {wanted.interface} does not exist")
        self.mtus[wanted.interface] = wanted.mtu
        return None

    def _set_state(self, wanted: AdminState) -> Failure | None:
        if wanted.interface not in self.interfaces:
            return Failure(errno.ENODEV, f"interface {wanted.interface} does not exist")
        if not wanted.up:
            self.set_down(wanted.interface)
            return None
        seen = self.objects.get(f"link {wanted.interface}")
        if seen and isinstance(seen.object, VlanDevice) and seen.object.parent in self.down:
            return Failure.of(errno.ENETDOWN)
        self.set_up(wanted.interface)
        return None

    def set_up(self, interface: str) -> None:
        """It goes up, with the VLANs on it (vlan_device_event)."""
        self.down.discard(interface)
        for vlan in self._vlans_on(interface):
            self.set_up(vlan.name)

    def set_down(self, interface: str) -> None:
        """It goes down, with the VLANs on it and link-local addresses (addrconf_ifdown)."""
        self.down.add(interface)
        self._take_down(interface)
        for vlan in self._vlans_on(interface):
            self.set_down(vlan.name)

    def _vlans_on(self, interface: str) -> list[VlanDevice]:
        found = (seen.object for seen in self.objects.values())
        return [o for o in found if isinstance(o, VlanDevice) and o.parent == interface]

    def _occupied(self, obj: Object) -> Failure | None:
        if isinstance(obj, VrfPort):
            seen = self.objects.get(obj.key)
            if seen is None or seen.object == obj:
                return None
            return Failure(errno.EBUSY, f"interface {obj.interface} has another master")
        if isinstance(obj, EncapSource):
            return None
        if isinstance(obj, DummyDevice | VrfDevice | VlanDevice) and obj.name in self.interfaces:
            return Failure.of(errno.EEXIST)
        if isinstance(obj, VlanDevice) and any(
            other.id == obj.id for other in self._vlans_on(obj.parent)
        ):
            return Failure(errno.EEXIST, "VLAN device already exists")
        seen = self.objects.get(obj.key)
        if seen is None or (isinstance(obj, Rule) and not seen.ours and seen.object != obj):
            return None
        return Failure.of(errno.EEXIST)

    def _check(self, obj: Object) -> Failure | None:
        if isinstance(obj, SidRoute):
            return self._check_sid(obj)
        if isinstance(obj, EncapRoute | NextHopRoute):
            return self._check_device(obj.device)
        if isinstance(obj, VrfDevice):
            other = self._vrf_on(obj.table)
            if other is not None and other.name != obj.name and self._strict:
                return Failure(errno.EBUSY, "Table is used by another VRF")
            taken = {i: n for n, i in self.interfaces.items()}.get(obj.ifindex, obj.name)
            if taken != obj.name:
                return Failure.of(errno.EBUSY)
        if isinstance(obj, VlanDevice):
            return self._check_device(obj.parent)
        if isinstance(obj, InterfaceAddress):
            return self._check_device(obj.interface)
        if isinstance(obj, VrfPort):
            if obj.interface not in self.interfaces:
                return Failure(errno.ENODEV, f"interface {obj.interface} does not exist")
            vrf = self.objects.get(f"link {obj.vrf}")
            if vrf is None or not isinstance(vrf.object, VrfDevice):
                return Failure(errno.ENODEV, f"VRF {obj.vrf} does not exist")
        return None

    def _check_sid(self, sid: SidRoute) -> Failure | None:
        for device in filter(None, (sid.device, sid.interface)):
            if failure := self._check_device(device):
                return failure
        if sid.vrf_table is not None:
            if not self._strict:
                return Failure(errno.EPERM, "Strict mode for VRF is disabled")
            if self._vrf_on(sid.vrf_table) is None:
                return Failure(errno.ENODEV, "Table has no associated VRF device")
        return None

    def _check_device(self, device: str) -> Failure | None:
        if device in self.interfaces:
            return None
        return Failure(errno.ENODEV, f"device {device} does not exist")

    def _sysctl(self, value: Sysctl) -> Failure | None:
        if value.path == STRICT_MODE and value.value == "1":
            seen = (s.object for s in self.objects.values())
            tables = [o.table for o in seen if isinstance(o, VrfDevice)]
            if len(tables) != len(set(tables)):
                return Failure(errno.EBUSY, "two VRF devices share a table")
        self.sysctls[value.path] = value.value
        return None

    def _place(self, obj: Object) -> None:
        if isinstance(obj, SidRoute):
            # Any replace makes a new action with counters at zero, identical or not.
            self.counters.pop(obj.prefix, None)
            self._built(obj)
        if isinstance(obj, VrfPort) and obj.key in self.objects:
            if self.objects[obj.key].object == obj:
                return
            self._remove(self.objects[obj.key].object)
        if isinstance(obj, Rule):
            self._make_way(obj)
        self.objects[obj.key] = ObservedObject(obj, obj.bears_mark)
        if isinstance(obj, VrfPort):
            self._cycle(obj.interface)
        if isinstance(obj, DummyDevice | VrfDevice | VlanDevice):
            self._add_link(obj)

    def _make_way(self, rule: Rule) -> None:
        """A rule of somebody else's at the same place stays, and is asked first."""
        seen = self.objects.get(rule.key)
        if seen is not None and not seen.ours:
            assert isinstance(seen.object, Rule | UnknownRule)
            other = rules.further(seen.object, self.objects)
            self._beside[rule.key] = self.objects.pop(rule.key)
            self.objects[other.key] = ObservedObject(other, ours=False)

    def _built(self, sid: SidRoute) -> None:
        vrf = self._vrf_on(sid.vrf_table)
        self._bound[sid.key] = vrf.ifindex if vrf else 0

    def _add_link(self, obj: DummyDevice | VrfDevice | VlanDevice | UnknownLink) -> None:
        if isinstance(obj, VlanDevice) and obj.name not in self.interfaces:
            self.down.add(obj.name)
        if isinstance(obj, VrfDevice):
            self.interfaces[obj.name] = obj.ifindex
            if not self._had_vrf:  # vrf_add_fib_rules
                self._had_vrf = True
                self.l3mdev_rules.update((4, 6))
        elif obj.name not in self.interfaces:
            self._next_index += 1
            self.interfaces[obj.name] = self._next_index

    def _delete(self, obj: Object) -> Failure | None:
        if obj.is_kept:
            return None
        seen = self.objects.get(obj.key)
        if seen is None:
            return None
        if isinstance(obj, VrfPort) and seen.object != obj:
            return None
        if not (seen.ours or not obj.bears_mark):
            if isinstance(obj, _LINKS):
                return Failure(errno.EPERM, f"link {obj.name} does not have our alias")
            # A deletion names our protocol: the foreign one is not hit.
            return None
        self._remove(seen.object)
        return None

    def _remove(self, obj: Object) -> None:
        self.objects.pop(obj.key, None)
        if isinstance(obj, UnknownRule):
            self._beside.pop(Rule(obj.priority, obj.to, 0).key, None)
        elif isinstance(obj, Rule) and (other := self._beside.pop(obj.key, None)) is not None:
            assert isinstance(other.object, Rule | UnknownRule)
            del self.objects[rules.further(other.object, ()).key]
            self.objects[obj.key] = other
        if isinstance(obj, SidRoute):
            self.counters.pop(obj.prefix, None)
            self._bound.pop(obj.key, None)
        if isinstance(obj, VrfPort):
            self._cycle(obj.interface)
        if isinstance(obj, _LINKS):
            self.interfaces.pop(obj.name, None)
            self.mtus.pop(obj.name, None)
            self.down.discard(obj.name)
            for seen in list(self.objects.values()):
                other = seen.object
                if (
                    (isinstance(other, _ON_DEVICE) and other.device == obj.name)
                    or (isinstance(other, VrfPort) and obj.name in (other.vrf, other.interface))
                    or (
                        isinstance(other, ProxyHook | ClassifierHook | InterfaceAddress)
                        and other.interface == obj.name
                    )
                    or (isinstance(other, VlanDevice) and other.parent == obj.name)
                ):
                    self._remove(other)

    def _cycle(self, interface: str) -> None:
        """An interface that enters or leaves a VRF goes down and up (cycle_netdev), with the VLANs
        on it."""
        if interface in self.down:
            return
        self.set_down(interface)
        self.set_up(interface)

    def _take_down(self, interface: str) -> None:
        for seen in list(self.objects.values()):
            if isinstance(seen.object, InterfaceAddress) and (
                seen.object.is_link_local and seen.object.interface == interface
            ):
                self._remove(seen.object)
            if isinstance(seen.object, _ON_DEVICE) and seen.object.device == interface:
                self._remove(seen.object)

    def add_interface(self, name: str, index: int) -> None:
        """An interface comes."""
        self.interfaces[name] = index

    def remove_interface(self, name: str) -> None:
        """An interface goes away; its VRF port and the routes on it go with it."""
        self._remove(UnknownLink(name, ""))

    @property
    def _strict(self) -> bool:
        return self.sysctls.get(STRICT_MODE) == "1"

    def _vrf_on(self, table: int | None) -> VrfDevice | None:
        for name in self.interfaces:
            seen = self.objects.get(f"link {name}")
            if seen and isinstance(seen.object, VrfDevice) and seen.object.table == table:
                return seen.object
        return None


def _changed(
    before: Mapping[str, ObservedObject], now: Mapping[str, ObservedObject]
) -> Iterator[str]:
    for key in before.keys() | now.keys():
        was, seen = before.get(key), now.get(key)
        if was != seen or seen is None or not isinstance(seen.object, SidRoute):
            yield key


def _same_vrf(before: Object, after: VrfDevice) -> bool:
    return isinstance(before, VrfDevice) and (before.table, before.ifindex) == (
        after.table,
        after.ifindex,
    )
