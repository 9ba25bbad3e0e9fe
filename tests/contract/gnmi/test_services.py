"""State of services of VRFs and SIDs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from lab.waiting import wait_until
from srv6mgrd.counters.observed import ObservedWriter, beside
from tests.contract.gnmi.client import Client, Core, deletes, subscription, updates
from tests.contract.gnmi.data import ENTRY, RED, SID, SRV6

SERVICE, OF_SID = f"{RED}/service", f"{ENTRY}/service"
CONDITION = {
    "type": "vrf-interface-down",
    "resource": "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/interface[.='eth1']",
    "object": "VRF red",
    "severity": "major",
    "cause": "interface eth1 of VRF red has no carrier",
    "remedy": "check the cable",
}


def service(state: str, *conditions: Mapping[str, Any]) -> dict[str, Any]:
    when = "2026-11-24T00:00:00.000000000+00:00"
    found: dict[str, Any] = {"service-state": state, "last-change": when, "remote-sids": 2}
    return {**found, **({"condition": list(conditions)} if conditions else {})}


@pytest.fixture
def observed(core: Core) -> Iterator[ObservedWriter]:
    file = beside(core.node_file.with_name("store"))
    yield ObservedWriter(file)
    file.unlink(missing_ok=True)


def judge(observed: ObservedWriter, state: str, *conditions: Mapping[str, Any]) -> None:
    members: dict[str, Any] = {
        "vrfs": {"vrf": [{"name": "red", "service": service(state, *conditions)}]}
    }
    if conditions:
        listed = [{"prefix": SID, "service": service(state, *conditions)}]
        members["local-sids"] = {"sid": listed}
    observed.stage("service", members)
    observed.publish()


def test_on_change_reports_a_breakage_and_its_end(gnmi: Client, observed: ObservedWriter) -> None:
    gnmi.set(update={"/srv6": SRV6})
    judge(observed, "up")
    wait_until(lambda: "service" in str(gnmi.value(RED)), "the state of the service")
    paths = subscription(SERVICE), subscription(OF_SID)
    with gnmi.subscribe(*paths) as stream:
        assert stream.until_sync()[f"{SERVICE}/service-state"] == "up"
        judge(observed, "down", CONDITION)
        reported: dict[str, Any] = {}
        while f"{OF_SID}/service-state" not in reported:
            reported |= updates(stream.next().update)
        assert reported[f"{SERVICE}/service-state"] == "down"
        assert CONDITION["cause"] in reported.values()
        judge(observed, "up")
        gone: list[str] = []
        reported = {}
        while not {OF_SID, f"{OF_SID}/service-state"}.intersection(gone):
            found = stream.next().update
            gone += deletes(found)
            reported |= updates(found)
        assert reported[f"{SERVICE}/service-state"] == "up"


def test_get(gnmi: Client, observed: ObservedWriter) -> None:
    gnmi.set(update={"/srv6": SRV6})
    judge(observed, "down", CONDITION)
    wait_until(lambda: "service" in str(gnmi.value(ENTRY)), "the state of the service")
    for path in (SERVICE, OF_SID):
        found = gnmi.value(path)
        assert found["srv6mgr-srv6:service-state"] == "down"
        assert found["srv6mgr-srv6:condition"] == [CONDITION]
