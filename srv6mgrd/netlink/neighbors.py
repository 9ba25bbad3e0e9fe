"""Neighbors whose link-layer address can't be resolved."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address

from srv6mgrd.netlink import wire
from srv6mgrd.netlink.socket import answers

Neighbor = tuple[int, bytes]


def get_all() -> bytes:
    return wire.message(wire.RTM_GETNEIGH, 0, wire.NDMSG.pack(0, 0, 0, 0, 0, 0))


def decode(body: memoryview) -> tuple[Neighbor, bool]:
    """Interface and address, and whether resolution failed."""
    _, _, index, state, _, _ = wire.NDMSG.unpack_from(body)
    address = wire.attribute_map(body, wire.NDMSG.size).get(wire.NDA_DST, b"")
    return (index, bytes(address)), bool(state & wire.NUD_FAILED)


def failed(
    datagrams: Sequence[bytes], names: Mapping[int, str]
) -> Iterator[tuple[str, IPv4Address | IPv6Address]]:
    """Those of a dump, by the name of their interface."""
    for body in answers(datagrams, wire.RTM_NEWNEIGH):
        if body[0] not in (socket.AF_INET, socket.AF_INET6):
            continue
        (index, packed), is_failed = decode(body)
        if is_failed and index in names and len(packed) in (4, 16):
            yield names[index], IPv4Address(packed) if len(packed) == 4 else IPv6Address(packed)
