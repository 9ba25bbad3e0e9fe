"""The links, rules, addresses and SID routes of this network namespace: what an operator would see
with iproute2, not what srv6mgrd believes."""

from __future__ import annotations

import fcntl
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Interface, IPv6Network, ip_interface
from pathlib import Path
from typing import Any

from srv6mgrd.cli import sid_routes
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.model.interfaces import Address

_IFF_UP, _IFF_LOWER_UP = 0x1, 0x10000
_SYSCTLS = Path("/proc/sys")
# linux/sockios.h; struct ifreq: name, flags
_SIOCGIFFLAGS, _IFREQ = 0x8913, struct.Struct("16sH22x")

Route = sid_routes.Route
# linux/fib_rules.h: FR_ACT_*
_TO_TABLE = 1
_UNSPECIFIED_PROTOCOL = 0


@dataclass(frozen=True, slots=True)
class Link:
    """``table`` of a VRF device, else None; ``master`` by name."""

    name: str
    index: int
    kind: str
    up: bool
    carrier: bool
    mtu: int
    alias: str = ""
    master: str = ""
    table: int | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """An IPv6 rule, in the order in which they are asked. ``table`` is 0 where packets end."""

    priority: int
    to: IPv6Network
    source: IPv6Network
    table: int
    protocol: int

    def __str__(self) -> str:
        leads = f"lookup {self.table}" if self.table else "ends packets"
        return f"{self.priority}: from {self.source} to {self.to} {leads}"


@dataclass(frozen=True, slots=True)
class Host:
    """``rules`` of IPv6 and the ``routes`` in the table of SIDs; ``addresses`` of IPv6, of all
    links, and ``addresses_of`` each link those of both families."""

    links: Mapping[str, Link] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    routes: tuple[Route, ...] = ()
    addresses: frozenset[IPv6Address] = frozenset()
    addresses_of: Mapping[str, tuple[Address, ...]] = field(default_factory=dict)


def read(*, routes: bool = False) -> Host:
    """All links, rules and addresses, and the routes in the table of SIDs if they are asked for.
    Raises Problem."""
    with _netlink() as netlink:
        indexes, links = _links(netlink.get_links())
        addresses_of: dict[str, tuple[Address, ...]] = {}
        for m in netlink.get_addr():
            name = indexes.get(m["index"], "")
            addresses_of[name] = (*addresses_of.get(name, ()), _address(m))
        return Host(
            links,
            tuple(_rule(m) for m in netlink.get_rules(family=socket.AF_INET6)),
            sid_routes.read(indexes) if routes else (),
            frozenset(
                address.ip
                for listed in addresses_of.values()
                for address in listed
                if isinstance(address, IPv6Interface)
            ),
            addresses_of,
        )


def is_up(name: str) -> bool:
    """Report if there is a link of this name, and it is up."""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as asked:
        try:
            answer = fcntl.ioctl(asked, _SIOCGIFFLAGS, _IFREQ.pack(name.encode(), 0))
        except OSError:
            return False
    return bool(_IFREQ.unpack(answer)[1] & _IFF_UP)


def sysctl(path: str) -> str | None:
    """A value below /proc/sys (``net/vrf/strict_mode``); None where there is none."""
    try:
        return (_SYSCTLS / path).read_text().strip()
    except OSError:
        return None


@contextmanager
def _netlink() -> Iterator[Any]:
    try:
        from pyroute2 import IPRoute

        netlink = IPRoute()
    except (ImportError, OSError) as error:
        remedy = "see that the kernel has netlink and pyroute2 is installed"
        raise Problem.of("netlink", str(error), remedy, Exit.UNREACHABLE) from None
    try:
        yield netlink
    finally:
        netlink.close()


def _links(messages: Any) -> tuple[dict[int, str], dict[str, Link]]:
    found = list(messages)
    names = {m["index"]: str(m.get_attr("IFLA_IFNAME")) for m in found}
    links = {}
    for m in found:
        info = m.get_attr("IFLA_LINKINFO")
        kind = (info.get_attr("IFLA_INFO_KIND") if info else None) or ""
        data = info.get_attr("IFLA_INFO_DATA") if info and kind == "vrf" else None
        name = names[m["index"]]
        links[name] = Link(
            name,
            int(m["index"]),
            str(kind),
            bool(m["flags"] & _IFF_UP),
            bool(m["flags"] & _IFF_LOWER_UP),
            int(m.get_attr("IFLA_MTU") or 0),
            str(m.get_attr("IFLA_IFALIAS") or ""),
            names.get(m.get_attr("IFLA_MASTER") or 0, ""),
            int(data.get_attr("IFLA_VRF_TABLE")) if data else None,
        )
    return names, links


def _address(m: Any) -> Address:
    # Of a point-to-point link IFA_ADDRESS is the other end; IPv6 has IFA_LOCAL only there.
    local = m.get_attr("IFA_LOCAL") or m.get_attr("IFA_ADDRESS")
    return ip_interface(f"{local}/{m['prefixlen']}")


def _rule(m: Any) -> Rule:
    table = int(m.get_attr("FRA_TABLE") or m["table"])
    return Rule(
        int(m.get_attr("FRA_PRIORITY") or 0),
        _network(m.get_attr("FRA_DST"), m["dst_len"]),
        _network(m.get_attr("FRA_SRC"), m["src_len"]),
        table if m["action"] == _TO_TABLE else 0,
        int(m.get_attr("FRA_PROTOCOL") or _UNSPECIFIED_PROTOCOL),
    )


def _network(address: str | None, length: int) -> IPv6Network:
    return IPv6Network((address or "::", length), strict=False)
