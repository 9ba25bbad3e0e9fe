"""nf_tables messages of family ip6: tables, chains, sets and rules (net/netfilter/nf_tables_api.c).

What is written together is one transaction: packets meet all of it or nothing.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Network, collapse_addresses, summarize_address_range

from srv6mgrd.netlink import wire
from srv6mgrd.netlink.socket import answers

# linux/netlink.h, linux/netfilter/nfnetlink.h
NETLINK_NETFILTER = 12
NFNLGRP_NFTABLES = 7
_NFNL_SUBSYS_NFTABLES = 10
_NFNL_MSG_BATCH_BEGIN = 0x10
_NFNL_MSG_BATCH_END = 0x11
_NFPROTO_UNSPEC = 0
_NFPROTO_IPV6 = 10
_NFGENMSG = struct.Struct("!BBH")
BODY = _NFGENMSG.size

# linux/netfilter/nf_tables.h: messages
_SUBSYS = _NFNL_SUBSYS_NFTABLES << 8
NFT_MSG_NEWTABLE = _SUBSYS | 0
NFT_MSG_GETTABLE = _SUBSYS | 1
NFT_MSG_DELTABLE = _SUBSYS | 2
NFT_MSG_NEWCHAIN = _SUBSYS | 3
NFT_MSG_GETCHAIN = _SUBSYS | 4
NFT_MSG_NEWRULE = _SUBSYS | 6
NFT_MSG_GETRULE = _SUBSYS | 7
NFT_MSG_NEWSET = _SUBSYS | 9
NFT_MSG_GETSET = _SUBSYS | 10
NFT_MSG_NEWSETELEM = _SUBSYS | 12
NFT_MSG_GETSETELEM = _SUBSYS | 13
NFT_MSG_DELSETELEM = _SUBSYS | 14
# What others may change: NFT_MSG_DELCHAIN, DELRULE and DELSET with the rest.
REPORTED = frozenset(_SUBSYS | number for number in (0, 2, 3, 5, 6, 8, 9, 11, 12, 14))
# Attributes. The first of tables, chains, rules, sets and elements is the name of the table.
NFTA_TABLE_NAME = 1
_NFTA_TABLE_FLAGS = 2
_NFTA_TABLE_USERDATA = 6
_NFTA_CHAIN_NAME = 3
_NFTA_CHAIN_HOOK = 4
_NFTA_CHAIN_POLICY = 5
_NFTA_CHAIN_TYPE = 7
_NFTA_HOOK_HOOKNUM = 1
_NFTA_HOOK_PRIORITY = 2
_NFTA_RULE_CHAIN = 2
_NFTA_RULE_EXPRESSIONS = 4
_NFTA_RULE_USERDATA = 7
_NFTA_SET_NAME = 2
_NFTA_SET_FLAGS = 3
_NFTA_SET_KEY_TYPE = 4
_NFTA_SET_KEY_LEN = 5
_NFTA_SET_ID = 10
_NFTA_SET_USERDATA = 13
_NFTA_SET_ELEM_LIST_SET = 2
_NFTA_SET_ELEM_LIST_ELEMENTS = 3
_NFTA_SET_ELEM_KEY = 1
_NFTA_SET_ELEM_FLAGS = 3
_NFTA_DATA_VALUE = 1
_NFTA_DATA_VERDICT = 2
_NFTA_VERDICT_CODE = 1
_NFTA_VERDICT_CHAIN = 2
_NFTA_LIST_ELEM = 1
_NFTA_EXPR_NAME = 1
_NFTA_EXPR_DATA = 2
_NFTA_COUNTER_PACKETS = 2
_NFT_SET_INTERVAL = 4
_NFT_SET_ELEM_INTERVAL_END = 1
_NFT_REG_VERDICT = 0
_NFT_REG_1 = 1
_NFT_META_IIFNAME = 6
_NFT_PAYLOAD_NETWORK_HEADER = 1
_NFT_CMP_EQ = 0
_NFT_LOOKUP_INV = 1
_NF_DROP = 0
_NF_ACCEPT = 1
_NFT_JUMP = -3
_IPPROTO_ROUTING = 43
# libnftnl and nftables' datatype.h, for nft(8) alone.
_UDATA_COMMENT = 0
_UDATA_KEY_ORDER = 0
_HOST_ENDIAN, _BIG_ENDIAN = 1, 2
_IFNAMSIZ = 16
# Elements in one message: the length of an attribute has 16 bits.
_CHUNK = 1000
_ADDRESSES = 1 << 128

Rule = tuple[tuple[str, tuple[tuple[tuple[int, ...], bytes], ...]], ...]


@dataclass(frozen=True, slots=True)
class Hook:
    """Where a base chain sits: NF_INET_PRE_ROUTING is 0; the least priority comes first."""

    number: int
    priority: int
    type: str = "filter"


@dataclass(frozen=True, slots=True)
class SetType:
    """Type of a set's elements: what the kernel needs to know of it, and the number and order of
    bytes that nft(8) shows it by."""

    number: int
    length: int
    interval: bool = False
    order: int = field(default=_BIG_ENDIAN, compare=False)


NAMES = SetType(41, _IFNAMSIZ, order=_HOST_ENDIAN)
ADDRESSES = SetType(8, 16)
PREFIXES = SetType(8, 16, interval=True)


# Messages.


def begin() -> bytes:
    return wire.message(_NFNL_MSG_BATCH_BEGIN, 0, _generic(_NFPROTO_UNSPEC, _NFNL_SUBSYS_NFTABLES))


def end() -> bytes:
    return wire.message(_NFNL_MSG_BATCH_END, 0, _generic(_NFPROTO_UNSPEC, _NFNL_SUBSYS_NFTABLES))


def new_table(name: str, comment: str = "") -> bytes:
    attributes = wire.nla_text(NFTA_TABLE_NAME, name) + _be32(_NFTA_TABLE_FLAGS, 0)
    attributes += wire.nla(_NFTA_TABLE_USERDATA, _comment(comment))
    return _new(NFT_MSG_NEWTABLE, attributes)


def get_table(name: str) -> bytes:
    return _message(NFT_MSG_GETTABLE, 0, wire.nla_text(NFTA_TABLE_NAME, name))


def delete_table(name: str) -> bytes:
    return _message(NFT_MSG_DELTABLE, 0, wire.nla_text(NFTA_TABLE_NAME, name))


def new_chain(table: str, name: str, hook: Hook | None = None) -> bytes:
    """A base chain with policy accept, or one that is jumped to."""
    attributes = wire.nla_text(NFTA_TABLE_NAME, table) + wire.nla_text(_NFTA_CHAIN_NAME, name)
    if hook is not None:
        attributes += wire.nested(
            _NFTA_CHAIN_HOOK,
            _be32(_NFTA_HOOK_HOOKNUM, hook.number),
            _be32(_NFTA_HOOK_PRIORITY, hook.priority),
        )
        attributes += _be32(_NFTA_CHAIN_POLICY, _NF_ACCEPT)
        attributes += wire.nla_text(_NFTA_CHAIN_TYPE, hook.type)
    return _new(NFT_MSG_NEWCHAIN, attributes)


def new_rule(table: str, chain: str, expressions: Sequence[bytes], comment: str) -> bytes:
    """A rule at the end of its chain."""
    attributes = wire.nla_text(NFTA_TABLE_NAME, table) + wire.nla_text(_NFTA_RULE_CHAIN, chain)
    attributes += wire.nested(_NFTA_RULE_EXPRESSIONS, *expressions)
    attributes += wire.nla(_NFTA_RULE_USERDATA, _comment(comment))
    # linux/netlink.h: NLM_F_APPEND
    return _message(NFT_MSG_NEWRULE, wire.NLM_F_CREATE | 0x800, attributes)


def new_set(table: str, name: str, kind: SetType, number: int) -> bytes:
    """``number`` distinguishes the sets of one transaction."""
    attributes = wire.nla_text(NFTA_TABLE_NAME, table) + wire.nla_text(_NFTA_SET_NAME, name)
    attributes += _be32(_NFTA_SET_FLAGS, _NFT_SET_INTERVAL if kind.interval else 0)
    attributes += _be32(_NFTA_SET_KEY_TYPE, kind.number)
    attributes += _be32(_NFTA_SET_KEY_LEN, kind.length) + _be32(_NFTA_SET_ID, number)
    order = bytes([_UDATA_KEY_ORDER, 4]) + kind.order.to_bytes(4, sys.byteorder)
    attributes += wire.nla(_NFTA_SET_USERDATA, order)
    return _new(NFT_MSG_NEWSET, attributes)


def flush_set(table: str, name: str) -> bytes:
    """Without elements all are meant."""
    return _message(NFT_MSG_DELSETELEM, 0, _in_set(table, name))


def new_elements(table: str, name: str, elements: Sequence[bytes]) -> Iterator[bytes]:
    for start in range(0, len(elements), _CHUNK):
        listed = wire.nested(_NFTA_SET_ELEM_LIST_ELEMENTS, *elements[start : start + _CHUNK])
        yield _new(NFT_MSG_NEWSETELEM, _in_set(table, name) + listed)


def get_chains() -> bytes:
    return _message(NFT_MSG_GETCHAIN, 0, b"")


def get_rules(table: str) -> bytes:
    return _message(NFT_MSG_GETRULE, 0, wire.nla_text(NFTA_TABLE_NAME, table))


def get_sets(table: str) -> bytes:
    return _message(NFT_MSG_GETSET, 0, wire.nla_text(NFTA_TABLE_NAME, table))


def get_elements(table: str, name: str) -> bytes:
    return _message(NFT_MSG_GETSETELEM, 0, _in_set(table, name))


def _new(kind: int, attributes: bytes) -> bytes:
    return _message(kind, wire.NLM_F_CREATE | wire.NLM_F_EXCL, attributes)


def _message(kind: int, flags: int, attributes: bytes) -> bytes:
    return wire.message(kind, flags, _generic(_NFPROTO_IPV6, 0) + attributes)


def _generic(family: int, resource: int) -> bytes:
    return _NFGENMSG.pack(family, 0, resource)


def _in_set(table: str, name: str) -> bytes:
    return wire.nla_text(NFTA_TABLE_NAME, table) + wire.nla_text(_NFTA_SET_ELEM_LIST_SET, name)


def _be32(kind: int, value: int) -> bytes:
    return wire.nla(kind, (value & 0xFFFFFFFF).to_bytes(4, "big"))


def _comment(text: str) -> bytes:
    """User data as libnftnl has it: type, length, value."""
    value = text.encode() + b"\0"
    return bytes([_UDATA_COMMENT, len(value)]) + value


# Expressions of rules, in the order that they are evaluated.


def incoming_interface() -> bytes:
    """Load the name of the interface that the packet came in on."""
    return _expression("meta", _be32(1, _NFT_REG_1), _be32(2, _NFT_META_IIFNAME))


def network_header(offset: int, length: int) -> bytes:
    """Load bytes of the IPv6 header."""
    where = _be32(2, _NFT_PAYLOAD_NETWORK_HEADER) + _be32(3, offset) + _be32(4, length)
    return _expression("payload", _be32(1, _NFT_REG_1), where)


def routing_type() -> bytes:
    """Load the type of the routing header; a packet without one ends the rule."""
    kind = wire.nla_u8(2, _IPPROTO_ROUTING)
    return _expression("exthdr", _be32(1, _NFT_REG_1), kind, _be32(3, 2), _be32(4, 1))


def is_in(name: str, *, inverted: bool = False) -> bytes:
    """What was loaded is in this set, or ``inverted`` is not."""
    flags = (_be32(5, _NFT_LOOKUP_INV),) if inverted else ()
    return _expression("lookup", wire.nla_text(1, name), _be32(2, _NFT_REG_1), *flags)


def equals(value: bytes) -> bytes:
    data = wire.nested(3, wire.nla(_NFTA_DATA_VALUE, value))
    return _expression("cmp", _be32(1, _NFT_REG_1), _be32(2, _NFT_CMP_EQ), data)


def counter() -> bytes:
    return _expression("counter")


def drop() -> bytes:
    return _verdict(_be32(_NFTA_VERDICT_CODE, _NF_DROP))


def jump(chain: str) -> bytes:
    return _verdict(
        _be32(_NFTA_VERDICT_CODE, _NFT_JUMP) + wire.nla_text(_NFTA_VERDICT_CHAIN, chain)
    )


def _verdict(attributes: bytes) -> bytes:
    data = wire.nested(2, wire.nested(_NFTA_DATA_VERDICT, attributes))
    return _expression("immediate", _be32(1, _NFT_REG_VERDICT), data)


def _expression(name: str, *attributes: bytes) -> bytes:
    return wire.nested(
        _NFTA_LIST_ELEM,
        wire.nla_text(_NFTA_EXPR_NAME, name),
        wire.nested(_NFTA_EXPR_DATA, *attributes),
    )


# Elements of sets.


def names(values: Iterable[str]) -> list[bytes]:
    return [_element(name.encode().ljust(_IFNAMSIZ, b"\0")) for name in sorted(values)]


def addresses(values: Iterable[IPv6Address]) -> list[bytes]:
    return [_element(address.packed) for address in sorted(values)]


def prefixes(values: Iterable[IPv6Network]) -> list[bytes]:
    """Where each interval starts and the first address behind it, also where the next begins
    there: the kernel takes two starts in a row for an overlap (nft_rbtree.c)."""
    elements = []
    for prefix in collapse_addresses(values):
        elements.append(_element(prefix.network_address.packed))
        behind = int(prefix.broadcast_address) + 1
        if behind < _ADDRESSES:
            elements.append(_element(behind.to_bytes(16, "big"), _NFT_SET_ELEM_INTERVAL_END))
    return elements


def _element(key: bytes, flags: int = 0) -> bytes:
    attributes = wire.nested(_NFTA_SET_ELEM_KEY, wire.nla(_NFTA_DATA_VALUE, key))
    if flags:
        attributes += _be32(_NFTA_SET_ELEM_FLAGS, flags)
    return wire.nested(_NFTA_LIST_ELEM, attributes)


# What the kernel holds.


def table_of(body: memoryview) -> str:
    """The table that a message is about."""
    found = wire.attribute_map(body, BODY)
    return wire.text(found[NFTA_TABLE_NAME]) if NFTA_TABLE_NAME in found else ""


def comment_of_table(body: memoryview | bytes) -> str:
    data = wire.attribute_map(body, BODY).get(_NFTA_TABLE_USERDATA)
    if data is None or len(data) < 2 or data[0] != _UDATA_COMMENT:
        return ""
    return wire.text(data[2 : 2 + data[1]])


def decode_chains(datagrams: Sequence[bytes], table: str) -> dict[str, Hook | None]:
    """Chains of the table. A base chain with another policy than accept has a hook of number -1."""
    chains: dict[str, Hook | None] = {}
    for found in _of(datagrams, NFT_MSG_NEWCHAIN, table):
        hook = None
        if _NFTA_CHAIN_HOOK in found:
            place = wire.attribute_map(found[_NFTA_CHAIN_HOOK])
            accepts = _number(found[_NFTA_CHAIN_POLICY]) == _NF_ACCEPT
            hook = Hook(
                _number(place[_NFTA_HOOK_HOOKNUM]) if accepts else -1,
                int.from_bytes(place[_NFTA_HOOK_PRIORITY], "big", signed=True),
                wire.text(found[_NFTA_CHAIN_TYPE]),
            )
        chains[wire.text(found[_NFTA_CHAIN_NAME])] = hook
    return chains


def decode_rules(datagrams: Sequence[bytes], table: str) -> list[tuple[str, Rule]]:
    """Chain and expressions of each rule, in order."""
    return [
        (wire.text(found[_NFTA_RULE_CHAIN]), rule(found.get(_NFTA_RULE_EXPRESSIONS, b"")))
        for found in _of(datagrams, NFT_MSG_NEWRULE, table)
    ]


def decode_counters(datagrams: Sequence[bytes], table: str) -> list[tuple[str, int]]:
    """Chain of each rule that counts, and its packets, in order."""
    counted = []
    for found in _of(datagrams, NFT_MSG_NEWRULE, table):
        listed = found.get(_NFTA_RULE_EXPRESSIONS, memoryview(b""))
        for _, at, length in wire.attributes(listed):
            expression = wire.attribute_map(listed[at : at + length])
            if wire.text(expression[_NFTA_EXPR_NAME]) == "counter":
                packets = wire.attribute_map(expression[_NFTA_EXPR_DATA])[_NFTA_COUNTER_PACKETS]
                counted.append((wire.text(found[_NFTA_RULE_CHAIN]), _number(packets)))
    return counted


def decode_sets(datagrams: Sequence[bytes], table: str) -> dict[str, SetType]:
    """Sets by name; one of a kind that we don't write has length 0."""
    sets = {}
    for found in _of(datagrams, NFT_MSG_NEWSET, table):
        flags = _number(found.get(_NFTA_SET_FLAGS, b"\0"))
        known = flags in (0, _NFT_SET_INTERVAL)
        length = _number(found[_NFTA_SET_KEY_LEN]) if known else 0
        kind = SetType(_number(found.get(_NFTA_SET_KEY_TYPE, b"\0")), length, bool(flags))
        sets[wire.text(found[_NFTA_SET_NAME])] = kind
    return sets


