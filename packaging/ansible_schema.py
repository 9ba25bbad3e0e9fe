"""Write what the Ansible modules know of the YANG modules: keys of lists, defaults, secrets.

``--check`` only compares.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pyang import context, repository

CHECKOUT = Path(__file__).resolve().parent.parent
FILE = CHECKOUT / "packaging/ansible/plugins/module_utils/schema.py"
ROOT = "srv6mgr-srv6"
DENIED = ("ietf-netconf-acm", "default-deny-all")
HEAD = '''# Written by packaging/ansible_schema.py.
# ruff: noqa: E501
"""Keys of lists by their names, defaults of leaves by their paths, and names of leaves that nobody
may read without a rule (RFC 8341 default-deny-all), in srv6mgr's modules."""

from __future__ import annotations
'''


def main() -> int:
    keys: dict[str, str] = {}
    defaults: dict[str, str] = {}
    secrets: set[str] = set()
    modules = context.Context(repository.FileRepository(str(CHECKOUT / "yang")))
    for file in sorted((CHECKOUT / "yang").glob("srv6mgr-*.yang")):
        modules.add_module(str(file), file.read_text())
    modules.validate()
    _walk(modules.get_module(ROOT), (), keys, defaults, secrets)
    text = HEAD + _table("KEYS", keys) + _table("DEFAULTS", defaults) + _names("SECRETS", secrets)
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(text)
    elif not FILE.exists() or FILE.read_text() != text:
        print(f"{FILE.relative_to(CHECKOUT)} is stale: run 'make format'")
        return 1
    return 0


def _walk(
    node: Any,
    path: tuple[str, ...],
    keys: dict[str, str],
    defaults: dict[str, str],
    secrets: set[str],
) -> None:
    for child in getattr(node, "i_children", ()):
        if not getattr(child, "i_config", True):
            continue
        here = path if child.keyword in ("choice", "case") else (*path, child.arg)
        if child.keyword == "list":
            (key,) = child.i_key
            if keys.setdefault(child.arg, key.arg) != key.arg:
                raise ValueError(f"lists named {child.arg} have different keys")
        default = child.search_one("default") if child.keyword == "leaf" else None
        if default is not None:
            defaults["/".join(here)] = default.arg
        if child.search_one(DENIED) is not None:
            secrets.add(child.arg)
        _walk(child, here, keys, defaults, secrets)


def _table(name: str, table: dict[str, str]) -> str:
    lines = "".join(f'    "{key}": "{table[key]}",\n' for key in sorted(table))
    return f"\n{name} = {{\n{lines}}}\n"


def _names(name: str, names: set[str]) -> str:
    lines = "".join(f'    "{one}",\n' for one in sorted(names))
    return f"\n{name} = {{\n{lines}}}\n"


if __name__ == "__main__":
    sys.exit(main())
