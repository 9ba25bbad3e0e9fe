"""The seg6local part of a SID route: what each behavior consists of (net/ipv6/seg6_local.c).

An attribute that an action does not know is dropped without error (parse_nla_action walks only
those in its table), so what is read back is judged by the same table as what is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.netlink import srh, wire

# linux/seg6_local.h: SEG6_LOCAL_ACTION_*
ACTION_NUMBER = {
    Behavior.END: 1,
    Behavior.END_X: 2,
    Behavior.END_T: 3,
    Behavior.END_DX2: 4,
    Behavior.END_DX6: 5,
    Behavior.END_DX4: 6,
    Behavior.END_DT6: 7,
    Behavior.END_DT4: 8,
    Behavior.END_B6_ENCAPS: 10,
    Behavior.END_BPF: 15,
    Behavior.END_DT46: 16,
}
BEHAVIOR = {number: behavior for behavior, number in ACTION_NUMBER.items()}

# linux/seg6_local.h: SEG6_LOCAL_FLV_OP_*, as bits.
_FLAVOR_BIT = {Flavor.PSP: 1 << 1, Flavor.NEXT_CSID: 1 << 4}

# Sets of attributes that make a behavior, beside action and counters; any of them will do.
_NOTHING: frozenset[int] = frozenset()
_VRF = frozenset({wire.SEG6_LOCAL_VRFTABLE})
_TABLE = frozenset({wire.SEG6_LOCAL_TABLE})
_FLAVORS = frozenset({wire.SEG6_LOCAL_FLAVORS})
_NH6 = frozenset({wire.SEG6_LOCAL_NH6})
_OIF = frozenset({wire.SEG6_LOCAL_OIF})
_FORMS: dict[Behavior, tuple[frozenset[int], ...]] = {
    Behavior.END: (_NOTHING, _FLAVORS),
    Behavior.END_X: (_NH6, _NH6 | _OIF, _NH6 | _FLAVORS, _NH6 | _OIF | _FLAVORS),
    Behavior.END_T: (_TABLE,),
    Behavior.END_DX2: (_OIF,),
    Behavior.END_DX6: (_NH6,),
    Behavior.END_DX4: (frozenset({wire.SEG6_LOCAL_NH4}),),
    Behavior.END_DT6: (_VRF, _TABLE),
    Behavior.END_DT4: (_VRF,),
    Behavior.END_DT46: (_VRF,),
    Behavior.END_B6_ENCAPS: (frozenset({wire.SEG6_LOCAL_SRH}),),
    Behavior.END_BPF: (frozenset({wire.SEG6_LOCAL_BPF}),),
}
_ALWAYS = frozenset({wire.SEG6_LOCAL_ACTION, wire.SEG6_LOCAL_COUNTERS})

_COUNTERS = wire.nested(
    wire.SEG6_LOCAL_COUNTERS,
    # Asks for counters; they start at zero whatever is written (seg6_local_create_counters).
    wire.nla_u64(wire.SEG6_LOCAL_CNT_PACKETS, 0),
    wire.nla_u64(wire.SEG6_LOCAL_CNT_BYTES, 0),
    wire.nla_u64(wire.SEG6_LOCAL_CNT_ERRORS, 0),
)


@dataclass(frozen=True, slots=True)
class Extras:
    """What a SID has beside action, numbers and counters; routes of one kind share it."""

    segments: tuple[IPv6Address, ...] = ()
    bpf_program: str | None = None
    flavors: frozenset[Flavor] = frozenset()
    csid_lengths: tuple[int, int] | None = None
    # Id of the program that the route holds, as read back.
    bpf_id: int | None = None


PLAIN = Extras()


def pack(
    action: Behavior,
    *,
    vrf_table: int | None = None,
    lookup_table: int | None = None,
    next_hop: IPv4Address | IPv6Address | None = None,
    interface: int | None = None,
    extras: Extras = PLAIN,
    counters: bool = True,
    program: int | None = None,
) -> bytes:
    """Content of RTA_ENCAP. ``interface`` is an ifindex, ``program`` the descriptor of the BPF
    program that ``extras`` names."""
    encap = wire.nla_u32(wire.SEG6_LOCAL_ACTION, ACTION_NUMBER[action])
    if extras.segments:
        encap += wire.nla(wire.SEG6_LOCAL_SRH, srh.pack(extras.segments))
    if lookup_table is not None:
        encap += wire.nla_u32(wire.SEG6_LOCAL_TABLE, lookup_table)
    if isinstance(next_hop, IPv4Address):
        encap += wire.nla(wire.SEG6_LOCAL_NH4, next_hop.packed)
    elif next_hop is not None:
        encap += wire.nla(wire.SEG6_LOCAL_NH6, next_hop.packed)
    if interface is not None:
        encap += wire.nla_u32(wire.SEG6_LOCAL_OIF, interface)
    if program is not None and extras.bpf_program is not None:
        encap += wire.nested(
            wire.SEG6_LOCAL_BPF,
            wire.nla_u32(wire.SEG6_LOCAL_BPF_PROG, program),
            # Free text, which the kernel compares programs by (cmp_nla_bpf).
            wire.nla_text(wire.SEG6_LOCAL_BPF_PROG_NAME, extras.bpf_program),
        )
    if vrf_table is not None:
        encap += wire.nla_u32(wire.SEG6_LOCAL_VRFTABLE, vrf_table)
    if counters:
        encap += _COUNTERS
    if extras.flavors:
        encap += _pack_flavors(extras)
    return encap


def extras_of(route: SidRoute) -> Extras:
    if not (route.segments or route.bpf_program or route.flavors):
        return PLAIN
    return Extras(route.segments, route.bpf_program, route.flavors, route.csid_lengths)


def _pack_flavors(extras: Extras) -> bytes:
    bits = sum(_FLAVOR_BIT[flavor] for flavor in extras.flavors)
    content = wire.nla_u32(wire.SEG6_LOCAL_FLV_OPERATION, bits)
    if extras.csid_lengths is not None:
        block, node = extras.csid_lengths
        content += wire.nla_u8(wire.SEG6_LOCAL_FLV_LCBLOCK_BITS, block)
        content += wire.nla_u8(wire.SEG6_LOCAL_FLV_LCNODE_FN_BITS, node)
    return wire.nested(wire.SEG6_LOCAL_FLAVORS, content)


def modelled(attributes: frozenset[int]) -> frozenset[int]:
    """Numbers of the actions that consist of exactly these attributes."""
    form = attributes - _ALWAYS
    return frozenset(ACTION_NUMBER[b] for b, forms in _FORMS.items() if form in forms)


def doubts(found: Mapping[int, memoryview]) -> list[str]:
    """What we don't model in the attributes of a seg6local encapsulation."""
    action = wire.u32(found[wire.SEG6_LOCAL_ACTION]) if wire.SEG6_LOCAL_ACTION in found else 0
    present = frozenset(found)
    if action in modelled(present):
        return []
    words = [f"seg6local action {action}"]
    if more := present - _ALWAYS:
        words.append("seg6local attributes " + " ".join(map(str, sorted(more))))
    return words


