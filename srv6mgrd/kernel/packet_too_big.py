"""What an IPv6 path says that a tunnel's packet is too big for, in the words of the packet in it.

Bytes alone: ICMPv6 "packet too big" about what was encapsulated, to the message that its sender
understands (RFC 2473 section 8).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from srv6mgrd.netlink.checksum import checksum

# RFC 4443 section 3.2: type, code, checksum, MTU, and as much of the packet as fits.
ICMPV6_TOO_BIG = 2
_ICMPV6 = struct.Struct("!BBHI")
# RFC 792, RFC 1191 section 4: destination unreachable, fragmentation needed; MTU of the next hop.
_UNREACHABLE, _FRAGMENTATION_NEEDED = 3, 4
_ICMPV4 = struct.Struct("!BBHHH")

_IPV6 = struct.Struct("!IHBB16s16s")
_IPV4 = struct.Struct("!BBHHHBBH4s4s")
_DO_NOT_FRAGMENT = 0x4000
# Protocol numbers: hop-by-hop options, IPv4, IPv6, routing header, destination options.
_HOP_BY_HOP, _IN_IPV4, _IN_IPV6, _ROUTING, _OPTIONS = 0, 4, 41, 43, 60
_SRH = 4
# RFC 3692 section 2.1: a protocol number that nobody else uses.
EXPERIMENTAL = 253
# A sender wants to see its transport header, of at least 8 bytes.
_TRANSPORT = 8
# RFC 8200 section 5; RFC 791.
_LEAST = {4: 68, 6: 1280}
# An error is no longer than these: RFC 1812 section 4.3.2.3, RFC 4443 section 2.4 (c).
_LONGEST = {4: 576 - 20, 6: 1280 - 40}


@dataclass(frozen=True, slots=True)
class PacketTooBig:
    """A tunnelled packet did not fit. ``source`` is that of the outer header, ``segment`` the last
    one of its path; ``mtu`` is what fits, without the outer header; ``inner`` is how the packet
    begins, from ``sender`` to ``receiver``."""

    source: IPv6Address
    segment: IPv6Address
    mtu: int
    sender: IPv4Address | IPv6Address
    receiver: IPv4Address | IPv6Address
    inner: bytes


def read(message: bytes) -> PacketTooBig | None:
    """An ICMPv6 message, without the IPv6 header before it. None when it is not of use: not about
    an IP packet in a tunnel, cut short, or about one that may be fragmented."""
    if len(message) < _ICMPV6.size + _IPV6.size or message[0] != ICMPV6_TOO_BIG:
        return None
    (mtu,) = struct.unpack_from("!I", message, 4)
    packet = memoryview(message)[_ICMPV6.size :]
    _, _, following, _, source, to = _IPV6.unpack_from(packet)
    at, segment = _IPV6.size, bytes(to)
    while following in (_HOP_BY_HOP, _ROUTING, _OPTIONS):
        header = packet[at : at + 8 * (packet[at + 1] + 1)] if at + 2 <= len(packet) else b""
        if len(header) < 8:
            return None
        if following == _ROUTING and header[2] == _SRH and len(header) >= 24:
            # The last segment comes first (RFC 8754 section 2).
            segment = bytes(header[8:24])
        following, at = header[0], at + len(header)
    inner = bytes(packet[at:])
    ends = _ends(following, inner)
    if ends is None:
        return None
    return PacketTooBig(IPv6Address(source), IPv6Address(segment), mtu - at, *ends, inner)


def _ends(
    kind: int, inner: bytes
) -> tuple[IPv4Address | IPv6Address, IPv4Address | IPv6Address] | None:
    if kind == _IN_IPV6 and len(inner) >= _IPV6.size + _TRANSPORT and inner[0] >> 4 == 6:
        *_, sender, receiver = _IPV6.unpack_from(inner)
        return IPv6Address(sender), IPv6Address(receiver)
    if kind == _IN_IPV4 and len(inner) >= _IPV4.size + _TRANSPORT and inner[0] >> 4 == 4:
        _, _, _, _, fragment, _, _, _, sender, receiver = _IPV4.unpack_from(inner)
        if fragment & _DO_NOT_FRAGMENT:
            return IPv4Address(sender), IPv4Address(receiver)
    return None


def answer(found: PacketTooBig) -> bytes:
    """The ICMP or ICMPv6 message for the sender. The checksum of ICMPv6 is the kernel's to fill in
    (rawv6_send_hdrinc apart, it knows the addresses)."""
    version = found.sender.version
    mtu = max(found.mtu, _LEAST[version])
    if version == 6:
        head = _ICMPV6.pack(ICMPV6_TOO_BIG, 0, 0, mtu)
        return head + found.inner[: _LONGEST[6] - len(head)]
    return _fragmentation_needed(mtu, found.inner[: _LONGEST[4] - _ICMPV4.size])


def about_own_path(found: PacketTooBig) -> bytes:
    """The ICMP message for an own address of the router: as if the packet were of protocol
    EXPERIMENTAL. Where a raw socket of that protocol is bound to the VRF, the kernel keeps the MTU
    for the route (raw_icmp_error, ipv4_sk_update_pmtu), and all sockets of the VRF use it."""
    ends = found.sender.packed, found.receiver.packed
    length = _IPV4.size + _TRANSPORT
    header = _IPV4.pack(0x45, 0, length, 0, _DO_NOT_FRAGMENT, 64, EXPERIMENTAL, 0, *ends)
    return _fragmentation_needed(max(found.mtu, _LEAST[4]), header + bytes(_TRANSPORT))


def _fragmentation_needed(mtu: int, inner: bytes) -> bytes:
    head = _ICMPV4.pack(_UNREACHABLE, _FRAGMENTATION_NEEDED, 0, 0, mtu)
    sum_of = checksum(head + inner)
    return _ICMPV4.pack(_UNREACHABLE, _FRAGMENTATION_NEEDED, sum_of, 0, mtu) + inner
