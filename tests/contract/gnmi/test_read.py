"""Capabilities and Get (gnmi-specification.md 3.2, 3.3)."""

from __future__ import annotations

import time
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_ext_pb2 as ext
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.contract.gnmi.client import Client, Core, failing, path, shown
from tests.contract.gnmi.data import SID, SRV6

STATE = f"/srv6/local-sids/sid[prefix={SID}]/state"


def test_capabilities_name_models_encodings_and_version(gnmi: Client) -> None:
    answer = gnmi.capabilities()
    assert {(m.name, m.organization) for m in answer.supported_models} == {
        ("srv6mgr-srv6", "srv6mgr"),
        ("srv6mgr-bgp", "srv6mgr"),
        ("srv6mgr-isis", "srv6mgr"),
        ("srv6mgr-types", "srv6mgr"),
        ("srv6mgr-steering", "srv6mgr"),
        ("srv6mgr-routing", "srv6mgr"),
        ("srv6mgr-ospf", "srv6mgr"),
        ("srv6mgr-routing-policy", "srv6mgr"),
        ("srv6mgr-proxy", "srv6mgr"),
        ("srv6mgr-interfaces", "srv6mgr"),
        ("srv6mgr-path-measurement", "srv6mgr"),
        ("srv6mgr-accounting", "srv6mgr"),
        ("srv6mgr-chain", "srv6mgr"),
        ("srv6mgr-operations", "srv6mgr"),
        ("srv6mgr-alarms", "srv6mgr"),
        ("ietf-alarms", "IETF CCAMP Working Group"),
    }
    assert all(len(m.version) == len("2026-11-20") for m in answer.supported_models)
    assert set(answer.supported_encodings) >= {pb.JSON, pb.JSON_IETF, pb.PROTO}
    assert answer.gNMI_version == "0.10.0"


def test_get_answers_each_path_with_one_notification(gnmi: Client) -> None:
    gnmi.set(update={"/srv6": SRV6})
    before = time.time_ns()
    answer = gnmi.raw_get("/srv6/vrfs", "/srv6/locators/locator[name=main]/prefix")
    vrfs, prefix = answer.notification
    assert all(before <= n.timestamp <= time.time_ns() for n in answer.notification)
    assert not vrfs.HasField("prefix")
    assert [shown(u.path) for u in vrfs.update] == ["/srv6/vrfs"]
    assert prefix.update[0].val.json_ietf_val == b'"fcbb:0:1::/48"'


def test_json_ietf_qualifies_and_json_does_not(gnmi: Client) -> None:
    gnmi.set(update={"/srv6": SRV6})
    assert gnmi.value("/srv6/vrfs") == {
        "srv6mgr-srv6:vrf": [{"name": "red", "table-id": 100, "interface": ["eth1"]}]
    }
    assert gnmi.value("/srv6/vrfs", encoding=pb.JSON) == {
        "vrf": [{"name": "red", "table-id": 100, "interface": ["eth1"]}]
    }


def test_proto_gives_leaves_in_native_types(gnmi: Client) -> None:
    gnmi.set(update={"/srv6": SRV6})
    (notification,) = gnmi.raw_get("/srv6/vrfs/vrf[name=red]", encoding=pb.PROTO).notification
    values = {shown(u.path).rpartition("/")[2]: u.val for u in notification.update}
    assert values["table-id"] == pb.TypedValue(uint_val=100)
    assert values["name"] == pb.TypedValue(string_val="red")
    assert [e.string_val for e in values["interface"].leaflist_val.element] == ["eth1"]


def test_defaults_in_use_are_given(gnmi: Client) -> None:
    gnmi.set(update={"/srv6": SRV6})
    assert gnmi.value("/srv6/locators/locator[name=main]/function-length") == 16


def test_prefix_target_and_origin_come_back(gnmi: Client) -> None:
    gnmi.set(update={"/srv6": SRV6})
    prefix = pb.Path(target="pe1", origin="srv6mgr", elem=path("/srv6/vrfs").elem)
    (notification,) = gnmi.raw_get("/vrf[name=red]/table-id", prefix=prefix).notification
    assert notification.prefix == pb.Path(target="pe1", origin="srv6mgr")
    assert shown(notification.update[0].path) == "/srv6/vrfs/vrf[name=red]/table-id"


