"""Routes in the tables of VRFs, with the SIDs to which they encapsulate: those of srv6mgr, of FRR
and of anybody else, as the kernel has them."""

from __future__ import annotations

import socket
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import NamedTuple

from srv6mgrd.cli.sid_routes import netlink
from srv6mgrd.netlink import links, srh, wire
from srv6mgrd.netlink.bgp_routes import get_next_hops
from srv6mgrd.netlink.routes import RouteMessage, get_table
from srv6mgrd.netlink.socket import NetlinkSocket, answers

# More tables than these are read at once.
_TABLES = 50
_FAMILIES = (socket.AF_INET, socket.AF_INET6)
# linux/rtnetlink.h: RTA_VIA; linux/nexthop.h: NHA_*
_RTA_VIA, _NHA_OIF, _NHA_GATEWAY = 18, 5, 6
_DOWN = wire.RTNH_F_DEAD | wire.RTNH_F_LINKDOWN
# linux/seg6_iptunnel.h: struct seg6_iptunnel_encap begins with the mode.
_MODE = 4


class Path(NamedTuple):
    """One way: the segments to which it encapsulates, if it does, and where they are sent."""

    segments: tuple[IPv6Address, ...]
    next_hop: IPv4Address | IPv6Address | None
    device: str
    is_up: bool


@dataclass(frozen=True, slots=True)
class VrfRoute:
    """``protocol`` and ``kind`` are numbers of linux/rtnetlink.h (RTPROT_*, RTN_*)."""

    vrf: str
    prefix: IPv4Network | IPv6Network
    protocol: int
    kind: int
    metric: int
    paths: tuple[Path, ...]

    @property
    def sids(self) -> tuple[IPv6Address, ...]:
        """The first segment of each path."""
        return tuple(dict.fromkeys(path.segments[0] for path in self.paths if path.segments))


def vrfs() -> dict[str, int]:
    """Tables of the VRF devices that there are, by their names. Raises Problem."""
    with netlink() as opened:
        found = links.read_all(opened)
    return {link.name: link.table for link in sorted(found, key=lambda one: one.name) if link.table}


def read(tables: Mapping[str, int]) -> list[VrfRoute]:
    """Of VRFs by their tables. Raises Problem."""
    names = {table: vrf for vrf, table in tables.items()}
    with netlink() as opened:
        reader = _Reader(opened)
        asked = list(names) if len(names) <= _TABLES else [0]
        found = [
            route
            for family in _FAMILIES
            for table in asked
            for route in reader.routes(family, table, names)
        ]
    order = {vrf: at for at, vrf in enumerate(tables)}
    return sorted(found, key=lambda r: (order[r.vrf], r.prefix.version, r.prefix))


def unreachable(sids: Iterable[IPv6Address]) -> dict[IPv6Address, str]:
    """Those of the SIDs to which there is no route, with the reason. Raises Problem."""
    from srv6mgrd.kernel.reachability import decode, request

    with netlink() as opened:
        looked_up = {sid: decode(opened.read(request(sid, None)), {}, {}) for sid in set(sids)}
    return {sid: found.failure for sid, found in looked_up.items() if found.failure}


