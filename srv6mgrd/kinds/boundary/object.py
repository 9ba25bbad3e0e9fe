"""The filter at the boundary of the SRv6 domain. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, collapse_addresses
from typing import ClassVar

from srv6mgrd.kinds.object import Object, Unknown
from srv6mgrd.model.reserved import LINK_ALIAS

# Our nftables table, of family ip6; its comment is LINK_ALIAS.
BOUNDARY_TABLE = "srv6mgr"

BOUNDARY_KEY = "boundary"
_LABEL = f"nftables table ip6 {BOUNDARY_TABLE}"


@dataclass(frozen=True, slots=True)
class Boundary(Object):
    """The filter at the boundary of the SRv6 domain: what comes in on these interfaces, or if it is
    ``closed`` on any but these, reaches none of these SIDs, carries no SRH, and has none of these
    sources (RFC 8754 section 5.1).

    In the kernel's order: names and addresses sorted, prefixes merged; ``boundary`` makes it so.
    It is installed before a VRF gets its ports and removed after them.
    """

    rank: ClassVar[int] = 5
    interfaces: tuple[str, ...]
    sids: tuple[IPv6Network, ...]
    sources: tuple[IPv6Address, ...]
    closed: bool = False

    @property
    def key(self) -> str:
        return BOUNDARY_KEY

    @property
    def label(self) -> str:
        return _LABEL

    @property
    def set_name(self) -> str:
        """Name of the set that holds the interfaces."""
        return "core" if self.closed else "customers"

    def create_command(self) -> str:
        return f"nft {shlex.quote(self._table())}"

    def replace_command(self, before: Object) -> str:
        return f"nft {shlex.quote(f'delete table ip6 {BOUNDARY_TABLE}; {self._table()}')}"

    def delete_command(self) -> str:
        return f"nft delete table ip6 {BOUNDARY_TABLE}"

    def _table(self) -> str:
        sets = (
            (self.set_name, "type ifname;", (f'"{name}"' for name in self.interfaces)),
            ("sids", "type ipv6_addr; flags interval;", map(str, self.sids)),
            ("sources", "type ipv6_addr;", map(str, self.sources)),
        )
        lines = [f'comment "{LINK_ALIAS}";']
        for name, kind, elements in sets:
            listed = ", ".join(elements)
            listed = f" elements = {{ {listed} }};" if listed else ""
            lines.append(f"set {name} {{ {kind}{listed} }};")
        lines += [
            'chain customer { ip6 daddr @sids counter drop comment "to a SID";'
            ' rt type 4 counter drop comment "source routing";'
            ' ip6 saddr @sources counter drop comment "as if encapsulated here"; };',
            "chain boundary { type filter hook prerouting priority raw; policy accept;"
            f" iifname {'!= ' if self.closed else ''}@{self.set_name} jump customer"
            ' comment "from a customer"; };',
        ]
        return f"table ip6 {BOUNDARY_TABLE} {{ {' '.join(lines)} }}"


def boundary(
    interfaces: Iterable[str],
    sids: Iterable[IPv6Network],
    sources: Iterable[IPv6Address],
    *,
    closed: bool = False,
) -> Boundary:
    return Boundary(
        tuple(sorted(set(interfaces))),
        tuple(collapse_addresses(sids)),
        tuple(sorted(set(sources))),
        closed,
    )


@dataclass(frozen=True, slots=True)
class UnknownBoundary(Unknown):
    """A table in the place of ours with other chains, rules or sets. Only ever observed."""

    rank: ClassVar[int] = 5
    description: str

    @property
    def key(self) -> str:
        return BOUNDARY_KEY

    @property
    def label(self) -> str:
        return f"{_LABEL} {self.description}"

    @property
    def short_label(self) -> str:
        return _LABEL