def test_wildcards_reach_every_instance_and_never_come_back(gnmi: Client) -> None:
    gnmi.set(update={"/srv6": SRV6, "/srv6/vrfs/vrf[name=blue]": {"table-id": 200}})
    tables = {
        "/srv6/vrfs/vrf[name=red]/table-id": 100,
        "/srv6/vrfs/vrf[name=blue]/table-id": 200,
    }
    for string in (
        "/srv6/vrfs/vrf/table-id",
        "/srv6/vrfs/vrf[name=*]/table-id",
        "/srv6/*/vrf/table-id",
        "/.../table-id",
        "/srv6/.../table-id",
    ):
        assert gnmi.get(string) == tables, string


def test_keys_are_compared_in_canonical_form(gnmi: Client) -> None:
    gnmi.set(update={"/srv6": SRV6})
    written = "/srv6/local-sids/sid[prefix=FCBB:0000:1:64::/64]/behavior"
    assert gnmi.get(written) == {f"/srv6/local-sids/sid[prefix={SID}]/behavior": "End.DT46"}


@pytest.mark.parametrize(
    ("string", "code"),
    [
        ("/srv6/vrfs/vrf[name=green]", grpc.StatusCode.NOT_FOUND),
        ("/srv6/encapsulation/source-address", grpc.StatusCode.NOT_FOUND),
        ("/srv6/nonsense", grpc.StatusCode.NOT_FOUND),
        ("/interfaces/interface", grpc.StatusCode.UNIMPLEMENTED),
        ("openconfig:/interfaces", grpc.StatusCode.UNIMPLEMENTED),
        ("/srv6/vrfs/vrf[nme=red]", grpc.StatusCode.INVALID_ARGUMENT),
        ("/srv6/vrfs[name=red]", grpc.StatusCode.INVALID_ARGUMENT),
    ],
)
def test_paths_that_lead_nowhere(gnmi: Client, string: str, code: grpc.StatusCode) -> None:
    found, text = failing(gnmi.raw_get, string)
    assert found is code
    assert string.partition(":/")[2] in text or "origin" in text


def test_an_unsupported_encoding_is_named(gnmi: Client) -> None:
    code, text = failing(gnmi.raw_get, "/srv6", encoding=pb.BYTES)
    assert code is grpc.StatusCode.UNIMPLEMENTED
    assert "encoding BYTES: unsupported" in text


def test_an_empty_router_has_defaults_alone(gnmi: Client) -> None:
    defaults = {
        "unsupported": "refuse",
        "encapsulation": {"flow-label": "copy"},
        "boundary": {"default-role": "customer"},
        "srv6mgr-accounting:accounting": {"enabled": False, "drops": {"watch": "on-errors"}},
    }
    assert gnmi.value("/") == {"srv6mgr-srv6:srv6": defaults}


def test_state_stands_beside_configuration(gnmi: Client, core: Core) -> None:
    gnmi.set(update={"/srv6": SRV6})
    since = 1_700_000_000_123_456_789
    core.report(
        {
            ObjectRef(Kind.SID, SID): ObjectStatus(InstallStatus.INSTALLED, since=since, repairs=2),
            ObjectRef(Kind.VRF, "red"): ObjectStatus(InstallStatus.PENDING, "eth1 is missing"),
        }
    )
    assert gnmi.value(STATE) == {
        "srv6mgr-srv6:install-status": "installed",
        "srv6mgr-srv6:reason": "",
        "srv6mgr-srv6:since": "2023-11-14T22:13:20.123456789+00:00",
        "srv6mgr-srv6:repairs": "2",
        "srv6mgr-srv6:counters": {"in-pkts": "0", "in-octets": "0", "in-errors": "0"},
    }
    core.count({SID: SidCounters(1 << 40, 7, 1, since)})
    counters = gnmi.value(f"{STATE}/counters", encoding=pb.JSON)
    assert counters == {
        "in-pkts": 1 << 40,
        "in-octets": 7,
        "in-errors": 1,
        "discontinuity-time": "2023-11-14T22:13:20.123456789+00:00",
    }
    assert gnmi.value("/srv6/vrfs/vrf[name=red]/state/reason") == "eth1 is missing"


