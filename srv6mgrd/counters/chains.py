"""What service function chains counted, as the container ``service-chaining`` has it: a part of
``counters.observed``. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from srv6mgrd.model.chain_state import ChainCounts, PathName, Traffic
from srv6mgrd.model.chains import FunctionState
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.parse import CHAINING
from srv6mgrd.model.service_paths import Path, ServicePaths, preferred

PART = "service-chains"
_NOTHING = Traffic()


class ChainReport:
    """Of one desired state, whose paths are found once: there are thousands, and counters each
    second."""

    def __init__(self, desired: Desired) -> None:
        self._declared = desired.chains
        paths = ServicePaths(desired)
        self._ways = {
            name: [
                (way, family, list(paths.paths(chain, family, way)))
                for way in chain.egresses
                for family in paths.families(chain, way)
            ]
            for name, chain in self._declared.chains.items()
        }
        # The places of paths that new flows take, by chain and in the order of its ways.
        self._active: dict[str, list[set[int]]] = {}
        self._states: Mapping[str, FunctionState] | None = None
        # What never changes of paths that were shown.
        self._entries: dict[PathName, dict[str, Any]] = {}

    def chaining(self, counts: ChainCounts, states: Mapping[str, FunctionState]) -> dict[str, Any]:
        """The member of ``/srv6mgr-srv6:srv6``; empty without chains and classifiers. Of paths
        those that flows take now, and those that counted, by their number among all; of rules
        those that matched."""
        declared = self._declared
        if not (declared.chains or declared.classifiers):
            return {}
        if states != self._states:
            self._states = dict(states)
            self._active = {
                name: [set(preferred(found, states)) for _, _, found in ways]
                for name, ways in self._ways.items()
            }
        dropped: Counter[str] = Counter()
        for (name, _), drops in counts.drops.items():
            dropped[name] += drops.packets
        chains = []
        for name in declared.chains:
            shown = self._shown(name, counts)
            state = {**({"path": shown} if shown else {}), "dropped-pkts": str(dropped[name])}
            chains.append({"name": name, "state": state})
        rules: dict[str, list[dict[str, Any]]] = {}
        for (name, priority), traffic in sorted(counts.rules.items()):
            if traffic != _NOTHING:
                rules.setdefault(name, []).append({"priority": priority, "state": _count(traffic)})
        classifiers = [
            {"name": name, "rule": rules[name]} for name in declared.classifiers if name in rules
        ]
        found = {"service-function-chain": chains, "classifier": classifiers}
        return {CHAINING: {name: entries for name, entries in found.items() if entries}}

    def _shown(self, chain: str, counts: ChainCounts) -> list[dict[str, Any]]:
        shown: list[dict[str, Any]] = []
        number = 0
        for (way, family, found), active in zip(
            self._ways[chain], self._active[chain], strict=True
        ):
            for place, path in enumerate(found):
                number += 1
                name = PathName(chain, way, family, path.functions)
                traffic = counts.paths.get(name, _NOTHING)
                if place not in active and traffic == _NOTHING:
                    continue
                if (known := self._entries.get(name)) is None:
                    known = self._entries[name] = _path(number, name, path)
                shown.append({**known, "active": place in active, **_count(traffic)})
        return shown


def _path(number: int, name: PathName, path: Path) -> dict[str, Any]:
    return {
        "number": number,
        "direction": name.way.value,
        "inner-type": name.family.value,
        "service-function": list(name.functions),
        "segment": [str(segment) for segment in path.segments],
    }


def _count(traffic: Traffic) -> dict[str, str]:
    # RFC 7951 section 6.1: 64-bit numbers are strings.
    return {"pkts": str(traffic.packets), "octets": str(traffic.octets)}
