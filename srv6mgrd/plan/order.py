"""The order of actions: which of them has to come before which."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import merge
from typing import TypeVar

from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.plan.actions import Action, Create, Delete, Replace

A = TypeVar("A", bound=Action)

# A sort holds every other thread, 100,000 actions for 0.3 s; so many for a few ms.
_SORTED_AT_ONCE = 5000


def in_order(actions: Sequence[Action]) -> list[Action]:
    """Dependencies are created first and removed last. New comes before old goes, except for
    what has to make room."""
    puts = [a for a in actions if not isinstance(a, Delete)]
    deletes = [a for a in actions if isinstance(a, Delete)]
    puts = _sorted(puts)
    deletes = _sorted(deletes)[::-1]
    early = _make_room(puts, deletes)
    first = {id(d) for d in early}
    return [*early, *puts, *(d for d in deletes if id(d) not in first)]


def _sorted(actions: Sequence[A]) -> list[A]:
    """By rank, order and key; other threads may run meanwhile."""
    parts = [
        sorted(actions[first : first + _SORTED_AT_ONCE], key=_order)
        for first in range(0, len(actions), _SORTED_AT_ONCE)
    ]
    return parts[0] if len(parts) == 1 else list(merge(*parts, key=_order))


def _order(action: Action) -> tuple[int, int, str]:
    obj: Object = action.object
    return obj.rank, obj.order, obj.key


def _make_room(puts: list[Create | Replace], deletes: list[Delete]) -> list[Delete]:
    """Removals that come first: what is put in again, the VRF on a table that another one takes,
    and what depends on them; interfaces that leave a VRF and would take what is put on them."""
    again = {a.object.key for a in puts}
    taken = {a.object.table for a in puts if isinstance(a.object, VrfDevice)}
    leaving = {
        d.object.name
        for d in deletes
        if isinstance(d.object, VrfDevice) and (d.object.table in taken or d.object.key in again)
    }
    # Also on a VLAN above the interface, which these actions need not name.
    losing = any(a.object.lost_with is not None for a in puts)
    tagged = {a.object.tag for a in puts if isinstance(a.object, VlanDevice)}
    # What leaves a VRF goes up again with the VLANs on it, which may be declared down.
    raising = any(isinstance(a.object, AdminState) for a in puts)
    # What is on them goes before them, so that undoing brings it back.
    devices = {
        d.object.name
        for d in deletes
        if isinstance(d.object, VlanDevice | DummyDevice)
        and (d.object.key in again or (isinstance(d.object, VlanDevice) and d.object.tag in tagged))
    }
    moving = any(a.object.takes_addresses for a in (*puts, *deletes))
    return [
        d
        for d in deletes
        if d.object.key in again
        or (isinstance(d.object, VrfPort) and (raising or losing))
        or (isinstance(d.object, VlanDevice) and d.object.name in devices)
        or not devices.isdisjoint(d.object.hangs_on)
        or (isinstance(d.object, InterfaceAddress) and moving)
        or (isinstance(d.object, FrrBlock) and leaving)
        or (isinstance(d.object, VrfPort) and d.object.vrf in leaving)
        or (isinstance(d.object, VrfDevice) and d.object.name in leaving)
    ]
