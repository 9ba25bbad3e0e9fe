"""What goes with an interface that is created again, goes down, or enters or leaves a VRF, and has
to be put again though it was installed as declared. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.device import Device
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
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


def put_again(
    actions: Sequence[Action],
    wanted: Mapping[str, Object],
    observed: Mapping[str, ObservedObject],
) -> list[Action]:
    """Writes of objects that were installed as wanted and that these actions remove."""
    cycled = {a.object.interface for a in actions if isinstance(a.object, VrfPort)}
    states = [a.object for a in actions if isinstance(a.object, AdminState)]
    downed = {state.interface for state in states if not state.up}
    upped = {state.interface for state in states if state.up}
    anew = _devices(actions, Create) & _devices(actions, Delete)
    # The kernel makes it again where another one has its name: without our mark, as of somebody who
    # deleted ours.
    anew |= {
        a.object.name
        for a in actions
        if isinstance(a, Replace) and isinstance(a.object, Device) and not a.object.keeps(a.before)
    }
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
        return obj.lost_with in lost or not anew.isdisjoint(obj.hangs_on)

    return [
        Replace(obj, obj)
        for key, obj in wanted.items()
        if key in observed
        and key not in touched
        and observed[key].object == obj
        and goes_along(obj)
    ]


def _devices(actions: Sequence[Action], kind: type[Create | Delete]) -> set[str]:
    return {a.object.name for a in actions if isinstance(a, kind) and isinstance(a.object, Device)}


def stacked_on(names: set[str], wanted: Mapping[str, Object]) -> set[str]:
    """These interfaces and the VLANs above them."""
    found = set(names)
    vlans = [o for o in wanted.values() if isinstance(o, VlanDevice)] if names else []
    for vlan in sorted(vlans, key=lambda v: v.order):
        if vlan.parent in found:
            found.add(vlan.name)
    return found
