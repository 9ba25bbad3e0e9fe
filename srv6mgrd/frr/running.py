"""``show running-config`` of a daemon to blocks.

FRR nests by one space per level. Most contexts end with ``exit``, some with a word of their own
(``exit-address-family``), some with nothing (``encapsulation`` of zebra), so indentation decides
and the words only tell an empty context from a line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from srv6mgrd.frr.blocks import block
from srv6mgrd.plan.objects import FrrBlock

_AS_NOTATION = re.compile(r"^(router bgp .*?) as-notation \S+$")
_POLICY = "bgp ebgp-requires-policy"


@dataclass(slots=True)
class Node:
    """A line; with children, or closed by ``exit``, it is a context."""

    line: str
    children: list[Node] = field(default_factory=list)
    context: bool = False


def tree(text: str) -> list[Node]:
    """The nested lines, without comments and ``exit``."""
    root = Node("")
    path: list[tuple[int, Node]] = [(-1, root)]
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith("!"):
            continue
        indent = len(raw) - len(raw.lstrip(" "))
        if line == "exit" or line.startswith("exit-"):
            while path[-1][0] > indent:
                path.pop()
            if path[-1][0] == indent:
                path.pop()[1].context = True
            continue
        while path[-1][0] >= indent:
            path.pop()
        node = Node(line)
        parent = path[-1][1]
        parent.children.append(node)
        parent.context = True
        path.append((indent, node))
    return root.children


def parse(daemon: str, text: str) -> dict[str, FrrBlock]:
    """All contexts below the top, by key, each with every line that stands in it."""
    top = tree(text)
    blocks: dict[str, FrrBlock] = {}
    _collect(daemon, top, (), blocks)
    if any(node.line == "frr defaults datacenter" for node in top):
        blocks = {key: _with_profile(b) for key, b in blocks.items()}
    return blocks


def _collect(
    daemon: str, nodes: list[Node], context: tuple[str, ...], blocks: dict[str, FrrBlock]
) -> None:
    for node in nodes:
        if not node.context:
            continue
        # The notation is how AS numbers are shown, not part of the context's name.
        path = (*context, _AS_NOTATION.sub(r"\1", node.line))
        lines = [child.line for child in node.children if not child.context]
        found = block(daemon, path, lines)
        if found.key in blocks:
            found = block(daemon, path, (*blocks[found.key].lines, *lines))
        blocks[found.key] = found
        _collect(daemon, node.children, path, blocks)


def _with_profile(found: FrrBlock) -> FrrBlock:
    """A line that the datacenter profile implies is not printed but holds."""
    is_bgp = len(found.context) == 1 and found.context[0].startswith("router bgp ")
    if not is_bgp or _POLICY in found.lines or f"no {_POLICY}" in found.lines:
        return found
    return block(found.daemon, found.context, (*found.lines, f"no {_POLICY}"))