def decode_elements(datagrams: Sequence[bytes], table: str) -> list[tuple[bytes, bool]]:
    """Keys in order, each with whether it ends an interval; an end before a start."""
    elements = []
    for found in _of(datagrams, NFT_MSG_NEWSETELEM, table):
        listed = found.get(_NFTA_SET_ELEM_LIST_ELEMENTS, memoryview(b""))
        for _, at, length in wire.attributes(listed):
            element = wire.attribute_map(listed[at : at + length])
            key = wire.attribute_map(element[_NFTA_SET_ELEM_KEY])[_NFTA_DATA_VALUE]
            flags = _number(element.get(_NFTA_SET_ELEM_FLAGS, b"\0"))
            elements.append((bytes(key), bool(flags & _NFT_SET_ELEM_INTERVAL_END)))
    return sorted(elements, key=lambda element: (element[0], not element[1]))


def names_in(elements: Iterable[tuple[bytes, bool]]) -> tuple[str, ...]:
    return tuple(wire.text(key) for key, _ in elements)


def addresses_in(elements: Iterable[tuple[bytes, bool]]) -> tuple[IPv6Address, ...]:
    return tuple(IPv6Address(key) for key, _ in elements)


def prefixes_in(elements: Iterable[tuple[bytes, bool]]) -> tuple[IPv6Network, ...]:
    ranges: list[tuple[int, int]] = []
    start: int | None = None
    for key, ends in [*elements, (_ADDRESSES.to_bytes(17, "big"), True)]:
        at = int.from_bytes(key, "big")
        if start is not None:
            ranges.append((start, at - 1))
        start = None if ends else at
    found = [
        prefix
        for first, last in ranges
        for prefix in summarize_address_range(IPv6Address(first), IPv6Address(last))
    ]
    return tuple(collapse_addresses(found))


