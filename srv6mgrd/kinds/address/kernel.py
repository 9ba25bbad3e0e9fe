"""Addresses of interfaces, written and read back (net/ipv4/devinet.c, net/ipv6/addrconf.c)."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Interface, IPv6Interface
from types import MappingProxyType

from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_event import EventKind, KernelEvent
from srv6mgrd.kinds.kernel_kind import Decode, KernelKind, no_interface, not_ours_to_write
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.model.reserved import ROUTE_PROTOCOL
from srv6mgrd.netlink import wire
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.socket import answers
from srv6mgrd.plan.actions import Action, Delete, Replace
from srv6mgrd.plan.observed import ObservedObject

FAMILIES = (socket.AF_INET, socket.AF_INET6)


class InterfaceAddresses(KernelKind):
    kinds = (InterfaceAddress,)
    groups = MappingProxyType(
        {wire.NETLINK_ROUTE: (wire.RTNLGRP_IPV4_IFADDR, wire.RTNLGRP_IPV6_IFADDR)}
    )

    @staticmethod
    def event(message: int, body: memoryview) -> KernelEvent | None:
        if message not in (wire.RTM_NEWADDR, wire.RTM_DELADDR):
            return None
        return KernelEvent(EventKind.ADDRESS, event_key(body), message == wire.RTM_DELADDR)

    def write(self, batch: Batch, action: Action) -> Failure | None:
        address = action.object
        if not isinstance(address, InterfaceAddress):
            return not_ours_to_write(address)
        match action:
            case Delete():
                return _delete(batch, address)
            case Replace(InterfaceAddress() as before, _) if before != address:
                return _move(batch, before, address)
            case Replace():
                return _put(batch, address, wire.NLM_F_CREATE | wire.NLM_F_REPLACE)
        return _put(batch, address, wire.NLM_F_CREATE | wire.NLM_F_EXCL)

    def dump(self, reader: Reader) -> Decode:
        dumps = [reader.dump(get_all(family)) for family in FAMILIES]
        return lambda: self.by_key([*observed(dumps, reader.names)])


def _put(batch: Batch, address: InterfaceAddress, flags: int) -> Failure | None:
    if (link := batch.link(address.interface)) is None:
        return no_interface(address.interface)
    return batch.one(put(address, link.index, flags))


def _move(batch: Batch, before: InterfaceAddress, after: InterfaceAddress) -> Failure | None:
    """Another prefix length: of IPv6 the old one has to go first (ipv6_chk_same_addr)."""
    if failure := _delete(batch, before):
        return failure
    failure = _put(batch, after, wire.NLM_F_CREATE | wire.NLM_F_EXCL)
    if failure is not None:
        _put(batch, before, wire.NLM_F_CREATE)
    return failure


def _delete(batch: Batch, address: InterfaceAddress) -> Failure | None:
    link = batch.link(address.interface)
    return None if link is None else batch.remove(delete(address, link.index))


def get_all(family: int) -> bytes:
    return wire.message(wire.RTM_GETADDR, 0, wire.IFADDRMSG.pack(family, 0, 0, 0, 0))


def put(wanted: InterfaceAddress, index: int, flags: int) -> bytes:
    """RTM_NEWADDR with our mark, IFA_PROTO, which kernels before 5.18 ignore. IPv6: usable at once,
    without duplicate address detection, since packets come right after the commit."""
    address = wanted.address
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    flag = wire.IFA_F_NODAD if address.version == 6 else 0
    body = wire.IFADDRMSG.pack(family, address.network.prefixlen, flag, _scope(address), index)
    body += wire.nla(wire.IFA_LOCAL, address.ip.packed)
    body += wire.nla(wire.IFA_ADDRESS, address.ip.packed)
    body += wire.nla_u8(wire.IFA_PROTO, ROUTE_PROTOCOL)
    return wire.message(wire.RTM_NEWADDR, flags, body)


def _scope(address: IPv4Interface | IPv6Interface) -> int:
    """Of IPv6 the kernel knows it by itself."""
    return wire.RT_SCOPE_LINK if address.version == 4 and address.is_link_local else 0


def delete(wanted: InterfaceAddress, index: int) -> bytes:
    address = wanted.address
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    body = wire.IFADDRMSG.pack(family, address.network.prefixlen, 0, 0, index)
    body += wire.nla(wire.IFA_LOCAL, address.ip.packed)
    return wire.message(wire.RTM_DELADDR, 0, body)


def observed(
    dumps: Sequence[Sequence[bytes]], names: Mapping[int, str]
) -> Iterator[ObservedObject]:
    """Every address, ours where one is there several times, with other prefix lengths."""
    found: dict[str, ObservedObject] = {}
    for datagrams in dumps:
        for body in answers(datagrams, wire.RTM_NEWADDR):
            if (item := _decode(body, names)) is None:
                continue
            known = found.get(item.object.key)
            if known is None or (item.ours and not known.ours):
                found[item.object.key] = item
    yield from found.values()


def _decode(body: memoryview, names: Mapping[int, str]) -> ObservedObject | None:
    family, length, _, _, index = wire.IFADDRMSG.unpack_from(body)
    name, attributes = names.get(index), wire.attribute_map(body, wire.IFADDRMSG.size)
    # Of a point-to-point link IFA_ADDRESS is the other end; IPv6 has IFA_LOCAL only there.
    packed = attributes.get(wire.IFA_LOCAL, attributes.get(wire.IFA_ADDRESS))
    if name is None or packed is None:
        return None
    ours = wire.IFA_PROTO in attributes and wire.u8(attributes[wire.IFA_PROTO]) == ROUTE_PROTOCOL
    return _observed(name, family, bytes(packed), length, ours)


# The same ones are read at every compare, and to make them again takes 60 us each.
@lru_cache(maxsize=1 << 16)
def _observed(name: str, family: int, packed: bytes, length: int, ours: bool) -> ObservedObject:
    make = IPv6Interface if family == socket.AF_INET6 else IPv4Interface
    return ObservedObject(InterfaceAddress(name, make((packed, length))), ours)


def event_key(body: memoryview) -> str:
    """What a notification is about: ifindex and address."""
    family, _, _, _, index = wire.IFADDRMSG.unpack_from(body)
    attributes = wire.attribute_map(body, wire.IFADDRMSG.size)
    packed = attributes.get(wire.IFA_LOCAL, attributes.get(wire.IFA_ADDRESS, b""))
    return f"address {index} {family} {bytes(packed).hex()}"
