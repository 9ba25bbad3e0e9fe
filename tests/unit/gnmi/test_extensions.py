"""Extensions: depth, master arbitration, and those that are rejected."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_ext_pb2 as ext
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.gnmi import extensions
from srv6mgrd.gnmi.extensions import Arbitration, Election, read
from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.gnmi.mirror import tree
from srv6mgrd.gnmi.path import Path, elems, parse, resolve, text
from srv6mgrd.gnmi.view import Model, Selection, Snapshot
from tests.unit.gnmi.models import schema


def election(high: int, low: int, role: str | None = None) -> Any:
    given = ext.MasterArbitration(election_id=ext.Uint128(high=high, low=low))
    if role is not None:
        given.role.id = role
    return ext.Extension(master_arbitration=given)


def code(call: Any, *arguments: Any) -> grpc.StatusCode:
    with pytest.raises(RpcError) as e:
        call(*arguments)
    assert e.value.text.count("; ") == 1, e.value.text
    return e.value.code


def test_an_extension_belongs_to_its_rpc() -> None:
    depth = pb.GetRequest(extension=[ext.Extension(depth=ext.Depth(level=2))])
    assert read(depth, extensions.GET).depth == 2
    assert code(read, depth, extensions.SET) is grpc.StatusCode.INVALID_ARGUMENT
    assert code(read, depth, extensions.CAPABILITIES) is grpc.StatusCode.INVALID_ARGUMENT
    master = pb.SetRequest(extension=[election(1, 2, "r")])
    assert read(master, extensions.SET).election == Election("r", (1 << 64) + 2)
    assert code(read, master, extensions.GET) is grpc.StatusCode.INVALID_ARGUMENT
    history = pb.GetRequest(extension=[ext.Extension(history=ext.History(snapshot_time=1))])
    assert code(read, history, extensions.SUBSCRIBE) is grpc.StatusCode.UNIMPLEMENTED
    own = ext.RegisteredExtension(id=ext.EID_EXPERIMENTAL, msg=b"x")
    unknown = pb.GetRequest(extension=[ext.Extension(registered_ext=own)])
    assert read(unknown, extensions.GET) == extensions.Extensions()


def test_arbitration_is_by_role_and_by_the_highest_election() -> None:
    arbitration = Arbitration()
    for each in (None, Election("", 5), Election("", 5), Election("other", 1), Election("", 7)):
        arbitration.check(each)
    assert code(arbitration.check, Election("", 5)) is grpc.StatusCode.PERMISSION_DENIED
    arbitration.check(Election("other", 1))
    arbitration.check(Election("", 1 << 65))
    assert code(arbitration.check, Election("", 7)) is grpc.StatusCode.PERMISSION_DENIED
    nobody = pb.SetRequest(extension=[ext.Extension(master_arbitration=ext.MasterArbitration())])
    assert code(read, nobody, extensions.SET) is grpc.StatusCode.INVALID_ARGUMENT


def test_roles_do_not_fill_the_memory() -> None:
    arbitration = Arbitration()
    for n in range(1000):
        arbitration.check(Election(str(n), 1))
    assert code(arbitration.check, Election("x", 1)) is grpc.StatusCode.RESOURCE_EXHAUSTED
    arbitration.check(Election("5", 2))


@pytest.mark.parametrize(
    ("path", "depth", "given"),
    [
        ("/srv6", 1, set()),
        ("/srv6/vrfs", 1, set()),
        ("/srv6/vrfs", 2, {"name", "table-id", "interface"}),
        ("/srv6/vrfs/vrf", 1, {"name", "table-id", "interface"}),
        ("/srv6/vrfs/vrf", 2, {"name", "table-id", "interface", "bgp/rd"}),
        ("/srv6/vrfs/vrf/table-id", 1, {"table-id"}),
        ("/srv6/vrfs/vrf", 0, {"name", "table-id", "interface", "bgp/rd", "redistribute"}),
    ],
)  # gnmi-depth.md 3.1, 3.2
def test_depth_counts_levels_below_the_path(path: str, depth: int, given: set[str]) -> None:
    top = schema()
    model = Model(top)
    vrf = {
        "name": "red",
        "table-id": 100,
        "interface": ["eth1"],
        "srv6mgr-bgp:bgp": {"rd": "1:1", "redistribute": {"connected": True}},
    }
    config = tree(top, {"srv6mgr-srv6:srv6": {"vrfs": {"vrf": [vrf]}}})
    snapshot = Snapshot(model, config)
    chosen = Selection(lambda _: True, depth=depth)
    (pattern,) = resolve(top, Path(parse(path)))
    leaves, kept = set(), []
    for at, data in snapshot.find(pattern):
        leaves |= {text(elems(leaf)) for leaf, _ in snapshot.leaves(at, data, chosen)}
        kept.append(snapshot.subtree(at, data, chosen))
    red = "/srv6/vrfs/vrf[name=red]"
    wanted = {f"{red}/{n}" for n in given if n != "redistribute"}
    if "redistribute" in given:
        wanted.add(f"{red}/bgp/redistribute/connected")
    assert leaves == wanted
    assert ("rd" in str(kept)) is ("bgp/rd" in given)
    assert ("connected" in str(kept)) is ("redistribute" in given)