@pytest.mark.parametrize("encoding", [pb.JSON_IETF, pb.JSON, pb.PROTO, pb.ASCII])
@pytest.mark.parametrize("leaf", ["", "/in-pkts", "/in-octets", "/discontinuity-time"])
@pytest.mark.parametrize("depth", [0, 1])
def test_counters_of_all_sids_are_those_of_each(
    gnmi: Client, core: Core, encoding: int, leaf: str, depth: int
) -> None:
    sids = {f"fcbb:0:1:{n:x}::/64": SidCounters(n, n << 40, 0, 1 + n) for n in range(0x65, 0x69)}
    ends = [{"prefix": p, "locator": "main", "behavior": "End"} for p in sids]
    gnmi.set(update={"/srv6": SRV6, "/srv6/local-sids": {"sid": ends}})
    core.report(
        {ObjectRef(Kind.SID, p): ObjectStatus(InstallStatus.INSTALLED) for p in (SID, *sids)}
    )
    # One that never counted has no discontinuity-time.
    core.count(sids, at=42)
    more = [ext.Extension(depth=ext.Depth(level=depth))] if depth else []

    def of(*prefixes: str) -> Any:
        paths = [f"/srv6/local-sids/sid[prefix={p}]/state/counters{leaf}" for p in prefixes]
        return gnmi.raw_get(*paths, encoding=encoding, extension=more).notification

    counted = list(sids) if leaf == "/discontinuity-time" else [SID, *sids]
    each = of(*counted)
    assert len(each) == len(counted)
    (every,) = of("*")
    twice = of("*", "*")

    assert list(twice) == [every, every]
    assert every.timestamp == 42
    assert {n.timestamp for n in each} == {42}
    expected = sorted((u for n in each for u in n.update), key=str)
    assert sorted(every.update, key=str) == expected


def test_type_separates_configuration_from_state(gnmi: Client, core: Core) -> None:
    gnmi.set(update={"/srv6": SRV6})
    core.report({ObjectRef(Kind.VRF, "red"): ObjectStatus(InstallStatus.INSTALLED)})
    entry = "/srv6/vrfs/vrf[name=red]"
    config = gnmi.value(entry, encoding=pb.JSON, type=pb.GetRequest.CONFIG)
    assert config == {"name": "red", "table-id": 100, "interface": ["eth1"]}
    for kind in (pb.GetRequest.STATE, pb.GetRequest.OPERATIONAL):
        state = gnmi.value(entry, encoding=pb.JSON, type=kind)
        assert set(state) == {"name", "state"}
    assert set(gnmi.value(entry, encoding=pb.JSON)) == {"name", "table-id", "interface", "state"}


def test_depth_gives_the_leaves_of_so_many_levels(gnmi: Client) -> None:
    gnmi.set(update={"/srv6": SRV6})
    red = {"name": "red", "table-id": 100, "interface": ["eth1"]}
    for level, wanted in ((1, {}), (2, {"vrf": [red]}), (0, {"vrf": [red]})):
        depth = [ext.Extension(depth=ext.Depth(level=level))]
        got = gnmi.get("/srv6/vrfs", encoding=pb.JSON, extension=depth)
        assert got == ({"/srv6/vrfs": wanted} if wanted else {})


def test_use_models_restricts(gnmi: Client) -> None:
    gnmi.set(update={"/srv6": SRV6, "/srv6/bgp": {"as-number": 65000, "router-id": "192.0.2.1"}})
    only = [pb.ModelData(name="srv6mgr-bgp")]
    assert set(gnmi.value("/srv6", use_models=only)) == {"srv6mgr-bgp:bgp"}
    code, text = failing(gnmi.raw_get, "/srv6", use_models=[pb.ModelData(name="openconfig-bgp")])
    assert code is grpc.StatusCode.UNIMPLEMENTED
    assert "openconfig-bgp" in text
