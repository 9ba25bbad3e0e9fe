"""State of sessions and adjacencies over NETCONF: beside the configuration, and as state alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from srv6mgrd.counters.observed import ObservedWriter, beside
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from tests.contract.netconf.client import Client, texts
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import locator, sid, srv6, vrf

BGP = "urn:srv6mgr:yang:srv6mgr-bgp"
OSPF = "urn:srv6mgr:yang:srv6mgr-ospf"
SPEAKER = (
    f'<bgp xmlns="{BGP}"><as-number>65000</as-number><router-id>10.0.0.1</router-id>'
    "<neighbor><address>2001:db8::2</address><remote-as>65000</remote-as></neighbor></bgp>"
)
OF_RED = (
    f'<bgp xmlns="{BGP}"><rd>65000:110</rd><import-rt>65000:10</import-rt>'
    "<export-rt>65000:10</export-rt><peer-group><name>sites</name><remote-as>65101</remote-as>"
    "<dynamic-neighbor-prefix>10.2.0.0/16</dynamic-neighbor-prefix></peer-group>"
    "<unnumbered-neighbor><interface>eth1</interface><remote-as>65100</remote-as>"
    "</unnumbered-neighbor></bgp>"
    f'<ospf xmlns="{OSPF}"><router-id>10.0.0.1</router-id><interface><name>eth1</name>'
    "</interface></ospf>"
)
UP: dict[str, Any] = {
    "session-state": "established",
    "established-transitions": 1,
    "bfd-state": "up",
    "afi-safi": [{"name": "ipv4-vpn", "prefixes": {"accepted": 3, "advertised": 5}}],
}
IDLE = {"session-state": "idle", "last-reset-reason": "Hold Timer Expired"}
DYNAMIC = {"address": "10.2.0.7", "remote-as": 65101, "state": UP}
OBSERVED = {
    "srv6mgr-bgp:bgp": {"neighbor": [{"address": "2001:db8::2", "state": UP}]},
    "vrfs": {
        "vrf": [
            {
                "name": "red",
                "srv6mgr-bgp:bgp": {
                    "unnumbered-neighbor": [{"interface": "eth1", "state": IDLE}],
                    "peer-group": [{"name": "sites", "dynamic-neighbor": [DYNAMIC]}],
                },
                "srv6mgr-ospf:ospf": {
                    "interface": [
                        {"name": "eth1", "neighbor": [{"router-id": "10.0.0.9", "state": "full"}]}
                    ]
                },
            }
        ]
    },
}


@pytest.fixture
def observed(client: Client, server: Server) -> Iterator[ObservedWriter]:
    client.edit(srv6(locator() + vrf(more=f"<s:interface>eth1</s:interface>{OF_RED}") + SPEAKER))
    file = beside(server.store)
    writer = ObservedWriter(file)
    writer.stage("frr", OBSERVED)
    writer.publish()
    yield writer
    file.unlink()


def get(client: Client, xpath: str) -> Any:
    return client.rpc(f'<nc:get><nc:filter type="xpath" select="{xpath}"/></nc:get>')


def named(tree: Any, name: str) -> list[str]:
    return texts(tree, f"//*[local-name()='{name}']")


def test_beside_the_configuration(client: Client, observed: ObservedWriter) -> None:
    speaker = get(client, "/s:srv6/bgp:bgp")
    assert named(speaker, "as-number") == ["65000"]
    assert named(speaker, "session-state") == ["established"]
    assert named(speaker, "accepted") == ["3"]
    red = get(client, "/s:srv6/s:vrfs/s:vrf[s:name='red']")
    assert sorted(named(red, "session-state")) == ["established", "idle"]
    assert named(red, "last-reset-reason") == ["Hold Timer Expired"]
    assert named(red, "rd") == ["65000:110"]
    assert texts(red, "//*[local-name()='dynamic-neighbor']/*[local-name()='address']") == [
        "10.2.0.7"
    ]
    assert texts(red, "//*[local-name()='neighbor']/*[local-name()='state']") == ["full"]


def test_interfaces_have_it_beside_their_status(
    client: Client, router: Router, observed: ObservedWriter
) -> None:
    client.edit(
        srv6("<s:interfaces><s:interface><s:name>eth1</s:name></s:interface></s:interfaces>")
    )
    installed = ObjectStatus(InstallStatus.INSTALLED, since=1_000_000_000)
    router.store.set_statuses({ObjectRef(Kind.INTERFACE, "eth1"): installed})
    address = {"ip": "fe80::1", "prefix-length": 64}
    state = {"srv6mgr-interfaces:oper-status": "up", "srv6mgr-interfaces:address": [address]}
    observed.stage("interfaces", {"interfaces": {"interface": [{"name": "eth1", "state": state}]}})
    observed.publish()
    for path in ("/s:srv6/s:interfaces", "/s:srv6/s:interfaces/s:interface[s:name='eth1']"):
        tree = get(client, path)
        assert named(tree, "install-status") == ["installed"]
        assert named(tree, "oper-status") == ["up"]
        assert named(tree, "ip") == ["fe80::1"]


def test_one_leaf(client: Client, observed: ObservedWriter) -> None:
    path = "/s:srv6/s:vrfs/s:vrf[s:name='red']/bgp:bgp/bgp:unnumbered-neighbor/bgp:state"
    tree = get(client, f"{path}/bgp:session-state")
    assert named(tree, "session-state") == ["idle"]
    assert named(tree, "rd") == []
    observed.stage("frr", {})
    observed.publish()
    assert named(get(client, f"{path}/bgp:session-state"), "session-state") == []


def test_measured_paths(client: Client, observed: ObservedWriter) -> None:
    module = "urn:srv6mgr:yang:srv6mgr-path-measurement"
    client.edit(
        srv6(
            f'<path-measurement xmlns="{module}"><session><name>pe2</name>'
            "<destination-address>2001:db8::2</destination-address></session></path-measurement>"
        )
    )
    measured = {"packets-sent": 600, "packets-received": 597, "loss-ratio": "0.5"}
    state = {"path-state": "degraded", "reason": "loss", "last-measurement": measured}
    member = "srv6mgr-path-measurement:path-measurement"
    observed.stage("path-measurement", {member: {"session": [{"name": "pe2", "state": state}]}})
    observed.publish()
    wanted = f'<s:srv6><path-measurement xmlns="{module}"/></s:srv6>'
    tree = client.rpc(f"<nc:get><nc:filter>{wanted}</nc:filter></nc:get>")
    assert named(tree, "destination-address") == ["2001:db8::2"]
    assert named(tree, "path-state") == ["degraded"]
    assert named(tree, "loss-ratio") == ["0.5"]


def test_state_of_services(client: Client, router: Router, observed: ObservedWriter) -> None:
    prefix = "fcbb:0:1:1::/64"
    client.edit(srv6(sid(prefix)))
    installed = ObjectStatus(InstallStatus.INSTALLED, since=1_000_000_000)
    router.store.set_statuses({ObjectRef(Kind.SID, prefix): installed})
    condition = {
        "type": "not-installed",
        "resource": "/path",
        "object": f"SID {prefix}",
        "severity": "major",
        "cause": "it is absent",
        "remedy": "wait",
    }
    at = "2026-11-24T00:00:00Z"
    down = {"service-state": "down", "last-change": at, "condition": [condition]}
    up = {"service-state": "up", "last-change": at}
    members = {
        "vrfs": {"vrf": [{"name": "red", "service": up}]},
        "local-sids": {"sid": [{"prefix": prefix, "service": down}]},
    }
    observed.stage("service", members)
    observed.publish()
    red = get(client, "/s:srv6/s:vrfs/s:vrf[s:name='red']")
    # Beside the sessions, which are of another part of the file.
    assert named(red, "service-state") == ["up"]
    assert sorted(named(red, "session-state")) == ["established", "idle"]
    for path in ("", "/s:service", "/s:service/s:condition/s:cause"):
        tree = get(client, f"/s:srv6/s:local-sids/s:sid[s:prefix='{prefix}']{path}")
        assert named(tree, "cause") == ["it is absent"]
    state = get(client, f"/s:srv6/s:local-sids/s:sid[s:prefix='{prefix}']/s:state")
    assert named(state, "install-status") == ["installed"]
    assert named(state, "service-state") == []
