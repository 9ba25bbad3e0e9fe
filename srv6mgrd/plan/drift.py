"""How what stood differed from what shall stand, in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.plan.link_objects import AdminState, InterfaceAddress, LinkMtu
from srv6mgrd.plan.names import short_name
from srv6mgrd.plan.objects import (
    Boundary,
    EncapRoute,
    EncapSource,
    FrrBlock,
    NextHopRoute,
    Object,
    ProxyEntry,
    ProxyHook,
    ProxyPrograms,
    Sysctl,
    UnknownBoundary,
    UnknownLink,
    UnknownRoute,
    UnknownRule,
    VrfPort,
    without_secret,
)


def differences(actions: Iterable[Action]) -> dict[str, str]:
    """What each object's actions put right, by key. What was only made anew, since something else
    was, did not differ."""
    found: dict[str, Action] = {}
    for action in actions:
        key, before = action.object.key, found.get(action.object.key)
        if isinstance(before, Delete) and isinstance(action, Create):
            found[key] = Replace(before.object, action.object)
            if before.object == action.object:
                del found[key]
        elif not _went_along(action):
            found[key] = action
    return {key: difference(action) for key, action in found.items()}


def _went_along(action: Action) -> bool:
    """Whether it writes a value once more that an interface made anew, or cycled, had taken along
    (``cascade.put_again``)."""
    match action:
        case Replace(Sysctl() | AdminState() | LinkMtu() as was, obj):
            return was == obj
    return False


def difference(action: Action) -> str:
    """``SID route was deleted``, ``SID route: metric was 1, is 1024``."""
    match action:
        case Create(VrfPort() as port):
            return f"interface {port.interface} had left VRF {port.vrf}"
        case Replace(VrfPort() as was, VrfPort() as port):
            return f"interface {port.interface} was in VRF {was.vrf}, is in {port.vrf}"
        case Create(obj):
            return f"{short_name(obj)} was deleted"
        case Replace(Sysctl() as was, Sysctl() as value):
            return f"{short_name(value)} was {was.value}, is {value.value}"
        case Replace(EncapSource() as was, EncapSource() as source):
            return f"{short_name(source)} was {was.address}, is {source.address}"
        case Replace(AdminState(), AdminState() as state):
            return f"interface {state.interface} was {'down' if state.up else 'up'}"
        case Replace(InterfaceAddress() as was, InterfaceAddress() as address) if was == address:
            return f"{short_name(address)} went with its interface"
        case Replace(InterfaceAddress() as was, InterfaceAddress() as address):
            return f"{short_name(address)} had prefix length {was.address.network.prefixlen}"
        case Replace(LinkMtu() as was, LinkMtu() as link):
            return f"{short_name(link)} was {was.mtu}, is {link.mtu}"
        case Replace(FrrBlock() as was, FrrBlock() as block):
            return f"{short_name(block)} {_lines(was, block)}"
        case Replace(UnknownLink() | UnknownRoute() | UnknownRule() as was, obj):
            return f"{short_name(obj)} was {was.description}"
        case Replace(UnknownBoundary() as was, Boundary() as obj):
            return f"{short_name(obj)} was {was.description}"
        case Replace(ProxyPrograms(), obj):
            return f"{short_name(obj)} were incomplete, or of another version"
        case Replace(ProxyHook() as was, ProxyHook() as hook) if was.program == hook.program:
            return f"{short_name(hook)} ran another program"
        case Replace(ProxyEntry() as was, ProxyEntry() as entry) if not was.current:
            changes = f"; {_changes(replace(was, current=True), entry)}"
            more = changes if replace(was, current=True) != entry else ""
            return f"{short_name(entry)} did not fit its interface{more}"
        case Replace(EncapRoute() | NextHopRoute() as was, obj) if was == obj:
            return f"{short_name(obj)} went with its interface"
        case Replace(was, obj):
            return f"{short_name(obj)}: {_changes(was, obj)}"
        case Delete(obj):
            return f"{short_name(obj)} was there, though not declared"


def _changes(was: Object, obj: Object) -> str:
    if type(was) is not type(obj):
        return f"was {was.key}"
    changes = [
        f"{field.name.replace('_', ' ')} was {_text(old)}, is {_text(new)}"
        for field in fields(obj)
        if field.compare and (old := getattr(was, field.name)) != (new := getattr(obj, field.name))
    ]
    return "; ".join(changes) or "lacked our mark"


def _lines(was: FrrBlock, block: FrrBlock) -> str:
    lacking = [line for line in block.lines if line not in was.lines]
    more = [line for line in was.lines if line not in block.lines]
    kind, lines = ("lacked", lacking) if lacking else ("had", more)
    rest = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    return f"{kind} '{without_secret(lines[0])}'{rest}" if lines else "had another order"


def _text(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "on" if value else "off"
        case frozenset():
            return ",".join(sorted(map(str, value))) or "none"
        case tuple():
            return ",".join(map(str, value)) or "none"
    return str(value)
