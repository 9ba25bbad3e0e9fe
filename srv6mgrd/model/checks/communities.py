"""Route distinguishers and route targets: the numbers have to fit their 6 bytes."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

from srv6mgrd.model.checks.names import vrf_path
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.refusal import Refusal


def check(desired: Desired) -> Iterator[Refusal]:
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


def _fits(value: str) -> bool:
    """RFC 4364 section 4.2, RFC 4360 section 3, RFC 5668: 2 bytes of AS number and 4 of number,
    or 4 bytes of AS number or address and 2 of number."""
    head, _, number = value.rpartition(":")
    try:
        administrator = int(IPv4Address(head)) if "." in head else int(head)
    except ValueError:
        return False
    wide = "." in head or administrator >= 1 << 16
    return administrator < 1 << 32 and int(number) < 1 << (16 if wide else 32)
