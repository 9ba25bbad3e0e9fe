"""Everything that a rehearsal in the lab needs, as JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6net.compile.configuration import Entries
from srv6net.intent.inventory import Inventory
from srv6net.intent.l3nm import services
from srv6net.proposal import Proposal
from srv6net.rehearsal.network import network
from srv6net.rehearsal.reachability import Probe, probes
from srv6net.rehearsal.sites import Site, sites


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """``notes``: what of the intent is not tried out."""

    topology: Mapping[str, Any]
    nodes: Mapping[str, str]
    base: Mapping[str, Any]
    entries: Mapping[str, Entries]
    probes: tuple[Probe, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> str:
        return json.dumps(asdict(self))


def rehearsal(proposal: Proposal, inventory: Inventory, only: Collection[str] = ()) -> Rehearsal:
    """Of the routers with services, or of those of ``only``. Raises RejectedError for what cannot
    work anywhere."""
    entries = proposal.revision.routers
    routers = sorted(name for name in entries if not only or name in only)
    found = sites(services(proposal.revision.intent), routers)
    _reject_without_address(found, services(proposal.revision.intent))
    made = network(inventory, _with_a_peer(routers, inventory), found)
    core = [str(inventory.routers[name].loopback) for name in routers]
    return Rehearsal(
        made.topology,
        made.nodes,
        made.base,
        {name: entries[name] for name in routers},
        probes(found, core),
        tuple(_notes(found)),
    )


def _with_a_peer(routers: Sequence[str], inventory: Inventory) -> Sequence[str]:
    """A router alone has no BGP session, and verification would miss it."""
    others = sorted(inventory.routers.keys() - set(routers))
    return [*routers, *others[:1]] if len(routers) == 1 else routers


def _reject_without_address(found: Sequence[Site], wanted: Sequence[Any]) -> None:
    """A subnet in which no address is left for the customer."""
    given = {
        (service.id, node.router, access.id): len(access.addresses)
        for service in wanted
        for node in service.nodes
        for access in node.accesses
    }
    rejections = [
        Rejection(
            f"VPN service {site.service}",
            f"access {site.access} has a subnet without an address for the customer's side",
            "shorten its prefix-length",
            "no-address",
        )
        for site in found
        if len(site.addresses) < given[site.service, site.router, site.access]
    ]
    if rejections:
        raise RejectedError(rejections)


def _notes(found: Sequence[Site]) -> list[str]:
    return [
        f"{site} has no address in the document, so that nobody pings it"
        for site in found
        if not site.addresses
    ]
