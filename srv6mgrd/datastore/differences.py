"""How two configurations differ, leaf by leaf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

# Shown in place of a secret: that it changed is worth a line, its value is in no output.
SECRET = "(secret)"


class Change(NamedTuple):
    """A leaf that is not the same; None where it is not there."""

    path: str
    before: str | None
    after: str | None


class _Leaf(NamedTuple):
    value: str
    is_secret: bool

    @property
    def shown(self) -> str:
        return SECRET if self.is_secret else self.value


def differences(context: Any, before: str, after: str) -> Iterator[Change]:
    """Of two trees in RFC 7951 JSON, in the order of the model; ``context`` is libyang's."""
    old, new = _leaves(context, before), _leaves(context, after)
    for path, leaf in old.items():
        found = new.get(path)
        if found != leaf:
            yield Change(path, leaf.shown, None if found is None else found.shown)
    for path, leaf in new.items():
        if path not in old:
            yield Change(path, None, leaf.shown)


def _leaves(context: Any, text: str) -> dict[str, _Leaf]:
    import libyang

    tree = context.parse_data_mem(text, "json", parse_only=True, strict=True)
    if tree is None:
        return {}
    secrets: dict[Any, bool] = {}
    try:
        return {
            node.path(): _Leaf(str(node.value()), _is_secret(node, secrets))
            for node in tree.iter_tree()
            if isinstance(node, libyang.DLeaf)
        }
    finally:
        tree.free()


def _is_secret(node: Any, known: dict[Any, bool]) -> bool:
    """Report if a leaf carries ``nacm:default-deny-all``, which our models have on secrets."""
    key = node.cdata.schema
    if key not in known:
        found = node.schema().get_extension("default-deny-all", prefix="ietf-netconf-acm")
        known[key] = found is not None
    return known[key]
