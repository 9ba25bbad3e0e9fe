"""A route to the next hop of a cross-connect. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import ClassVar

from srv6mgrd.kinds.route import SID_METRIC, DeviceRoute, Place
from srv6mgrd.model.reserved import MAIN_TABLE


@dataclass(frozen=True, slots=True)
class NextHopRoute(DeviceRoute):
    """A host route to the next hop of a cross-connect, through that next hop on an interface.

    Without it the kernel makes a route again for each packet (ip6_pol_route: FLOWI_FLAG_KNOWN_NH
    and no gateway), and End.DX4 asks the link for the inner destination instead of the next hop
    (ip_route_input; a route without a gateway has none to ask for). It is in the main table:
    seg6_lookup_any_nexthop and input_action_end_dx4_finish look up as for a packet that came in on
    the underlay, whose rules lead there. ``address`` is what the SID names; ``via`` the neighbour.
    """

    rank: ClassVar[int] = 45
    address: IPv4Address | IPv6Address
    device: str
    via: IPv4Address | IPv6Address
    table: int = MAIN_TABLE
    metric: int = SID_METRIC

    @property
    def prefix(self) -> IPv4Network | IPv6Network:
        if isinstance(self.address, IPv4Address):
            return IPv4Network(self.address)
        return IPv6Network(self.address)

    @property
    def label(self) -> str:
        return f"route to next hop {self.via} on {self.device}"

    @property
    def short_label(self) -> str:
        return f"route to next hop {self.address}"

    @property
    def place(self) -> Place:
        return self.table, self.metric, self.prefix

    @property
    def options(self) -> str:
        inet6 = "inet6 " if self.address.version != self.via.version else ""
        return f" via {inet6}{self.via} dev {self.device} onlink"
