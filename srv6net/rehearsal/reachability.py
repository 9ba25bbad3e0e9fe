"""Who has to reach whom, by the topology of the services; everybody else must not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from srv6net.intent.service import Role
from srv6net.rehearsal.sites import Site


@dataclass(frozen=True, slots=True)
class Probe:
    """From a site to an address. ``to`` says whose it is."""

    site: str
    address: str
    is_wanted: bool
    origin: str
    to: str

    def __str__(self) -> str:
        return f"{self.origin} and {self.to} ({self.address})"


def probes(sites: Sequence[Site], infrastructure: Iterable[str] = ()) -> tuple[Probe, ...]:
    """Between all sites that have addresses of one family; and to addresses of the core, which no
    customer may reach."""
    core = tuple(infrastructure)
    found: list[Probe] = []
    for one in sites:
        families = {address.version for address in one.addresses}
        for other in sites:
            if one.name == other.name:
                continue
            wanted = is_wanted(one, other)
            found += [
                Probe(one.name, address, wanted, str(one), str(other))
                for address in other.reached_at
                if (6 if ":" in address else 4) in families
                # What is behind several sites may answer from any of them.
                and address not in one.reached_at
            ]
        if 6 in families:
            found += [Probe(one.name, a, False, str(one), "the core") for a in core]
    reached = {(p.site, p.address) for p in found if p.is_wanted}
    return tuple(p for p in found if p.is_wanted or (p.site, p.address) not in reached)


def is_wanted(one: Site, other: Site) -> bool:
    """RFC 8299 section 6.2.1: in a service, its topology says so; two services reach each other
    where each imports what the other exports."""
    if one.service == other.service:
        is_same_router = one.router == other.router
        return (
            is_same_router
            or Role.SPOKE not in (one.role, other.role)
            or (Role.HUB in (one.role, other.role))
        )
    there, back = one.targets, other.targets
    return not (
        there.exported.isdisjoint(back.imported) or back.exported.isdisjoint(there.imported)
    )
