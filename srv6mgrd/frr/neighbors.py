"""BGP neighbors, in exactly the lines that FRR 10.3 prints them with."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

from srv6mgrd.frr.policies import name_in_frr
from srv6mgrd.model.bgp import AddPaths, Neighbor, PeerKind

# What FRR takes when no number is given, and does not print.
_ALLOWAS_IN = 3
_THRESHOLD = 75
_ADD_PATHS = {
    AddPaths.ALL: "addpath-tx-all-paths",
    AddPaths.BEST_PER_AS: "addpath-tx-bestpath-per-AS",
}


def sessions(own_as: int, neighbors: Sequence[Neighbor], *, vpn: bool) -> list[str]:
    """What an instance says of its neighbors, outside of address families."""
    lines: list[str] = []
    if any(n.remote_as != own_as for n in neighbors):
        # RFC 8212 behaviour would drop every route of an external neighbor without policy.
        lines.append("no bgp ebgp-requires-policy")
    if vpn or neighbors:
        lines.append("no bgp default ipv4-unicast")
    return lines + [line for neighbor in neighbors for line in _neighbor(neighbor, vpn=vpn)]


def activation(neighbor: Neighbor) -> list[str]:
    """What an address family says of a neighbor that takes part in it."""
    said = [
        "activate",
        *(["route-reflector-client"] if neighbor.route_reflector_client else []),
        *(["next-hop-self"] if neighbor.next_hop_self else []),
        *(["as-override"] if neighbor.as_override else []),
        *(["default-originate"] if neighbor.default_originate else []),
        *(["soft-reconfiguration inbound"] if neighbor.soft_reconfiguration else []),
        *([_ADD_PATHS[neighbor.add_paths]] if neighbor.add_paths else []),
        *_allow_own_as(neighbor),
        *_prefix_limit(neighbor),
        *_policies(neighbor),
    ]
    if neighbor.site_of_origin is not None:
        said.append(f"soo {neighbor.site_of_origin}")
    return [f"neighbor {peer(neighbor)} {words}" for words in said]


def _allow_own_as(neighbor: Neighbor) -> list[str]:
    times = neighbor.allow_own_as
    if times is None:
        return []
    return ["allowas-in" if times == _ALLOWAS_IN else f"allowas-in {times}"]


def _prefix_limit(neighbor: Neighbor) -> list[str]:
    limit = neighbor.prefix_limit
    if limit is None:
        return []
    words = [f"maximum-prefix {limit.maximum}"]
    if limit.threshold not in (None, _THRESHOLD):
        words.append(str(limit.threshold))
    if limit.warning_only:
        words.append("warning-only")
    if limit.restart is not None:
        words.append(f"restart {limit.restart}")
    return [" ".join(words)]


def _policies(neighbor: Neighbor) -> list[str]:
    apply = neighbor.apply_policy
    ways = (("in", apply.import_policy), ("out", apply.export_policy))
    return [f"route-map {name_in_frr(name)} {way}" for way, name in ways if name is not None]


def _neighbor(neighbor: Neighbor, *, vpn: bool) -> list[str]:
    name = peer(neighbor)
    lines = _introduction(neighbor)
    if neighbor.description is not None:
        lines.append(f"neighbor {name} description {neighbor.description}")
    if neighbor.password is not None:
        lines.append(f"neighbor {name} password {neighbor.password}")
    if neighbor.bfd:
        lines.append(f"neighbor {name} bfd")
    if neighbor.ebgp_multihop is not None:
        lines.append(f"neighbor {name} ebgp-multihop {neighbor.ebgp_multihop}")
    if neighbor.hold_time is not None:
        lines.append(f"neighbor {name} timers {neighbor.keepalive} {neighbor.hold_time}")
    if neighbor.update_source is not None:
        lines.append(f"neighbor {name} update-source {address(ip_address(neighbor.update_source))}")
    if neighbor.ttl_security is not None:
        lines.append(f"neighbor {name} ttl-security hops {neighbor.ttl_security}")
    if not neighbor.enabled:
        message = neighbor.shutdown_message
        lines.append(f"neighbor {name} shutdown{f' message {message}' if message else ''}")
    over_ipv6 = any(":" in text for text in neighbor.prefixes or (neighbor.address,))
    if over_ipv6 and (vpn or 4 in neighbor.carries):
        # IPv4 routes have an IPv6 next hop on such a session (RFC 8950).
        lines.append(f"neighbor {name} capability extended-nexthop")
    # Who connects has the group by then.
    lines += [f"bgp listen range {prefix} peer-group {name}" for prefix in neighbor.prefixes]
    return lines


def _introduction(neighbor: Neighbor) -> list[str]:
    name, own_as = peer(neighbor), neighbor.remote_as
    match neighbor.kind:
        case PeerKind.UNNUMBERED:
            return [f"neighbor {name} interface remote-as {own_as}"]
        case PeerKind.DYNAMIC:
            return [f"neighbor {name} peer-group", f"neighbor {name} remote-as {own_as}"]
        case _:
            return [f"neighbor {name} remote-as {own_as}"]


def peer(neighbor: Neighbor) -> str:
    """The neighbor as FRR names it."""
    match neighbor.kind:
        case PeerKind.UNNUMBERED:
            return neighbor.address
        case PeerKind.DYNAMIC:
            return name_in_frr(neighbor.address)
        case _:
            return address(ip_address(neighbor.address))


def address(value: IPv4Address | IPv6Address) -> str:
    """As the C library prints it, and hence FRR; Python differs for ``::ffff:192.0.2.1``."""
    family = socket.AF_INET6 if value.version == 6 else socket.AF_INET
    return socket.inet_ntop(family, value.packed)
