"""SIDs as OpenConfig's abstract forwarding table shows them: IPv6 entries of instance DEFAULT.

Paths as in openconfig-network-instance (``uses`` of openconfig-aft) and openconfig-aft-counters.
"""

from __future__ import annotations

from typing import Any

from srv6mgrd.gnmi.path import Step
from srv6mgrd.gnmi.projections.view import Sid, View, container, counter, leaf, listed
from srv6mgrd.gnmi.schema import Base, Kind, Node, root
from srv6mgrd.model.status import InstallStatus

_NI = "openconfig-network-instance"
_COUNTERS = "openconfig-aft-counters"
# An identity and an enum of theirs.
_STATIC = "openconfig-policy-types:STATIC"
_IPV6 = "IPV6"


def _is_installed(sid: Sid) -> bool:
    return sid.status.status is InstallStatus.INSTALLED


def _entry(sid: Sid) -> dict[str, Any] | None:
    if not _is_installed(sid):
        return None
    state = {"prefix": sid.prefix, "origin-protocol": _STATIC}
    if str(sid.config.get("behavior", "")).rpartition(":")[2].startswith("End.D"):
        state["decapsulate-header"] = _IPV6
    return {"prefix": sid.prefix, "state": state}


def _counted(sid: Sid) -> dict[str, Any] | None:
    # What doesn't count has no counters, rather than counters of 0.
    if not _is_installed(sid) or sid.config.get("counters") is False:
        return None
    return {
        "prefix": sid.prefix,
        "state": {
            "prefix": sid.prefix,
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


def views() -> tuple[View, ...]:
    """Entries, and their counters."""
    instances = root().add(Node("network-instances", _NI, config=False))
    instance = listed(instances, "network-instance", leaf(_NI, "name"))
    afts = container(instance, "afts")
    entry, state = _ipv6_entries(afts)
    state.add(leaf(_NI, "origin-protocol", Base.IDENTITY))
    state.add(leaf(_NI, "decapsulate-header"))
    counted, totals = _ipv6_entries(container(afts, "counters", _COUNTERS))
    totals.add(counter(_COUNTERS, "packets-forwarded"))
    totals.add(counter(_COUNTERS, "octets-forwarded"))
    return tuple(
        View(_to(target), make, origins=("openconfig",), bare=True)
        for target, make in ((entry, _entry), (counted, _counted))
    )


def _to(target: Node) -> tuple[Step, ...]:
    return tuple(
        Step(node, ("DEFAULT",) if node.name == "network-instance" else (None,))
        if node.kind is Kind.LIST
        else Step(node)
        for node in target.lineage()
    )
