"""A gNMI client that is not ours, over TLS."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.contract.gnmi.client import Client
from tests.contract.gnmi.conftest import PASSWORD, USER, Server
from tests.contract.gnmi.data import SID, SRV6

PYTHON = Path("/opt/pygnmi/bin/python")
RED = "/srv6/vrfs/vrf[name=red]"


def run(server: Server, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    asked = {
        "target": ["127.0.0.1", server.port],
        "root": str(server.state / "selfsigned.crt"),
        "client": {"username": USER, "password": PASSWORD},
        "calls": calls,
    }
    script = Path(__file__).with_name("pygnmi_client.py")
    done = subprocess.run(
        [str(PYTHON), str(script), json.dumps(asked)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return results


@pytest.mark.skipif(not PYTHON.exists(), reason="pygnmi has no environment here")
def test_pygnmi(server: Server, gnmi: Client) -> None:
    capabilities, changed, got, rejected, once, deleted, gone = run(
        server,
        ("capabilities", {}),
        ("set", {"update": [["/srv6", SRV6]], "encoding": "json_ietf"}),
        ("get", {"path": ["/srv6mgr-srv6:srv6/vrfs/vrf[name=red]"], "encoding": "json_ietf"}),
        (
            "set",
            {"update": [["/srv6/vrfs/vrf[name=blue]", {"table-id": 100}]], "encoding": "json_ietf"},
        ),
        (
            "subscribe2",
            {
                "subscribe": {
                    "subscription": [{"path": f"{RED}/table-id", "mode": "on_change"}],
                    "mode": "once",
                    "encoding": "json_ietf",
                }
            },
        ),
        ("set", {"delete": [f"/srv6/local-sids/sid[prefix={SID}]"]}),
        ("get", {"path": [f"/srv6/local-sids/sid[prefix={SID}]"], "encoding": "json_ietf"}),
    )
    assert capabilities["gnmi_version"] == "0.10.0"
    assert "json_ietf" in capabilities["supported_encodings"]
    assert [r["op"] for r in changed["response"]] == ["UPDATE"]
    (update,) = got["notification"][0]["update"]
    assert update["val"]["srv6mgr-srv6:table-id"] == 100
    assert (
        "VRF blue: table 100 is already used by VRF red; choose another table-id"
        in (rejected["error"])
    )
    assert once[0]["update"]["update"][0]["val"] == 100
    assert "sync_response" in once[-1]
    assert [r["op"] for r in deleted["response"]] == ["DELETE"]
    assert "no such data" in gone["error"]
