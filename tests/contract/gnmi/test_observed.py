"""State of sessions and adjacencies, which has a file of its own beside the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from gnmi_pb import gnmi_pb2 as pb

from lab.waiting import wait_until
from srv6mgrd.counters.observed import ObservedWriter, beside
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from tests.contract.gnmi.client import Client, Core, deletes, subscription, updates
from tests.contract.gnmi.data import SRV6

CE = {"address": "10.1.0.10", "remote-as": 65100, "description": "the customer"}
BGP = {
    "rd": "65000:110",
    "import-rt": ["65000:10"],
    "export-rt": ["65000:10"],
    "neighbor": [CE],
    "peer-group": [
        {"name": "sites", "remote-as": 65101, "dynamic-neighbor-prefix": ["10.2.0.0/16"]}
    ],
}
OF_RED = "/srv6/vrfs/vrf[name=red]/bgp"
STATE = f"{OF_RED}/neighbor[address=10.1.0.10]/state"
SITES = f"{OF_RED}/peer-group[name=sites]/dynamic-neighbor"
ONCE = pb.SubscriptionList.ONCE

Report = Callable[..., None]


def session(state: str = "established", accepted: int = 3) -> dict[str, Any]:
    found: dict[str, Any] = {
        "session-state": state,
        "established-transitions": 1,
        "last-change": "2026-11-23T13:20:28.000000000+00:00",
    }
    if state == "established":
        prefixes = {"accepted": accepted, "advertised": 5}
        found["afi-safi"] = [{"name": "ipv4-unicast", "prefixes": prefixes}]
    else:
        found["last-reset-reason"] = "Peer closed the session"
    return found


def of_red(*neighbors: Mapping[str, Any], dynamic: tuple[str, ...] = ()) -> dict[str, Any]:
    found: dict[str, Any] = {"neighbor": list(neighbors)}
    if dynamic:
        listed = [{"address": a, "remote-as": 65101, "state": session()} for a in dynamic]
        found["peer-group"] = [{"name": "sites", "dynamic-neighbor": listed}]
    return {"vrfs": {"vrf": [{"name": "red", "srv6mgr-bgp:bgp": found}]}}


def neighbor(state: str = "established", accepted: int = 3) -> dict[str, Any]:
    return {"address": "10.1.0.10", "state": session(state, accepted)}


@pytest.fixture
def observed(core: Core) -> Iterator[ObservedWriter]:
    file = beside(core.node_file.with_name("store"))
    yield ObservedWriter(file)
    file.unlink(missing_ok=True)


@pytest.fixture
def router(gnmi: Client, observed: ObservedWriter) -> Client:
    bgp = {"as-number": 65000, "router-id": "10.0.0.1"}
    gnmi.set(update={"/srv6": {**SRV6, "srv6mgr-bgp:bgp": bgp}})
    gnmi.set(update={OF_RED: BGP})
    report(observed, of_red(neighbor()))
    wait_until(lambda: f"{STATE}/session-state" in once(gnmi, STATE))
    return gnmi


def report(observed: ObservedWriter, members: Mapping[str, Any]) -> None:
    observed.stage("frr", members)
    observed.publish()


def once(gnmi: Client, path: str) -> dict[str, Any]:
    with gnmi.subscribe(subscription(path), mode=ONCE) as stream:
        return stream.until_sync()


def test_get(router: Client) -> None:
    value = router.value(STATE)
    assert value["srv6mgr-bgp:session-state"] == "established"
    (family,) = value["srv6mgr-bgp:afi-safi"]
    assert family == {
        "name": "ipv4-unicast",
        "prefixes": {"accepted": 3, "advertised": 5},
    }
    assert "session-state" in str(router.value("/srv6", type=pb.GetRequest.STATE))
    assert "session-state" not in str(router.value("/srv6", type=pb.GetRequest.CONFIG))


def test_state_of_what_is_not_declared_is_not_shown(
    router: Client, observed: ObservedWriter
) -> None:
    other = {"address": "10.1.0.99", "state": session()}
    report(observed, of_red(neighbor("idle"), other))
    wait_until(lambda: once(router, f"{STATE}/session-state") == {f"{STATE}/session-state": "idle"})
    assert once(router, f"{OF_RED}/neighbor[address=10.1.0.99]") == {}
    assert "10.1.0.99" not in str(router.value("/srv6"))


def test_on_change_tells_what_changed_and_no_more(router: Client, observed: ObservedWriter) -> None:
    with router.subscribe(subscription(f"{OF_RED}/neighbor")) as stream:
        assert stream.until_sync()[f"{STATE}/session-state"] == "established"
        report(observed, of_red(neighbor("active")))
        reported = stream.next().update
        assert updates(reported) == {
            f"{STATE}/session-state": "active",
            f"{STATE}/last-reset-reason": "Peer closed the session",
        }
        family = f"{STATE}/afi-safi[name=ipv4-unicast]"
        assert sorted(deletes(reported)) == [
            f"{family}/name",
            f"{family}/prefixes/accepted",
            f"{family}/prefixes/advertised",
        ]
        # FRR can't be asked: nothing is known.
        report(observed, {})
        assert f"{STATE}/session-state" in deletes(stream.next().update)
        assert stream.quiet()


def test_on_change_of_the_state_alone_does_not_report_prefixes(
    router: Client, observed: ObservedWriter
) -> None:
    with router.subscribe(subscription(f"{STATE}/session-state")) as stream:
        assert stream.until_sync() == {f"{STATE}/session-state": "established"}
        report(observed, of_red(neighbor(accepted=4)))
        assert stream.quiet()
        report(observed, of_red(neighbor("idle")))
        assert updates(stream.next().update) == {f"{STATE}/session-state": "idle"}


def test_those_who_connect_come_and_go(router: Client, observed: ObservedWriter) -> None:
    with router.subscribe(subscription(SITES)) as stream:
        assert stream.until_sync() == {}
        report(observed, of_red(neighbor(), dynamic=("10.2.0.7", "10.2.0.8")))
        reported = updates(stream.next().update)
        first = f"{SITES}[address=10.2.0.7]"
        assert reported[f"{first}/remote-as"] == 65101
        assert reported[f"{first}/state/session-state"] == "established"
        report(observed, of_red(neighbor(), dynamic=("10.2.0.8",)))
        assert deletes(stream.next().update) == [first]
        assert stream.quiet()


def test_a_neighbor_that_is_removed_goes_once(router: Client, observed: ObservedWriter) -> None:
    with router.subscribe(subscription(f"{OF_RED}/neighbor")) as stream:
        stream.until_sync()
        router.set(delete=[f"{OF_RED}/neighbor[address=10.1.0.10]"])
        assert deletes(stream.next().update) == [f"{OF_RED}/neighbor[address=10.1.0.10]"]
        report(observed, of_red())
        assert stream.quiet()


def test_interfaces_have_it_beside_their_status(
    router: Client, core: Core, observed: ObservedWriter
) -> None:
    at = "/srv6/interfaces/interface[name=eth1]"
    router.set(update={at: {"role": "customer"}})
    installed = ObjectStatus(InstallStatus.INSTALLED, since=1_000_000_000)
    core.report({ObjectRef(Kind.INTERFACE, "eth1"): installed})

    def see(status: str, *addresses: str) -> None:
        listed = [{"ip": ip, "prefix-length": 24} for ip in addresses]
        state = {"oper-status": status, "address": listed}
        named = {f"srv6mgr-interfaces:{leaf}": value for leaf, value in state.items()}
        entry = {"name": "eth1", "state": named}
        observed.stage("interfaces", {"interfaces": {"interface": [entry]}})
        observed.publish()

    see("up", "10.1.0.1", "10.1.0.2")
    wait_until(lambda: f"{at}/state/oper-status" in once(router, at))
    state = router.value(f"{at}/state")
    assert state["srv6mgr-srv6:install-status"] == "installed"
    assert state["srv6mgr-interfaces:oper-status"] == "up"
    assert len(state["srv6mgr-interfaces:address"]) == 2
    with router.subscribe(subscription(f"{at}/state")) as stream:
        stream.until_sync()
        see("lower-layer-down", "10.1.0.2")
        reported = stream.next().update
        assert updates(reported) == {f"{at}/state/oper-status": "lower-layer-down"}
        gone = f"{at}/state/address[ip=10.1.0.1][prefix-length=24]"
        assert sorted(deletes(reported)) == [f"{gone}/ip", f"{gone}/prefix-length"]
        observed.stage("interfaces", {})
        observed.publish()
        assert f"{at}/state/oper-status" in deletes(stream.next().update)
        assert stream.quiet()
    assert router.value(f"{at}/state/install-status") == "installed"


def test_it_is_gone_when_srv6mgrd_reports_no_more(router: Client, core: Core) -> None:
    installed = ObjectStatus(InstallStatus.INSTALLED, since=1_000_000_000)
    core.report({ObjectRef(Kind.VRF_BGP, "red"): installed})
    core.store.renew_lease(0)
    try:
        wait_until(lambda: f"{STATE}/session-state" not in once(router, STATE))
    finally:
        core.store.renew_lease(86_400)
    wait_until(lambda: f"{STATE}/session-state" in once(router, STATE))
