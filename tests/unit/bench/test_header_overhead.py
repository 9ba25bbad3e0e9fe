"""Octets of chains, beside packets that are built."""

from __future__ import annotations

import pytest
from scapy.layers.inet6 import IPv6, IPv6ExtHdrSegmentRouting

from bench import header_overhead
from tests.checks import seeds


@pytest.mark.parametrize("segments", header_overhead.NUMBERS)
def test_encapsulation_is_as_long_as_a_packet(segments: int) -> None:
    built = IPv6() / IPv6ExtHdrSegmentRouting(addresses=["fc00::1"] * segments)
    assert header_overhead.encaps(segments) == len(bytes(built))


@pytest.mark.parametrize(
    ("name", "segments", "octets"),
    [
        ("H.Encaps.Red", 1, 40),
        ("H.Encaps.Red", 2, 64),
        ("insert", 1, 40),
        ("uSID", 6, 40),
        ("uSID", 7, 64),
        ("NSH, MD type 1", 1, 80),
        ("NSH, MD type 1", 16, 80),
        ("NSH, MD type 2", 1, 64),
    ],
)
def test_octets(name: str, segments: int, octets: int) -> None:
    assert header_overhead.ENCAPSULATIONS[name](segments) == octets


def test_the_page_has_the_table() -> None:
    page = (seeds.CHECKOUT / seeds.PAGE).read_text()
    assert "\n".join(header_overhead.table()) in page
