"""``srv6ctl support-bundle`` on a node whose configuration has secrets."""

from __future__ import annotations

import itertools
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

import pytest
import sysrepo

from srv6mgrd.datastore.secrets import secret_leaves
from tests.contract.cli.conftest import Ctl
from tests.contract.cli.test_secrets import document
from tests.contract.conftest import MARKER

# As long as the keys of OSPF may be, and those of STAMP have to be.
FORM = "a-secret-no-"
KEYS = KEYSTRING, HEXADECIMAL = "keystring", "hexadecimal-string"


def test_it_has_the_configuration_without_its_secrets(ctl: Ctl, tmp_path: Path) -> None:
    done = ctl.run("apply", "-", given=document(MARKER))
    assert done.status == 0, done.err
    file = tmp_path / "bundle.tar.gz"

    done = ctl.run("support-bundle", str(file))

    assert done.status == 0, done.err
    assert MARKER not in done.out + done.err
    with tarfile.open(file) as found:
        contents = {
            entry.name.partition("/")[2]: opened.read().decode()
            for entry in found
            if (opened := found.extractfile(entry)) is not None
        }
    assert [name for name, text in contents.items() if MARKER in text] == []
    assert contents["configuration/running.json"].count("(secret)") >= 4
    assert "2001:db8::2" in contents["configuration/running.json"]
    for name in ("README.txt", "state/node.json", "state/statuses.json", "state/doctor.json",
                 "kernel/rules6.txt", "versions/kernel.txt"):  # fmt: skip
        assert contents[name]


def every_secret(key: str) -> dict[str, Any]:
    """A configuration with each secret of the schema, each another one. ``key`` names the leaf of
    the reflector's, which has one of two."""
    numbers = itertools.count(1)

    def secret() -> dict[str, str]:
        return {"password": f"{FORM}{next(numbers):04}"}

    def stamp(leaf: str) -> dict[str, dict[str, str]]:
        number = next(numbers)
        text = f"{number:032x}" if leaf == HEXADECIMAL else f"{FORM}{number:04}"
        return {"authentication": {leaf: ":".join(wrap(text, 2)) if leaf == HEXADECIMAL else text}}

    def bgp(address: str, interface: str) -> dict[str, Any]:
        return {
            "peer-group": [{"name": "group", "remote-as": 65001, **secret()}],
            "neighbor": [{"address": address, "remote-as": 65001, **secret()}],
            "unnumbered-neighbor": [{"interface": interface, "remote-as": 65001, **secret()}],
        }

    def ospf() -> dict[str, Any]:
        interface = {"name": "eth1", "authentication": secret()}
        return {"router-id": "10.0.0.1", "interface": [interface]}

    isis = {
        "area": "49.0001",
        "system-id": "0000.0000.0001",
        "locator": "UNDERLAY",
        "level": "level-1-2",
        "interface": [{"name": "to-p", "hello-authentication": secret()}],
        "area-authentication": secret(),
        "domain-authentication": secret(),
    }
    vrf = {
        "name": "customer",
        "table-id": 40,
        "interface": ["eth1"],
        "srv6mgr-bgp:bgp": {
            "rd": "65000:40", "import-rt": ["65000:40"], "export-rt": ["65000:40"],
            **bgp("10.0.0.2", "eth1"),
        },
        "srv6mgr-ospf:ospf": ospf(),
        "srv6mgr-ospf:ospfv3": ospf(),
    }  # fmt: skip
    sessions = [
        {"name": leaf, "destination-address": "2001:db8::2", **stamp(leaf)}
        for leaf in (KEYSTRING, HEXADECIMAL)
    ]
    measurement = {
        "reflector": {"allowed-prefix": ["2001:db8::/64"], **stamp(key)},
        "session": sessions,
    }
    srv6 = {
        "locators": {"locator": [{"name": "UNDERLAY", "prefix": "fcbb:0:9::/48"}]},
        "vrfs": {"vrf": [vrf]},
        "srv6mgr-bgp:bgp": {
            "as-number": 65000, "router-id": "192.0.2.1", **bgp("2001:db8::2", "to-p"),
        },
        "srv6mgr-isis:isis": isis,
        "srv6mgr-path-measurement:path-measurement": measurement,
    }  # fmt: skip
    return {"srv6mgr-srv6:srv6": srv6}


def secrets_of(tree: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Schema paths and values of the leaves that are secrets by their form."""
    if isinstance(tree, dict):
        for member, value in tree.items():
            yield from secrets_of(value, f"{path}/{member}")
    elif isinstance(tree, list):
        for value in tree:
            yield from secrets_of(value, path)
    elif str(tree).startswith((FORM, "00:00:00")):
        yield path, tree


def test_each_secret_of_the_schema_is_tried(place: Path) -> None:
    tried = {path for key in KEYS for path, _ in secrets_of(every_secret(key))}
    with sysrepo.SysrepoConnection() as connection, connection.get_ly_ctx() as context:
        assert tried == {path for path, _ in secret_leaves(context)}


@pytest.mark.parametrize("key", KEYS)
def test_none_of_all_secrets_is_in_it(ctl: Ctl, tmp_path: Path, key: str) -> None:
    tree = every_secret(key)
    done = ctl.run("apply", "-", given=json.dumps(tree))
    assert done.status == 0, done.err
    file = tmp_path / "bundle.tar.gz"

    done = ctl.run("support-bundle", str(file))

    assert done.status == 0, done.err
    with tarfile.open(file) as found:
        contents = [
            opened.read().decode()
            for entry in found
            if (opened := found.extractfile(entry)) is not None
        ]
    secrets = dict(secrets_of(tree))
    whole = "\n".join(contents)
    assert '"customer"' in whole
    assert [path for path, value in secrets.items() if value in whole] == []


def test_it_overwrites_nothing(ctl: Ctl, tmp_path: Path) -> None:
    file = tmp_path / "there"
    file.write_text("mine")

    done = ctl.run("support-bundle", str(file))

    assert done.status == 2
    assert "exists already" in done.err
    assert file.read_text() == "mine"
