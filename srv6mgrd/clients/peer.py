"""The other end of a connection, as the listener hands it on. Pure.

gRPC for Python says nothing of a client on a UNIX socket, and serves no connection that others
accepted. So the listener connects to gRPC from a socket whose own name says who is behind it.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

# A site has a /64 at least (RFC 6177), and its hosts take addresses of it as they like.
_IPV6_SITE = 64
_NAME = re.compile(r".*/(\d+),([0-9a-fA-F:.@\w-]*),(\d*),(\d*)")


@dataclass(frozen=True, slots=True)
class Peer:
    """A client: ``address`` and ``port``, or ``uid`` on a UNIX socket. ``connection`` numbers
    the connection; 0 stands for none of the listener's."""

    connection: int = 0
    address: str = ""
    port: int = 0
    uid: int | None = None

    def __str__(self) -> str:
        if self.uid is not None:
            return f"uid {self.uid}"
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{host}:{self.port}" if self.address else "unknown client"

    @property
    def host(self) -> str:
        """The address without what an IPv6 socket puts before one of IPv4."""
        try:
            address = ipaddress.ip_address(self.address)
        except ValueError:
            return self.address
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return self.address if mapped is None else str(mapped)

    @property
    def group(self) -> str:
        """What limits count as one client: a user of this machine, an address, an IPv6 site."""
        if self.uid is not None:
            return f"uid {self.uid}"
        try:
            address = ipaddress.ip_address(self.address)
        except ValueError:
            return self.address
        if isinstance(address, ipaddress.IPv6Address):
            if address.ipv4_mapped is not None:
                return str(address.ipv4_mapped)
            if not (address.is_link_local or address.is_loopback):
                return str(ipaddress.ip_network((int(address), _IPV6_SITE), strict=False))
        return str(address)

    def file(self) -> str:
        """The name of the socket that stands for this client."""
        uid = "" if self.uid is None else str(self.uid)
        # gRPC would escape a scope's percent sign (RFC 6874).
        return f"{self.connection},{self.address.replace('%', '@')},{self.port or ''},{uid}"


def read(name: str) -> Peer:
    """The peer that gRPC names so."""
    found = _NAME.fullmatch(name)
    if found is None:
        return Peer()
    connection, address, port, uid = found.groups()
    return Peer(
        int(connection),
        address.replace("@", "%"),
        int(port or 0),
        int(uid) if uid else None,
    )
