"""SIDs and locators in the words of OpenConfig, which has no model of SRv6 endpoints: SIDs are IPv6
entries of the abstract forwarding table of instance DEFAULT, locators are its Segment Routing
Local Blocks (RFC 8402 section 2).

Paths as in openconfig-network-instance (``uses`` of openconfig-aft and openconfig-segment-routing),
openconfig-aft-network-instance and openconfig-aft-counters.
"""

from __future__ import annotations

from typing import Any

from srv6mgrd.gnmi.path import Step
from srv6mgrd.gnmi.projections.view import Shown, View, container, counter, leaf, listed
from srv6mgrd.gnmi.schema import Base, Kind, Node, root
from srv6mgrd.model.status import InstallStatus
from srv6mgrd.model.status import Kind as Object

_NI = "openconfig-network-instance"
_COUNTERS = "openconfig-aft-counters"
# An identity and an enum of theirs.
_STATIC = "openconfig-policy-types:STATIC"
_IPV6 = "IPV6"
_DEFAULT = "DEFAULT"
# The instance in which the inner packet is looked up.
_OF_INSTANCES = "openconfig-aft-network-instance"
_LOOKUP = f"{_OF_INSTANCES}:next-hop-group-network-instance"


def _is_installed(sid: Shown) -> bool:
    return sid.status.status is InstallStatus.INSTALLED


def _entry(sid: Shown) -> dict[str, Any] | None:
    if not _is_installed(sid):
        return None
    state = {"prefix": sid.name, "origin-protocol": _STATIC}
    if str(sid.config.get("behavior", "")).rpartition(":")[2].startswith("End.D"):
        state["decapsulate-header"] = _IPV6
        if sid.config.get("default-vrf"):
            state[_LOOKUP] = _DEFAULT
        elif (vrf := sid.config.get("vrf")) is not None:
            state[_LOOKUP] = vrf
    return {"prefix": sid.name, "state": state}


def _counted(sid: Shown) -> dict[str, Any] | None:
    # What doesn't count has no counters, rather than counters of 0.
    if not _is_installed(sid) or sid.config.get("counters") is False:
        return None
    return {
        "prefix": sid.name,
        "state": {
            "prefix": sid.name,
            "packets-forwarded": str(sid.counters.packets),
            "octets-forwarded": str(sid.counters.octets),
        },
    }


def _ipv6_entries(parent: Node) -> tuple[Node, Node]:
    """``ipv6-unicast/ipv6-entry[prefix]`` and its state."""
    module = parent.module
    unicast = container(parent, "ipv6-unicast")
    entry = listed(unicast, "ipv6-entry", leaf(module, "prefix", typedef="ipv6-prefix"))
    state = container(entry, "state")
    state.add(leaf(module, "prefix", typedef="ipv6-prefix"))
    return entry, state


def _block(locator: Shown) -> dict[str, Any] | None:
    if not _is_installed(locator):
        return None
    state = {"local-id": locator.name, "dataplane-type": _IPV6}
    state["ipv6-prefix"] = locator.config["prefix"]
    return {"local-id": locator.name, "state": state}


def _blocks(instance: Node) -> Node:
    """``segment-routing/srlbs/srlb[local-id]`` and its state."""
    blocks = container(container(instance, "segment-routing"), "srlbs")
    block = listed(blocks, "srlb", leaf(_NI, "local-id"))
    state = container(block, "state")
    state.add(leaf(_NI, "local-id"))
    state.add(leaf(_NI, "dataplane-type"))
    state.add(leaf(_NI, "ipv6-prefix", typedef="ipv6-prefix"))
    return block


def views() -> tuple[View, ...]:
    """Entries, and their counters; locators."""
    instances = root().add(Node("network-instances", _NI, config=False))
    instance = listed(instances, "network-instance", leaf(_NI, "name"))
    block = _blocks(instance)
    afts = container(instance, "afts")
    entry, state = _ipv6_entries(afts)
    state.add(leaf(_NI, "origin-protocol", Base.IDENTITY))
    state.add(leaf(_NI, "decapsulate-header"))
    state.add(leaf(_OF_INSTANCES, "next-hop-group-network-instance"))
    counted, totals = _ipv6_entries(container(afts, "counters", _COUNTERS))
    totals.add(counter(_COUNTERS, "packets-forwarded"))
    totals.add(counter(_COUNTERS, "octets-forwarded"))
    return tuple(
        View(_to(target), make, origins=("openconfig",), bare=True, of=kind)
        for target, make, kind in (
            (entry, _entry, Object.SID),
            (counted, _counted, Object.SID),
            (block, _block, Object.LOCATOR),
        )
    )


def _to(target: Node) -> tuple[Step, ...]:
    return tuple(
        Step(node, (_DEFAULT,) if node.name == "network-instance" else (None,))
        if node.kind is Kind.LIST
        else Step(node)
        for node in target.lineage()
    )
