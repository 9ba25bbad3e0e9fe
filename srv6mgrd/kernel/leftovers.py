"""Routes of FRR that are left in the table of a VRF whose device has gone.

A route without a device, as a blackhole is, stays in its table when the VRF goes, and zebra removes
it. A zebra that dies before does not: when it starts again it reads no table of a VRF that is not
there (zebra_vrf_lookup_by_table). The next VRF on that table would drop packets for it.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator

from srv6mgrd.kernel.routes import get_table
from srv6mgrd.netlink import wire

# RTPROT_ZEBRA, and from RTPROT_BGP to that of SRTE (linux/rtnetlink.h, zebra/rt_netlink.h).
_FRR = frozenset({11, *range(186, 199)})
_PLACE = (wire.RTA_DST, wire.RTA_PRIORITY)


def dumps(table: int) -> list[bytes]:
    """The requests that read the table."""
    return [get_table(table, family=family) for family in (socket.AF_INET, socket.AF_INET6)]


def deletions(datagrams: Iterable[bytes], table: int) -> Iterator[bytes]:
    """The requests that remove FRR's routes among those read."""
    for datagram in datagrams:
        for kind, _, _, body in wire.messages(datagram):
            if kind == wire.RTM_NEWROUTE and (request := _deletion(body, table)) is not None:
                yield request


def _deletion(body: memoryview, table: int) -> bytes | None:
    family, length, _, tos, low, protocol, _, kind, _ = wire.RTMSG.unpack_from(body)
    found = wire.attribute_map(body, wire.RTMSG.size)
    seen = wire.u32(found[wire.RTA_TABLE]) if wire.RTA_TABLE in found else low
    if protocol not in _FRR or seen != table:
        return None
    # An IPv4 deletion matches any scope with this one (fib_table_delete).
    scope = wire.RT_SCOPE_NOWHERE if family == socket.AF_INET else 0
    head = wire.RTMSG.pack(family, length, 0, tos, 0, protocol, scope, kind, 0)
    place = b"".join(wire.nla(key, bytes(found[key])) for key in _PLACE if key in found)
    return wire.message(wire.RTM_DELROUTE, 0, head + place + wire.nla_u32(wire.RTA_TABLE, table))
