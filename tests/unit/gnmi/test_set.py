"""A SetRequest as ordered edits."""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.datastore.transaction import Op
from srv6mgrd.gnmi import set as gnmi_set
from srv6mgrd.gnmi import wire
from srv6mgrd.gnmi.encode import ValueProblem
from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.gnmi.path import Path, parse
from tests.unit.gnmi.models import schema

TOP = schema()
RED = "/srv6/vrfs/vrf[name=red]"


def path(string: str) -> Any:
    return wire.path(parse(string))


def write(string: str, value: Any) -> Any:
    if not isinstance(value, pb.TypedValue):
        value = pb.TypedValue(json_ietf_val=json.dumps(value).encode())
    return pb.Update(path=path(string), val=value)


def documents(**request: Any) -> list[tuple[Op, str, Any]]:
    _, edits = gnmi_set.edits(TOP, pb.SetRequest(**request))
    return [(e.op, e.target, json.loads(e.document) if e.document else None) for e in edits]


def rejected(**request: Any) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(RpcError) as e:
        gnmi_set.edits(TOP, pb.SetRequest(**request))
    return e.value.code, e.value.text


def test_deletes_then_replaces_then_updates() -> None:
    found = documents(
        update=[write(f"{RED}/table-id", 1), write(f"{RED}/table-id", 2)],
        replace=[write("/srv6/vrfs", {})],
        delete=[path("/srv6/local-sids"), path(RED)],
    )
    assert [(op, target) for op, target, _ in found] == [
        (Op.DELETE, "/srv6mgr-srv6:srv6/local-sids"),
        (Op.DELETE, "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']"),
        (Op.REPLACE, "/srv6mgr-srv6:srv6/vrfs"),
        (Op.UPDATE, "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/table-id"),
        (Op.UPDATE, "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/table-id"),
    ]
    assert [d for _, _, d in found[3:]] == [
        {"srv6mgr-srv6:srv6": {"vrfs": {"vrf": [{"name": "red", "table-id": n}]}}} for n in (1, 2)
    ]


def test_values_are_wrapped_as_text() -> None:
    value = pb.TypedValue(json_ietf_val=b' {"sid" : []} ')
    _, (edit,) = gnmi_set.edits(TOP, pb.SetRequest(update=[write("/srv6/local-sids", value)]))
    assert edit.document == b'{"srv6mgr-srv6:srv6":{"local-sids":{"sid" : []}}}'


@pytest.mark.parametrize(
    "value",
    [
        {"table-id": 5},
        {"name": "red", "table-id": 5},
        {"srv6mgr-srv6:name": "red", "table-id": 5},
        [{"table-id": 5}],
    ],
)
def test_a_list_entry_gets_its_keys_from_the_path(value: Any) -> None:
    ((_, _, document),) = documents(replace=[write(RED, value)])
    assert document == {"srv6mgr-srv6:srv6": {"vrfs": {"vrf": [{"name": "red", "table-id": 5}]}}}


def test_a_whole_list_and_the_root() -> None:
    entries = [{"name": "a", "table-id": 1}]
    ((_, target, document),) = documents(replace=[write("/srv6/vrfs/vrf", entries)])
    assert target == "/srv6mgr-srv6:srv6/vrfs/vrf"
    assert document["srv6mgr-srv6:srv6"]["vrfs"]["vrf"] == entries
    whole = {"srv6mgr-srv6:srv6": {}}
    assert documents(replace=[write("/", whole)]) == [(Op.REPLACE, "", whole)]


def test_plain_json_and_scalars_become_rfc_7951() -> None:
    plain = pb.TypedValue(json_val=b'{"vrf":[{"name":"red","bgp":{"rd":"65000:1"}}]}')
    ((_, _, document),) = documents(update=[write("/srv6/vrfs", plain)])
    (entry,) = document["srv6mgr-srv6:srv6"]["vrfs"]["vrf"]
    assert entry == {"name": "red", "srv6mgr-bgp:bgp": {"rd": "65000:1"}}
    ((_, _, document),) = documents(update=[write(f"{RED}/table-id", pb.TypedValue(uint_val=9))])
    assert document["srv6mgr-srv6:srv6"]["vrfs"]["vrf"] == [{"name": "red", "table-id": 9}]


