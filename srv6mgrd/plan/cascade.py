"""What goes with an interface that is created anew, goes down, or enters or leaves a VRF, and has
to be put again though it stood as declared. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.plan.link_objects import AdminState, InterfaceAddress, LinkMtu, VlanDevice
from srv6mgrd.plan.objects import (
    DummyDevice,
    EncapRoute,
    NextHopRoute,
    Object,
    ProxyEntry,
    ProxyHook,
    SidRoute,
    Sysctl,
    VrfDevice,
    VrfPort,
)
from srv6mgrd.plan.observed import ObservedObject


def is_made_anew(seen: ObservedObject, obj: Object) -> bool:
    """Whether a device of ours has to go before it can be as declared: parent and id of a VLAN
    can't be changed (vlan_changelink), nor can the kind of a device."""
    was = seen.object
    if not seen.ours or was == obj or not isinstance(obj, VlanDevice | DummyDevice):
        return False
    return isinstance(was, VlanDevice) or (
        isinstance(obj, VlanDevice) and isinstance(was, DummyDevice)
    )


def lost_by_cycling(obj: Object) -> str | None:
    """The interface that takes this object along when it goes down and up (cycle_netdev)."""
    match obj:
        case EncapRoute() | NextHopRoute():
            return obj.device
        case InterfaceAddress() if obj.is_link_local:
            return obj.interface
    return None


def put_again(
    actions: Sequence[Action],
    wanted: Mapping[str, Object],
    observed: Mapping[str, ObservedObject],
) -> list[Action]:
    """Writes of what stood as wanted and goes with what these actions do."""
    cycled = {a.object.interface for a in actions if isinstance(a.object, VrfPort)}
    states = [a.object for a in actions if isinstance(a.object, AdminState)]
    downed = {state.interface for state in states if not state.up}
    upped = {state.interface for state in states if state.up}
    anew = _devices(actions, Create) & _devices(actions, Delete)
    anew |= {d.name for a in actions if isinstance(a, Replace) and (d := _recreated(a)) is not None}
    if not (cycled or downed or upped or anew):
        return []
    touched = {a.object.key for a in actions}
    anew = stacked_on(anew, wanted)
    lost = stacked_on(cycled | downed, wanted)
    # A VLAN goes up with its parent, whatever it was before (vlan_device_event).
    raised = stacked_on(cycled | upped, wanted) - upped

    def goes_along(obj: Object) -> bool:
        if isinstance(obj, AdminState) and not obj.up and obj.interface in raised:
            return True
        return lost_by_cycling(obj) in lost or not anew.isdisjoint(on(obj))

    return [
        Replace(obj, obj)
        for key, obj in wanted.items()
        if key in observed
        and key not in touched
        and observed[key].object == obj
        and goes_along(obj)
    ]


def _devices(actions: Sequence[Action], kind: type[Create | Delete]) -> set[str]:
    return {
        a.object.name
        for a in actions
        if isinstance(a, kind) and isinstance(a.object, VlanDevice | DummyDevice | VrfDevice)
    }


def _recreated(action: Replace) -> VrfDevice | VlanDevice | DummyDevice | None:
    """The device that the kernel makes again, since another one has its name: without our mark, as
    of somebody who deleted ours (the adapter's ``_is_live``)."""
    match action.before, action.object:
        case VrfDevice() as was, VrfDevice() as vrf:
            return None if (was.table, was.ifindex) == (vrf.table, vrf.ifindex) else vrf
        case VlanDevice() as below, VlanDevice() as vlan:
            return None if (below.parent, below.id) == (vlan.parent, vlan.id) else vlan
        case DummyDevice(), DummyDevice():
            return None
        case _, (VrfDevice() | VlanDevice() | DummyDevice()) as device:
            return device
    return None


def stacked_on(names: set[str], wanted: Mapping[str, Object]) -> set[str]:
    """These interfaces and the VLANs above them."""
    found = set(names)
    vlans = [o for o in wanted.values() if isinstance(o, VlanDevice)] if names else []
    for vlan in sorted(vlans, key=lambda v: v.order):
        if vlan.parent in found:
            found.add(vlan.name)
    return found


def on(obj: Object) -> Iterator[str]:
    """The interfaces that an object hangs on; itself, of one stacked on another."""
    match obj:
        case VlanDevice():
            yield obj.parent
        case InterfaceAddress() | LinkMtu() | AdminState() | VrfPort() | ProxyHook():
            yield obj.interface
        case EncapRoute() | NextHopRoute():
            yield obj.device
        case SidRoute() if obj.interface is not None:
            yield obj.interface
        case ProxyEntry():
            yield obj.interface
            yield obj.return_interface
        case Sysctl():
            # net/ipv6/conf/NAME/...
            parts = obj.path.split("/")
            if parts[2:3] == ["conf"] and len(parts) > 3:
                yield parts[3]
