"""The Ansible collection, built, installed and run by ansible-core, against srv6-gnmid."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.contract.gnmi.client import Client
from tests.contract.gnmi.conftest import OPERATION, PASSWORD, USER, Server
from tests.contract.gnmi.data import SRV6

ANSIBLE = Path("/opt/pygnmi/bin")
COLLECTION = Path(__file__).resolve().parents[3] / "packaging/ansible"

pytestmark = pytest.mark.skipif(
    not (ANSIBLE / "ansible-playbook").exists(), reason="ansible-core has no environment here"
)


@pytest.fixture(scope="module")
def ansible(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment with the collection installed."""
    place = tmp_path_factory.mktemp("ansible")
    environment = {
        **os.environ, "PATH": f"{ANSIBLE}:{os.environ['PATH']}", "HOME": str(place),
        "ANSIBLE_COLLECTIONS_PATH": str(place), "ANSIBLE_NOCOLOR": "1", "ANSIBLE_HOME": str(place),
        "ANSIBLE_LOCALHOST_WARNING": "false", "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
    }  # fmt: skip
    environment.pop("PYTHONPATH", None)
    for command in (
        ["ansible-galaxy", "collection", "build", str(COLLECTION), "--output-path", str(place)],
        ["ansible-galaxy", "collection", "install", "--offline", "-p", str(place),
         str(place / "srv6mgr-router-0.2.0.tar.gz")],
    ):  # fmt: skip
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60)
    return environment


def play(
    ansible: dict[str, str], server: Server, place: Path, tasks: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Run tasks, each with its module's name as the first key; what each returned."""
    found = place / "found.json"
    connection = {
        "host": "127.0.0.1", "port": server.port, "username": USER, "password": PASSWORD,
        "ca": str(server.state / "selfsigned.crt"), "server_name": "localhost",
    }  # fmt: skip
    listed = [
        {**task, "name": name, "register": name, "ignore_errors": True, "diff": True}
        for name, task in tasks.items()
    ]
    results = "{{ {" + ", ".join(f"'{name}': {name}" for name in tasks) + "} | to_json }}"
    listed.append({"ansible.builtin.copy": {"content": results, "dest": str(found)}})
    playbook = place / "play.json"
    playbook.write_text(
        json.dumps(
            [
                {
                    "hosts": "localhost",
                    "connection": "local",
                    "gather_facts": False,
                    "vars": {"ansible_python_interpreter": sys.executable},
                    "module_defaults": {"group/srv6mgr.router.router": connection},
                    "tasks": listed,
                }
            ]
        )
    )
    done = subprocess.run(
        ["ansible-playbook", "-i", "localhost,", str(playbook)],
        env=ansible, capture_output=True, text=True, check=False, timeout=160,
    )  # fmt: skip
    assert found.exists(), done.stdout + done.stderr
    return dict(json.loads(found.read_text()))


def config(tree: Any, **options: Any) -> dict[str, Any]:
    return {"srv6mgr.router.config": {"config": tree, **options}}


def test_a_change_is_planned_made_once_and_read(
    ansible: dict[str, str], server: Server, gnmi: Client, asked: list[Any], tmp_path: Path
) -> None:
    more = {"locators": {"locator": [{"name": "MORE", "prefix": "fcbb:0:7::/48"}]}}
    wrong = copy.deepcopy(SRV6)
    wrong["vrfs"]["vrf"].append({"name": "blue", "table-id": SRV6["vrfs"]["vrf"][0]["table-id"]})
    found = play(
        ansible, server, tmp_path,
        {
            "planned": {**config(SRV6), "check_mode": True},
            "before": {"srv6mgr.router.info": {"type": "config"}},
            "made": config(SRV6),
            "again": config(SRV6),
            "merged": config(more),
            "replaced": config(SRV6, state="replaced"),
            "exactly": {**config(SRV6, state="replaced"), "check_mode": True},
            "rejected": config(wrong, state="replaced"),
            "after": {"srv6mgr.router.info": {"type": "config"}},
        },
    )  # fmt: skip
    changed = {name: one.get("changed") for name, one in found.items()}
    assert changed == {
        "planned": True, "before": False, "made": True, "again": False, "merged": True,
        "replaced": True, "exactly": False, "rejected": False, "after": False,
    }  # fmt: skip
    operation = {key: OPERATION[key] for key in ("verb", "object", "command")}
    assert found["planned"]["operations"] == [operation]
    assert OPERATION["command"] in found["planned"]["diff"][1]["prepared"]
    assert "red" not in json.dumps(found["before"]["values"])
    merged = json.loads(found["merged"]["diff"][0]["after"])
    assert "MORE" in json.dumps(merged)
    assert found["rejected"]["failed"]
    assert "VRF blue: table 100 is already used by VRF red" in found["rejected"]["msg"]
    after = found["after"]["values"]["/srv6mgr-srv6:srv6"]
    assert "MORE" not in json.dumps(after)
    assert "red" in json.dumps(after)
    assert [rpc for rpc, _ in asked] == ["plan"] * 5


def test_the_documentation_of_the_modules_can_be_read(ansible: dict[str, str]) -> None:
    command = ["ansible-doc", "--json", "srv6mgr.router.config", "srv6mgr.router.info"]
    done = subprocess.run(
        command, env=ansible, capture_output=True, text=True, check=True, timeout=60
    )
    shown = json.loads(done.stdout)
    assert shown["srv6mgr.router.config"]["doc"]["options"]["host"]["required"]
    assert shown["srv6mgr.router.info"]["doc"]["options"]["paths"]["elements"] == "str"
