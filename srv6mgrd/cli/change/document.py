"""A configuration that a user gives: a file of RFC 7951 JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from srv6mgrd.cli.problem import Exit, Problem

_ROOT = "srv6mgr-srv6:srv6"
_EXAMPLE = "see docs/model.md for examples"


class Document(NamedTuple):
    """RFC 7951 JSON. ``replace``: all else goes; otherwise it is merged."""

    text: bytes
    replace: bool


class Removal(NamedTuple):
    """Of an object or leaf, by its path in the model."""

    path: str


def read(file: str) -> tuple[bytes, dict[str, Any]]:
    """Text and tree of a file, ``-`` for standard input. What is no configuration of srv6mgr is
    rejected here; whether it is a valid one is sysrepo's to judge. Raises Problem."""
    name = "standard input" if file == "-" else file
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise Problem.of(
            name, f"it can't be read ({error.strerror})", "name a readable file", Exit.REJECTED
        ) from None
    try:
        tree = json.loads(raw)
    except json.JSONDecodeError as error:
        cause = f"it is no JSON (line {error.lineno}: {error.msg})"
        raise Problem.of(name, cause, "correct it") from None
    except UnicodeDecodeError as error:
        raise Problem.of(name, f"it is no text ({error})", "give a file of JSON") from None
    if not isinstance(tree, dict):
        raise Problem.of(name, "it is no JSON object", f"begin with {_ROOT}; {_EXAMPLE}")
    if others := sorted(tree.keys() - {_ROOT}):
        cause = f"it has {', '.join(others)}, and srv6ctl changes {_ROOT} alone"
        raise Problem.of(name, cause, _EXAMPLE)
    return raw, tree


def is_empty(tree: dict[str, Any]) -> bool:
    """Whether nothing is declared."""
    return not tree.get(_ROOT)
