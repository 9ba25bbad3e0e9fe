"""What the kernel has of the parts that services need, kept current by its notifications.

What was read is read again only when a notification says that it changed, or on a full check.
Routes of BGP are read table by table.
"""

from __future__ import annotations

import contextlib
import errno
import socket
from collections import Counter
from collections.abc import Callable, Container, Mapping
from ipaddress import IPv4Address, IPv6Address

from srv6mgrd.kernel import reachability
from srv6mgrd.kinds.address import kernel as addresses
from srv6mgrd.model.desired import Desired
from srv6mgrd.netlink import bgp_routes, links, neighbors, wire
from srv6mgrd.netlink.classic_filter import (
    ALL,
    JUMP_EQUAL,
    LOAD_BYTE,
    LOAD_HALF,
    RETURN,
    all_of,
    assembled,
)
from srv6mgrd.netlink.listening import listening, turn
from srv6mgrd.netlink.socket import NetlinkSocket, answers
from srv6mgrd.service_state.evidence import (
    KernelEvidence,
    LinkEvidence,
    Reachability,
    RouteCount,
)
from srv6mgrd.service_state.scope import neighbor_addresses

_BUFFER, _DATAGRAM = 1 << 21, 1 << 16
_UNDERLAY = (
    wire.RTNLGRP_LINK,
    wire.RTNLGRP_IPV4_IFADDR,
    wire.RTNLGRP_IPV6_IFADDR,
    wire.RTNLGRP_IPV6_ROUTE,
    wire.RTNLGRP_IPV6_RULE,
    wire.RTNLGRP_NEIGH,
)
_VPN = (wire.RTNLGRP_IPV4_ROUTE, wire.RTNLGRP_IPV6_ROUTE)
_LINK = (wire.RTM_NEWLINK, wire.RTM_DELLINK)
_ADDRESS = (wire.RTM_NEWADDR, wire.RTM_DELADDR)
_NEIGHBOR = (wire.RTM_NEWNEIGH, wire.RTM_DELNEIGH)
# More tables than these are read at once.
_TABLES = 100


