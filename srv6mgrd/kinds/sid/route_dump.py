"""Dumps of the SID table, decoded row by row.

A hundred thousand SIDs have a handful of message layouts (rt6_fill_node writes attributes in a
fixed order). The first message of each layout is walked attribute by attribute; from it a template
is made that unpacks all others of that layout in bulk, after comparing every byte that is not one
of the values that distinguish SIDs. A route that fits none is walked again.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from srv6mgrd.kinds.sid import seg6local
from srv6mgrd.kinds.sid.seg6local import PLAIN, Extras
from srv6mgrd.netlink import wire

# packets, bytes, errors
Counters = tuple[int, int, int]
NOTHING: Counters = (0, 0, 0)
_BODY = wire.NLMSGHDR.size + wire.RTMSG.size
# Attributes of a SID route as we write it and the kernel returns it.
_SID_ATTRIBUTES = frozenset(
    {
        wire.RTA_DST,
        wire.RTA_TABLE,
        wire.RTA_PRIORITY,
        wire.RTA_OIF,
        wire.RTA_ENCAP,
        wire.RTA_ENCAP_TYPE,
        wire.RTA_CACHEINFO,
        wire.RTA_PREF,
    }
)
_COUNTERS = {
    wire.SEG6_LOCAL_CNT_PACKETS: "packets",
    wire.SEG6_LOCAL_CNT_BYTES: "bytes",
    wire.SEG6_LOCAL_CNT_ERRORS: "errors",
}
# Attributes whose values distinguish SIDs of one layout, by their names in Row and struct codes.
_VARYING = {
    wire.SEG6_LOCAL_ACTION: ("action", "I"),
    wire.SEG6_LOCAL_TABLE: ("lookup_table", "I"),
    wire.SEG6_LOCAL_NH4: ("next_hop", "4s"),
    wire.SEG6_LOCAL_NH6: ("next_hop", "16s"),
    wire.SEG6_LOCAL_OIF: ("interface", "I"),
    wire.SEG6_LOCAL_VRFTABLE: ("vrf_table", "I"),
}
_HEAD = struct.Struct("=IH").unpack_from
# Layouts of one length that are tried: as many devices as one router's SIDs usually have.
_LAYOUTS = 16


Get = Callable[[tuple[Any, ...]], Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One route: what distinguishes SIDs. None: the attribute is not there; ``extras`` is what all
    routes of a layout share; ``unknown`` says what we don't model, empty when all is modelled."""

    address: bytes
    length: int
    protocol: int
    metric: int
    oif: int
    table: int
    action: int = 0
    vrf_table: int | None = None
    lookup_table: int | None = None
    next_hop: bytes | None = None
    interface: int | None = None
    counters: Counters | None = None
    extras: Extras = PLAIN
    unknown: str = ""


def decode(message: memoryview) -> Row:
    """Walk one RTM_NEWROUTE, netlink header included."""
    family, length, source, tos, table, protocol, scope, kind, _ = wire.RTMSG.unpack_from(
        message, wire.NLMSGHDR.size
    )
    found = wire.attribute_map(message, _BODY)
    address = bytes(found.get(wire.RTA_DST, bytes(16 if family == socket.AF_INET6 else 4)))
    values, counters, extras, doubts = _encap(found)
    more = found.keys() - _SID_ATTRIBUTES
    if kind != wire.RTN_UNICAST or scope or tos or source:
        doubts.append(f"type {kind} scope {scope} tos {tos} from /{source}")
    if more:
        doubts.append("attributes " + " ".join(map(str, sorted(more))))
    if wire.RTA_PREF in found and found[wire.RTA_PREF][0]:
        doubts.append(f"preference {found[wire.RTA_PREF][0]}")
    if wire.RTA_CACHEINFO in found and wire.u32(found[wire.RTA_CACHEINFO][8:12]):
        doubts.append("expires")
    return Row(
        address=address,
        length=length,
        protocol=protocol,
        metric=wire.u32(found[wire.RTA_PRIORITY]) if wire.RTA_PRIORITY in found else 0,
        oif=wire.u32(found[wire.RTA_OIF]) if wire.RTA_OIF in found else 0,
        table=wire.u32(found[wire.RTA_TABLE]) if wire.RTA_TABLE in found else table,
        counters=counters,
        extras=extras,
        unknown=", ".join(doubts),
        **values,
    )


def _encap(
    found: Mapping[int, memoryview],
) -> tuple[dict[str, Any], Counters | None, Extras, list[str]]:
    """Values, counters and extras of a seg6local encapsulation, and what we don't model in it."""
    if (
        wire.RTA_ENCAP not in found
        or wire.RTA_ENCAP_TYPE not in found
        or wire.u16(found[wire.RTA_ENCAP_TYPE]) != wire.LWTUNNEL_ENCAP_SEG6_LOCAL
    ):
        return {}, None, PLAIN, ["not seg6local"]
    inner = wire.attribute_map(found[wire.RTA_ENCAP])
    values = {
        name: bytes(inner[kind]) if form.endswith("s") else wire.u32(inner[kind])
        for kind, (name, form) in _VARYING.items()
        if kind in inner
    }
    counters: Counters | None = None
    if wire.SEG6_LOCAL_COUNTERS in inner:
        counts = wire.attribute_map(inner[wire.SEG6_LOCAL_COUNTERS])
        if all(k in counts for k in _COUNTERS):
            packets, octets, errors = (wire.u64(counts[k]) for k in _COUNTERS)
            counters = packets, octets, errors
    extras, more = seg6local.unpack_extras(inner)
    return values, counters, extras, seg6local.doubts(inner) + more


