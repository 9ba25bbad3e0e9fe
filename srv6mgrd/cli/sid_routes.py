"""Routes in the table of SIDs, of which there may be many thousands: read with the netlink of
srv6mgrd, since pyroute2 takes half a millisecond for each."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv6Network
from typing import TYPE_CHECKING

from srv6mgrd.cli.problem import Exit, Problem

if TYPE_CHECKING:
    from srv6mgrd.netlink.routes import RouteMessage
    from srv6mgrd.netlink.socket import NetlinkSocket

# linux/rtnetlink.h: RTN_*; linux/lwtunnel.h: LWTUNNEL_ENCAP_*
_TYPES = {1: "unicast", 6: "blackhole", 7: "unreachable", 8: "prohibit"}
_ENCAPS = {0: "", 3: "bpf", 5: "seg6", 6: "bpf", 7: "seg6local"}


@dataclass(frozen=True, slots=True)
class Route:
    """An IPv6 route; ``encap`` is the kind of its tunnel (``seg6``, ``seg6local``) or empty."""

    prefix: IPv6Network
    table: int
    metric: int
    protocol: int
    type: str
    device: str
    encap: str = ""


def read(names: Mapping[int, str]) -> tuple[Route, ...]:
    """All of them; ``names`` are those of links by ifindex. Raises Problem."""
    from srv6mgrd.kinds.sid.route_dump import rows
    from srv6mgrd.model.prefix import Prefix
    from srv6mgrd.netlink import wire
    from srv6mgrd.netlink.routes import RouteMessage

    body = wire.NLMSGHDR.size
    found = []
    for template, values in rows(_dump()):
        if template is None:
            found.append(_route(RouteMessage.decode(values[body:]), names))
            continue
        like = template.sample
        device = names.get(like.oif, "")
        prefix = Prefix.of(*template.prefix(values))
        found.append(
            Route(prefix, like.table, like.metric, like.protocol, "unicast", device, "seg6local")
        )
    return tuple(found)


def find(prefix: IPv6Network) -> Route | None:
    """The seg6local route to one SID. Raises Problem."""
    from srv6mgrd.model.prefix import packed
    from srv6mgrd.netlink import wire
    from srv6mgrd.netlink.routes import RouteMessage
    from srv6mgrd.netlink.socket import answers

    # The kernel can't be asked for one route of a table, only for all of them; most of what it
    # reports needs no decoding.
    wanted = packed(prefix)
    near = [datagram for datagram in _dump() if wanted in datagram]
    for body in answers(near, wire.RTM_NEWROUTE):
        route = RouteMessage.decode(body)
        if route.prefix == prefix:
            found = _route(route, {route.oif: _name(route.oif)})
            if found.encap == "seg6local":
                return found
    return None


def _dump() -> list[bytes]:
    from srv6mgrd.model.reserved import SID_TABLE
    from srv6mgrd.netlink.routes import get_table

    with netlink() as socket:
        return socket.dump(get_table(SID_TABLE), comparable=True)


@contextmanager
def netlink() -> Iterator[NetlinkSocket]:
    """A socket that is closed afterwards. What fails within is a Problem."""
    from srv6mgrd.netlink.errors import KernelError
    from srv6mgrd.netlink.socket import NetlinkSocket

    try:
        opened = NetlinkSocket()
        try:
            yield opened
        finally:
            opened.close()
    except (KernelError, OSError) as error:
        remedy = "see that the kernel has netlink"
        raise Problem.of("netlink", str(error), remedy, Exit.UNREACHABLE) from None


def _route(found: RouteMessage, names: Mapping[int, str]) -> Route:
    from srv6mgrd.netlink import wire

    assert isinstance(found.prefix, IPv6Network)
    encap = found.attributes.get(wire.RTA_ENCAP_TYPE)
    number = wire.u16(encap) if encap is not None else 0
    return Route(
        found.prefix,
        found.table,
        found.metric,
        found.protocol,
        _TYPES.get(found.kind, str(found.kind)),
        names.get(found.oif, ""),
        _ENCAPS.get(number, str(number)),
    )


def _name(index: int) -> str:
    try:
        return socket.if_indextoname(index)
    except OSError:
        return ""
