"""Telemetry as bytes on the wire, without protobuf objects: they cost 20 us for each leaf.

The encoding of a path element is kept, so a leaf costs a few joins. The field numbers are those
of gnmi.proto; tests compare with the protobuf library.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from srv6mgrd.gnmi import encode, wire
from srv6mgrd.gnmi.encode import Scalar
from srv6mgrd.gnmi.path import Path, Pattern, Step, elems
from srv6mgrd.gnmi.schema import Base, Kind, Node

# SubscribeResponse.sync_response = 3
SYNC = b"\x18\x01"

# TypedValue
_STRING, _INT, _UINT, _BOOL, _BYTES = b"\x0a", b"\x10", b"\x18", b"\x20", b"\x2a"
_LEAFLIST, _JSON, _JSON_IETF, _ASCII, _DOUBLE = b"\x42", b"\x52", b"\x5a", b"\x62", b"\x71"


def varint(n: int) -> bytes:
    """Base 128, least significant group first; negative numbers as 64-bit two's complement."""
    if 0 <= n < 0x80:
        return n.to_bytes(1, "little")
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def _delimited(tag: bytes, body: bytes) -> bytes:
    return tag + varint(len(body)) + body


# A SID's element serves its dozen leaves, and those of each sample after.
@lru_cache(maxsize=1 << 18)
def _step(step: Step) -> bytes:
    return element(step)


def element(step: Step) -> bytes:
    """Path.elem = 3; PathElem: name = 1, key = 2 (a map: key = 1, value = 2)."""
    ((name, keys),) = elems((step,))
    body = _delimited(b"\x0a", name.encode())
    for key, value in keys:
        pair = _delimited(b"\x0a", key.encode()) + _delimited(b"\x12", value.encode())
        body += _delimited(b"\x12", pair)
    return _delimited(b"\x1a", body)


def path(steps: Pattern) -> bytes:
    """The elements of a Path."""
    return b"".join([_step(step) for step in steps])


def prefix(asked: Path) -> bytes:
    """Notification.prefix = 2 with target and origin as they were asked (2.2.2.1)."""
    message = wire.prefix(asked)
    return b"" if message is None else _delimited(b"\x12", message.SerializeToString())


def origin(name: str) -> bytes:
    """Path.origin = 2; nothing for none."""
    return _delimited(b"\x12", name.encode()) if name else b""


def update(encoding: int, at: Pattern, value: Any, duplicates: int = 0, of: str = "") -> bytes:
    """Notification.update = 4; Update: path = 1, val = 3, duplicates = 4. ``of`` is the origin."""
    body = _delimited(b"\x0a", origin(of) + path(at))
    body += _delimited(b"\x1a", typed(encoding, at[-1].node, value))
    if duplicates:
        body += b"\x20" + varint(duplicates)
    return _delimited(b"\x22", body)


def whole_update(at: Pattern, value: Any, of: str = "") -> bytes:
    """The same with a TypedValue that is made already."""
    body = _delimited(b"\x0a", origin(of) + path(at)) + _delimited(
        b"\x1a", value.SerializeToString()
    )
    return _delimited(b"\x22", body)


def delete(at: Pattern, of: str = "") -> bytes:
    """Notification.delete = 5"""
    return _delimited(b"\x2a", origin(of) + path(at))


def notification(timestamp: int, asked: bytes, parts: Iterable[bytes]) -> bytes:
    """SubscribeResponse.update = 1."""
    return _delimited(b"\x0a", b"".join((frame(timestamp, asked), *parts)))


def frame(timestamp: int, asked: bytes) -> bytes:
    """What a Notification begins with: timestamp = 1, and the prefix."""
    return b"\x08" + varint(timestamp) + asked


def typed(encoding: int, node: Node, value: Any) -> bytes:
    """A leaf as TypedValue."""
    if encoding == wire.PROTO:
        # The counters first: there are most of them.
        if node.base is Base.UINT64 and node.kind is Kind.LEAF:
            return _UINT + varint(int(value))
        return _scalar(encode.scalar(node, value))
    if encoding == wire.JSON_IETF:
        return _delimited(_JSON_IETF, encode.dumps(value))
    if encoding == wire.JSON:
        return _delimited(_JSON, encode.dumps(encode.json_plain(node, value)))
    return _delimited(_ASCII, encode.ascii_text([((), value)], ()).encode())


def _scalar(given: Scalar) -> bytes:
    field, value = given
    match field:
        case "uint_val":
            return _UINT + varint(value)
        case "int_val":
            return _INT + varint(value)
        case "bool_val":
            return _BOOL + (b"\x01" if value else b"\x00")
        case "double_val":
            return _DOUBLE + struct.pack("<d", value)
        case "leaflist_val":
            # ScalarArray.element = 1
            items = b"".join(_delimited(b"\x0a", _scalar(item)) for item in value)
            return _delimited(_LEAFLIST, items)
        case "bytes_val":
            return _delimited(_BYTES, value)
        case _:
            return _delimited(_STRING, value.encode())
