"""Desired state to FRR configuration, in exactly the lines that FRR 10.3 prints it with."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from srv6mgrd.frr import isis
from srv6mgrd.frr.blocks import BGPD, ENCAPSULATION, LOCATORS, ZEBRA, block
from srv6mgrd.model.desired import Bgp, Desired, Locator, Neighbor, Vrf, VrfBgp
from srv6mgrd.plan.objects import FrrBlock


def render(desired: Desired) -> list[FrrBlock]:
    """All blocks, in the order of writing. Without BGP and IS-IS FRR has nothing to carry."""
    bgp = desired.bgp
    blocks = []
    if bgp is not None and desired.encapsulation_source is not None:
        line = f"source-address {address(desired.encapsulation_source)}"
        blocks.append(block(ZEBRA, ENCAPSULATION, [line]))
    exporting = export_locator(desired)
    known = exporting or isis_locator(desired)
    if known is not None:
        # Only this one: each further locator that zebra has and loses unsettles bgpd, which does
        # not look at the name of the locator removed.
        blocks.append(_locator(known))
    if desired.isis is not None:
        blocks += isis.blocks(desired.isis)
    if bgp is None:
        return blocks
    blocks += _speaker(bgp, exporting)
    for name in sorted(desired.vrfs):
        vrf = desired.vrfs[name]
        if vrf.bgp is not None:
            blocks += _vrf(bgp, vrf, vrf.bgp, _indexes(desired, vrf.bgp, exporting))
    return blocks


def locator_of(desired: Desired, export_sid: IPv6Network) -> Locator | None:
    """The locator of a VRF's export SID."""
    sid = desired.sids.get(export_sid)
    return desired.locators.get(sid.locator) if sid is not None else None


def export_locator(desired: Desired) -> Locator | None:
    """The one locator that bgpd takes SIDs from (see ``limits`` for when there are several)."""
    for name in sorted(desired.vrfs if desired.bgp is not None else ()):
        vpn = desired.vrfs[name].bgp
        for sid in vpn.export_sids if vpn is not None else ():
            if (locator := locator_of(desired, sid)) is not None:
                return locator
    return None


def isis_locator(desired: Desired) -> Locator | None:
    """The locator that isisd advertises: the same, when VRFs export (see ``limits``)."""
    return desired.locators[desired.isis.locator] if desired.isis is not None else None


def address(value: IPv4Address | IPv6Address) -> str:
    """As the C library prints it, and hence FRR; Python differs for ``::ffff:192.0.2.1``."""
    family = socket.AF_INET6 if value.version == 6 else socket.AF_INET
    return socket.inet_ntop(family, value.packed)


def route_targets(values: Iterable[str]) -> str:
    """A list as FRR prints it: without leading zeros, ordered as encoded (RFC 4360, RFC 5668)."""
    return " ".join(text for _, text in sorted({_route_target(v) for v in values}))


def _route_target(value: str) -> tuple[tuple[int, int, int], str]:
    head, _, tail = value.rpartition(":")
    number = int(tail)
    if "." in head:
        ip = IPv4Address(head)
        return (1, int(ip), number), f"{ip}:{number}"
    asn = int(head)
    return (2 if asn > 0xFFFF else 0, asn, number), f"{asn}:{number}"


def _indexes(desired: Desired, vpn: VrfBgp, exporting: Locator | None) -> Mapping[IPv6Network, int]:
    """The index that makes bgpd compose each declared export SID; none where it can't or shan't."""
    found = {}
    for sid in vpn.export_sids:
        locator = locator_of(desired, sid)
        if locator is not None and locator == exporting and (index := locator.function_of(sid)):
            found[sid] = index
    return found


def _locator(locator: Locator) -> FrrBlock:
    prefix = f"{address(locator.prefix.network_address)}/{locator.prefix.prefixlen}"
    line = (
        f"prefix {prefix} block-len {locator.block_length} node-len {locator.node_length}"
        f" func-bits {locator.function_length}"
    )
    # What bgpd advertises is then uDT46 and the like (RFC 9800), not End.DT46.
    usid = ["behavior usid"] if locator.micro_segment else []
    return block(ZEBRA, (*LOCATORS, f"locator {locator.name}"), [line, *usid])


