"""State of the node, and of what is declared beside SIDs and VRFs."""

from __future__ import annotations

import time

import grpc
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.counters.node import NodeWriter
from srv6mgrd.model.capabilities import EVERYTHING, FrrCapabilities
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6mgrd.stages import Stage, Taken
from srv6mgrd.vitals import Vitals
from tests.contract.gnmi.client import Client, Core, failing, subscription, updates

DEFAULTS = {
    "srv6mgr-srv6:encapsulation": {"flow-label": "copy"},
    "srv6mgr-srv6:unsupported": "refuse",
    "srv6mgr-srv6:boundary": {"default-role": "customer"},
    "srv6mgr-accounting:accounting": {"enabled": False, "drops": {"watch": "on-errors"}},
}
BLACKHOLE = {"index": 1, "special-next-hop": "blackhole"}
STEERED = {
    "srv6mgr-srv6:segment-lists": {
        "segment-list": [{"name": "via-2", "segment": [{"index": 1, "sid": "fcbb:0:2::"}]}]
    },
    "srv6mgr-srv6:vrfs": {
        "vrf": [
            {
                "name": "red",
                "table-id": 10,
                "srv6mgr-steering:steering": {
                    "route": [{"prefix": "10.2.0.0/24", "segment-list": "via-2"}]
                },
                "srv6mgr-routing:static-routes": {
                    "route": [{"prefix": "10.9.0.0/24", "next-hop": [BLACKHOLE]}]
                },
            }
        ]
    },
    "srv6mgr-steering:steering": {
        "route": [{"prefix": "2001:db8:2::/48", "segment-list": "via-2"}]
    },
}


def test_capabilities_and_statistics_of_an_empty_router(gnmi: Client, core: Core) -> None:
    code, _ = failing(gnmi.raw_get, "/srv6/capabilities")
    assert code is grpc.StatusCode.NOT_FOUND
    node = NodeWriter(core.node_file, now=1_700_000_000_000_000_000)
    node.set_capabilities(EVERYTHING, FrrCapabilities("10.5"))
    got = gnmi.value("/srv6/capabilities", encoding=pb.JSON)
    assert "End.DT46" in got["behavior"]
    assert got["flavor"] == ["End next-csid", "End psp", "End.X next-csid"]
    assert got["frr"] == "10.5"
    ietf = gnmi.value("/srv6/capabilities")
    assert "srv6mgr-srv6:End.DT46" in ietf["srv6mgr-operations:behavior"]
    assert gnmi.value("/srv6/statistics") == {
        "srv6mgr-operations:commits": "0",
        "srv6mgr-operations:refused-commits": "0",
        "srv6mgr-operations:compares": "0",
        "srv6mgr-operations:drifts": "0",
        "srv6mgr-operations:repairs": "0",
        "srv6mgr-operations:discontinuity-time": "2023-11-14T22:13:20.000000000+00:00",
    }
    assert gnmi.value("/srv6", type=pb.GetRequest.CONFIG) == DEFAULTS


def test_how_the_daemon_itself_does(gnmi: Client, core: Core) -> None:
    node = NodeWriter(core.node_file, now=1)
    taken = {Stage.COMMIT: Taken(3, 0.5, 0.1, 0.25)}
    vitals = Vitals("srv6mgrd", node, lambda: taken, {"commits": lambda: 2}, now=lambda: 10**18)
    vitals.ticked(0.031)
    vitals.publish()

    daemon = "/srv6/daemons/daemon[name=srv6mgrd]"
    assert gnmi.value(f"{daemon}/longest-gap") == 31
    assert gnmi.value(f"{daemon}/stage[name=commit]", encoding=pb.JSON) == {
        "name": "commit",
        "count": 3,
        "total-time": 500000,
        "last-time": 100000,
        "longest-time": 250000,
    }
    assert gnmi.value(f"{daemon}/queue[name=commits]/length") == 2


def test_what_is_missing_has_its_reason(gnmi: Client, core: Core) -> None:
    node = NodeWriter(core.node_file, now=1)
    from dataclasses import replace

    node.set_capabilities(
        replace(EVERYTHING, missing={"End.AD": "the kernel lacks it"}), FrrCapabilities()
    )
    path = "/srv6/capabilities/missing[name=End.AD]/reason"
    assert gnmi.get(path) == {path: "the kernel lacks it"}


def test_statistics_are_reported_on_change(gnmi: Client, core: Core) -> None:
    node = NodeWriter(core.node_file, now=1)
    node.write()
    with gnmi.subscribe(subscription("/srv6/statistics")) as stream:
        assert stream.until_sync()["/srv6/statistics/drifts"] == "0"
        node.statistics.drifted(objects=2, repaired=1, now=time.time_ns())
        node.write()
        reported = updates(stream.next().update)
        assert set(reported) == {
            f"/srv6/statistics/{leaf}" for leaf in ("compares", "drifts", "repairs", "last-drift")
        }
        assert reported["/srv6/statistics/drifts"] == "2"


def test_segment_lists_and_routes_have_state(gnmi: Client, core: Core) -> None:
    gnmi.set(update={"/srv6": STEERED})
    core.report(
        {
            ObjectRef(Kind.SEGMENT_LIST, "via-2"): ObjectStatus(InstallStatus.INSTALLED),
            ObjectRef(Kind.ROUTE, "red 10.2.0.0/24"): ObjectStatus(InstallStatus.PENDING, "wait"),
            ObjectRef(Kind.ROUTE, "main 2001:db8:2::/48"): ObjectStatus(InstallStatus.FAILED, "x"),
            ObjectRef(Kind.STATIC_ROUTE, "red 10.9.0.0/24"): ObjectStatus(
                InstallStatus.PENDING, "z"
            ),
        }
    )
    in_vrf = "/srv6/vrfs/vrf[name=red]/steering/route[prefix=10.2.0.0/24]/state/reason"
    in_main = "/srv6/steering/route[prefix=2001:db8:2::/48]/state/reason"
    static = "/srv6/vrfs/vrf[name=red]/static-routes/route[prefix=10.9.0.0/24]/state/reason"
    shown = {in_vrf: "wait", in_main: "x", static: "z"}
    assert gnmi.get("/srv6/.../route/state/reason") == shown
    listed = "/srv6/segment-lists/segment-list[name=via-2]/state/install-status"
    assert gnmi.get(listed) == {listed: "installed"}
    with gnmi.subscribe(subscription(in_vrf), subscription(in_main)) as stream:
        stream.until_sync()
        core.store.set_statuses(
            {
                **core.store.statuses(),
                ObjectRef(Kind.ROUTE, "main 2001:db8:2::/48"): ObjectStatus(
                    InstallStatus.FAILED, "y"
                ),
            }
        )
        assert updates(stream.next().update) == {in_main: "y"}
