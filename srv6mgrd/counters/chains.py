"""What service function chains counted, as the container ``service-chaining`` has it: a part of
``counters.observed``. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.model.chain_state import ChainCounts, PathName, Traffic
from srv6mgrd.model.chains import Chain, FunctionState
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.parse import CHAINING
from srv6mgrd.model.service_paths import Path, ServicePaths, preferred

PART = "service-chains"
_NOTHING = Traffic()


def chaining(
    counts: ChainCounts, desired: Desired, states: Mapping[str, FunctionState]
) -> dict[str, Any]:
    """The member of ``/srv6mgr-srv6:srv6``; empty without chains and classifiers. Of paths those
    that flows take now, and those that counted, by their number among all; of rules those that
    matched."""
    declared = desired.chains
    if not (declared.chains or declared.classifiers):
        return {}
    paths = ServicePaths(desired)
    chains = [
        {"name": name, "state": _chain(chain, paths, counts, states)}
        for name, chain in declared.chains.items()
    ]
    rules: dict[str, list[dict[str, Any]]] = {}
    for (name, priority), traffic in sorted(counts.rules.items()):
        if traffic != _NOTHING:
            rules.setdefault(name, []).append({"priority": priority, "state": _count(traffic)})
    classifiers = [
        {"name": name, "rule": rules[name]} for name in declared.classifiers if name in rules
    ]
    found = {"service-function-chain": chains, "classifier": classifiers}
    return {CHAINING: {name: entries for name, entries in found.items() if entries}}


def _chain(
    chain: Chain,
    paths: ServicePaths,
    counts: ChainCounts,
    states: Mapping[str, FunctionState],
) -> dict[str, Any]:
    ways = ((way, family) for way in chain.egresses for family in paths.families(chain, way))
    shown: list[dict[str, Any]] = []
    before = 0
    for way, family in ways:
        found = list(paths.paths(chain, family, way))
        active = set(preferred(found, states))
        for place, path in enumerate(found):
            name = PathName(chain.name, way, family, path.functions)
            traffic = counts.paths.get(name, _NOTHING)
            if place in active or traffic != _NOTHING:
                entry = _path(name, path, traffic, is_active=place in active)
                shown.append({"number": before + place + 1, **entry})
        before += len(found)
    dropped = sum(drops.packets for (name, _), drops in counts.drops.items() if name == chain.name)
    return {**({"path": shown} if shown else {}), "dropped-pkts": str(dropped)}


def _path(name: PathName, path: Path, traffic: Traffic, *, is_active: bool) -> dict[str, Any]:
    return {
        "direction": name.way.value,
        "inner-type": name.family.value,
        "service-function": list(name.functions),
        "segment": [str(segment) for segment in path.segments],
        "active": is_active,
        **_count(traffic),
    }


def _count(traffic: Traffic) -> dict[str, str]:
    # RFC 7951 section 6.1: 64-bit numbers are strings.
    return {"pkts": str(traffic.packets), "octets": str(traffic.octets)}
