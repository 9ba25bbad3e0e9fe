"""``show running-config`` of a daemon to blocks.

FRR nests by one space per level. Most contexts end with ``exit``, some with a word of their own
(``exit-address-family``), some with nothing (``encapsulation`` of zebra), so indentation decides
and the words only distinguish an empty context from a line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from srv6mgrd.frr.blocks import MGMTD, RESOLUTION_VIA_DEFAULT, block, list_line
from srv6mgrd.kinds.frr_block.object import FrrBlock

_AS_NOTATION = re.compile(r"^(router bgp .*?) as-notation \S+$")
_POLICY = "bgp ebgp-requires-policy"
_VRF = re.compile(r"vrf \S+")


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
    """All contexts below the top, by key, each with every line in it."""
    top = tree(text)
    blocks = _lists(daemon, top)
    _collect(daemon, top, (), blocks)
    if is_datacenter(text):
        blocks = {key: _with_profile(b) for key, b in blocks.items()}
    return blocks


def is_datacenter(text: str) -> bool:
    """Whether the daemon has the profile for data centers."""
    return "\nfrr defaults datacenter\n" in f"\n{text}\n"


def _lists(daemon: str, top: list[Node]) -> dict[str, FrrBlock]:
    """Lists, which are at the top with a line for each member."""
    lines: dict[str, list[str]] = {}
    for node in top:
        if (found := list_line(node.line)) is not None:
            lines.setdefault(found[0], []).append(found[1])
    blocks = (block(daemon, (name,), members) for name, members in lines.items())
    return {b.key: b for b in blocks}


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
    options: tuple[str, ...] = ()
    if len(found.context) == 1 and found.context[0].startswith("router bgp "):
        options = (_POLICY,)
    elif found.daemon == MGMTD and _VRF.fullmatch(found.context[0]):
        options = RESOLUTION_VIA_DEFAULT
    implied = [f"no {o}" for o in options if not {o, f"no {o}"} & set(found.lines)]
    return replace(found, lines=(*found.lines, *implied)) if implied else found
