"""The IETF view (counters.ietf) as gNMI's tree."""

from __future__ import annotations

from typing import Any

from srv6mgrd.counters import ietf
from srv6mgrd.gnmi.path import Step
from srv6mgrd.gnmi.projections.view import Shown, View, container, counter, leaf, listed
from srv6mgrd.gnmi.schema import Base, Kind, Node, root

_ROUTING, _SR, _SRV6 = ietf.ROUTING, ietf.SEGMENT_ROUTING, ietf.SRV6


def _entry(sid: Shown) -> dict[str, Any]:
    config = sid.config
    declared = ietf.Declared(
        behavior=str(config.get("behavior", "")).rpartition(":")[2],
        flavors=frozenset(config.get("flavor", ())),
        locator=config.get("locator", ""),
        counts=config.get("counters") is not False,
    )
    entry = ietf.entry(sid.name, declared, sid.status, sid.counters)
    allocation = entry["allocation"]
    # A list is a dict by its keys (gnmi.mirror).
    allocation["owner"] = {(o["type"], o["instance"]): o for o in allocation["owner"]}
    return entry


def views() -> tuple[View, ...]:
    """The list of local SIDs."""
    routing = root().add(Node("routing", _ROUTING, config=False))
    sids = container(container(container(routing, "segment-routing", _SR), "srv6", _SRV6), "sids")
    sid = listed(sids, "sid", leaf(_SRV6, "sid", typedef="ipv6-prefix"))
    sid.add(leaf(_SRV6, "behavior", Base.IDENTITY))
    sid.add(leaf(_SRV6, "locator"))
    allocation = container(sid, "allocation")
    allocation.add(leaf(_SRV6, "alloc-type"))
    owner = listed(
        allocation,
        "owner",
        leaf(_SRV6, "type", Base.IDENTITY),
        leaf(_SRV6, "instance"),
    )
    owner.add(leaf(_SRV6, "is-winner", Base.BOOL))
    container(sid, "forwarding").add(leaf(_SRV6, "is-installed", Base.BOOL))
    success = container(container(sid, "counters"), "success")
    success.add(counter(_SRV6, "in-pkts"))
    success.add(counter(_SRV6, "in-octets"))
    path = tuple(
        Step(node, (None,)) if node.kind is Kind.LIST else Step(node) for node in sid.lineage()
    )
    return (View(path, _entry, origins=("ietf", _ROUTING), bare=False),)