def unpack_extras(found: Mapping[int, memoryview]) -> tuple[Extras, list[str]]:
    """The extras among the attributes, and what we don't model in them."""
    segments: tuple[IPv6Address, ...] = ()
    program = bpf_id = None
    flavors: frozenset[Flavor] = frozenset()
    lengths = None
    unknown: list[str] = []
    if wire.SEG6_LOCAL_SRH in found:
        known = srh.unpack(found[wire.SEG6_LOCAL_SRH])
        if known is None:
            unknown.append("segment routing header with more than segments")
        segments = known or ()
    if wire.SEG6_LOCAL_BPF in found:
        inner = wire.attribute_map(found[wire.SEG6_LOCAL_BPF])
        program = wire.text(inner.get(wire.SEG6_LOCAL_BPF_PROG_NAME, b""))
        if wire.SEG6_LOCAL_BPF_PROG in inner:
            # put_nla_bpf shows the id where a descriptor was given.
            bpf_id = wire.u32(inner[wire.SEG6_LOCAL_BPF_PROG])
    if wire.SEG6_LOCAL_FLAVORS in found:
        inner = wire.attribute_map(found[wire.SEG6_LOCAL_FLAVORS])
        operation = inner.get(wire.SEG6_LOCAL_FLV_OPERATION)
        bits = wire.u32(operation) if operation is not None else 0
        flavors = frozenset(flavor for flavor, bit in _FLAVOR_BIT.items() if bits & bit)
        if not flavors or bits & ~sum(_FLAVOR_BIT.values()):
            unknown.append(f"flavors {bits:#x}")
        if (
            wire.SEG6_LOCAL_FLV_LCBLOCK_BITS in inner
            and wire.SEG6_LOCAL_FLV_LCNODE_FN_BITS in inner
        ):
            lengths = (
                wire.u8(inner[wire.SEG6_LOCAL_FLV_LCBLOCK_BITS]),
                wire.u8(inner[wire.SEG6_LOCAL_FLV_LCNODE_FN_BITS]),
            )
    extras = Extras(segments, program, flavors, lengths, bpf_id)
    return (PLAIN if extras == PLAIN else extras), unknown