@dataclass(frozen=True, slots=True)
class Template:
    """Unpacks messages of one layout. ``fixed(values) == expected`` says that a message has it:
    same device, metric, protocol and attributes; address, length, action, tables, next hop and
    interface vary."""

    unpack: struct.Struct
    fixed: Get
    expected: tuple[bytes, ...]
    prefix: Get
    counters: Get
    identity: Get
    action: Get
    modelled: frozenset[int]
    optional: tuple[str, ...]
    sample: Row

    @property
    def shared(self) -> tuple[object, ...]:
        """What all routes of this template have in common."""
        row = self.sample
        return row.protocol, row.metric, row.oif, row.table, row.extras, self.optional

    def row(self, values: tuple[Any, ...]) -> Row:
        address, length, action, *more = self.identity(values)
        same = self.sample
        return Row(
            address,
            length,
            same.protocol,
            same.metric,
            same.oif,
            same.table,
            action,
            counters=self.counters(values),
            extras=same.extras,
            **dict(zip(self.optional, more, strict=True)),
        )


def make_template(message: memoryview) -> Template | None:
    """A template from a message that ``decode`` models entirely, with all values in place."""
    row = decode(message)
    places = _places(message)
    # What runs a program is compared with what is pinned each time (sid_table). A route without
    # counters is not one of ours. There are few of both.
    if row.unknown or row.extras.bpf_program is not None:
        return None
    if not {"address", "action", *_COUNTERS.values()} <= places.keys():
        return None
    # The length of the prefix varies, and the flags, which are the state of the device.
    places["length"] = wire.NLMSGHDR.size + 1, "B"
    places["flags"] = wire.NLMSGHDR.size + 8, "4x"
    code, at = "=", 0
    names: list[str] = []
    expected: list[bytes] = []
    end = len(message), ""
    for name, (start, form) in [*sorted(places.items(), key=lambda i: i[1]), ("", end)]:
        if start > at:
            code += f"{start - at}s"
            names.append("")
            expected.append(bytes(message[at:start]))
        code += form
        if name and name != "flags":
            names.append(name)
        at = start + struct.calcsize("=" + form)
    index = {name: i for i, name in enumerate(names) if name}
    optional = tuple(sorted({n for n, _ in _VARYING.values()} & index.keys() - {"action"}))
    identity = ["address", "length", "action", *optional]
    return Template(
        unpack=struct.Struct(code),
        fixed=itemgetter(*(i for i, name in enumerate(names) if not name)),
        expected=tuple(expected),
        prefix=itemgetter(index["address"], index["length"]),
        counters=itemgetter(*(index[name] for name in _COUNTERS.values())),
        identity=itemgetter(*(index[name] for name in identity)),
        action=itemgetter(index["action"]),
        modelled=_modelled(message),
        optional=optional,
        sample=row,
    )


def _modelled(message: memoryview) -> frozenset[int]:
    """The actions that a message of this layout may have."""
    encap = wire.attribute_map(message, _BODY)[wire.RTA_ENCAP]
    return seg6local.modelled(frozenset(wire.attribute_map(encap)))


def _places(message: memoryview) -> dict[str, tuple[int, str]]:
    """Offsets of the values that vary, with their struct codes."""
    places: dict[str, tuple[int, str]] = {}
    for kind, at, length in wire.attributes(message, _BODY):
        if kind == wire.RTA_DST and length == 16:
            places["address"] = at, "16s"
        elif kind == wire.RTA_ENCAP:
            encap = message[: at + length]
            for inner, inner_at, inner_length in wire.attributes(encap, at):
                if inner in _VARYING:
                    name, form = _VARYING[inner]
                    places[name] = inner_at, form
                elif inner == wire.SEG6_LOCAL_COUNTERS:
                    counters = encap[: inner_at + inner_length]
                    for count, count_at, _ in wire.attributes(counters, inner_at):
                        if count in _COUNTERS:
                            places[_COUNTERS[count]] = count_at, "Q"
    return places


def rows(datagrams: Sequence[bytes]) -> Iterator[tuple[Template | None, Any]]:
    """Every route: its template with the values unpacked by it, or None with the message."""
    # By length of the message; the one that fitted last comes first.
    templates: dict[int, list[Template]] = {}
    for datagram in datagrams:
        view, at, end = memoryview(datagram), 0, len(datagram)
        while at + _BODY <= end:
            length, kind = _HEAD(datagram, at)
            step = (length + 3) & ~3
            if kind != wire.RTM_NEWROUTE:
                at += step
                continue
            known = templates.setdefault(length, [])
            run = view[at : at + (end - at) // length * length]
            before = at
            for place, template in enumerate(known):
                fixed, expected = template.fixed, template.expected
                action, modelled = template.action, template.modelled
                for values in template.unpack.iter_unpack(run):
                    if fixed(values) != expected or action(values) not in modelled:
                        break
                    yield template, values
                    at += length
                if at > before:
                    if place:
                        known.insert(0, known.pop(place))
                    break
            if at > before:
                continue
            message = view[at : at + length]
            if (made := make_template(message) if len(known) < _LAYOUTS else None) is not None:
                known.insert(0, made)
                yield made, made.unpack.unpack(message)
            else:
                yield None, message
            at += step
