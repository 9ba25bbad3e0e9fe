"""Subscribe (gnmi-specification.md 3.5): modes, paths, encodings, and what is rejected."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_ext_pb2 as ext
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.model.status import InstallStatus, ObjectStatus
from tests.contract.gnmi.client import Client, Core, deletes, shown, subscription, updates
from tests.contract.gnmi.data import ENTRY, INSTALLED, RED, RED_REF

ONCE, POLL = pb.SubscriptionList.ONCE, pb.SubscriptionList.POLL


def rejected(gnmi: Client, *subscriptions: Any, **fields: Any) -> grpc.StatusCode:
    with gnmi.subscribe(*subscriptions, **fields) as stream, pytest.raises(grpc.RpcError) as e:
        stream.drain()
    code: grpc.StatusCode = e.value.code()  # type: ignore[attr-defined]
    return code


def test_once_gives_leaves_then_sync_then_ends(router: Client) -> None:
    asked = pb.SubscriptionList(
        mode=ONCE, encoding=pb.PROTO, subscription=[subscription("/srv6/vrfs")]
    )
    answers = list(router.stub.Subscribe(iter([pb.SubscribeRequest(subscribe=asked)])))
    assert answers[-1].sync_response
    leaves: dict[str, Any] = {}
    for answer in answers[:-1]:
        leaves |= updates(answer.update)
    assert leaves == {f"{RED}/name": "red", f"{RED}/table-id": 100, f"{RED}/interface": ["eth1"]}


def test_once_says_nothing_of_what_is_not_there(router: Client) -> None:
    with router.subscribe(
        subscription("/srv6/vrfs/vrf[name=green]"), subscription(f"{RED}/table-id"), mode=ONCE
    ) as stream:
        assert stream.until_sync() == {f"{RED}/table-id": 100}


def test_poll_tells_what_is_then_answers_each_poll(router: Client) -> None:
    with router.subscribe(subscription(f"{RED}/table-id"), mode=POLL) as stream:
        assert stream.until_sync() == {f"{RED}/table-id": 100}
        assert stream.quiet()
        for table in (100, 101):
            router.set(update={f"{RED}/table-id": table})
            stream.send(pb.SubscribeRequest(poll=pb.Poll()))
            assert stream.until_sync() == {f"{RED}/table-id": table}


def test_updates_only_begins_with_sync(router: Client) -> None:
    with router.subscribe(subscription("/srv6"), updates_only=True) as stream:
        assert stream.next().sync_response
        router.set(update={f"{RED}/table-id": 102})
        assert updates(stream.next().update) == {f"{RED}/table-id": 102}
    with router.subscribe(subscription("/srv6"), updates_only=True, mode=POLL) as stream:
        assert stream.next().sync_response
        stream.send(pb.SubscribeRequest(poll=pb.Poll()))
        assert stream.until_sync()
    with router.subscribe(subscription("/srv6"), updates_only=True, mode=ONCE) as stream:
        assert stream.next().sync_response


def test_a_path_that_does_not_exist_yet_keeps_the_stream_open(router: Client) -> None:
    green = "/srv6/vrfs/vrf[name=green]"
    with router.subscribe(subscription(green)) as stream:
        assert stream.until_sync() == {}
        router.set(update={green: {"table-id": 300}})
        assert updates(stream.next().update) == {f"{green}/name": "green", f"{green}/table-id": 300}


def test_depth_limits_what_is_reported(router: Client, core: Core) -> None:
    depth = ext.Extension(depth=ext.Depth(level=1))
    core.report({RED_REF: INSTALLED})
    asked = pb.SubscriptionList(subscription=[subscription(RED)], encoding=pb.JSON_IETF)
    request = pb.SubscribeRequest(subscribe=asked, extension=[depth])
    with router.requests(request) as stream:
        own = {f"{RED}/{leaf}" for leaf in ("name", "table-id", "interface")}
        assert set(stream.until_sync()) == own
        core.report({RED_REF: ObjectStatus(InstallStatus.PENDING, "wait")})
        router.set(update={f"{RED}/table-id": 106})
        assert updates(stream.next().update) == {f"{RED}/table-id": 106}


def test_overlapping_subscriptions_report_a_leaf_once(router: Client) -> None:
    with router.subscribe(subscription("/srv6/vrfs"), subscription(RED)) as stream:
        stream.until_sync()
        router.set(update={f"{RED}/table-id": 103})
        (update,) = stream.next().update.update
        assert update.val.json_ietf_val == b"103"
        assert stream.quiet()


@pytest.mark.parametrize(
    "string",
    [
        "/srv6/vrfs/vrf/table-id",
        "/srv6/vrfs/vrf[name=*]/table-id",
        "/srv6/*/vrf/table-id",
        "/srv6/.../table-id",
        "/.../table-id",
    ],
)
def test_wildcards_report_every_instance_and_those_to_come(router: Client, string: str) -> None:
    tables = {f"{RED}/table-id": 100, "/srv6/vrfs/vrf[name=green]/table-id": 300}
    with router.subscribe(subscription(string)) as stream:
        assert stream.until_sync() == {f"{RED}/table-id": 100}
        router.set(update={"/srv6/vrfs/vrf[name=green]": {"table-id": 300}})
        assert updates(stream.next().update) == {"/srv6/vrfs/vrf[name=green]/table-id": 300}
        router.set(delete=["/srv6/vrfs/vrf[name=green]"])
        assert deletes(stream.next().update) == ["/srv6/vrfs/vrf[name=green]/table-id"]
    router.set(update={"/srv6/vrfs/vrf[name=green]": {"table-id": 300}})
    with router.subscribe(subscription(string), mode=ONCE) as stream:
        assert stream.until_sync() == tables


@pytest.mark.parametrize(
    ("encoding", "field", "values"),
    [
        (pb.JSON_IETF, "json_ietf_val", ("red", 100, ["eth1"], "End.DT46")),
        (pb.JSON, "json_val", ("red", 100, ["eth1"], "End.DT46")),
        (pb.ASCII, "ascii_val", ("red", "100", "eth1", "End.DT46")),
        (pb.PROTO, "", ("red", 100, ["eth1"], "End.DT46")),
    ],
)
@pytest.mark.parametrize("how", [pb.ON_CHANGE, pb.SAMPLE, pb.TARGET_DEFINED])
def test_leaves_in_every_encoding(
    router: Client, how: int, encoding: int, field: str, values: tuple[Any, ...]
) -> None:
    name, table, interfaces, behavior = values
    asked = (subscription(RED, how), subscription(f"{ENTRY}/behavior", how))
    with router.subscribe(*asked, encoding=encoding) as stream:
        leaves: dict[str, Any] = {}
        while not (answer := stream.next()).sync_response:
            leaves |= updates(answer.update)
            fields = {u.val.WhichOneof("value") for u in answer.update.update}
            assert not field or fields == {field}
        assert leaves == {
            f"{RED}/name": name,
            f"{RED}/table-id": table,
            f"{RED}/interface": interfaces,
            f"{ENTRY}/behavior": behavior,
        }
        router.set(update={f"{RED}/table-id": 101})
        reported = table
        while reported == table:
            reported = updates(stream.next().update).get(f"{RED}/table-id", table)
        assert str(reported) == "101"


def test_aggregation_and_marking_are_taken_and_leaves_are_sent(router: Client) -> None:
    """3.5.1.2 leaves both to the target."""
    more = {"allow_aggregation": True, "qos": pb.QOSMarking(marking=46)}
    for mode in (ONCE, POLL, pb.SubscriptionList.STREAM):
        with router.subscribe(subscription("/srv6/vrfs"), mode=mode, **more) as stream:
            reported = []
            while not (answer := stream.next()).sync_response:
                reported.append(answer.update)
            assert not any(n.atomic for n in reported)
            paths = [shown(u.path) for n in reported for u in n.update]
            assert sorted(paths) == sorted(f"{RED}/{n}" for n in ("interface", "name", "table-id"))


def test_use_models_restricts(router: Client) -> None:
    bgp = {"as-number": 65000, "router-id": "192.0.2.1"}
    only = [pb.ModelData(name="srv6mgr-bgp")]
    router.set(update={"/srv6/bgp": bgp})
    with router.subscribe(subscription("/srv6"), use_models=only) as stream:
        assert stream.until_sync() == {f"/srv6/bgp/{name}": v for name, v in bgp.items()}
        router.set(update={f"{RED}/table-id": 101, "/srv6/bgp/as-number": 65001})
        assert updates(stream.next().update) == {"/srv6/bgp/as-number": 65001}
        assert stream.quiet()
    other = [pb.ModelData(name="openconfig-bgp")]
    assert rejected(router, subscription("/srv6"), use_models=other) is UNIMPLEMENTED


def test_no_path_is_reported_twice_in_a_notification(router: Client) -> None:
    asked = [subscription(p) for p in ("/", "/srv6", "/srv6/.../table-id", RED, f"{RED}/table-id")]
    with router.subscribe(*asked) as stream:
        reported = []
        while not (answer := stream.next()).sync_response:
            assert answer.update.timestamp > 0
            reported += [shown(u.path) for u in answer.update.update]
        assert len(reported) == len(set(reported))


def test_target_comes_back(router: Client) -> None:
    with router.subscribe(subscription(RED), prefix=pb.Path(target="pe1")) as stream:
        assert stream.next().update.prefix.target == "pe1"
    with router.subscribe(subscription(RED)) as stream:
        assert not stream.next().update.HasField("prefix")


INVALID, UNIMPLEMENTED = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNIMPLEMENTED


def test_subscriptions_that_are_rejected(router: Client) -> None:
    fast = subscription(RED, pb.SAMPLE, sample_interval=0.001)
    assert rejected(router, fast) is INVALID
    assert rejected(router, subscription(RED, pb.TARGET_DEFINED, sample_interval=1)) is INVALID
    assert rejected(router) is INVALID
    assert rejected(router, subscription("/srv6/vrfs/vrf[nme=red]")) is INVALID
    assert rejected(router, subscription("/interfaces")) is UNIMPLEMENTED
    assert rejected(router, subscription("/srv6/nonsense"), mode=ONCE) is UNIMPLEMENTED
    assert rejected(router, subscription(RED), encoding=pb.BYTES) is UNIMPLEMENTED


def test_requests_out_of_order(router: Client) -> None:
    asked = pb.SubscribeRequest(subscribe=pb.SubscriptionList(subscription=[subscription(RED)]))
    for first, second in (
        (pb.SubscribeRequest(poll=pb.Poll()), None),
        (pb.SubscribeRequest(), None),
        (asked, asked),
        (asked, pb.SubscribeRequest(poll=pb.Poll())),
    ):
        requests = [first] if second is None else [first, second]
        with router.requests(*requests) as stream, pytest.raises(grpc.RpcError) as e:
            stream.drain()
        assert e.value.code() is INVALID  # type: ignore[attr-defined]


def test_many_streams_end_without_trace(router: Client) -> None:
    for _ in range(20):
        with router.subscribe(subscription("/srv6")) as stream:
            stream.until_sync()
    router.set(update={f"{RED}/table-id": 104})
    assert router.value(f"{RED}/table-id") == 104
