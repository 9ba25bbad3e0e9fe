"""Links as netlink requests and as they are read (net/core/rtnetlink.c)."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from srv6mgrd.model.reserved import LINK_ALIAS
from srv6mgrd.netlink import wire
from srv6mgrd.netlink.socket import NetlinkSocket, answers

# The kind of an always-up device that nothing is sent on.
DUMMY = "dummy"
VLAN = "vlan"
VRF = "vrf"
# Kinds of links that have another end, and kinds that no packet comes in on.
_PAIRED = ("veth", "netkit")
_SILENT = ("dummy", "vrf", "ifb", "nlmon")


@dataclass(frozen=True, slots=True)
class Link:
    """A link as the kernel describes it. ``table`` is that of a VRF, else 0; ``peer`` are
    namespace id and ifindex of the other end, where that is in another namespace; ``parent`` and
    ``vlan`` are ifindex and id of an 802.1Q VLAN in this one; a ``loose`` one does not follow the
    state of its parent."""

    index: int
    name: str
    up: bool
    kind: str = ""
    alias: str = ""
    master: int = 0
    table: int = 0
    ethernet: bool = False
    address: bytes = b""
    peer: tuple[int, int] | None = None
    mtu: int = 0
    parent: int = 0
    vlan: int = 0
    loose: bool = False
    carrier: bool = True

    @property
    def ours(self) -> bool:
        return self.alias == LINK_ALIAS

    @property
    def described(self) -> str:
        parts = [self.kind or "device", "up" if self.up else "down"]
        if self.table:
            parts.insert(1, f"table {self.table}")
        return " ".join(parts)


def create(name: str, kind: str, *, index: int = 0, parent: int = 0, data: bytes = b"") -> bytes:
    """RTM_NEWLINK of a device that must not exist yet, with IFLA_INFO_DATA of its kind; ``parent``
    is the ifindex of what it is stacked on. It starts down and without a mark: rtnl_newlink_create
    ignores IFLA_IFALIAS, so ``mark`` must follow."""
    info = wire.nla_text(wire.IFLA_INFO_KIND, kind)
    if data:
        info += wire.nested(wire.IFLA_INFO_DATA, data)
    body = wire.IFINFOMSG.pack(socket.AF_UNSPEC, 0, index, 0, 0)
    body += wire.nla_text(wire.IFLA_IFNAME, name)
    if parent:
        body += wire.nla_u32(wire.IFLA_LINK, parent)
    body += wire.nested(wire.IFLA_LINKINFO, info)
    return wire.message(wire.RTM_NEWLINK, wire.NLM_F_CREATE | wire.NLM_F_EXCL, body)


def mark(name: str, *, up: bool | None = None) -> bytes:
    """RTM_SETLINK that gives a device our alias, and an administrative state if one is given."""
    flags, change = (0, 0) if up is None else (wire.IFF_UP if up else 0, wire.IFF_UP)
    body = wire.IFINFOMSG.pack(socket.AF_UNSPEC, 0, 0, flags, change)
    body += wire.nla_text(wire.IFLA_IFNAME, name)
    body += wire.nla_text(wire.IFLA_IFALIAS, LINK_ALIAS)
    return wire.message(wire.RTM_SETLINK, 0, body)


def delete(index: int) -> bytes:
    body = wire.IFINFOMSG.pack(socket.AF_UNSPEC, 0, index, 0, 0)
    return wire.message(wire.RTM_DELLINK, 0, body)


def set_master(index: int, master: int) -> bytes:
    """Put a link into a VRF (``master``: its ifindex), or out of it (0). do_set_master takes it
    out of the previous one first."""
    body = wire.IFINFOMSG.pack(socket.AF_UNSPEC, 0, index, 0, 0)
    body += wire.nla_u32(wire.IFLA_MASTER, master)
    return wire.message(wire.RTM_SETLINK, 0, body)


def set_mtu(index: int, mtu: int) -> bytes:
    body = wire.IFINFOMSG.pack(socket.AF_UNSPEC, 0, index, 0, 0)
    body += wire.nla_u32(wire.IFLA_MTU, mtu)
    return wire.message(wire.RTM_SETLINK, 0, body)


def set_up(index: int, *, up: bool = True) -> bytes:
    flag = wire.IFF_UP if up else 0
    body = wire.IFINFOMSG.pack(socket.AF_UNSPEC, 0, index, flag, wire.IFF_UP)
    return wire.message(wire.RTM_SETLINK, 0, body)


def get(name: str) -> bytes:
    """RTM_GETLINK of one link by name."""
    body = wire.IFINFOMSG.pack(socket.AF_UNSPEC, 0, 0, 0, 0)
    body += wire.nla_text(wire.IFLA_IFNAME, name) + _no_statistics()
    return wire.message(wire.RTM_GETLINK, 0, body)


def get_peer(peer: tuple[int, int]) -> bytes:
    """RTM_GETLINK of ``Link.peer``."""
    namespace, index = peer
    body = wire.IFINFOMSG.pack(socket.AF_UNSPEC, 0, index, 0, 0)
    body += wire.nla_u32(wire.IFLA_TARGET_NETNSID, namespace) + _no_statistics()
    return wire.message(wire.RTM_GETLINK, 0, body)


def get_all() -> bytes:
    body = wire.IFINFOMSG.pack(socket.AF_UNSPEC, 0, 0, 0, 0) + _no_statistics()
    return wire.message(wire.RTM_GETLINK, 0, body)


def _no_statistics() -> bytes:
    return wire.nla_u32(wire.IFLA_EXT_MASK, wire.RTEXT_FILTER_SKIP_STATS)


def decode(body: memoryview | bytes) -> Link:
    """One RTM_NEWLINK or RTM_DELLINK, without its netlink header."""
    _, device, index, flags, _ = wire.IFINFOMSG.unpack_from(body)
    found = wire.attribute_map(body, wire.IFINFOMSG.size)
    kind, table, vlan, loose = "", 0, 0, False
    if (info := found.get(wire.IFLA_LINKINFO)) is not None:
        inner = wire.attribute_map(info)
        kind = wire.text(inner.get(wire.IFLA_INFO_KIND, b""))
        if kind == VRF and wire.IFLA_INFO_DATA in inner:
            data = wire.attribute_map(inner[wire.IFLA_INFO_DATA])
            table = wire.u32(data[wire.IFLA_VRF_TABLE]) if wire.IFLA_VRF_TABLE in data else 0
        elif kind == VLAN and wire.IFLA_INFO_DATA in inner:
            data = wire.attribute_map(inner[wire.IFLA_INFO_DATA])
            vlan, loose = _vlan_id(data), _is_loose(data)
    return Link(
        index=index,
        name=wire.text(found.get(wire.IFLA_IFNAME, b"")),
        up=bool(flags & wire.IFF_UP),
        kind=kind,
        alias=wire.text(found.get(wire.IFLA_IFALIAS, b"")),
        master=wire.u32(found[wire.IFLA_MASTER]) if wire.IFLA_MASTER in found else 0,
        table=table,
        ethernet=device == wire.ARPHRD_ETHER,
        address=bytes(found.get(wire.IFLA_ADDRESS, b"")),
        peer=_peer(found) if kind in _PAIRED else None,
        mtu=wire.u32(found[wire.IFLA_MTU]) if wire.IFLA_MTU in found else 0,
        parent=wire.u32(found[wire.IFLA_LINK]) if vlan and _is_here(found) else 0,
        vlan=vlan,
        loose=loose,
        carrier=bool(flags & wire.IFF_LOWER_UP),
    )


def _vlan_id(data: Mapping[int, memoryview]) -> int:
    """0 of one that is no 802.1Q VLAN (802.1ad)."""
    protocol = bytes(data.get(wire.IFLA_VLAN_PROTOCOL, wire.ETH_P_8021Q))
    return wire.u16(data[wire.IFLA_VLAN_ID]) if protocol == wire.ETH_P_8021Q else 0


def _is_loose(data: Mapping[int, memoryview]) -> bool:
    # struct ifla_vlan_flags: flags u32, mask u32
    flags = data.get(wire.IFLA_VLAN_FLAGS)
    return flags is not None and bool(wire.u32(flags[:4]) & wire.VLAN_FLAG_LOOSE_BINDING)


def _is_here(found: Mapping[int, memoryview]) -> bool:
    """Whether the link below is in this namespace."""
    return wire.IFLA_LINK in found and wire.IFLA_LINK_NETNSID not in found


def _peer(found: Mapping[int, memoryview]) -> tuple[int, int] | None:
    if wire.IFLA_LINK_NETNSID not in found or wire.IFLA_LINK not in found:
        return None
    return wire.u32(found[wire.IFLA_LINK_NETNSID]), wire.u32(found[wire.IFLA_LINK])


def receivers(links: Sequence[Link]) -> frozenset[str]:
    """The Ethernet links that hand what comes in on them to the stack themselves: no port of a
    bridge, bond or VRF, and no device that nothing comes in on."""
    return frozenset(
        link.name
        for link in links
        if link.ethernet and not link.master and link.kind not in _SILENT
    )


def decode_all(datagrams: Sequence[bytes]) -> list[Link]:
    return [decode(body) for body in answers(datagrams, wire.RTM_NEWLINK)]


def read_all(netlink: NetlinkSocket) -> list[Link]:
    """All links as they are now. Raises KernelError."""
    return decode_all(netlink.dump(get_all()))


def bridged(links: Sequence[Link]) -> dict[str, str]:
    """Ports of bridges, bonds and the like, each with that device: the stack does not get what
    comes in on them."""
    names = {link.index: link.name for link in links if link.kind != VRF}
    return {link.name: names[link.master] for link in links if link.master in names}
