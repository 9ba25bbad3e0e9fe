"""One look at the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from srv6mgrd.kinds.route import Route
from srv6mgrd.model.reserved import MAIN_TABLE
from srv6mgrd.netlink import links
from srv6mgrd.netlink.links import Link
from srv6mgrd.netlink.routes import RouteMessage
from srv6mgrd.netlink.socket import NetlinkSocket

RouteDecoder = Callable[[RouteMessage], Route | None]


class Reader:
    """Links are read when somebody asks for them. By then all has been dumped that may refer to a
    device, or a new one would be taken for one that is gone."""

    def __init__(self, netlink: NetlinkSocket, sysctls: Sequence[str]) -> None:
        self._netlink = netlink
        self._dumps: dict[bytes, list[bytes]] = {}
        self.sysctls = sysctls
        # Tables that may have routes of ours, beside that of our SIDs; and the decoders of
        # such routes.
        self.tables = {MAIN_TABLE}
        self.route_decoders: list[RouteDecoder] = []

    def dump(self, request: bytes, *, comparable: bool = False) -> list[bytes]:
        """All datagrams of the answer; kinds that ask for the same share it. Raises KernelError."""
        if (found := self._dumps.get(request)) is None:
            found = self._dumps[request] = self._netlink.dump(request, comparable=comparable)
        return found

    @cached_property
    def links(self) -> Sequence[Link]:
        return links.read_all(self._netlink)

    @cached_property
    def by_index(self) -> Mapping[int, Link]:
        return {link.index: link for link in self.links}

    @cached_property
    def names(self) -> Mapping[int, str]:
        return {link.index: link.name for link in self.links}

    def below(self, link: Link) -> Link | None:
        """What a VLAN is stacked on, if that is in this namespace."""
        return self.by_index.get(link.parent) if link.vlan else None

    def depth(self, link: Link) -> int:
        """How many VLANs a link is stacked on, itself included."""
        below = self.below(link)
        return 0 if below is None else 1 + self.depth(below)
