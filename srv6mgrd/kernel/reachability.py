"""The route that packets to a remote SID take, as the kernel looks it up."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from ipaddress import IPv6Address

from srv6mgrd.netlink import wire
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.service_state.evidence import LinkEvidence, Reachability

_FORWARDS = (wire.RTN_UNICAST, wire.RTN_LOCAL)


def request(to: IPv6Address, source: IPv6Address | None) -> bytes:
    """RTM_GETROUTE (inet6_rtm_valid_getroute_req: all else is 0)."""
    length = 128 if source is not None else 0
    body = wire.RTMSG.pack(socket.AF_INET6, 128, length, 0, 0, 0, 0, 0, 0)
    body += wire.nla(wire.RTA_DST, to.packed)
    if source is not None:
        body += wire.nla(wire.RTA_SRC, source.packed)
    return wire.message(wire.RTM_GETROUTE, 0, body)


def decode(
    answer: bytes | Failure, names: Mapping[int, str], links: Mapping[str, LinkEvidence]
) -> Reachability:
    """``names`` of interfaces by their index."""
    if isinstance(answer, Failure):
        return Reachability(f"no route ({answer.message})")
    kind = answer[7]
    if kind not in _FORWARDS:
        return Reachability("the route to it drops packets")
    found = wire.attribute_map(answer, wire.RTMSG.size)
    index = wire.u32(found[wire.RTA_OIF]) if wire.RTA_OIF in found else 0
    interface = names.get(index, "")
    gateway = bytes(found.get(wire.RTA_GATEWAY, b""))
    metrics = wire.attribute_map(found.get(wire.RTA_METRICS, b""))
    mtu = links[interface].mtu if interface in links else 0
    if wire.RTAX_MTU in metrics:
        # Learned on the way, or set for the route.
        mtu = min(mtu or 1 << 16, wire.u32(metrics[wire.RTAX_MTU]))
    return Reachability("", interface, str(IPv6Address(gateway)) if len(gateway) == 16 else "", mtu)
