"""Entries of a router's configuration as gNMI has them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from srv6net.compile.configuration import SRV6, Edit

ROOT = SRV6.lstrip("/")
_MODULE = f"{ROOT.partition(':')[0]}:"
_ENTRY = re.compile(rf"{re.escape(SRV6)}/([a-z0-9-]+)/([a-z0-9-]+)\[([a-z0-9-]+)=(.+)\]")

Configuration = Mapping[str, Any]


def unqualified(value: Mapping[str, Any]) -> dict[str, Any]:
    """An entry as it is written: gNMI qualifies the members at the top (RFC 7951 section 4)."""
    return {name.removeprefix(_MODULE): member for name, member in value.items()}


def edited(configuration: Configuration, edit: Edit) -> dict[str, Any]:
    """The whole configuration after an edit, both below the root of the model."""
    result = dict(configuration)
    gone = [_place(path) for path in edit.delete]
    written = [(_place(path), value) for path, value in edit.replace.items()]
    for container, name in {(c, n) for c, n, _, _ in [*gone, *(place for place, _ in written)]}:
        holder = dict(result.get(container, {}))
        kept = _without(holder.get(name, ()), [p[2:] for p in gone if p[:2] == (container, name)])
        fresh = [(p[2:], value) for p, value in written if p[:2] == (container, name)]
        kept = _without(kept, [key for key, _ in fresh])
        holder[name] = [*kept, *(value for _, value in fresh)]
        result[container] = holder
    return result


def _without(
    entries: Iterable[Mapping[str, Any]], keys: Iterable[tuple[str, str]]
) -> list[Mapping[str, Any]]:
    gone = frozenset(keys)
    names = {key for key, _ in gone}
    return [e for e in entries if not any((name, str(e.get(name))) in gone for name in names)]


def _place(path: str) -> tuple[str, str, str, str]:
    """Container, list, key and its value."""
    found = _ENTRY.fullmatch(path)
    assert found is not None, path
    container, name, key, value = found.groups()
    return container, name, key, value
