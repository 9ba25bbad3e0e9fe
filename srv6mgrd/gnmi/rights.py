"""Who may read what by NACM (RFC 8341 section 3.4.5), and who may change anything at all. Pure.

sysrepo checks what is written. What is read comes from the mirror and the store, without sysrepo,
so the rules for reading are evaluated here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from srv6mgrd.gnmi.path import Pattern
from srv6mgrd.gnmi.schema import Node


class Permit(Protocol):
    """Whether a leaf, or the branch that is reported as deleted, may be read."""

    def __call__(self, at: Pattern) -> bool: ...

    @property
    def is_keyed(self) -> bool:
        """Whether that depends on keys, and not on the schema alone."""
        ...

    @property
    def policy(self) -> object:
        """What decides; the very same while nothing of it changed."""
        ...


ANY = "*"
# RFC 8341 section 2.4: a recovery session is under no rules; sysrepo gives it to this user.
RECOVERY = "root"

# The module of RPCs that gNMI offers, as methods or as extensions of Set, and one that viewers may
# execute: it changes nothing.
_OPERATIONS, _COMPARE = "srv6mgr-operations", "compare"

_STEP = re.compile(r"/(?:([\w.-]+):)?([\w.-]+)((?:\[[^=\]]+=(?:'[^']*'|\"[^\"]*\")\])*)")
_KEY = re.compile(r"\[(?:[\w.-]+:)?([\w.-]+)=(?:'([^']*)'|\"([^\"]*)\")\]")


@dataclass(frozen=True, slots=True)
class Part:
    """One step of a rule's path."""

    name: str
    module: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)

    def matches(self, node: Node, keys: tuple[str | None, ...]) -> bool:
        if self.name != node.name or (self.module and self.module != node.module):
            return False
        given = dict(zip(node.keys, keys, strict=True)) if keys else {}
        return all(given.get(name) == value for name, value in self.keys.items())


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for reading data: what is at ``path`` and below, of one module or any."""

    permits: bool
    module: str = ANY
    path: tuple[Part, ...] = ()

    def matches(self, at: Pattern) -> bool:
        if self.module not in (ANY, at[-1].node.module) or len(self.path) > len(at):
            return False
        return all(part.matches(*step) for part, step in zip(self.path, at, strict=False))


@dataclass(frozen=True, slots=True)
class Policy:
    """The container ``nacm`` as far as it concerns reading; ``rules`` with the groups they are
    for. ``external``: groups of the operating system count too. ``changers``: the groups of each
    rule that permits a write or an RPC; ``writes``: what no rule is for may be written."""

    enabled: bool = True
    default: bool = True
    external: bool = True
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    rules: tuple[tuple[frozenset[str], Rule], ...] = ()
    writes: bool = False
    changers: frozenset[str] = frozenset()

    def may_change(self, groups: frozenset[str]) -> bool:
        """Whether a member of ``groups`` may write or execute anything; what, sysrepo judges."""
        return self.writes or ANY in self.changers or bool(self.changers & groups)

    def permits(self, groups: frozenset[str], at: Pattern) -> bool:
        """Whether a member of ``groups`` may read ``at``; the first rule that matches decides."""
        for meant, rule in self.rules:
            if (ANY in meant or meant & groups) and rule.matches(at):
                return rule.permits
        # A rule comes before nacm:default-deny-all, and that before read-default.
        return self.default and not _is_hidden(at)


def parse(nacm: Mapping[str, Any]) -> Policy:
    """The container ``nacm`` (RFC 7951 JSON)."""
    groups = {
        group["name"]: frozenset(group.get("user-name", ()))
        for group in nacm.get("groups", {}).get("group", ())
    }
    rules = [
        (frozenset(each.get("group", ())), rule)
        for each in nacm.get("rule-list", ())
        for rule in _rules(each.get("rule", ()))
    ]
    return Policy(
        enabled=nacm.get("enable-nacm", True),
        default=nacm.get("read-default", "permit") == "permit",
        external=nacm.get("enable-external-groups", True),
        groups=groups,
        rules=tuple(rules),
        writes=nacm.get("write-default", "deny") == "permit",
        changers=frozenset(
            group
            for each in nacm.get("rule-list", ())
            if any(map(_permits_a_change, each.get("rule", ())))
            for group in each.get("group", ())
        ),
    )


def _permits_a_change(rule: Mapping[str, Any]) -> bool:
    operations = set(rule.get("access-operations", ANY).split())
    if "notification-name" in rule:
        return False
    if "rpc-name" in rule:
        offered = rule.get("module-name", ANY) in (ANY, _OPERATIONS)
        if not offered or rule["rpc-name"] == _COMPARE:
            return False
    return rule["action"] == "permit" and bool(operations - {"read"})


def _rules(rules: Iterable[Mapping[str, Any]]) -> Iterable[Rule]:
    for rule in rules:
        operations = rule.get("access-operations", ANY).split()
        if "rpc-name" in rule or "notification-name" in rule:
            continue
        if ANY in operations or "read" in operations:
            path = _path(rule.get("path", "/"))
            yield Rule(rule["action"] == "permit", rule.get("module-name", ANY), path)


def _path(text: str) -> tuple[Part, ...]:
    return tuple(
        Part(name, module or "", {k: a or b for k, a, b in _KEY.findall(keys)})
        for module, name, keys in _STEP.findall(text)
    )


def _is_hidden(at: Pattern) -> bool:
    return bool(at) and at[-1].node.hidden


class Rights:
    """What a user may read, by the policy that holds when it is asked."""

    def __init__(
        self,
        user: str | None,
        policy: Callable[[], Policy],
        external: Callable[[str], frozenset[str] | None],
        source: Callable[[Pattern], Pattern | None],
    ) -> None:
        """``user`` None is a client without a name: no rule is for it, and what only a rule
        permits stays hidden from it. ``external`` gives the user's groups of the operating
        system, None while they are unknown: nothing is permitted then; ``source`` the place that a
        view shows, None where it is no view."""
        self._user, self._policy, self._external, self._source = user, policy, external, source
        self._known: Policy | None = None
        # None: unknown.
        self._groups: frozenset[str] | None = frozenset()
        # With no key in any rule the schema decides.
        self._by_node: dict[Node, bool] | None = None

    def __call__(self, at: Pattern) -> bool:
        policy = self._policy()
        if policy is not self._known:
            self._know(policy)
        if self._user == RECOVERY or not policy.enabled:
            return True
        if self._user is None:
            return not _is_hidden(at)
        if not self._permits(policy, at):
            return False
        # A view must not show what its source hides.
        source = self._source(at)
        return source is None or self._permits(policy, source)

    def may_change(self) -> bool:
        """Whether the user may write or execute anything. A client without a name is under no
        rules."""
        policy = self._policy()
        if policy is not self._known:
            self._know(policy)
        free = self._user in (RECOVERY, None) or not policy.enabled
        return free or (self._groups is not None and policy.may_change(self._groups))

    @property
    def policy(self) -> Policy:
        return self._policy()

    @property
    def is_keyed(self) -> bool:
        """Whether rules differ between list entries."""
        policy = self._policy()
        if policy is not self._known:
            self._know(policy)
        return self._by_node is None

    def _know(self, policy: Policy) -> None:
        groups = frozenset(n for n, users in policy.groups.items() if self._user in users)
        external: frozenset[str] | None = frozenset()
        if policy.external and self._user is not None and self._user != RECOVERY:
            external = self._external(self._user)
        self._groups = None if external is None else groups | external
        rules = policy.rules if self._user is not None else ()
        keyed = any(part.keys for _, rule in rules for part in rule.path)
        self._by_node = None if keyed else {}
        # Unknown groups are asked for again.
        self._known = None if self._groups is None else policy

    def _permits(self, policy: Policy, at: Pattern) -> bool:
        if self._groups is None:
            return False
        if not at:
            return policy.default
        if self._by_node is None:
            return policy.permits(self._groups, at)
        node = at[-1].node
        known = self._by_node.get(node)
        if known is None:
            known = self._by_node[node] = policy.permits(self._groups, at)
        return known
