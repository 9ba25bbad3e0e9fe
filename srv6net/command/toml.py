"""Write TOML: tables of strings, numbers, lists and tables. Python only reads it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def written(table: Mapping[str, Any]) -> str:
    """Every table but the document is written inline."""
    return "".join(f"{_key(name)} = {_value(value)}\n" for name, value in table.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _string(value) if isinstance(value, str) else str(value)


def _key(name: str) -> str:
    return _string(name)


def _string(text: str) -> str:
    # What JSON escapes, TOML does, too.
    return json.dumps(text)
