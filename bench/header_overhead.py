"""Octets that a chain of functions adds to a packet, by number of segments and encapsulation.

The paper on SRNK compares SRv6 with NSH in appendix D, in words. Ethernet is left out: each of
these packets needs it once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

IPV6, UDP, VXLAN_GPE = 40, 8, 8
# RFC 8754 section 2.
SRH, SEGMENT = 8, 16
# RFC 8300: base and service path headers, and the four context headers of MD type 1.
NSH, NSH_CONTEXT = 8, 16
# A uSID carrier of 32 bits of block and six uSIDs of 16 (RFC 9800 section 4.1, flavor NEXT-C-SID).
USIDS_OF_CARRIER = 6
MTU = 1500
NUMBERS = (1, 2, 3, 4, 6, 8, 12, 16)


def encaps(segments: int) -> int:
    """H.Encaps: IPv6 header and SRH (RFC 8986 section 5.1)."""
    return IPV6 + SRH + SEGMENT * segments


def encaps_red(segments: int) -> int:
    """H.Encaps.Red: the first segment is the destination alone (RFC 8986 section 5.2)."""
    return IPV6 + (SRH + SEGMENT * (segments - 1) if segments > 1 else 0)


def insert(segments: int) -> int:
    """Insert mode: an SRH that also keeps the original destination."""
    return SRH + SEGMENT * (segments + 1)


def usid(segments: int) -> int:
    """H.Encaps.Red of full uSID carriers."""
    return encaps_red(-(-segments // USIDS_OF_CARRIER))


def nsh_without_metadata(segments: int) -> int:
    """NSH of MD type 2 in VXLAN-GPE over IPv6: the number of functions is a state of the nodes."""
    return IPV6 + UDP + VXLAN_GPE + NSH


def nsh(segments: int) -> int:
    """The same with MD type 1."""
    return nsh_without_metadata(segments) + NSH_CONTEXT


ENCAPSULATIONS: Mapping[str, Callable[[int], int]] = {
    "H.Encaps": encaps,
    "H.Encaps.Red": encaps_red,
    "insert": insert,
    "uSID": usid,
    "NSH, MD type 1": nsh,
    "NSH, MD type 2": nsh_without_metadata,
}


def share(overhead: int, mtu: int = MTU) -> float:
    """The part of the underlay's MTU that is left for the packet inside, in percent."""
    return 100 * (mtu - overhead) / mtu


def table() -> list[str]:
    """Lines of Markdown, as docs/seeds.md has them."""
    lines = [
        f"| segments | {' | '.join(ENCAPSULATIONS)} |",
        "|---" * (len(ENCAPSULATIONS) + 1) + "|",
    ]
    for number in NUMBERS:
        octets = [of(number) for of in ENCAPSULATIONS.values()]
        cells = [f"{count} ({share(count):.1f} %)" for count in octets]
        lines.append(f"| {number} | {' | '.join(cells)} |")
    return lines
