"""gNMI paths: text, resolution against the schema, matching. Pure.

Paths per gnmi-specification.md 2.2.2, wildcards per gnmi-path-conventions.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from srv6mgrd.gnmi.budget import Budget, BudgetError
from srv6mgrd.gnmi.schema import Base, Kind, Node, canonical

ANY = "*"
DEEP = "..."
# The models are not half as deep.
MOST_ELEMENTS = 64
# Nodes of all models are fewer.
MOST_PATTERNS = 10_000

# The data tree is reachable without origin and under our own name (mixed-schema: one origin
# names one schema tree). "openconfig" and "cli" name trees that this server doesn't have.
ORIGINS = ("", "srv6mgr")


class PathError(ValueError):
    """A path that can't be parsed: INVALID_ARGUMENT in every RPC."""


class UnknownPathError(Exception):
    """A well-formed path to a node that the models don't have.

    ``foreign``: not even its first element is known, so another model is meant.
    """

    def __init__(self, message: str, *, foreign: bool) -> None:
        super().__init__(message)
        self.foreign = foreign


class Elem(NamedTuple):
    """One element; ``keys`` as (name, value), sorted."""

    name: str
    keys: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """A path as a client writes it."""

    elems: tuple[Elem, ...] = ()
    origin: str = ""
    target: str = ""

    def __str__(self) -> str:
        return text(self.elems)


class Step(NamedTuple):
    """A schema node and, for a list, its key values in schema order; None is any.

    ``keys`` is () for anything but a list.
    """

    node: Node
    keys: tuple[str | None, ...] = ()


# A path without node wildcards: every step is a schema node.
Pattern = tuple[Step, ...]


def text(elems: Iterable[Elem]) -> str:
    """``/a/b[k=v]`` (gnmi-path-strings.md)."""
    parts = []
    for name, keys in elems:
        shown = "".join(f"[{k}={_escape(v, ']')}]" for k, v in keys)
        parts.append(_escape(name, "/[") + shown)
    return "/" + "/".join(parts)


def _escape(part: str, special: str) -> str:
    for c in "\\" + special:
        part = part.replace(c, "\\" + c)
    return part


def parse(string: str) -> tuple[Elem, ...]:
    """The elements of ``/a/b[k=v]``."""
    elems: list[Elem] = []
    rest = _Cursor(string.strip())
    rest.skip("/")
    while rest:
        name = rest.until("/[")
        keys = {}
        while rest.skip("["):
            key = rest.until("=")
            if not rest.skip("="):
                raise PathError(f"path {string}: a key needs '='")
            keys[key] = rest.until("]")
            if not rest.skip("]"):
                raise PathError(f"path {string}: ']' is missing")
        if not name:
            raise PathError(f"path {string}: an element is empty")
        elems.append(Elem(name, tuple(sorted(keys.items()))))
        if rest and not rest.skip("/"):
            raise PathError(f"path {string}: '/' expected")
    return tuple(elems)


class _Cursor:
    def __init__(self, string: str) -> None:
        self._s, self._at = string, 0

    def __bool__(self) -> bool:
        return self._at < len(self._s)

    def skip(self, c: str) -> bool:
        if self._s.startswith(c, self._at):
            self._at += 1
            return True
        return False

    def until(self, stops: str) -> str:
        out = []
        while self and (c := self._s[self._at]) not in stops:
            if c == "\\" and self._at + 1 < len(self._s):
                self._at += 1
                c = self._s[self._at]
            out.append(c)
            self._at += 1
        return "".join(out)


def absolute(prefix: Path, path: Path) -> Path:
    """Prefix and path as one (2.4.1), origin rules of mixed-schema applied."""
    if path.target:
        raise PathError(f"path {path}: target belongs into the prefix (2.2.2.1)")
    if prefix.origin and path.origin:
        raise PathError(f"path {path}: origin is set in prefix and path; set it in one of them")
    if path.origin and prefix.elems:
        raise PathError(f"path {path}: a prefix path needs its origin in the prefix")
    return Path(prefix.elems + path.elems, prefix.origin or path.origin, prefix.target)


class Other(Protocol):
    """A read-only tree beside ours (``projections.view.View``)."""

    @property
    def top(self) -> Node: ...

    @property
    def origins(self) -> tuple[str, ...]: ...

    @property
    def bare(self) -> bool: ...


