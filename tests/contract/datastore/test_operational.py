"""State through sysrepo's own tool, as NETCONF would read it."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from srv6mgrd.counters.node import NodeWriter
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.datastore.operational import OperationalSubscription
from srv6mgrd.datastore.transaction import Edit, Op, commit
from srv6mgrd.model.capabilities import EVERYTHING, FrrCapabilities
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.stages import Stage, Taken
from srv6mgrd.vitals import Vitals
from tests.contract.gnmi.client import Core

INSTALLED = ObjectStatus(InstallStatus.INSTALLED, since=1_700_000_000_000_000_000)
CONFIG = {
    "locators": {"locator": [{"name": "main", "prefix": "fcbb:0:1::/48"}]},
    "segment-lists": {
        "segment-list": [{"name": "via-2", "segment": [{"index": 1, "sid": "fcbb:0:2::"}]}]
    },
    "vrfs": {
        "vrf": [
            {
                "name": "red",
                "table-id": 10,
                "srv6mgr-bgp:bgp": {"rd": "1:1", "import-rt": ["1:1"], "export-rt": ["1:1"]},
                "srv6mgr-steering:steering": {
                    "route": [{"prefix": "10.2.0.0/24", "segment-list": "via-2"}]
                },
                "srv6mgr-routing:static-routes": {
                    "route": [
                        {
                            "prefix": "10.9.0.0/24",
                            "next-hop": [{"index": 1, "special-next-hop": "blackhole"}],
                            "tag": 7,
                        }
                    ]
                },
            }
        ]
    },
    "srv6mgr-bgp:bgp": {"as-number": 65000, "router-id": "192.0.2.1"},
    "srv6mgr-steering:steering": {
        "route": [{"prefix": "2001:db8:2::/48", "segment-list": "via-2"}]
    },
}
MANY = 2000


def sid(n: int) -> str:
    return f"fcbb:0:1:{n:x}::/64"


@pytest.fixture(scope="module", autouse=True)
def router(core: Core, place: Path) -> Iterator[None]:
    operational = OperationalSubscription(place / "store")
    operational.start()
    connection = Connection(originator="test")
    entries = [{"prefix": sid(n), "locator": "main", "behavior": "End"} for n in range(1, MANY)]
    config = {"srv6mgr-srv6:srv6": {**CONFIG, "local-sids": {"sid": entries}}}
    edit = Edit(Op.REPLACE, "/srv6mgr-srv6:srv6", json.dumps(config).encode())
    commit(connection.session(), ["srv6mgr-srv6"], [edit])
    sids = {ObjectRef(Kind.SID, sid(n)): INSTALLED for n in range(1, MANY)}
    core.report(
        {
            ObjectRef(Kind.LOCATOR, "main"): INSTALLED,
            ObjectRef(Kind.VRF, "red"): ObjectStatus(InstallStatus.PENDING, "wait"),
            ObjectRef(Kind.VRF_BGP, "red"): INSTALLED,
            ObjectRef(Kind.SEGMENT_LIST, "via-2"): INSTALLED,
            ObjectRef(Kind.ROUTE, "red 10.2.0.0/24"): ObjectStatus(InstallStatus.FAILED, "no"),
            ObjectRef(Kind.ROUTE, "main 2001:db8:2::/48"): INSTALLED,
            ObjectRef(Kind.STATIC_ROUTE, "red 10.9.0.0/24"): INSTALLED,
            **sids,
        }
    )
    core.count({sid(1): SidCounters(7, 700, 1, 1_700_000_000_000_000_000)})
    node = NodeWriter(core.node_file, now=1)
    node.set_capabilities(EVERYTHING, FrrCapabilities("10.5"))
    taken = {stage: Taken(1, 0.5, 0.5, 0.5) for stage in Stage}
    Vitals("srv6mgrd", node, lambda: taken, {"commits": lambda: 2}).publish()
    yield
    operational.close()
    connection.close()


def read(xpath: str) -> Any:
    """What sysrepocfg shows of the operational datastore below ``srv6``."""
    out = subprocess.run(
        ["sysrepocfg", "-X", "-d", "operational", "-f", "json", "-x", xpath],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return json.loads(out)["srv6mgr-srv6:srv6"]


def test_state_of_every_kind_stands_beside_configuration() -> None:
    got = read("/srv6mgr-srv6:srv6")
    assert got["locators"]["locator"][0]["state"]["install-status"] == "installed"
    assert got["locators"]["locator"][0]["prefix"] == "fcbb:0:1::/48"
    (red,) = got["vrfs"]["vrf"]
    assert red["table-id"] == 10
    assert (red["state"]["install-status"], red["state"]["reason"]) == ("pending", "wait")
    assert red["srv6mgr-bgp:bgp"]["state"]["install-status"] == "installed"
    (route,) = red["srv6mgr-steering:steering"]["route"]
    assert (route["segment-list"], route["state"]["reason"]) == ("via-2", "no")
    (route,) = red["srv6mgr-routing:static-routes"]["route"]
    assert (route["tag"], route["state"]["install-status"]) == (7, "installed")
    (route,) = got["srv6mgr-steering:steering"]["route"]
    assert route["state"]["install-status"] == "installed"
    (via,) = got["segment-lists"]["segment-list"]
    assert via["state"]["since"].startswith("2023-11-14T22:13:20")
    assert len(got["local-sids"]["sid"]) == MANY - 1
    assert all(s["state"]["counters"] for s in got["local-sids"]["sid"])
    assert "srv6mgr-srv6:End.AD" in got["srv6mgr-operations:capabilities"]["behavior"]
    assert got["srv6mgr-operations:statistics"]["commits"] == "0"
    (daemon,) = got["srv6mgr-operations:daemons"]["daemon"]
    assert {stage["name"] for stage in daemon["stage"]} == set(Stage)
    assert (daemon["queue"][0]["length"], daemon["longest-gap"]) == (2, 0)


def test_one_sid_is_answered_alone() -> None:
    one = f"/srv6mgr-srv6:srv6/local-sids/sid[prefix='{sid(1)}']"
    (entry,) = read(one)["local-sids"]["sid"]
    assert entry["state"]["counters"]["in-octets"] == "700"
    assert entry["behavior"] == "End"
    begin = time.monotonic()
    (entry,) = read(f"{one}/state")["local-sids"]["sid"]
    assert time.monotonic() - begin < 2
    assert set(entry) == {"prefix", "state"}


def test_the_running_datastore_has_no_state() -> None:
    out = subprocess.run(
        ["sysrepocfg", "-X", "-d", "running", "-f", "json", "-m", "srv6mgr-srv6"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "install-status" not in out