class _Reader:
    def __init__(self, opened: NetlinkSocket) -> None:
        self._netlink = opened
        self._devices = {link.index: link.name for link in links.read_all(opened)}
        self._objects: dict[int, tuple[Path, ...]] | None = None

    def routes(self, family: int, table: int, names: Mapping[int, str]) -> Iterator[VrfRoute]:
        for body in answers(self._netlink.dump(get_table(table, 0, family)), wire.RTM_NEWROUTE):
            if _is_elsewhere(body, names):
                continue
            route = RouteMessage.decode(body)
            if route.table in names:
                yield VrfRoute(
                    names[route.table],
                    route.prefix,
                    route.protocol,
                    route.kind,
                    route.metric,
                    self._paths(route, body),
                )

    def _paths(self, route: RouteMessage, body: memoryview) -> tuple[Path, ...]:
        found = route.attributes
        if wire.RTA_NH_ID in found:
            return self._known().get(wire.u32(found[wire.RTA_NH_ID]), ())
        if wire.RTA_MULTIPATH in found:
            return tuple(self._multipath(found[wire.RTA_MULTIPATH]))
        if not route.oif:
            return ()
        flags = wire.RTMSG.unpack_from(body)[-1]
        return (self._path(found, route.oif, flags),)

    def _path(self, found: Mapping[int, memoryview], oif: int, flags: int) -> Path:
        return Path(
            _segments(found.get(wire.RTA_ENCAP_TYPE), found.get(wire.RTA_ENCAP)),
            _gateway(found),
            self._devices.get(oif, ""),
            not flags & _DOWN,
        )

    def _multipath(self, listed: memoryview) -> Iterator[Path]:
        at = 0
        while at + wire.RTNEXTHOP.size <= len(listed):
            length, flags, _, oif = wire.RTNEXTHOP.unpack_from(listed, at)
            if length < wire.RTNEXTHOP.size:
                return
            found = wire.attribute_map(listed[at : at + length], wire.RTNEXTHOP.size)
            yield self._path(found, oif, flags)
            at += (length + 3) & ~3

    def _known(self) -> Mapping[int, tuple[Path, ...]]:
        """Paths of nexthop objects by their id."""
        if self._objects is None:
            self._objects, groups = {}, {}
            dumped = self._netlink.dump(get_next_hops())
            for body in answers(dumped, wire.RTM_NEWNEXTHOP):
                flags = wire.NHMSG.unpack_from(body)[-1]
                found = wire.attribute_map(body, wire.NHMSG.size)
                identifier = wire.u32(found[wire.NHA_ID])
                if wire.NHA_GROUP in found:
                    members = wire.NEXTHOP_GRP.iter_unpack(found[wire.NHA_GROUP])
                    groups[identifier] = [member for member, *_ in members]
                    continue
                oif = wire.u32(found[_NHA_OIF]) if _NHA_OIF in found else 0
                path = Path(
                    _segments(found.get(wire.NHA_ENCAP_TYPE), found.get(wire.NHA_ENCAP)),
                    _address(found.get(_NHA_GATEWAY)),
                    self._devices.get(oif, ""),
                    not flags & _DOWN,
                )
                self._objects[identifier] = (path,)
            for identifier, listed in groups.items():
                paths = [path for one in listed for path in self._objects.get(one, ())]
                self._objects[identifier] = tuple(paths)
        return self._objects


def _is_elsewhere(body: memoryview, tables: Container[int]) -> bool:
    """Report if a route is in another table, where its short number says so: there may be many
    thousands."""
    # 252 (RT_TABLE_COMPAT) stands for all that do not fit into a byte.
    return body[4] not in tables and 0 < body[4] < 252


def _segments(kind: memoryview | None, encap: memoryview | None) -> tuple[IPv6Address, ...]:
    if kind is None or encap is None or wire.u16(kind) != wire.LWTUNNEL_ENCAP_SEG6:
        return ()
    tunnel = wire.attribute_map(encap).get(wire.SEG6_IPTUNNEL_SRH)
    return (srh.unpack(tunnel[_MODE:]) or ()) if tunnel is not None else ()


def _gateway(found: Mapping[int, memoryview]) -> IPv4Address | IPv6Address | None:
    if _RTA_VIA in found:
        # struct rtvia: family, address
        return _address(found[_RTA_VIA][2:])
    return _address(found.get(wire.RTA_GATEWAY))


def _address(packed: memoryview | None) -> IPv4Address | IPv6Address | None:
    if packed is None:
        return None
    return IPv4Address(bytes(packed)) if len(packed) == 4 else IPv6Address(bytes(packed))