# Attributes that hold others, of the expressions that we write.
_Nested = Mapping[int, "_Nested | None"]
_NESTED: Mapping[str, _Nested] = {
    "cmp": {3: {}},
    "immediate": {2: {_NFTA_DATA_VERDICT: {}}},
}


def rule(expressions: memoryview | bytes) -> Rule:
    """Expressions in a form that can be compared: the kernel leaves out, or adds, attributes whose
    value is 0. What a counter counts says nothing of a rule."""
    made = []
    view = memoryview(expressions)
    for _, at, length in wire.attributes(view):
        found = wire.attribute_map(view[at : at + length])
        name = wire.text(found[_NFTA_EXPR_NAME])
        data = found.get(_NFTA_EXPR_DATA, memoryview(b""))
        values = () if name == "counter" else tuple(sorted(_values(data, _NESTED.get(name, {}))))
        made.append((name, values))
    return tuple(made)


def _values(
    data: memoryview, nested: _Nested, at: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], bytes]]:
    for kind, value in wire.attribute_map(data).items():
        inner = nested.get(kind)
        if inner is not None:
            yield from _values(value, inner, (*at, kind))
        elif any(value):
            yield (*at, kind), bytes(value)


def _of(datagrams: Sequence[bytes], kind: int, table: str) -> Iterator[dict[int, memoryview]]:
    """Attributes of the messages of this kind that are about this table."""
    for body in answers(datagrams, kind):
        found = wire.attribute_map(body, BODY)
        if NFTA_TABLE_NAME in found and wire.text(found[NFTA_TABLE_NAME]) == table:
            yield found


def _number(value: memoryview | bytes) -> int:
    return int.from_bytes(value, "big")
