"""What rows depend on beside CONFIG_DB and the running configuration. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address

# SONiC's states of a feature whose container runs (sonic-feature.yang).
_RUNNING = frozenset({"enabled", "always_enabled"})


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``neighbors`` are IPv6 addresses and link-layer addresses by interface. ``vrf_tables`` are
    those of vrfmgrd; None where VRFs are ours. With ``is_bgpcfgd`` SONiC's bgp container serves
    locators and SIDs."""

    neighbors: Mapping[str, Iterable[tuple[str, str]]] = field(default_factory=dict)
    vrf_tables: Mapping[str, int] | None = None
    is_bgpcfgd: bool = False

    def adjacency(self, interface: str) -> tuple[str | None, str]:
        """The next hop of a uA that names none, or why there is none: the one IPv6 neighbor on the
        interface, by its link-local address where it has one (staticd takes the first one)."""
        found = tuple(self.neighbors.get(interface, ()))
        macs = {mac for _, mac in found}
        if not found:
            return None, f"no IPv6 neighbor is known on {interface} yet"
        if len(macs) > 1:
            return None, f"{interface} has {len(macs)} IPv6 neighbors"
        addresses = sorted(
            (ip_address(a) for a, _ in found), key=lambda a: (not a.is_link_local, a)
        )
        return str(addresses[0]), ""


def serves_static_sids(feature: Mapping[str, str]) -> bool:
    """Whether bgpcfgd runs, which makes static SIDs of FRR of the same rows, by FEATURE|bgp."""
    return feature.get("state") in _RUNNING
