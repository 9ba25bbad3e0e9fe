"""Routes to next hops of cross-connects, written and read back."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_kind import Decode
from srv6mgrd.kinds.kernel_route import KernelRoute
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.kinds.route import Route
from srv6mgrd.netlink import routes, wire
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.routes import RouteMessage


class NextHopRoutes(KernelRoute):
    kinds = (NextHopRoute,)

    def put(self, batch: Batch, route: Route, flags: int) -> bytes | Failure:
        assert isinstance(route, NextHopRoute)
        index = batch.index(route.device)
        return index if isinstance(index, Failure) else put(route, flags, index)

    def dump(self, reader: Reader) -> Decode:
        reader.route_decoders.append(
            lambda message: decode(message, reader.names.get(message.oif, f"if{message.oif}"))
        )
        return dict


def put(route: NextHopRoute, flags: int, ifindex: int) -> bytes:
    """RTM_NEWROUTE on the device with this ifindex; flags CREATE or REPLACE."""
    # On-link: the interface needs no address in the next hop's network.
    body = routes.head(*route.place, wire.RTN_UNICAST, flags=wire.RTNH_F_ONLINK)
    body += wire.nla(wire.RTA_GATEWAY, route.via.packed)
    body += wire.nla_u32(wire.RTA_OIF, ifindex)
    return wire.message(wire.RTM_NEWROUTE, flags, body)


def decode(message: RouteMessage, device: str) -> NextHopRoute | None:
    address: IPv4Address | IPv6Address = message.prefix.network_address
    if (
        message.kind != wire.RTN_UNICAST
        or not message.quiet
        or (message.flags, message.scope) != (wire.RTNH_F_ONLINK, 0)
        or message.attributes.keys() != {wire.RTA_GATEWAY}
        or message.prefix.prefixlen != address.max_prefixlen
    ):
        return None
    via = ip_address(bytes(message.attributes[wire.RTA_GATEWAY]))
    return NextHopRoute(address, device, via, message.table, message.metric)
