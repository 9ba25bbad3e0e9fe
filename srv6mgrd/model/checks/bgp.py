"""BGP: what a VRF exports has to fit a VPN label; sessions that could never come up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import IPv6Network, ip_address

from srv6mgrd.model import names
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.bgp import NO_AS, Neighbor, PeerKind, VrfBgp
from srv6mgrd.model.checks.locators import unroutable
from srv6mgrd.model.desired import Desired, Locator, Sid, Vrf
from srv6mgrd.model.expand import exports, functions, is_made, made_prefix
from srv6mgrd.model.paths import bgp_path
from srv6mgrd.model.rejection import Rejection


def check(desired: Desired) -> Iterator[Rejection]:
    yield from _declared_exports(desired)
    yield from _made_exports(desired)
    if desired.bgp is None:
        return
    for neighbor in desired.bgp.neighbors:
        yield from _neighbor(neighbor, None, desired.bgp.as_number)
    for vrf in desired.vrfs.values():
        for neighbor in vrf.bgp.neighbors if vrf.bgp is not None else ():
            yield from _neighbor(neighbor, vrf.name, desired.bgp.as_number)


def _declared_exports(desired: Desired) -> Iterator[Rejection]:
    for vrf in desired.vrfs.values():
        if vrf.bgp is None or is_made(vrf.bgp):
            continue
        for leaf, prefix, behavior in (
            ("export-sid", vrf.bgp.export_sid, Behavior.END_DT46),
            ("export-sid-ipv4", vrf.bgp.export_sid_ipv4, Behavior.END_DT4),
            ("export-sid-ipv6", vrf.bgp.export_sid_ipv6, Behavior.END_DT6),
        ):
            if prefix is not None:
                yield from _declared_export(desired, vrf, leaf, desired.sids[prefix], behavior)


def _declared_export(
    desired: Desired, vrf: Vrf, leaf: str, sid: Sid, behavior: Behavior
) -> Iterator[Rejection]:
    if not exports(sid, vrf, behavior):
        what = sid.behavior + (f" of VRF {sid.vrf}" if sid.vrf else "")
        yield _rejection(
            vrf,
            f"{leaf} {sid.prefix} is {what}",
            f"name an {behavior} SID of VRF {vrf.name}",
            "export-sid-behavior",
        )
        return
    locator = desired.locators[sid.locator]
    if not fits_label(locator, locator.function_of(sid.prefix)):
        yield _rejection(
            vrf,
            f"{leaf} {sid.prefix} has a function too small for a VPN label",
            "choose a function from 16",
            "export-sid-label",
        )


def fits_label(locator: Locator, function: int) -> bool:
    """RFC 9252 section 4: the function rides in the 20-bit VPN label, most significant bits
    first. FRR 10.3 skips routes with a label below 16 (bgpd/bgp_mplsvpn.c)."""
    length = locator.function_length
    return length > 20 or function << (20 - length) >= 16


def _made_exports(desired: Desired) -> Iterator[Rejection]:
    vrfs = [vrf for vrf in desired.vrfs.values() if vrf.bgp is not None and is_made(vrf.bgp)]
    if not vrfs:
        return
    declared = functions(desired)
    makers: dict[IPv6Network, Vrf] = {}
    for vrf in sorted(vrfs, key=lambda v: (v.table, v.name)):
        if vrf.bgp is None or vrf.bgp.locator is None:
            continue
        locator = desired.locators[vrf.bgp.locator]
        prefix = made_prefix(desired, vrf)
        if prefix is None:
            yield _rejection(
                vrf,
                f"export-function {vrf.bgp.export_function} is greater than the"
                f" {locator.function_length} bits of locator {locator.name} hold",
                f"choose one up to {(1 << locator.function_length) - 1}",
                "export-function-large",
            )
            continue
        function = locator.function_of(prefix)
        if not fits_label(locator, function):
            yield _rejection(
                vrf,
                f"export-function {function} is too small for a VPN label",
                "choose a function from 16",
                "export-sid-label",
            )
        other, sid = makers.setdefault(prefix, vrf), declared.get((locator.name, function))
        if other is not vrf:
            yield _taken(vrf, vrf.bgp, function, locator, names.vrf(other.name))
        elif sid is not None and not (sid.prefix == prefix and exports(sid, vrf)):
            yield _taken(vrf, vrf.bgp, function, locator, _described(sid))


def _described(sid: Sid) -> str:
    return f"SID {sid.prefix} ({sid.behavior}{f' of VRF {sid.vrf}' if sid.vrf else ''})"


def _taken(vrf: Vrf, bgp: VrfBgp, function: int, locator: Locator, owner: str) -> Rejection:
    what = "export-auto makes function" if bgp.export_auto else "export-function"
    return _rejection(
        vrf,
        f"{what} {function} of locator {locator.name}, which belongs to {owner}",
        "give it an export-function that is free",
        "export-function-in-use",
    )


def _rejection(vrf: Vrf, cause: str, remedy: str, tag: str) -> Rejection:
    return Rejection(names.vrf(vrf.name), cause, remedy, tag, bgp_path(vrf.name))


def _neighbor(neighbor: Neighbor, vrf: str | None, own_as: int) -> Iterator[Rejection]:
    def rejection(cause: str, remedy: str, tag: str) -> Rejection:
        of = f" of VRF {vrf}" if vrf is not None else ""
        what = "peer group" if neighbor.kind is PeerKind.DYNAMIC else "neighbor"
        path = f"{bgp_path(vrf)}/{neighbor.step}"
        return Rejection(f"BGP {what} {neighbor.address}{of}", cause, remedy, tag, path)

    if neighbor.kind is PeerKind.NEIGHBOR:
        yield from _addresses(neighbor, rejection)
    elif neighbor.kind is PeerKind.UNNUMBERED and neighbor.update_source is not None:
        yield rejection(
            "update-source is for neighbors with an address",
            "remove update-source",
            "bgp-update-source",
        )
    if neighbor.remote_as == NO_AS:
        yield rejection(
            "remote-as is missing",
            "add remote-as, or a peer-group that has one",
            "bgp-remote-as-missing",
        )
    if neighbor.remote_as == 0:
        yield rejection("AS number 0 is reserved", "choose another remote-as", "bgp-as-reserved")
    keepalive, hold_time = neighbor.keepalive, neighbor.hold_time
    if keepalive is not None and hold_time is not None and keepalive >= hold_time:
        yield rejection(
            f"keepalive {keepalive} is not below hold-time {hold_time}",
            "choose a keepalive of a third of hold-time",
            "bgp-keepalive-long",
        )
    if neighbor.ebgp_multihop is not None and neighbor.remote_as == own_as:
        yield rejection(
            f"ebgp-multihop is for neighbors of another AS, and {own_as} is the own one",
            "remove ebgp-multihop, or correct remote-as",
            "bgp-multihop-internal",
        )
    if neighbor.route_reflector_client and neighbor.remote_as != own_as:
        yield rejection(
            f"a route-reflector-client has the own AS number ({own_as}), not {neighbor.remote_as}",
            "remove route-reflector-client, or correct remote-as",
            "bgp-reflector-external",
        )


def _addresses(
    neighbor: Neighbor, rejection: Callable[[str, str, str], Rejection]
) -> Iterator[Rejection]:
    address, source = ip_address(neighbor.address), neighbor.update_source
    if why := unroutable(address):
        yield rejection(
            f"its address is {why}", "name an address that is routed", "bgp-neighbor-address"
        )
    if source is not None and ip_address(source) == address:
        yield rejection(
            "update-source is the neighbor's own address",
            "name an address of this router",
            "bgp-update-source",
        )
    elif source is not None and ip_address(source).version != address.version:
        yield rejection(
            f"update-source {source} is not of its address family",
            f"name an IPv{address.version} address of this router",
            "bgp-update-source",
        )