def resolve(
    root: Node, path: Path, others: Iterable[Other] = (), budget: Budget | None = None
) -> list[Pattern]:
    """Every schema path that ``path`` names, the highest of those within each other; node
    wildcards expanded, key wildcards kept.

    Takes (schema nodes x elements) steps of the budget. Raises BudgetError, too.
    """
    budget = budget or Budget(f"path {path}")
    if len(path.elems) > MOST_ELEMENTS:
        raise BudgetError(
            f"path of {len(path.elems)} elements: {MOST_ELEMENTS} are taken; shorten it"
        )
    if meant := list(dict.fromkeys(o.top for o in others if _means(path, o))):
        return [p for top in meant for p in _resolve_below(top.parent or top, path, budget)]
    # pygnmi and others send the module of the first node as the origin.
    modules = {child.module for child in root.children.values()}
    if path.origin not in ORIGINS and path.origin not in modules:
        raise UnknownPathError(
            f"origin {path.origin!r}: not implemented; leave origin empty or use 'srv6mgr'",
            foreign=True,
        )
    return _resolve_below(root, path, budget)


def _means(path: Path, other: Other) -> bool:
    """Whether a path leads into another tree: by its origin, or by its first element alone."""
    if path.origin:
        return path.origin in other.origins
    first = path.elems[0].name if path.elems else ""
    return first == other.top.member or (other.bare and first == other.top.name)


def _resolve_below(root: Node, path: Path, budget: Budget) -> list[Pattern]:
    if not path.elems and root.children and all(not c.config for c in root.children.values()):
        # The whole of another tree: the empty path is the root of ours.
        return [(Step(child),) for child in root.children.values()]
    walk = _Walk(path, budget)
    found = walk.patterns(root)
    if found:
        return found
    known, unknown = walk.reached, walk.elems[len(walk.reached)]
    where = text(known) if known else "the data tree"
    raise UnknownPathError(
        f"path {path}: {where} has no node {unknown.name!r}; see Capabilities for the models"
        " served",
        foreign=not known,
    )


# How a node can be what the elements so far name: by the number of elements that are used up.
_Reached = dict[int, tuple[Pattern, ...]]


class _Walk:
    """One walk over the schema for one path. With each node goes every number of elements that may
    be used up there, so that several "..." cost no more than one."""

    def __init__(self, path: Path, budget: Budget) -> None:
        self._path, self._budget = path, budget
        # gnmi-path-conventions.md: "..." stands for zero or more elements; so do two of them.
        names = [*(e.name for e in path.elems[1:]), ""]
        self.elems = [
            e for e, after in zip(path.elems, names, strict=False) if not e.name == after == DEEP
        ]
        self._found: dict[Pattern, None] = {}
        self._known = 0

    @property
    def reached(self) -> list[Elem]:
        """The elements that lead somewhere."""
        return self.elems[: self._known]

    def patterns(self, root: Node) -> list[Pattern]:
        if not self.elems:
            return [()]
        self._below(root, self._closed({0: ((),)}))
        return list(self._found)

    def _closed(self, reached: _Reached) -> _Reached:
        """With the nodes reached because a "..." matches nothing; at the end of a path it matches
        for one element or more."""
        for used in sorted(reached):
            if used < len(self.elems) - 1 and self.elems[used].name == DEEP:
                _add(reached, used + 1, reached[used])
        self._known = max(self._known, *reached)
        return reached

    def _below(self, node: Node, reached: _Reached) -> None:
        for child in self._candidates(node, reached):
            self._budget.spend(sum(map(len, reached.values())))
            there, found = self._step(child, reached)
            self._found.update(found)
            if len(self._found) > MOST_PATTERNS:
                raise BudgetError(
                    f"path {self._path}: it names more than {MOST_PATTERNS} nodes of the models;"
                    " name a narrower one"
                )
            # A node that is named comes with all that is below it.
            further = {u: tuple(w for w in ways if w not in found) for u, ways in there.items()}
            if further := {used: ways for used, ways in further.items() if ways}:
                self._below(child, self._closed(further))

    def _step(self, child: Node, reached: _Reached) -> tuple[_Reached, dict[Pattern, None]]:
        """What is reached at ``child``, and the ways in which all of the path names it."""
        there: _Reached = {}
        found: dict[Pattern, None] = {}
        for used, ways in reached.items():
            elem = self.elems[used]
            deep = elem.name == DEEP
            if not (deep or _is_named(child, elem.name)):
                continue
            step = Step(child, _keys(child, () if deep else elem.keys, self._path))
            longer = tuple((*way, step) for way in ways)
            if used == len(self.elems) - 1:
                found.update((way, None) for way in longer)
            else:
                _add(there, used if deep else used + 1, longer)
        return there, found

    def _candidates(self, node: Node, reached: _Reached) -> Iterable[Node]:
        names = [self.elems[used].name for used in reached]
        if ANY in names or DEEP in names:
            return node.children.values()
        found = (node.child(name) for name in names)
        return dict.fromkeys(child for child in found if child is not None)


