"""No command of srv6ctl prints a secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.contract.cli.conftest import SID, Ctl
from tests.contract.conftest import MARKER


def document(password: object, description: str = "beta") -> str:
    neighbor = {
        "address": "2001:db8::2",
        "remote-as": 65000,
        "password": password,
        "description": description,
    }
    bgp = {"as-number": 65000, "router-id": "192.0.2.1", "neighbor": [neighbor]}
    key = {"password": password}
    isis = {
        "area": "49.0001",
        "system-id": "0000.0000.0001",
        "locator": "UNDERLAY",
        "level": "level-1-2",
        "interface": [{"name": "to-p", "hello-authentication": key}],
        "area-authentication": key,
        "domain-authentication": key,
    }
    locators = {"locator": [{"name": "UNDERLAY", "prefix": "fcbb:0:9::/48"}]}
    srv6 = {"locators": locators, "srv6mgr-bgp:bgp": bgp, "srv6mgr-isis:isis": isis}
    return json.dumps({"srv6mgr-srv6:srv6": srv6})


COMMANDS = [
    "show sids",
    "show vrfs",
    "show transactions",
    "show counters",
    "show node",
    "show config",
    "show config --format json",
    "show config --format xml",
    "show config --datastore startup --json",
    "show config bgp",
    "delete bgp --dry-run",
    f"explain {SID}",
    "doctor",
    "diff",
    "diff 1",
    "reconcile",
    "show transactions --json",
    "diff --json",
]


@pytest.fixture
def given(ctl: Ctl, tmp_path: Path) -> Path:
    ctl.run("apply", "-", given=document(MARKER))
    done = ctl.run("apply", "-", given=document(f"{MARKER}-new", "gamma"))
    assert done.status == 0, done.err
    file = tmp_path / "after.json"
    file.write_text(document(f"{MARKER}-newer"))
    return file


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(ctl: Ctl, given: Path, command: str) -> None:
    done = ctl.run(*command.split())
    assert done.out or done.err
    assert MARKER not in done.out + done.err


def test_a_difference_is_shown_without_its_values(ctl: Ctl, given: Path) -> None:
    for arguments in (("diff",), ("diff", str(given)), ("plan", str(given))):
        done = ctl.run(*arguments)
        assert done.status == 0, done.err
        assert MARKER not in done.out
    differences = ctl.run("diff", "--json").json["differences"]
    reported = {c["path"].rpartition("/")[2]: c for c in differences}
    secrets = [c for c in differences if c["path"].endswith("/password")]
    assert [(c["before"], c["after"]) for c in secrets] == [("(secret)", "(secret)")] * 4
    assert reported["description"]["after"] == "gamma"


@pytest.mark.parametrize("password", [f"{MARKER} ", f"{MARKER}{'x' * 254}", [MARKER]])
def test_a_rejection_does_not_repeat_it(ctl: Ctl, given: Path, password: object) -> None:
    for command in ("apply", "plan", "diff"):
        given.write_text(document(password))
        done = ctl.run(command, str(given))
        assert MARKER not in done.out + done.err


def test_nor_does_a_file_that_is_no_json(ctl: Ctl, given: Path) -> None:
    given.write_text(document(MARKER)[:-3])
    done = ctl.run("apply", str(given))
    assert done.status
    assert MARKER not in done.out + done.err