class KernelServiceEvidence:
    """``hear`` is for the event loop; ``read`` for one thread at a time, while nobody hears."""

    def __init__(self) -> None:
        self._netlink = NetlinkSocket()
        self._underlay = listening(_UNDERLAY, _BUFFER, code=_main_routes())
        self._vpn = listening(_VPN, _BUFFER, code=_bgp_routes())
        # What is to be read again.
        self._links = self._addresses = self._neighbors = self._routes = self._all_tables = True
        self._tables: set[int] = set()
        # What was read.
        self._names: Mapping[int, str] = {}
        self._found_links: Mapping[str, LinkEvidence] = {}
        self._found_addresses: Mapping[IPv4Address | IPv6Address, frozenset[int]] = {}
        self._failed: frozenset[tuple[str, IPv4Address | IPv6Address]] = frozenset()
        self._bgp_routes: bgp_routes.Tables = {}
        self._reachability: dict[IPv6Address, Reachability] = {}
        self._source: IPv6Address | None = None

    def close(self) -> None:
        for one in (self._netlink, self._underlay, self._vpn):
            one.close()

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Sockets that can be read when there is something to hear."""
        return self._underlay.fileno(), self._vpn.fileno()

    @property
    def is_stale(self) -> bool:
        """Whether anything is to be read again."""
        stale = self._links or self._addresses or self._neighbors or self._routes
        return stale or self._all_tables or bool(self._tables)

    def forget(self) -> None:
        """Notifications can be lost: read all again."""
        self._links = self._addresses = self._neighbors = self._routes = self._all_tables = True

    def hear(self) -> None:
        """Take in what the kernel reports."""
        self._receive(self._underlay, self._hear_underlay, self._lost_underlay)
        self._receive(self._vpn, self._hear_vpn, self._lost_vpn)

    def _receive(
        self,
        heard: socket.socket,
        take: Callable[[int, memoryview], None],
        lost: Callable[[], None],
    ) -> None:
        for _ in turn():
            try:
                datagram = heard.recv(_DATAGRAM)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                lost()
                continue
            for kind, _, _, body in wire.messages(datagram):
                take(kind, body)

    def _hear_underlay(self, kind: int, body: memoryview) -> None:
        if kind in _LINK:
            self._hear_link(kind, body)
        elif kind in _ADDRESS:
            self._addresses = self._routes = True
        elif kind in _NEIGHBOR:
            self._hear_neighbor(body)
        else:
            self._routes = True

    def _hear_link(self, kind: int, body: memoryview) -> None:
        """Routes over an interface that goes down, go without a notification."""
        self._links = self._routes = True
        _, _, index, flags, _ = wire.IFINFOMSG.unpack_from(body)
        before = self._found_links.get(self._names.get(index, ""))
        was_up = before is not None and before.is_up and before.has_carrier
        is_up = kind == wire.RTM_NEWLINK and flags & wire.IFF_UP and flags & wire.IFF_LOWER_UP
        self._all_tables |= was_up and not is_up

    def _hear_neighbor(self, body: memoryview) -> None:
        """Most of them come and go as they are used."""
        (index, packed), is_failed = neighbors.decode(body)
        name = self._names.get(index, "")
        with contextlib.suppress(ValueError):
            address = IPv4Address(packed) if len(packed) == 4 else IPv6Address(packed)
            if is_failed != ((name, address) in self._failed):
                self._neighbors = True

    def _lost_underlay(self) -> None:
        self._links = self._addresses = self._neighbors = self._routes = True

    def _hear_vpn(self, _: int, body: memoryview) -> None:
        self._tables.add(bgp_routes.table_of(body))

    def _lost_vpn(self) -> None:
        self._all_tables = True

    def read(self, desired: Desired) -> KernelEvidence:
        """Read again what is to be. Raises KernelError, and reads it the next time."""
        self._read_links()
        self._read_addresses()
        self._read_neighbors()
        self._read_bgp_routes()
        found, usable = self._tunnels(desired), self._usable_addresses()
        self._read_reachability(desired, found, usable)
        return KernelEvidence(
            self._found_links,
            usable,
            found,
            dict(self._reachability),
            self._failed,
            self._counts(desired),
        )

    def _read_links(self) -> None:
        if not self._links:
            return
        names: dict[int, str] = {}
        found: dict[str, LinkEvidence] = {}
        for body in answers(self._netlink.dump(links.get_all()), wire.RTM_NEWLINK):
            _, _, index, flags, _ = wire.IFINFOMSG.unpack_from(body)
            attributes = wire.attribute_map(body, wire.IFINFOMSG.size)
            name = names[index] = wire.text(attributes.get(wire.IFLA_IFNAME, b""))
            mtu = wire.u32(attributes[wire.IFLA_MTU]) if wire.IFLA_MTU in attributes else 0
            is_up, has_carrier = bool(flags & wire.IFF_UP), bool(flags & wire.IFF_LOWER_UP)
            found[name] = LinkEvidence(is_up, has_carrier, mtu)
        self._names, self._found_links = names, found
        self._links = False

    def _read_addresses(self) -> None:
        if not self._addresses:
            return
        found: dict[IPv4Address | IPv6Address, frozenset[int]] = {}
        for family in addresses.FAMILIES:
            for body in answers(self._netlink.dump(addresses.get_all(family)), wire.RTM_NEWADDR):
                attributes = wire.attribute_map(body, wire.IFADDRMSG.size)
                local = attributes.get(wire.IFA_LOCAL, attributes.get(wire.IFA_ADDRESS, b""))
                address = (
                    IPv4Address(bytes(local))
                    if family == socket.AF_INET
                    else IPv6Address(bytes(local))
                )
                index = wire.IFADDRMSG.unpack_from(body)[4]
                found[address] = found.get(address, frozenset()) | {index}
        self._found_addresses = found
        self._addresses = False

    def _usable_addresses(self) -> frozenset[IPv4Address | IPv6Address]:
        up = {i for i, name in self._names.items() if self._found_links[name].is_up}
        return frozenset(a for a, on in self._found_addresses.items() if on & up)

    def _read_neighbors(self) -> None:
        if self._neighbors:
            dumped = self._netlink.dump(neighbors.get_all())
            self._failed = frozenset(neighbors.failed(dumped, self._names))
            self._neighbors = False

    def _read_bgp_routes(self) -> None:
        if self._all_tables or len(self._tables) > _TABLES:
            self._bgp_routes = bgp_routes.read(self._netlink)
        else:
            for table in self._tables:
                found = bgp_routes.read(self._netlink, table)
                self._bgp_routes[table] = found.get(table, bgp_routes.TableRoutes())
        self._all_tables = False
        self._tables.clear()

    def _tunnels(self, desired: Desired) -> dict[str, Mapping[IPv6Address, int]]:
        """By VRF: routes of BGP, and those that are steered."""
        found: dict[str, Counter[IPv6Address]] = {}
        for name, vrf in desired.vrfs.items():
            routes = self._bgp_routes.get(vrf.table)
            if routes is not None and routes.segments:
                found[name] = Counter(routes.segments)
        for route in desired.routes.values():
            segments = desired.segment_lists.get(route.segment_list)
            if route.vrf is not None and segments is not None and segments.segments:
                found.setdefault(route.vrf, Counter())[segments.segments[0]] += 1
        return dict(found)

    def _counts(self, desired: Desired) -> dict[str, RouteCount]:
        """Routes of BGP by VRF."""
        none = bgp_routes.TableRoutes()
        found = {
            name: self._bgp_routes.get(vrf.table, none).families
            for name, vrf in desired.vrfs.items()
            if vrf.bgp is not None
        }
        return {
            name: RouteCount(families[socket.AF_INET], families[socket.AF_INET6])
            for name, families in found.items()
        }

    def _read_reachability(
        self,
        desired: Desired,
        found: Mapping[str, Mapping[IPv6Address, int]],
        addresses: Container[IPv4Address | IPv6Address],
    ) -> None:
        source = desired.encapsulation_source
        if source not in addresses:
            source = None
        known = {} if self._routes or source != self._source else self._reachability
        wanted = {sid for routes in found.values() for sid in routes}
        wanted |= neighbor_addresses(desired)
        self._reachability = {
            sid: known[sid] if sid in known else self._look_up(sid, source) for sid in wanted
        }
        self._routes, self._source = False, source

    def _look_up(self, sid: IPv6Address, source: IPv6Address | None) -> Reachability:
        answer = self._netlink.read(reachability.request(sid, source))
        return reachability.decode(answer, self._names, self._found_links)


def _bgp_routes() -> bytes:
    """Accept notifications of routes of protocol bgp."""
    return all_of((LOAD_BYTE, wire.NLMSGHDR.size + 5, wire.RTPROT_BGP))


def _main_routes() -> bytes:
    """Of routes accept those of the main table alone."""
    return assembled(
        [
            (LOAD_HALF, 0, 0, 4),
            (JUMP_EQUAL, 1, 0, socket.htons(wire.RTM_NEWROUTE)),
            (JUMP_EQUAL, 0, 2, socket.htons(wire.RTM_DELROUTE)),
            (LOAD_BYTE, 0, 0, wire.NLMSGHDR.size + 4),
            (JUMP_EQUAL, 0, 1, wire.RT_TABLE_MAIN),
            (RETURN, 0, 0, ALL),
            (RETURN, 0, 0, 0),
        ]
    )