def test_wildcards_delete_configuration_only() -> None:
    assert [target for _, target, _ in documents(delete=[path("/srv6/vrfs/vrf/*")])] == [
        "/srv6mgr-srv6:srv6/vrfs/vrf/table-id",
        "/srv6mgr-srv6:srv6/vrfs/vrf/interface",
        "/srv6mgr-srv6:srv6/vrfs/vrf/srv6mgr-bgp:bgp",
    ]


def test_an_entry_of_a_leaf_list_is_deleted_by_its_value() -> None:
    found = documents(delete=[path("/srv6/vrfs/vrf/interface[.=eth1]"), path(f"{RED}/interface")])
    assert [target for _, target, _ in found] == [
        "/srv6mgr-srv6:srv6/vrfs/vrf/interface[.='eth1']",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/interface",
    ]
    assert rejected(delete=[path(f"{RED}/table-id[.=5]")])[0] is INVALID
    assert rejected(delete=[path(f"{RED}[.=red]")])[0] is INVALID


INVALID, NOT_FOUND = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
UNIMPLEMENTED = grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"update": [write("/srv6/nonsense", 1)]}, NOT_FOUND),
        ({"delete": [path("/srv6/nonsense")]}, NOT_FOUND),
        ({"update": [write("/srv6/vrfs/vrf[id=1]", {})]}, INVALID),
        ({"update": [write("/srv6/vrfs/vrf/table-id", 1)]}, INVALID),
        ({"update": [write("/srv6/*", {})]}, INVALID),
        ({"update": [write(f"{RED}/state/reason", "x")]}, INVALID),
        ({"delete": [path(f"{RED}/state")]}, INVALID),
        ({"delete": [path(f"{RED}/name")]}, INVALID),
        ({"replace": [write(RED, {})]}, INVALID),
        ({"replace": [write(RED, {"name": "blue"})]}, INVALID),
        ({"replace": [write(RED, 5)]}, INVALID),
        ({"replace": [write(f"{RED}/table-id", None)]}, INVALID),
        ({"replace": [write("/srv6/vrfs/vrf", {"name": "x"})]}, INVALID),
        ({"update": [write("/", 5)]}, INVALID),
        ({"update": [write(f"{RED}/table-id", pb.TypedValue())]}, INVALID),
        ({"update": [write("/srv6/vrfs", pb.TypedValue(json_val=b"{"))]}, INVALID),
        ({"update": [write("/srv6/vrfs", pb.TypedValue(proto_bytes=b"x"))]}, UNIMPLEMENTED),
        ({"union_replace": [write("/srv6/vrfs", {})], "delete": [path(RED)]}, INVALID),
        ({"union_replace": [write("/srv6/vrfs", {})] * 2}, INVALID),
        ({"union_replace": [write(RED, {"table-id": 1}), write("/srv6/vrfs", {})]}, INVALID),
        ({"union_replace": [write("/srv6/vrfs", {}), write("/", {})]}, INVALID),
        ({"delete": [pb.Path(element=["srv6"])]}, INVALID),
        ({"delete": [pb.Path(elem=[pb.PathElem()])]}, INVALID),
        ({"delete": [pb.Path(target="x")]}, INVALID),
        ({"delete": [pb.Path(origin="cli")]}, NOT_FOUND),
    ],
)
def test_requests_that_are_rejected_before_sysrepo_sees_them(
    request_: dict[str, Any], code: grpc.StatusCode
) -> None:
    assert rejected(**request_)[0] is code


def test_results_are_in_order() -> None:
    request = pb.SetRequest(
        prefix=pb.Path(target="pe1"),
        update=[write(f"{RED}/table-id", 1)],
        delete=[path("/srv6/local-sids")],
    )
    operations, _ = gnmi_set.edits(TOP, request)
    answer = gnmi_set.response(request, operations)
    assert [r.op for r in answer.response] == [pb.UpdateResult.DELETE, pb.UpdateResult.UPDATE]
    assert answer.prefix.target == "pe1"


@pytest.mark.parametrize("at", [0, 5, gnmi_set._PART - 1, gnmi_set._PART, gnmi_set._PART + 7])
def test_a_byte_that_is_not_utf8_is_named_wherever_it_is(at: int) -> None:
    raw = ("€" * gnmi_set._PART).encode()
    gnmi_set._utf8(Path(), raw)
    at -= at % 3
    with pytest.raises(ValueProblem, match=rf"at byte {at}\)"):
        gnmi_set._utf8(Path(), raw[:at] + b"\xff" + raw[at:])
