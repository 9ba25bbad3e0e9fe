"""Routing policies as declared: sets, statements, and who applies them (RFC 9067)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network


class PolicyResult(StrEnum):
    """``statement/actions/policy-result``."""

    ACCEPT = "accept-route"
    REJECT = "reject-route"
    NEXT = "next-statement"


class CommunityOption(StrEnum):
    """``statement/actions/set-community/options``."""

    ADD = "add"
    REMOVE = "remove"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class PrefixRange:
    """``prefix-set/prefix``: routes in ``prefix`` with a mask of ``lower`` to ``upper`` bits; None
    where it is not declared."""

    prefix: IPv4Network | IPv6Network
    lower: int | None = None
    upper: int | None = None


@dataclass(frozen=True, slots=True)
class Conditions:
    """``statement/conditions``: names of sets, and a tag."""

    prefix_set: str | None = None
    community_set: str | None = None
    all_communities: bool = False
    as_path_set: str | None = None
    tag: int | None = None


@dataclass(frozen=True, slots=True)
class Actions:
    """``statement/actions``; ``prepend_as`` None is the router's own AS."""

    result: PolicyResult = PolicyResult.ACCEPT
    local_pref: int | None = None
    med: int | None = None
    tag: int | None = None
    communities: tuple[str, ...] = ()
    community_option: CommunityOption = CommunityOption.ADD
    prepend: int = 0
    prepend_as: int | None = None


_ALL = Conditions()
_ACCEPT = Actions()


@dataclass(frozen=True, slots=True)
class Statement:
    """``policy-definition/statement``."""

    sequence: int
    conditions: Conditions = _ALL
    actions: Actions = _ACCEPT


@dataclass(frozen=True, slots=True)
class Policy:
    """``routing-policy/policy-definitions/policy-definition``; statements in order."""

    name: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class ApplyPolicy:
    """``apply-policy``: names of policies; None lets all routes pass."""

    import_policy: str | None = None
    export_policy: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The policies that are applied."""
        return tuple(name for name in (self.import_policy, self.export_policy) if name is not None)


NO_POLICY = ApplyPolicy()


@dataclass(frozen=True, slots=True)
class RoutingPolicy:
    """``/srv6/routing-policy``, each part by name."""

    policies: Mapping[str, Policy] = field(default_factory=dict)
    prefix_sets: Mapping[str, tuple[PrefixRange, ...]] = field(default_factory=dict)
    community_sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    as_path_sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
