"""Objects of the model that rows declare. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from srv6mgrd.redis.schema import Fields

# A hash, or the name of the Redis type that is there in place of one.
Content = Fields | str
# Members of a list entry or container as RFC 7951 has them, but for the key.
Leaves = Mapping[str, Any]

# Members of other modules.
BGP, STEERING, PROXY = "srv6mgr-bgp:bgp", "srv6mgr-steering:steering", "srv6mgr-proxy:proxy"
ACCOUNTING, CHAINING = "srv6mgr-accounting:accounting", "srv6mgr-chain:service-chaining"


class Kind(StrEnum):
    """Kinds of objects that rows declare, by the words that rejections name them with."""

    LOCATOR = "locator"
    VRF = "VRF"
    SID = "SID"
    SEGMENT_LIST = "segment list"
    INTERFACE = "interface"
    ROUTE = "route"
    ENCAPSULATION = "encapsulation"
    BGP = "BGP"
    ACCOUNTING = "accounting"
    SERVICE_FUNCTION = "service function"
    FUNCTION_GROUP = "service function group"
    FUNCTION_CHAIN = "service function chain"
    CLASSIFIER = "classifier"

    # That of Enum is Python; objects are looked up by the hundred thousand.
    __hash__ = str.__hash__

    @property
    def path(self) -> tuple[str, str, str]:
        """Container, list and its key below ``/srv6``; of a container without list that alone."""
        return _PATHS[self]

    @property
    def is_container(self) -> bool:
        return not self.path[1]


_PATHS = {
    Kind.LOCATOR: ("locators", "locator", "name"),
    Kind.VRF: ("vrfs", "vrf", "name"),
    Kind.SID: ("local-sids", "sid", "prefix"),
    Kind.SEGMENT_LIST: ("segment-lists", "segment-list", "name"),
    Kind.INTERFACE: ("interfaces", "interface", "name"),
    Kind.ROUTE: (STEERING, "route", "prefix"),
    Kind.ENCAPSULATION: ("encapsulation", "", ""),
    Kind.BGP: (BGP, "", ""),
    Kind.ACCOUNTING: (ACCOUNTING, "", ""),
    Kind.SERVICE_FUNCTION: (CHAINING, "service-function", "name"),
    Kind.FUNCTION_GROUP: (CHAINING, "service-function-group", "name"),
    Kind.FUNCTION_CHAIN: (CHAINING, "service-function-chain", "name"),
    Kind.CLASSIFIER: (CHAINING, "classifier", "name"),
}


class Object(NamedTuple):
    """An object of the model: its kind and its key."""

    kind: Kind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


@dataclass(frozen=True, slots=True)
class Declared:
    """What a row declares, and which of its fields have no effect. A VRF's table is given to it
    elsewhere, and so is the next hop of a uA that names none."""

    object: Object
    leaves: Leaves = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """What a row adds to the object of another row, ``base``; ``compose`` puts it in."""

    object: Object
    base: str
    content: Leaves
    warnings: tuple[str, ...] = ()


def references(leaves: Leaves) -> Iterator[tuple[Kind, str]]:
    """Objects that an object's leaves name."""
    if "locator" in leaves:
        yield Kind.LOCATOR, str(leaves["locator"])
    if "vrf" in leaves:
        yield Kind.VRF, str(leaves["vrf"])
    if "segment-list" in leaves:
        yield Kind.SEGMENT_LIST, str(leaves["segment-list"])
    if BGP in leaves:
        yield Kind.BGP, ""
        if "export-sid" in leaves[BGP]:
            yield Kind.SID, str(leaves[BGP]["export-sid"])
    if leaves.get("enabled") is True:  # accounting knows this router's packets by their source
        yield Kind.ENCAPSULATION, ""
    if "segment-list" in leaves.get(PROXY, ()):
        yield Kind.SEGMENT_LIST, str(leaves[PROXY]["segment-list"])
    if STEERING in leaves:
        for route in leaves[STEERING].get("route", ()):
            yield Kind.SEGMENT_LIST, str(route["segment-list"])
    yield from _references_of_chains(leaves)


def _references_of_chains(leaves: Leaves) -> Iterator[tuple[Kind, str]]:
    """The same of functions, groups, chains and classifiers."""
    if "proxy" in leaves:
        yield Kind.LOCATOR, str(leaves["proxy"]["locator"])
    for name in leaves.get("service-function", ()):
        yield Kind.SERVICE_FUNCTION, str(name)
    for hop in leaves.get("hop", ()):
        if "service-function" in hop:
            yield Kind.SERVICE_FUNCTION, str(hop["service-function"])
        if "service-function-group" in hop:
            yield Kind.FUNCTION_GROUP, str(hop["service-function-group"])
    for way in ("forward", "reverse"):
        if "vrf" in leaves.get(way, ()):
            yield Kind.VRF, str(leaves[way]["vrf"])
    if "fallback-chain" in leaves:
        yield Kind.FUNCTION_CHAIN, str(leaves["fallback-chain"])
    for name in sorted({r.get("service-function-chain", "") for r in leaves.get("rule", ())}):
        if name:
            yield Kind.FUNCTION_CHAIN, str(name)
