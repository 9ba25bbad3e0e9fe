"""How two configurations differ, leaf by leaf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple


class Change(NamedTuple):
    """A leaf that is not the same; None where it is not there."""

    path: str
    before: str | None
    after: str | None


def differences(context: Any, before: str, after: str) -> Iterator[Change]:
    """Of two trees in RFC 7951 JSON, in the order of the model; ``context`` is libyang's."""
    old, new = _leaves(context, before), _leaves(context, after)
    for path, value in old.items():
        if new.get(path) != value:
            yield Change(path, value, new.get(path))
    for path, value in new.items():
        if path not in old:
            yield Change(path, None, value)


def _leaves(context: Any, text: str) -> dict[str, str]:
    import libyang

    tree = context.parse_data_mem(text, "json", parse_only=True, strict=True)
    if tree is None:
        return {}
    try:
        return {
            node.path(): str(node.value())
            for node in tree.iter_tree()
            if isinstance(node, libyang.DLeaf)
        }
    finally:
        tree.free()