def _add(reached: _Reached, used: int, ways: tuple[Pattern, ...]) -> None:
    reached[used] = tuple(dict.fromkeys((*reached.get(used, ()), *ways)))


def _is_named(node: Node, name: str) -> bool:
    return name == ANY or (node.parent is not None and node.parent.child(name) is node)


def _keys(node: Node, given: tuple[tuple[str, str], ...], whole: Path) -> tuple[str | None, ...]:
    if node.kind is not Kind.LIST:
        if given and node.kind is Kind.LEAF_LIST:
            raise PathError(
                f"path {whole}: a leaf-list is one value, whose entries can only be deleted by"
                f" themselves; leave the key of {node.name} out"
            )
        if given:
            raise PathError(f"path {whole}: {node.name} is no list and has no key")
        return ()
    values = dict(given)
    if unknown := set(values) - set(node.keys):
        raise PathError(f"path {whole}: list {node.name} has no key {sorted(unknown)[0]!r}")
    return tuple(_value(node, key, values.get(key, ANY)) for key in node.keys)


def _value(node: Node, key: str, value: str) -> str | None:
    if value == ANY:
        return None
    leaf = node.child(key)
    return value if leaf is None else canonical(leaf, value)


def is_concrete(pattern: Pattern) -> bool:
    """Whether it names one instance: all keys given."""
    return not any(None in step.keys for step in pattern)


def covers(pattern: Pattern, concrete: Pattern) -> bool:
    """Whether ``concrete`` is what ``pattern`` names, or lies below it."""
    return len(pattern) <= len(concrete) and touches(pattern, concrete)


def touches(a: Pattern, b: Pattern) -> bool:
    """Whether one of them covers the other, or they may share instances."""
    return all(
        x.node is y.node
        and all(k == j or k is None or j is None for k, j in zip(x.keys, y.keys, strict=True))
        for x, y in zip(a, b, strict=False)
    )


def elems(pattern: Pattern) -> tuple[Elem, ...]:
    """As path elements: names without module, as gNMI clients expect them."""
    return tuple(
        Elem(
            node.name,
            tuple(
                sorted((k, ANY if v is None else v) for k, v in zip(node.keys, keys, strict=True))
            ),
        )
        for node, keys in pattern
    )


def xpath(pattern: Pattern) -> str:
    """As a libyang data path: RFC 7951 names, predicates for the keys that are given."""
    out = []
    for step in pattern:
        out.append("/" + step.node.member)
        for key, value in zip(step.node.keys, step.keys, strict=True):
            if value is not None:
                out.append(f"[{key}={_quoted(key, value)}]")
    return "".join(out)


def xpath_of_entry(pattern: Pattern, value: str) -> str:
    """The same of one entry of a leaf-list; an identity may lack its module."""
    node = pattern[-1].node
    quoted = _quoted(".", canonical(node, value))
    if node.base is Base.IDENTITY and ":" not in value:
        return f"{xpath(pattern)}[substring-after(., ':')={quoted}]"
    return f"{xpath(pattern)}[.={quoted}]"


def _quoted(key: str, value: str) -> str:
    if "'" in value and '"' in value:
        raise PathError(f"key {key}={value}: holds both kinds of quotes")
    quote = '"' if "'" in value else "'"
    return f"{quote}{value}{quote}"
