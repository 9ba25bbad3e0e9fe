"""SRv6 behaviors and flavors, named as RFC 8986 and the YANG identities name them."""

from __future__ import annotations

from enum import StrEnum


class Behavior(StrEnum):
    """An endpoint behavior; the value is its YANG identity and its name in iproute2."""

    END = "End"
    END_X = "End.X"
    END_T = "End.T"
    END_DX2 = "End.DX2"
    END_DX6 = "End.DX6"
    END_DX4 = "End.DX4"
    END_DT6 = "End.DT6"
    END_DT4 = "End.DT4"
    END_DT46 = "End.DT46"
    END_B6_ENCAPS = "End.B6.Encaps"
    END_BPF = "End.BPF"
    END_AS = "End.AS"
    END_AD = "End.AD"
    END_AM = "End.AM"

    # Enum's own is written in Python, and every SID is asked for several times.
    __hash__ = str.__hash__

    @property
    def is_proxy(self) -> bool:
        """Whether it is a service proxy (YANG: service-proxy), which no kernel offers itself."""
        return self in _PROXIES


_PROXIES = frozenset({Behavior.END_AS, Behavior.END_AD, Behavior.END_AM})


class Flavor(StrEnum):
    """A flavor of an endpoint behavior (RFC 8986 section 4.16, RFC 9800 section 4)."""

    PSP = "psp"
    NEXT_CSID = "next-csid"


class Headend(StrEnum):
    """A headend behavior (RFC 8986 section 5; H.Insert:
    draft-filsfils-spring-srv6-net-pgm-insertion)."""

    H_ENCAPS = "H.Encaps"
    H_ENCAPS_RED = "H.Encaps.Red"
    H_ENCAPS_L2 = "H.Encaps.L2"
    H_ENCAPS_L2_RED = "H.Encaps.L2.Red"
    H_INSERT = "H.Insert"