def _speaker(bgp: Bgp, locator: Locator | None) -> list[FrrBlock]:
    root = f"router bgp {bgp.as_number}"
    lines = [f"bgp router-id {bgp.router_id}", *_sessions(bgp.as_number, bgp.neighbors, vpn=True)]
    blocks = [block(BGPD, (root,), lines)]
    if locator is not None:
        blocks.append(block(BGPD, (root, "segment-routing srv6"), [f"locator {locator.name}"]))
    if bgp.neighbors:
        active = [line for n in bgp.neighbors for line in _active(n)]
        for family in ("ipv4", "ipv6"):
            blocks.append(block(BGPD, (root, f"address-family {family} vpn"), active))
    return blocks


def _sessions(own_as: int, neighbors: Sequence[Neighbor], *, vpn: bool) -> list[str]:
    """What an instance says of its neighbors, outside of address families."""
    lines = []
    if any(n.remote_as != own_as for n in neighbors):
        # RFC 8212 behaviour would drop every route of an external neighbor without policy.
        lines.append("no bgp ebgp-requires-policy")
    if vpn or neighbors:
        lines.append("no bgp default ipv4-unicast")
    return lines + [line for neighbor in neighbors for line in _neighbor(neighbor, vpn=vpn)]


def _active(neighbor: Neighbor) -> list[str]:
    """What an address family says of a neighbor that takes part in it."""
    name = peer(neighbor)
    reflects = neighbor.route_reflector_client
    client = [f"neighbor {name} route-reflector-client"] if reflects else []
    return [f"neighbor {name} activate", *client]


def peer(neighbor: Neighbor) -> str:
    """The neighbor as FRR names it."""
    return address(ip_address(neighbor.address))


def _neighbor(neighbor: Neighbor, *, vpn: bool) -> list[str]:
    name = peer(neighbor)
    lines = [f"neighbor {name} remote-as {neighbor.remote_as}"]
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
    if vpn and ":" in name:
        # IPv4 VPN routes have an IPv6 next hop on such a session (RFC 8950).
        lines.append(f"neighbor {name} capability extended-nexthop")
    return lines


def _vrf(bgp: Bgp, vrf: Vrf, vpn: VrfBgp, indexes: Mapping[IPv6Network, int]) -> list[FrrBlock]:
    root = f"router bgp {bgp.as_number} vrf {vrf.name}"
    # Without an identifier of its own the instance takes one that zebra picks when the VRF gets its
    # first address, upon which bgpd replaces RD and RTs by ones made from it
    # (vpn_handle_router_id_update).
    top = [f"bgp router-id {bgp.router_id}"]
    if vpn.export_sid is not None and vpn.export_sid in indexes:
        top.append(f"sid vpn per-vrf export {indexes[vpn.export_sid]}")
    top += _sessions(bgp.as_number, vpn.neighbors, vpn=False)
    blocks = [block(BGPD, (root,), top)]
    for family in (4, 6):
        of_family = [n for n in vpn.neighbors if (":" in n.address) == (family == 6)]
        active = [line for n in of_family for line in _active(n)]
        path = (root, f"address-family ipv{family} unicast")
        blocks.append(block(BGPD, path, [*active, *_leaked(vpn, family, indexes)]))
    return blocks


def _leaked(vpn: VrfBgp, family: int, indexes: Mapping[IPv6Network, int]) -> list[str]:
    """What an address family of a VRF says of VPN routes."""
    sid = vpn.export_sid_of(family)
    exports = sid in indexes
    lines = []
    if exports and vpn.redistribute_connected:
        lines.append("redistribute connected")
    if exports and vpn.redistribute_static:
        lines.append("redistribute static")
    if sid is not None and exports and sid != vpn.export_sid:
        lines.append(f"sid vpn export {indexes[sid]}")
    lines.append(f"rd vpn export {vpn.rd}")
    imports, exported = route_targets(vpn.import_rts), route_targets(vpn.export_rts)
    if imports == exported:
        lines.append(f"rt vpn both {imports}")
    else:
        lines += [f"rt vpn import {imports}", f"rt vpn export {exported}"]
    if exports:
        lines.append("export vpn")
    lines.append("import vpn")
    return lines
