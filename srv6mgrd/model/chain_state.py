"""What service function chains counted. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import Way


@dataclass(frozen=True, slots=True)
class Traffic:
    """Packets as they are on the wire, and octets without their frames; of frames all."""

    packets: int = 0
    octets: int = 0


@dataclass(frozen=True, slots=True)
class ChainDrops:
    """Packets that a rule named the chain for and that did not get onto it, by reason, in the order
    of ``enum reason`` (chains/bpf/maps.h). ``hop_limit``: the sender was notified."""

    unavailable: int = 0
    too_big: int = 0
    hop_limit: int = 0
    no_route: int = 0
    malformed: int = 0

    @property
    def packets(self) -> int:
        """All of them."""
        return self.unavailable + self.too_big + self.hop_limit + self.no_route + self.malformed

    def __add__(self, other: ChainDrops) -> ChainDrops:
        return ChainDrops(
            self.unavailable + other.unavailable,
            self.too_big + other.too_big,
            self.hop_limit + other.hop_limit,
            self.no_route + other.no_route,
            self.malformed + other.malformed,
        )


class PathName(NamedTuple):
    """The path of a chain by its functions, in the order of the hops."""

    chain: str
    way: Way
    family: Family
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChainCounts:
    """Counters since the rule, path or chain is there; ``rules`` by classifier and priority. They
    go on when the rules of a classifier are exchanged."""

    rules: Mapping[tuple[str, int], Traffic] = field(default_factory=dict)
    paths: Mapping[PathName, Traffic] = field(default_factory=dict)
    drops: Mapping[tuple[str, Way], ChainDrops] = field(default_factory=dict)
