"""What is pinged or traced: a SID, an address, or a prefix of a VRF, and the probes for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_network

from srv6mgrd.cli import host
from srv6mgrd.cli.host import Link
from srv6mgrd.cli.oam import vpn_route
from srv6mgrd.cli.oam.packet import Address
from srv6mgrd.cli.oam.probe import HOP_LIMIT, Echo, Host, Loop, Probe, Vpn
from srv6mgrd.cli.oam.sockets import first_of, source_towards
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.kinds.encap_source.kernel import Seg6
from srv6mgrd.model import interfaces, names
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.socket import NetlinkSocket

_NOWHERE = IPv6Address(0)


@dataclass(frozen=True, slots=True)
class Options:
    """Of the command line. ``source`` is that of the innermost packet."""

    vrf: str = ""
    segments: tuple[IPv6Address, ...] = ()
    size: int = 0
    source: Address | None = None
    encapsulated: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """``legs`` are probed each for itself; one of several forms in a leg is enough. ``sid`` is the
    last SID on the way, and ``prefix`` that of the VRF's route through it."""

    legs: tuple[tuple[Probe, ...], ...]
    sid: IPv6Address | None = None
    vrf: str = ""
    prefix: IPv4Network | IPv6Network | None = None


class Resolver:
    """Reads links, addresses and routes of the kernel; needs no service of srv6mgr."""

    def __init__(self) -> None:
        self._netlink = NetlinkSocket()
        self._seen = host.read()

    def close(self) -> None:
        self._netlink.close()

    def target(self, text: str, options: Options) -> Target:
        """Raises Problem."""
        network = _parsed(text)
        if options.vrf:
            return self._in_vrf(text, network, options)
        if not isinstance(network, IPv6Network):
            cause = "an IPv4 address is reached inside of a VRF alone"
            raise Problem.of(text, cause, "name the VRF with --vrf", Exit.USAGE)
        address = network.network_address
        found = vpn_route.towards(self._netlink, address)
        if not isinstance(found, Failure) and found.is_local_sid:
            cause = "it is a SID of this router"
            raise Problem.of(names.sid(text), cause, f"see srv6ctl explain {text}", Exit.USAGE)
        segments = (*options.segments, address)
        source = options.source or self._source(segments[0])
        if not isinstance(source, IPv6Address):
            cause = "the source has to be an IPv6 address, too"
            raise Problem.of(text, cause, "change --source", Exit.USAGE)
        loop = Loop(source, segments, options.size, options.encapsulated)
        if options.encapsulated:
            return Target(((loop,),), address)
        return Target(((Echo(source, segments, options.size), loop),), address)

    def behind(self, sid: IPv6Address, options: Options) -> Target | None:
        """The same for a SID which a VRF has routes through; None where none has."""
        vrfs = {link.table: link for link in self._vrfs().values() if link.table is not None}
        for table, route in vpn_route.through(self._netlink, vrfs, sid):
            found = self._vpn(vrfs[table], _host_in(route.prefix), route, options)
            if found is not None:
                return found
        return None

    def edges(self) -> Iterator[Target]:
        """Each VRF with each SID that it has routes through. For IPv6 a packet that comes back: it
        needs no error of the other edge, of which there are few a second."""
        for name, link in sorted(self._vrfs().items()):
            known: set[IPv6Address] = set()
            for _, route in vpn_route.through(self._netlink, [link.table or 0]):
                sid = route.segments[-1]
                inner = _host_in(route.prefix)
                source = self._source_in(link, inner.version)
                if sid in known or source is None:
                    continue
                known.add(sid)
                loops = inner.version == 6
                host = Host(name, source, source if loops else inner)
                hop_limit = HOP_LIMIT if loops else 1
                probe = Vpn(self._source(route.segments[0]), route.segments, host, hop_limit)
                yield Target(((probe,),), sid, name, route.prefix)

    def _in_vrf(self, text: str, network: IPv4Network | IPv6Network, options: Options) -> Target:
        vrf = self._vrfs().get(options.vrf)
        if vrf is None or vrf.table is None:
            cause = "there is no VRF of this name"
            raise Problem.of(names.vrf(options.vrf), cause, "see srv6ctl show vrfs", Exit.USAGE)
        inner = _host_in(network)
        route = vpn_route.towards(self._netlink, inner, vrf.index)
        if isinstance(route, Failure) and isinstance(inner, IPv6Address):
            sid = network.network_address
            assert isinstance(sid, IPv6Address)
            for _, through in vpn_route.through(self._netlink, [vrf.table], sid):
                if (
                    found := self._vpn(vrf, _host_in(through.prefix), through, options)
                ) is not None:
                    return found
        if isinstance(route, Failure):
            remedy = f"see ip route show vrf {vrf.name}, and srv6ctl show neighbors"
            raise Problem.of(names.vrf(vrf.name), f"it has no route to {text}", remedy)
        whole = network.prefixlen == network.max_prefixlen
        legs: list[tuple[Probe, ...]] = []
        made = self._vpn(vrf, inner, route, options) if route.segments else None
        if made is not None:
            legs += made.legs
        source = options.source or self._source_in(vrf, inner.version)
        if source is None:
            cause = f"it has no IPv{inner.version} address to send from"
            raise Problem.of(names.vrf(vrf.name), cause, "give one with --source", Exit.USAGE)
        if whole or not legs:
            legs.append((Host(vrf.name, source, inner, options.size),))
        sid_ = route.segments[-1] if route.segments else None
        return Target(tuple(legs), sid_, vrf.name, route.prefix)

    def _vpn(
        self, vrf: Link, inner: Address, route: vpn_route.Route, options: Options
    ) -> Target | None:
        source = options.source or self._source_in(vrf, inner.version)
        if source is None:
            return None
        segments = (*options.segments, *route.segments)
        outer = self._source(segments[0])
        probe = Vpn(outer, segments, Host(vrf.name, source, inner, options.size))
        return Target(((probe,),), route.segments[-1], vrf.name, route.prefix)

    def _vrfs(self) -> Mapping[str, Link]:
        return {n: link for n, link in self._seen.links.items() if link.table is not None}

    def _source(self, first: IPv6Address) -> IPv6Address:
        """That of the kernel's own encapsulations: the other edges have a route to it."""
        seg6 = Seg6()
        try:
            if (declared := seg6.source()) is not None:
                return declared
            return source_towards(first)
        except OSError:
            # Without a route sending fails, too, and is reported.
            return _NOWHERE
        finally:
            seg6.close()

    def _source_in(self, vrf: Link, version: int) -> Address | None:
        ports = [link.name for link in self._seen.links.values() if link.master == vrf.name]
        addresses = [one.ip for name in (vrf.name, *sorted(ports)) for one in self._addresses(name)]
        return first_of(version, addresses)

    def _addresses(self, name: str) -> Sequence[interfaces.Address]:
        return self._seen.addresses_of.get(name, ())


def _parsed(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        cause = "it is no address and no prefix"
        raise Problem.of(text, cause, "give a SID, an address or a prefix", Exit.USAGE) from None


def _host_in(network: IPv4Network | IPv6Network) -> Address:
    """The address itself, or the first one of a prefix."""
    if network.prefixlen == network.max_prefixlen:
        return network.network_address
    return network.network_address + 1
