"""An object of the configuration by words (``vrf red bgp``) or by its path in the model
(``vrfs/vrf[name=red]``), and the words of what is declared. Pure.

A word names a child. A container of nothing but lists is left out (``vrf red`` for ``vrfs/vrf``);
behind a list come the values of its keys, behind a leaf its value where one is to be given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from srv6mgrd.cli.config.schema import Kind, Schema
from srv6mgrd.cli.problem import Exit, Problem

_STEP = re.compile(r"([\w.-]+:)?([\w.-]+)((?:\[[^\]=]+=(?:'[^']*'|\"[^\"]*\"|[^\]]*)\])*)")
_KEY = re.compile(r"\[(?:[\w.-]+:)?([\w.-]+)=(?:'([^']*)'|\"([^\"]*)\"|([^\]]*))\]")


@dataclass(frozen=True, slots=True)
class Target:
    """``path`` is that of an object or leaf as libyang has it, ``words`` what it was called;
    ``values`` are leaves below it that get a value, by path. Of a list without keys it is not
    ``is_whole``."""

    path: str
    words: str
    values: tuple[tuple[str, str], ...] = ()
    is_whole: bool = True


def resolve(root: Schema, words: Sequence[str], *, values: bool = False) -> Target:
    """What is meant below ``root``; with ``values`` each leaf is followed by its value. Raises
    Problem."""
    walk = _Walk(root, f"/{root.module}:{root.name}")
    left = list(words)
    if left and (left[0].startswith("/") or ("/" in left[0] and root.child(left[0]) is None)):
        walk.follow(left.pop(0))
    given: list[tuple[str, str]] = []
    while left:
        word = left.pop(0)
        walk.enter(word)
        node = walk.node
        if node.kind is Kind.LIST:
            walk.choose(left[: len(node.keys)])
            del left[: len(node.keys)]
        elif node.kind in (Kind.LEAF, Kind.LEAF_LIST):
            if values:
                given.append((walk.path, _value(node, left)))
                walk.leave()
            elif left:
                walk.choose([left.pop(0)])
                if left:
                    raise _problem(" ".join(words), f"nothing follows {node.name}", "leave it out")
    is_whole = walk.node.kind is not Kind.LIST or walk.is_chosen
    return Target(walk.path, " ".join(words), tuple(given), is_whole)


def _value(leaf: Schema, left: list[str]) -> str:
    if leaf.is_empty:
        return ""
    if not left:
        raise _problem(leaf.name, "it has no value", f"write {leaf.name} VALUE")
    return leaf.canonical(left.pop(0))


class _Walk:
    """Goes down the schema, and knows the way back by one step."""

    def __init__(self, root: Schema, path: str) -> None:
        self.node, self.path = root, path
        self.is_chosen = False
        self._above = root, path

    def enter(self, word: str) -> None:
        """Go to a child, by way of a container that holds the list of this name."""
        if self.node.kind is Kind.LIST and not self.is_chosen:
            raise _problem(word, f"which {self.node.name} is not said", _keys(self.node))
        self._above = self.node, self.path
        for step in _way(self.node, word):
            self._down(step)

    def leave(self) -> None:
        """Go back to where the leaf was entered."""
        self.node, self.path = self._above
        self.is_chosen = True

    def choose(self, keys: Sequence[str]) -> None:
        """One entry of the list, or value of the leaf-list, that was entered."""
        node = self.node
        if node.kind is Kind.LEAF:
            raise _problem(node.name, "it is a leaf", "leave out what follows it")
        names = node.keys if node.kind is Kind.LIST else (".",)
        if not keys:
            return
        if len(keys) < len(names):
            raise _problem(node.name, f"it has {len(names)} keys", _keys(node))
        self.path += "".join(f"[{n}={_quoted(k)}]" for n, k in zip(names, keys, strict=True))
        self.is_chosen = True

    def follow(self, path: str) -> None:
        """A path in the model, from the root or from its children."""
        steps = _steps(path)
        if steps and path.startswith("/"):
            module, name, _ = steps.pop(0)
            if name != self.node.name or module not in ("", self.node.module):
                raise _problem(path, f"it does not begin with {self.path}", "leave that out")
        for module, name, keys in steps:
            if self.node.kind is Kind.LIST and not self.is_chosen:
                raise _problem(path, f"which {self.node.name} is not said", _keys(self.node))
            child = self.node.child(f"{module}:{name}" if module else name)
            if child is None:
                raise _absent(name, self.node)
            self._above = self.node, self.path
            self._down(child)
            if keys:
                names = child.keys if child.kind is Kind.LIST else (".",)
                if missing := [one for one in names if one not in keys]:
                    raise _problem(path, f"it lacks the key {', '.join(missing)}", _keys(child))
                self.choose([keys[one] for one in names])

    def _down(self, child: Schema) -> None:
        prefix = "" if child.module == self.node.module else f"{child.module}:"
        self.path += f"/{prefix}{child.name}"
        self.node, self.is_chosen = child, False


def _way(node: Schema, word: str) -> list[Schema]:
    """To the child that a word names; that of a list goes by way of its container."""
    if (child := node.child(word)) is not None:
        return [child]
    for around in node.children:
        if _is_around_lists(around) and (found := around.child(word)) is not None:
            return [around, found]
    raise _absent(word, node)


def _steps(path: str) -> list[tuple[str, str, dict[str, str]]]:
    """Module, name and keys of each step. Raises Problem."""
    found, at = [], 0
    text = path.strip("/")
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None or (step.end() < len(text) and text[step.end()] != "/"):
            raise _problem(path, "it is no path", "write it like vrfs/vrf[name=red]")
        module, name, predicates = step.groups()
        keys = {k: a or b or c for k, a, b, c in _KEY.findall(predicates)}
        found.append(((module or "").rstrip(":"), name, keys))
        at = step.end() + 1
    return found


def _quoted(value: str) -> str:
    return f'"{value}"' if "'" in value else f"'{value}'"


def _keys(node: Schema) -> str:
    names = " ".join(name.upper() for name in node.keys) or "VALUE"
    return f"write {node.name} {names}"


def _absent(word: str, node: Schema) -> Problem:
    offered = sorted({name for child in node.children for name in _names(node, child)})
    return _problem(word, f"there is none below {node.name}", f"one of {', '.join(offered)}")


def _names(node: Schema, child: Schema) -> Iterator[str]:
    """What a child is called: a container of lists by these."""
    if _is_around_lists(child):
        yield from (c.name for c in child.children)
    elif child.name not in node.keys:
        yield child.name


def _is_around_lists(node: Schema) -> bool:
    """Report if it is a container that has lists and nothing else."""
    return (
        node.kind is Kind.CONTAINER
        and bool(node.children)
        and all(child.kind is Kind.LIST for child in node.children)
    )


def _problem(object: str, cause: str, remedy: str) -> Problem:
    return Problem.of(object, cause, remedy, Exit.USAGE)


def lines(root: Schema, tree: Mapping[str, Any]) -> Iterator[list[str]]:
    """What is declared in ``tree`` (RFC 7951, of the node ``root``), in words that ``set`` takes:
    a line for each object that has leaves, or nothing at all."""
    yield from _lines(root, tree, [])


def _lines(node: Schema, tree: Mapping[str, Any], words: list[str]) -> Iterator[list[str]]:
    leaves, below = [], []
    for child in node.children:
        value = tree.get(child.name, tree.get(f"{child.module}:{child.name}"))
        if value is None or child.name in node.keys:
            continue
        if child.kind is Kind.LEAF:
            leaves += [child.name] if child.is_empty else [child.name, _text(value)]
        elif child.kind is Kind.LEAF_LIST:
            leaves += [word for one in value for word in (child.name, _text(one))]
        elif child.kind is Kind.CONTAINER:
            below.append(_container(node, child, value, words))
        else:
            below.append(_entries(child, value, [*words, child.name]))
    inner = [line for lines in below for line in lines]
    if leaves or (node.kind is Kind.LIST and not inner):
        yield words + leaves
    yield from inner


def _container(
    node: Schema, child: Schema, tree: Mapping[str, Any], words: list[str]
) -> Iterator[list[str]]:
    for line in _lines(child, tree, []):
        # The name of a container is left out where ``_way`` finds it by its list.
        is_short = _is_around_lists(child) and _way(node, line[0])[0] is child
        yield words + ([] if is_short else [child.name]) + line


def _entries(
    node: Schema, entries: Sequence[Mapping[str, Any]], words: list[str]
) -> Iterator[list[str]]:
    for entry in entries:
        yield from _lines(node, entry, words + [_text(entry[key]) for key in node.keys])


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
