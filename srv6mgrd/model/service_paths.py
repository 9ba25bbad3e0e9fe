"""The ways through a chain: rendered service paths (RFC 7665 section 2.3). Pure.

At each hop packets go through one of its functions, or through none where it may be bypassed.
Behind all of these come the paths of ``fallback``. ``preference`` orders them: of those whose
functions all work, the ones that bypass the fewest hops are used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Protocol

from srv6mgrd.model.accounting import Family
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.chains import (
    Chain,
    Chains,
    Egress,
    FailureAction,
    FunctionState,
    Hop,
    Way,
    members,
)
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.function_sids import segments_of

# Of a chain, in one direction and for one inner type.
MOST_PATHS = 256
# Behind all paths of the chain itself.
_REPLACED = 1000
_UP = FunctionState.UP

_DECAPSULATES = {
    Family.IPV4: (Behavior.END_DT46, Behavior.END_DT4),
    Family.IPV6: (Behavior.END_DT46, Behavior.END_DT6),
    Family.ETHERNET: (),
}


@dataclass(frozen=True, slots=True)
class Path:
    """Functions in the order of the hops, whichever way it goes, so that both directions have the
    same ones; and all segments in the order in which packets take them."""

    functions: tuple[str, ...]
    segments: tuple[IPv6Address, ...]
    preference: int
    weight: int


class ServicePaths:
    """The paths of all chains of a state that has the SIDs of functions (``function_sids``)."""

    def __init__(self, desired: Desired) -> None:
        self._chains: Chains = desired.chains
        self._segments = {
            name: segments_of(function, desired.locators)
            for name, function in desired.chains.functions.items()
        }
        self._egresses: dict[tuple[str, Family], IPv6Address] = {}
        wanted = {e.vrf for c in self._chains.chains.values() for e in c.egresses.values()}
        for sid in desired.sids.values() if wanted - {None} else ():
            if sid.vrf is None or sid.vrf not in wanted:
                continue
            for family, behaviors in _DECAPSULATES.items():
                if sid.behavior in behaviors:
                    self._egresses.setdefault((sid.vrf, family), sid.prefix.network_address)

    def families(self, chain: Chain, way: Way) -> list[Family]:
        """What all of its hops take, and what it leads to, in this direction."""
        if (egress := chain.egresses.get(way)) is None:
            return []
        return [
            family
            for family in Family
            if self.behind(egress, family)
            and all(any(self._takes(hop, family, way)) for hop in chain.hops)
        ]

    def behind(self, egress: Egress, family: Family) -> tuple[IPv6Address, ...]:
        """The segments behind the last hop; none where nothing decapsulates."""
        if egress.vrf is None:
            return egress.segments
        found = self._egresses.get((egress.vrf, family))
        return () if found is None else (found,)

    def count(self, chain: Chain, family: Family, way: Way) -> int:
        """How many paths there are but for those of ``fallback``."""
        return math.prod(
            len(self._takes(hop, family, way)) + (hop.on_failure is FailureAction.BYPASS)
            for hop in chain.hops
        )

    def paths(self, chain: Chain, family: Family, way: Way) -> Iterator[Path]:
        """All of them, with those of the chain that replaces it. None of a chain that has more than
        MOST_PATHS: a start may find one, which is rejected but stays declared."""
        replaced = 0
        seen: set[tuple[str, ...]] = set()
        names = {chain.name}
        current: Chain | None = chain
        while (
            current is not None
            and family in self.families(current, way)
            and self.count(current, family, way) <= MOST_PATHS
        ):
            for path in self._own(current, family, way):
                if path.functions not in seen:
                    seen.add(path.functions)
                    yield Path(
                        path.functions, path.segments, replaced + path.preference, path.weight
                    )
            if current.fallback is None or current.fallback in names:
                return
            names.add(current.fallback)
            current = self._chains.chains.get(current.fallback)
            replaced += _REPLACED

    def _own(self, chain: Chain, family: Family, way: Way) -> Iterator[Path]:
        behind = self.behind(chain.egresses[way], family)
        options: list[Sequence[str | None]] = []
        for hop in chain.hops:
            functions: list[str | None] = [*self._takes(hop, family, way)]
            options.append(
                [*functions, None] if hop.on_failure is FailureAction.BYPASS else functions
            )
        key = family, way
        for chosen in itertools.product(*options):
            through = [name for name in chosen if name is not None]
            order = through if way is Way.FORWARD else through[::-1]
            segments = tuple(self._segments[name][key] for name in order)
            yield Path(
                tuple(through),
                segments + behind,
                len(chosen) - len(through),
                math.prod(self._chains.functions[name].weight for name in through),
            )

    def _takes(self, hop: Hop, family: Family, way: Way) -> list[str]:
        """Functions of a hop that take this."""
        names = members(hop, self._chains)
        return [name for name in names if (family, way) in self._segments.get(name, {})]


class Selectable(Protocol):
    """A path, or the object that it becomes."""

    @property
    def functions(self) -> tuple[str, ...]: ...

    @property
    def preference(self) -> int: ...


def preferred(paths: Sequence[Selectable], states: Mapping[str, FunctionState]) -> list[int]:
    """The places of those that new flows take: all of their functions are up, and they have the
    lowest preference. Functions without a state are up."""
    up = [
        place
        for place, path in enumerate(paths)
        if all(states.get(name, _UP) is _UP for name in path.functions)
    ]
    best = min((paths[place].preference for place in up), default=0)
    return [place for place in up if paths[place].preference == best]
