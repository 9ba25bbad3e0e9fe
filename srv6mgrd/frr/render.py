"""Desired state to FRR configuration, in exactly the lines that FRR 10.3 prints it with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv6Network

from srv6mgrd.frr import aggregates, isis, leaking, ospf, policies, static_routes
from srv6mgrd.frr.blocks import BGPD, ENCAPSULATION, LOCATORS, ZEBRA, block
from srv6mgrd.frr.leaking import Leaking
from srv6mgrd.frr.neighbors import activation, address, sessions
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.model.bgp import Bgp, VrfBgp
from srv6mgrd.model.desired import Desired, Locator, Vrf

# What FRR does anyway, and does not print (bgpd/bgpd.h, BGP_DEFAULT_RESTART_TIME,
# BGP_DEFAULT_STALEPATH_TIME).
_RESTART_TIME, _STALE_ROUTES_TIME = 120, 360


def render(desired: Desired) -> list[FrrBlock]:
    """All blocks, in the order of writing. Whether FRR keeps the source is ``plan.target``'s to
    say."""
    bgp = desired.bgp
    blocks = []
    if desired.encapsulation_source is not None:
        line = f"source-address {address(desired.encapsulation_source)}"
        blocks.append(block(ZEBRA, ENCAPSULATION, [line]))
    exporting = export_locator(desired)
    # No others: each further locator that zebra has and loses unsettles bgpd, which does not look
    # at the name of the locator removed.
    blocks += [_locator(known) for known in carried_locators(desired)]
    if desired.isis is not None:
        blocks += isis.blocks(desired.isis, desired.locators)
    blocks += policies.blocks(desired.routing_policy, bgp.as_number if bgp is not None else 0)
    blocks += static_routes.blocks(desired)
    blocks += leaking.blocks(desired)
    blocks += ospf.blocks(desired)
    if bgp is None:
        return blocks
    blocks += _speaker(bgp, exporting)
    for name in sorted(desired.vrfs):
        vrf = desired.vrfs[name]
        if vrf.bgp is not None:
            leaks = leaking.of_vrf(desired, name, vrf.bgp.apply_policy.import_policy)
            blocks += _vrf(bgp, vrf, vrf.bgp, _indexes(desired, vrf.bgp, exporting), leaks)
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


def carried_locators(desired: Desired) -> list[Locator]:
    """The locators that zebra has to have."""
    known = (export_locator(desired), isis_locator(desired))
    return list({one.name: one for one in known if one is not None}.values())


def isis_locator(desired: Desired) -> Locator | None:
    """The locator that isisd advertises: another one while exports move."""
    return desired.locators[desired.isis.locator] if desired.isis is not None else None


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
    lines = [f"bgp router-id {bgp.router_id}", *_graceful_restart(bgp)]
    lines += sessions(bgp.as_number, bgp.neighbors, vpn=True)
    blocks = [block(BGPD, (root,), lines)]
    if locator is not None:
        blocks.append(block(BGPD, (root, "segment-routing srv6"), [f"locator {locator.name}"]))
    if bgp.neighbors:
        active = [line for n in bgp.neighbors for line in activation(n)]
        for family in ("ipv4", "ipv6"):
            blocks.append(block(BGPD, (root, f"address-family {family} vpn"), active))
    return blocks


def _graceful_restart(bgp: Bgp) -> list[str]:
    """For each instance; FRR does not print what is its own default."""
    restart = bgp.graceful_restart
    if restart is None:
        return []
    lines = ["bgp graceful-restart", "bgp graceful-restart preserve-fw-state"]
    if restart.restart_time != _RESTART_TIME:
        lines.append(f"bgp graceful-restart restart-time {restart.restart_time}")
    if restart.stale_routes_time != _STALE_ROUTES_TIME:
        lines.append(f"bgp graceful-restart stalepath-time {restart.stale_routes_time}")
    if restart.long_lived_stale_time is not None:
        time = restart.long_lived_stale_time
        lines.append(f"bgp long-lived-graceful-restart stale-time {time}")
    return lines


def _vrf(
    bgp: Bgp, vrf: Vrf, vpn: VrfBgp, indexes: Mapping[IPv6Network, int], leaks: Leaking
) -> list[FrrBlock]:
    root = f"router bgp {bgp.as_number} vrf {vrf.name}"
    # Without an identifier of its own the instance takes one that zebra picks when the VRF gets its
    # first address, upon which bgpd replaces RD and RTs by ones made from it
    # (vpn_handle_router_id_update).
    top = [f"bgp router-id {bgp.router_id}", *_graceful_restart(bgp)]
    if vpn.export_sid is not None and vpn.export_sid in indexes:
        top.append(f"sid vpn per-vrf export {indexes[vpn.export_sid]}")
    top += sessions(bgp.as_number, vpn.neighbors, vpn=False)
    blocks = [block(BGPD, (root,), top)]
    for family in (4, 6):
        of_family = [n for n in vpn.neighbors if family in n.carries]
        active = [line for n in of_family for line in activation(n)]
        path = (root, f"address-family ipv{family} unicast")
        blocks.append(block(BGPD, path, [*active, *_leaked(vpn, family, indexes, leaks)]))
    return blocks


def _leaked(
    vpn: VrfBgp, family: int, indexes: Mapping[IPv6Network, int], leaks: Leaking
) -> list[str]:
    """What an address family of a VRF says of VPN routes."""
    sid = vpn.export_sid_of(family)
    exports = sid in indexes
    lines = [aggregates.line(one) for one in vpn.aggregates if one.prefix.version == family]
    if exports and vpn.redistribute_connected:
        lines.append(_redistribute("connected", vpn.connected_policy))
    if exports and vpn.redistribute_static:
        lines.append(_redistribute("static", vpn.static_policy))
    if exports and vpn.redistribute_ospf:
        lines.append(_redistribute("ospf" if family == 4 else "ospf6", vpn.ospf_policy))
    if sid is not None and exports and sid != vpn.export_sid:
        lines.append(f"sid vpn export {indexes[sid]}")
    if vpn.maximum_paths_ebgp is not None:
        lines.append(f"maximum-paths {vpn.maximum_paths_ebgp}")
    if vpn.maximum_paths_ibgp is not None:
        lines.append(f"maximum-paths ibgp {vpn.maximum_paths_ibgp}")
    own = vpn.of_family(family)
    lines.append(f"rd vpn export {own.rd}")
    imports = route_targets((*own.import_rts, *leaks.imports))
    exported = route_targets((*own.export_rts, *leaks.exports))
    if imports == exported:
        lines.append(f"rt vpn both {imports}")
    else:
        lines += [f"rt vpn import {imports}", f"rt vpn export {exported}"]
    if exports:
        lines.append("export vpn")
    lines.append("import vpn")
    apply = vpn.apply_policy
    if leaks.import_map is not None:
        lines.append(f"route-map vpn import {leaks.import_map}")
    if apply.export_policy is not None:
        lines.append(f"route-map vpn export {policies.name_in_frr(apply.export_policy)}")
    return lines


def _redistribute(source: str, policy: str | None) -> str:
    filtered = f" route-map {policies.name_in_frr(policy)}" if policy is not None else ""
    return f"redistribute {source}{filtered}"
