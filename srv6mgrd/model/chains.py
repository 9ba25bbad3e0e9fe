"""Service function chains as ``srv6mgr-chain`` declares them, in the words of RFC 7665. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from srv6mgrd.model.accounting import Family


class Way(StrEnum):
    """Which way packets go through a chain: its hops in order, or from the last to the first."""

    FORWARD = "forward"
    REVERSE = "reverse"


class FailureAction(StrEnum):
    """What packets do while a hop of their chain has no function that works."""

    BYPASS = "bypass"
    DROP = "drop"
    CHAIN = "chain"


class FunctionState(StrEnum):
    """``DRAINING``: flows that it has stay, others go elsewhere."""

    UP = "up"
    DRAINING = "draining"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class ProxiedFunction:
    """A function on this router that does not know SRv6. Packets enter it by ``interface`` and
    leave it by ``return_interface``; in reverse the other way round. Next hops are its addresses on
    the two. ``sid_function`` is that of the first SID made for it; the other five follow."""

    locator: str
    sid_function: int
    families: tuple[Family, ...]
    interface: str
    return_interface: str
    next_hops: Mapping[Family, IPv4Address | IPv6Address] = field(default_factory=dict)
    reverse_next_hops: Mapping[Family, IPv4Address | IPv6Address] = field(default_factory=dict)
    mtu: int | None = None


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """Packets that go through the function and have to come back. ``interval`` in milliseconds;
    ``failures`` and ``successes`` are in a row."""

    enabled: bool = True
    interval: int = 100
    failures: int = 2
    successes: int = 10


@dataclass(frozen=True, slots=True)
class ServiceFunction:
    """``/srv6/service-functions/service-function``. Without ``proxied`` it has SIDs of its own
    (``segments``): it knows SRv6, or another router has it."""

    name: str
    proxied: ProxiedFunction | None = None
    segments: Mapping[tuple[Family, Way], IPv6Address] = field(default_factory=dict)
    health_check: HealthCheck = HealthCheck()
    weight: int = 1
    drain: bool = False


@dataclass(frozen=True, slots=True)
class FunctionGroup:
    """``/srv6/service-function-groups/service-function-group``: a flow goes through one of them, in
    both directions through the same one."""

    name: str
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hop:
    """A hop of a chain: a function or a group of them."""

    index: int
    function: str | None = None
    group: str | None = None
    on_failure: FailureAction = FailureAction.BYPASS


@dataclass(frozen=True, slots=True)
class Egress:
    """Where packets go behind the last function: to these segments, or to a VRF of this router."""

    vrf: str | None = None
    segments: tuple[IPv6Address, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """``/srv6/service-function-chains/service-function-chain``. ``egresses`` has the ways that it
    can be gone. ``fallback`` is the chain of hops whose ``on_failure`` is CHAIN."""

    name: str
    hops: tuple[Hop, ...]
    egresses: Mapping[Way, Egress]
    fallback: str | None = None


@dataclass(frozen=True, slots=True)
class ClassifierRule:
    """``rule`` of a classifier: packets that match all that is not None go into ``chain``, or on as
    they are without one. Ports are ranges, both ends included; ``protocol`` is IANA's number. A
    rule with ports matches packets that have them. The lowest ``priority`` that matches decides."""

    priority: int
    chain: str | None
    way: Way = Way.FORWARD
    family: Family | None = None
    source: IPv4Network | IPv6Network | None = None
    destination: IPv4Network | IPv6Network | None = None
    protocol: int | None = None
    source_ports: tuple[int, int] | None = None
    destination_ports: tuple[int, int] | None = None
    dscp: int | None = None
    mark: int | None = None


@dataclass(frozen=True, slots=True)
class Classifier:
    """``/srv6/classifiers/classifier``: rules for what comes in on interfaces, or on those of a
    VRF. ``rules`` by priority, which is unique."""

    name: str
    interfaces: tuple[str, ...] = ()
    vrf: str | None = None
    rules: tuple[ClassifierRule, ...] = ()


@dataclass(frozen=True, slots=True)
class Chains:
    """All of ``srv6mgr-chain``, by name."""

    functions: Mapping[str, ServiceFunction] = field(default_factory=dict)
    groups: Mapping[str, FunctionGroup] = field(default_factory=dict)
    chains: Mapping[str, Chain] = field(default_factory=dict)
    classifiers: Mapping[str, Classifier] = field(default_factory=dict)


def members(hop: Hop, chains: Chains) -> Sequence[str]:
    """The functions of a hop."""
    if hop.function is not None:
        return (hop.function,)
    group = chains.groups.get(hop.group or "")
    return group.functions if group is not None else ()
