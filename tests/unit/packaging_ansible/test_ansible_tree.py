"""Configurations as the Ansible modules compare them, without Ansible."""

from __future__ import annotations

import runpy
import sys
import types
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path("packaging/ansible/plugins/module_utils")
PACKAGE = "ansible_collections.srv6mgr.router.plugins.module_utils"


@pytest.fixture
def tree(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    parts = PACKAGE.split(".")
    for count in range(1, len(parts) + 1):
        monkeypatch.setitem(
            sys.modules, ".".join(parts[:count]), types.ModuleType(parts[count - 1])
        )
    schema = types.ModuleType("schema")
    schema.__dict__.update(runpy.run_path(str(FOLDER / "schema.py")))
    monkeypatch.setitem(sys.modules, f"{PACKAGE}.schema", schema)
    return runpy.run_path(str(FOLDER / "tree.py"))


def test_a_default_replaces_another_value(tree: dict[str, Any]) -> None:
    """An update that says ``enabled: true`` enables a neighbor that is not."""
    neighbor = {"address": "fd00::1", "remote-as": 1}
    before = tree["plain"]({"srv6mgr-bgp:bgp": {"neighbor": [neighbor | {"enabled": False}]}})
    given = {"srv6mgr-bgp:bgp": {"neighbor": [neighbor | {"enabled": True}]}}
    assert tree["updated"](before, given) == tree["plain"](given) != before


def test_a_default_that_is_there_already_changes_nothing(tree: dict[str, Any]) -> None:
    before = {"locators": {"locator": [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]}}
    given = {"locators": {"locator": [{"name": "MAIN", "block-length": 32}]}}
    assert tree["updated"](before, given) == before


def test_secrets_are_not_shown(tree: dict[str, Any]) -> None:
    """The output of --diff goes into logs."""
    session = {"address": "fd00::1", "password": "hush", "remote-as": 1}
    shown = tree["masked"]({"srv6mgr-bgp:bgp": {"neighbor": [session]}})
    assert shown == {"srv6mgr-bgp:bgp": {"neighbor": [{**session, "password": "********"}]}}
