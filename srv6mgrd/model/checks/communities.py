"""Route distinguishers and route targets: they fit their 6 bytes, and distinguish VRFs."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

from srv6mgrd.model import names
from srv6mgrd.model.bgp import VpnFamily, VrfBgp
from srv6mgrd.model.desired import Desired, Vrf
from srv6mgrd.model.expand import is_made
from srv6mgrd.model.paths import bgp_path
from srv6mgrd.model.rejection import Rejection


def check(desired: Desired) -> Iterator[Rejection]:
    yield from _ranges(desired)
    yield from _duplicates(desired)


def _ranges(desired: Desired) -> Iterator[Rejection]:
    for vrf in desired.vrfs.values():
        if vrf.bgp is None:
            continue
        declared = (VpnFamily(vrf.bgp.rd, vrf.bgp.import_rts, vrf.bgp.export_rts),
                    vrf.bgp.ipv4, vrf.bgp.ipv6)  # fmt: skip
        distinguishers = [own.rd for own in declared if own.rd is not None]
        targets = [rt for own in declared for rt in (*own.import_rts, *own.export_rts)]
        kinds = dict.fromkeys(distinguishers, "route distinguisher")
        for value in dict.fromkeys((*distinguishers, *targets)):
            if not _fits(value):
                yield Rejection(
                    names.vrf(vrf.name),
                    f"{kinds.get(value, 'route target')} {value} does not fit into 6 bytes",
                    "behind an AS number above 65535 or an IPv4 address take a number up to 65535",
                    "community-range",
                    bgp_path(vrf.name),
                )


def _duplicates(desired: Desired) -> Iterator[Rejection]:
    """VRFs of one router that export with one distinguisher would overwrite each other's routes to
    the same prefix (RFC 4364 section 4.1)."""
    owners: dict[tuple[int, tuple[bool, int, int]], str] = {}
    exporting = [v for v in desired.vrfs.values() if v.bgp is not None and _exports(v.bgp)]
    for vrf in sorted(exporting, key=lambda v: v.name):
        for rd in _taken(vrf, owners):
            yield Rejection(
                names.vrf(vrf.name),
                f"route distinguisher {rd[0]} is already that of VRF {rd[1]}",
                "give it one of its own",
                "route-distinguisher-duplicate",
                bgp_path(vrf.name),
            )


def _taken(vrf: Vrf, owners: dict[tuple[int, tuple[bool, int, int]], str]) -> list[tuple[str, str]]:
    """Distinguishers of a VRF that are another's in the same family, each with that VRF."""
    found = {}
    for family in (4, 6):
        rd = vrf.bgp.of_family(family).rd if vrf.bgp is not None else None
        if rd is None or not _fits(rd):
            continue
        other = owners.setdefault((family, _numbers(rd)), vrf.name)
        if other != vrf.name:
            found[rd] = other
    return list(found.items())


def _exports(bgp: VrfBgp) -> bool:
    return bool(bgp.export_sids) or is_made(bgp)


def _fits(value: str) -> bool:
    """RFC 4364 section 4.2, RFC 4360 section 3, RFC 5668: 2 bytes of AS number and 4 of number,
    or 4 bytes of AS number or address and 2 of number."""
    try:
        is_address, administrator, number = _numbers(value)
    except ValueError:
        return False
    wide = is_address or administrator >= 1 << 16
    return administrator < 1 << 32 and number < 1 << (16 if wide else 32)


def _numbers(value: str) -> tuple[bool, int, int]:
    """Whether the administrator is an address, the administrator, the assigned number. Raises
    ValueError."""
    head, _, number = value.rpartition(":")
    is_address = "." in head
    return is_address, int(IPv4Address(head)) if is_address else int(head), int(number)
