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
_LEAF = re.compile(r"^        leaf ([\w-]+) \{\n(.*?)^        \}\n", re.MULTILINE | re.DOTALL)


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
        leaves = dict(_LEAF.findall(body))
        assert leaves.keys() - set(key.group(1).split()) == known.fields.keys() - {"NULL"}, name
        for field, value in known.fields.items():
            if field == "NULL":
                continue
            assert ("mandatory true" in leaves[field]) is value.required, f"{name} {field}"
            enum = re.findall(r"^ +enum (\S+) \{", leaves[field], re.MULTILINE)
            enum += ["true", "false"] if "type boolean;" in leaves[field] else []
            assert sorted(enum) == sorted(value.values), f"{name} {field}"
