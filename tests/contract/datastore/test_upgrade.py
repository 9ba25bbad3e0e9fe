"""The first start of a release on sysrepo: what is migrated before anybody subscribes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from srv6mgrd.datastore.history import Origin
from srv6mgrd.datastore.running import Running, read
from srv6mgrd.datastore.upgrade import upgrade
from srv6mgrd.storage import Problems

OLD = {"srv6mgr-srv6:srv6": {"locators": {"locator": [{"name": "m", "prefix": "fc00::/48"}]}}}


@pytest.fixture
def running(place: Path) -> Iterator[Running]:
    """What a release without default roles left behind, in the repository at ``place``."""
    running = Running()
    running.replace(json.dumps(OLD), Origin("cli"))
    running.save()
    yield running
    running.replace("{}", Origin("cli"))
    running.save()
    running.close()


def roles(running: Running) -> list[str]:
    """Default roles of the running and the startup configuration."""
    texts = (running.read(), read(running._startup))
    found = (json.loads(text)["srv6mgr-srv6:srv6"].get("boundary", {}) for text in texts)
    return [boundary.get("default-role", "") for boundary in found]


def test_an_upgrade_keeps_undeclared_interfaces_core_in_running_and_startup(
    running: Running, tmp_path: Path
) -> None:
    file = tmp_path / "revision"

    assert upgrade(file, running, seen=True, problems=Problems())
    assert roles(running) == ["core", "core"]
    assert not upgrade(file, running, seen=True, problems=Problems())


def test_a_new_node_says_nothing(running: Running, tmp_path: Path) -> None:
    assert not upgrade(tmp_path / "revision", running, seen=False, problems=Problems())
    assert roles(running) == ["", ""]
