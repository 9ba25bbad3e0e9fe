"""The SONiC YANG of our own: what sonic-yang-mgmt asks of a module, and that it is what rows are.

sonic-yang-mgmt (sonic-buildimage src/sonic-yang-mgmt/sonic_yang_ext.py) finds a table by a
container of that name below a container with the module's name, its rows by a list ``<table>_LIST``
whose keys are the parts of a row's key, in this order.
"""

from __future__ import annotations

import re
from pathlib import Path

from srv6mgrd.redis.schema import table, tables

MODULE = Path("yang/sonic/sonic-srv6mgr.yang")
_TABLE = re.compile(r"^    container (\w+) \{\n(.*?)^    \}\n", re.MULTILINE | re.DOTALL)
_LEAF = re.compile(
    r"^        leaf(-list)? ([\w-]+) \{\n(.*?)^        \}\n", re.MULTILINE | re.DOTALL
)
_TYPE = re.compile(r"^  typedef ([\w-]+) \{\n(.*?)^  \}\n", re.MULTILINE | re.DOTALL)


def containers() -> dict[str, str]:
    return dict(_TABLE.findall(MODULE.read_text()))


def test_the_module_is_named_as_its_container() -> None:
    text = MODULE.read_text()
    assert text.startswith(f"module {MODULE.stem} {{")
    assert f"\n  container {MODULE.stem} {{\n" in text
    # An augmented leaf would need the module's name in the data, which sonic-yang-mgmt omits.
    assert "\n  augment " not in text


def test_all_tables_of_our_own_are_there() -> None:
    ours = {t.name for t in tables() if t.database == "CONFIG_DB" and t.name.startswith("SRV6MGR_")}
    assert ours <= containers().keys()


def test_tables_are_those_that_rows_are_read_by() -> None:
    for name, body in containers().items():
        known = table("CONFIG_DB", name)
        assert f"list {name}_LIST {{" in body
        key = re.search(r'key "([^"]+)"', body)
        assert key is not None
        assert key.group(1).split() == [part.name for part in known.parts]
        # As SONiC's ConfigDBConnector names lists in Redis.
        leaves = {f"{leaf}@" if many else leaf: text for many, leaf, text in _LEAF.findall(body)}
        assert leaves.keys() - set(key.group(1).split()) == known.fields.keys() - {"NULL"}, name
        for field, value in known.fields.items():
            if field == "NULL":
                continue
            needed = "mandatory true" in leaves[field] or "min-elements 1" in leaves[field]
            assert needed is value.required, f"{name} {field}"
            if not field.endswith("@"):
                assert sorted(enumeration(leaves[field])) == sorted(value.values), f"{name} {field}"


def enumeration(leaf: str) -> list[str]:
    if "type boolean;" in leaf:
        return ["true", "false"]
    types = dict(_TYPE.findall(MODULE.read_text()))
    text = leaf + "".join(types.get(name, "") for name in re.findall(r"type ([\w-]+);", leaf))
    return re.findall(r"^ +enum (\S+) \{", text, re.MULTILINE)
