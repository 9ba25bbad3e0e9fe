"""What this node offers: the kernel as tried out by kernel.probe, FRR as asked by frr.offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from srv6mgrd.model.behavior import Behavior, Flavor, Headend

# Nothing declared depends on it: without it, rules do the same.
ROUTE_LOOKUP_TABLE = "route-lookup-table"
FRR_LOOKUP_TABLE = "frr-lookup-table"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """``missing`` gives the reason for each thing that is not offered, by its name: a behavior, a
    behavior and a flavor (``End psp``), a headend behavior, or a facility below.

    Facilities: ``vrf`` (VRF devices and strict_mode), ``counters`` (seg6local counters),
    ``route-source`` (an encapsulation source per route), ``route-lookup-table`` (the table in which
    a route's outer header is looked up), ``nftables``, ``bpf`` (the tc programs of the service
    proxies).
    """

    behaviors: frozenset[Behavior]
    flavors: frozenset[tuple[Behavior, Flavor]]
    headends: frozenset[Headend]
    facilities: frozenset[str]
    missing: Mapping[str, str] = field(default_factory=dict)
    kernel: str = ""
    # When it was tried out; nanoseconds since the epoch.
    probed: int = 0


@dataclass(frozen=True, slots=True)
class FrrCapabilities:
    """``version`` is empty when FRR can't be reached; ``missing`` gives the reason for each
    facility that is not offered, and for ``frr`` as a whole.

    Facilities: ``frr-locator``, ``frr-encapsulation-source``, ``frr-export-sid`` (a SID of our
    choice for a VRF), ``frr-vpn-ipv6-session`` (VPN routes of both families over IPv6). And
    ``frr-lookup-table`` (routes of BGP name the table in which their outer header is looked up),
    which is never missing: few FRRs have it.
    """

    version: str = ""
    facilities: frozenset[str] = frozenset()
    missing: Mapping[str, str] = field(default_factory=dict)


# A node that rejects nothing: what is assumed where the kernel can't be probed. A kernel without
# ROUTE_LOOKUP_TABLE would ignore the attribute silently, so that is used only where it was seen.
EVERYTHING = Capabilities(
    behaviors=frozenset(Behavior),
    flavors=frozenset(
        {
            (Behavior.END, Flavor.PSP),
            (Behavior.END, Flavor.NEXT_CSID),
            (Behavior.END_X, Flavor.NEXT_CSID),
        }
    ),
    headends=frozenset(Headend),
    facilities=frozenset({"vrf", "counters", "route-source", "nftables", "bpf"}),
)
