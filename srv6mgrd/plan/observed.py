"""The observed state of the kernel and of FRR, in the plan's terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from srv6mgrd.kinds.object import Object
from srv6mgrd.model.record import record


@record
class ObservedObject:
    """An observed object; ``ours`` says that it has our mark."""

    object: Object
    ours: bool


@dataclass(frozen=True, slots=True)
class Links:
    """All links: ifindex by name, and those on which packets from other nodes can come in for this
    one's own tables. ``down`` are those that are administratively down, ``bridged`` ports of a
    bridge, bond or the like by name, with that device. ``ours`` have our mark. ``stopped`` are
    down or have no carrier, which no plan depends on, nor on ``mtus``."""

    indexes: Mapping[str, int] = field(default_factory=dict)
    receivers: frozenset[str] = frozenset()
    down: frozenset[str] = frozenset()
    bridged: Mapping[str, str] = field(default_factory=dict)
    ours: frozenset[str] = frozenset()
    stopped: frozenset[str] = field(default=frozenset(), compare=False)
    mtus: Mapping[str, int] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Observed:
    """What the kernel holds of the kinds that srv6mgrd handles.

    ``objects`` by key: every VRF device, dummy of our name, VRF port, IPv6 rule that names a
    destination, leads into our table or ends packets, route in our SID table, unreachable default
    of a VRF table, plus the sysctls asked for; rules in the order in which the kernel asks them.
    ``interfaces`` are the names of all links, with their ifindex. ``overruled`` are the keys of
    sysctls that others make of no effect, with the words for it. ``changed`` are the keys of what
    may differ from the last time, gone included: all but routes of the SID table that
    no notification named. None: of all.
    """

    objects: Mapping[str, ObservedObject] = field(default_factory=dict)
    interfaces: Mapping[str, int] = field(default_factory=dict)
    overruled: Mapping[str, str] = field(default_factory=dict)
    changed: frozenset[str] | None = None
