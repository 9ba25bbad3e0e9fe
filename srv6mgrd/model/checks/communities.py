"""Route distinguishers and route targets: they fit their 6 bytes, and tell VRFs apart."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

from srv6mgrd.model.checks.names import vrf_path
from srv6mgrd.model.desired import Desired, VrfBgp
from srv6mgrd.model.expand import is_made
from srv6mgrd.model.refusal import Refusal


def check(desired: Desired) -> Iterator[Refusal]:
    yield from _ranges(desired)
    yield from _duplicates(desired)


def _ranges(desired: Desired) -> Iterator[Refusal]:
    for vrf in desired.vrfs.values():
        if vrf.bgp is None:
            continue
        targets = (*vrf.bgp.import_rts, *vrf.bgp.export_rts)
        kinds = {vrf.bgp.rd: "route distinguisher", **dict.fromkeys(targets, "route target")}
        for value in dict.fromkeys((vrf.bgp.rd, *targets)):
            if not _fits(value):
                yield Refusal(
                    f"VRF {vrf.name}",
                    f"{kinds[value]} {value} does not fit into 6 bytes",
                    "behind an AS number above 65535 or an IPv4 address take a number up to 65535",
                    "community-range",
                    vrf_path(vrf.name),
                )


def _duplicates(desired: Desired) -> Iterator[Refusal]:
    """VRFs of one router that export with one distinguisher would overwrite each other's routes to
    the same prefix (RFC 4364 section 4.1)."""
    owners: dict[tuple[bool, int, int], str] = {}
    for vrf in sorted(desired.vrfs.values(), key=lambda v: v.name):
        if vrf.bgp is None or not _exports(vrf.bgp) or not _fits(vrf.bgp.rd):
            continue
        other = owners.setdefault(_numbers(vrf.bgp.rd), vrf.name)
        if other != vrf.name:
            yield Refusal(
                f"VRF {vrf.name}",
                f"route distinguisher {vrf.bgp.rd} is already that of VRF {other}",
                "give it one of its own",
                "route-distinguisher-duplicate",
                vrf_path(vrf.name),
            )


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
