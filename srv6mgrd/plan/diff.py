"""The one plan: what differs between target and observed, as ordered actions.

The same function serves commit, restart, repair and dry run.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.device import Device
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.plan import cascade
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.plan.observed import ObservedObject
from srv6mgrd.plan.order import in_order
from srv6mgrd.plan.shadow import Shadow, shadows


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something foreign is in the place of ``wanted``, or a foreign VRF has its table; it is
    not touched."""

    wanted: Object
    found: Object


@dataclass(frozen=True, slots=True)
class Plan:
    """``actions`` in the order to carry them out; ``shadows`` match before wanted objects, once
    they exist; ``staying`` are the keys of objects beside them that are left there. ``values`` put
    back what changes along with devices and ports, should that be undone."""

    actions: list[Action] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    shadows: list[Shadow] = field(default_factory=list)
    staying: frozenset[str] = frozenset()
    values: Sequence[Replace] = ()

    @property
    def unsettled(self) -> set[str]:
        """The keys of what is not as wanted, or not wanted."""
        differing = {action.object.key for action in self.actions}
        return differing.union(self.staying, (c.wanted.key for c in self.conflicts))


def plan(
    wanted: Mapping[str, Object],
    observed: Mapping[str, ObservedObject],
    owned: Container[str],
    named: Container[str] = (),
    some: Container[str] | None = None,
) -> Plan:
    """Actions that turn observed into wanted.

    ``owned`` are the keys of installed objects in the journal. Only what is both journaled and
    marked is removed; kinds without a mark go by the journal. ``named`` are all its keys, whatever
    is there now. ``some`` are the keys that are looked at, if not all: SID routes may be left
    out that are known to be as wanted; all other kinds matter to others.
    """
    everything = wanted
    if some is not None:
        wanted = {key: obj for key, obj in wanted.items() if key in some}
        observed = {key: seen for key, seen in observed.items() if key in some}
    actions: list[Action] = []
    conflicts: list[Conflict] = []
    beside = {key: seen for key, seen in observed.items() if key not in wanted}
    removable = {key for key, seen in beside.items() if key in owned and _ours(seen)}
    leaving = _leaving(wanted, observed, removable)
    foreign = {
        seen.object.table: seen.object
        for key, seen in beside.items()
        if isinstance(seen.object, VrfDevice) and key not in removable
    }
    for key, obj in wanted.items():
        seen = observed.get(key)
        # Mostly it is the very object (Target.meet): a comparison is several times dearer.
        same = (
            seen is not None
            and (seen.object is obj or seen.object == obj)
            and (seen.ours or not (obj.needs_mark and key in owned))
        )
        if same and not leaving:
            continue
        if (other := foreign.get(obj.vrf_table or 0)) and not same:
            conflicts.append(Conflict(obj, other))
        elif seen is None:
            actions.append(Create(obj))
        elif _goes_first(seen, leaving) or cascade.is_made_anew(seen, obj):
            actions += [Delete(seen.object), Create(obj)]
        elif same:
            continue
        elif isinstance(seen.object, VrfPort) and not (
            key in named or _is_ours(seen.object.vrf, wanted, observed)
        ):
            conflicts.append(Conflict(obj, seen.object))
        elif isinstance(obj, Rule) and key in owned and not seen.ours:
            # It stays where it is: a deletion of ours would not hit it, nor an undo bring it back.
            actions.append(Create(obj))
        elif seen.ours or key in owned or not obj.bears_mark:
            actions.append(Replace(_ordered(seen.object, obj), obj))
        else:
            conflicts.append(Conflict(obj, seen.object))
    actions += [Delete(observed[key].object) for key in removable]
    actions += cascade.put_again(actions, wanted, observed)
    staying = {key: seen.object for key, seen in beside.items() if key not in removable}
    in_front = list(shadows(everything, observed, staying))
    values = [value for key, value in _values(beside, actions) if key in named]
    values += _lowered(actions, observed)
    return Plan(in_order(actions), conflicts, in_front, frozenset(staying), values)


def _values(
    beside: Mapping[str, ObservedObject], actions: Sequence[Action]
) -> Iterator[tuple[str, Replace]]:
    """Of devices that are removed or made again, as they are now, by key."""
    devices = {
        a.object.name: a.object.order
        for a in actions
        if isinstance(a, Delete) and isinstance(a.object, Device)
    }
    for key, seen in beside.items():
        value = seen.object
        if isinstance(value, LinkMtu | AdminState) and value.interface in devices:
            value = replace(value, order=devices[value.interface])
            yield key, Replace(value, value)


def _lowered(
    actions: Sequence[Action], observed: Mapping[str, ObservedObject]
) -> Iterator[Replace]:
    """VLANs that are down, above interfaces that these actions, or undoing them, set up."""
    touched = {a.object.interface for a in actions if isinstance(a.object, AdminState | VrfPort)}
    found = {key: seen.object for key, seen in observed.items()} if touched else {}
    above = cascade.stacked_on(touched, found) - touched
    for name in above:
        vlan, state = found.get(f"link {name}"), found.get(AdminState(name, up=False).key)
        if isinstance(vlan, VlanDevice) and isinstance(state, AdminState) and not state.up:
            down = replace(state, order=vlan.order)
            yield Replace(down, down)


def _ours(seen: ObservedObject) -> bool:
    """Whether what the journal names may be removed."""
    return not seen.object.is_kept and (seen.ours or not seen.object.bears_mark)


def _is_ours(vrf: str, wanted: Container[str], observed: Mapping[str, ObservedObject]) -> bool:
    """Whether an interface may be taken out of this VRF because it is one of ours."""
    key = f"link {vrf}"
    return key in wanted or (key in observed and observed[key].ours)


def _leaving(
    wanted: Mapping[str, Object], observed: Mapping[str, ObservedObject], removable: Container[str]
) -> set[str]:
    """VRFs whose device goes before others come. Table and ifindex of a VRF can't be changed in
    place (vrf_changelink: EOPNOTSUPP), and a table has to be free before another VRF takes it
    (strict_mode)."""
    taken = {obj.table for obj in wanted.values() if isinstance(obj, VrfDevice)}
    names = set()
    for key, seen in observed.items():
        vrf, obj = seen.object, wanted.get(key)
        if isinstance(vrf, VrfDevice) and (
            (key in removable and vrf.table in taken)
            or (isinstance(obj, VrfDevice) and not obj.keeps(vrf))
        ):
            names.add(vrf.name)
    return names


def _ordered(before: Object, obj: Object) -> Object:
    """Undone in the same order: VLANs after their parents."""
    if isinstance(before, LinkMtu) and isinstance(obj, LinkMtu):
        return replace(before, order=obj.order)
    if isinstance(before, AdminState) and isinstance(obj, AdminState):
        return replace(before, order=obj.order)
    return before


def _goes_first(seen: ObservedObject, leaving: Container[str]) -> bool:
    """Whether this is a VRF that leaves, or a port that has to be put in again because of it."""
    obj = seen.object
    if isinstance(obj, VrfPort):
        return obj.vrf in leaving
    return isinstance(obj, VrfDevice) and obj.name in leaving and seen.ours
