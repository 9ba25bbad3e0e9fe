"""Entries of lists in a configuration tree, YANG JSON (RFC 7951)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def entries(tree: Mapping[str, Any], container: str, name: str) -> Iterable[Mapping[str, Any]]:
    """Those of the list ``name`` in the container; none where either is missing."""
    found: list[Mapping[str, Any]] = tree.get(container, {}).get(name, [])
    return found
