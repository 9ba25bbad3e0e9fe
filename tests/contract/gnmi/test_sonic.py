"""Counters as sonic-gnmi serves them: target COUNTERS_DB, COUNTERS/SID*, live (docs/gnmi.md)."""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.contract.gnmi.client import Client, Core, Stream
from tests.contract.gnmi.data import SID, SRV6

INSTALLED = ObjectStatus(InstallStatus.INSTALLED)
OTHER = "fcbb:0:1:65::1/128"
# 32 bits of block, 16 of node, 16 of function.
NAMES = {SID: SID, OTHER: "fcbb:0:1:65::1/64"}
PREFIX = pb.Path(target="COUNTERS_DB")
ONCE, POLL, STREAM = (
    pb.SubscriptionList.ONCE,
    pb.SubscriptionList.POLL,
    pb.SubscriptionList.STREAM,
)


@pytest.fixture
def router(gnmi: Client, core: Core) -> Client:
    gnmi.set(update={"/srv6": SRV6})
    core.report({ObjectRef(Kind.SID, SID): INSTALLED})
    core.count({SID: SidCounters(7, 700, 1, 1)}, at=5)
    return gnmi


def sids(*names: str, origin: str = "") -> Any:
    return pb.Path(origin=origin, elem=[pb.PathElem(name=name) for name in names])


def fields(packets: int, octets: int, errors: int) -> dict[str, str]:
    return {
        "SAI_COUNTER_STAT_PACKETS": str(packets),
        "SAI_COUNTER_STAT_BYTES": str(octets),
        "SRV6MGR_STAT_ERRORS": str(errors),
    }


def get(gnmi: Client, path: Any, **more: Any) -> Any:
    more = {"prefix": PREFIX, "encoding": pb.JSON_IETF, **more}
    answer = gnmi.stub.Get(pb.GetRequest(path=[path], **more), timeout=10)
    (notification,) = answer.notification
    (update,) = notification.update
    assert update.path == path
    assert notification.prefix.target == more["prefix"].target
    return json.loads(update.val.json_ietf_val or update.val.json_val)


def code(gnmi: Client, path: Any, **more: Any) -> grpc.StatusCode:
    with pytest.raises(grpc.RpcError) as e:
        get(gnmi, path, **more)
    error: Any = e.value
    assert error.details().count("; ") == 1, error.details()
    found: grpc.StatusCode = error.code()
    return found


def test_get_of_all_and_of_one(router: Client) -> None:
    assert get(router, sids("COUNTERS", "SID*")) == {SID: fields(7, 700, 1)}
    assert get(router, sids("COUNTERS", f"SID:{SID}"), encoding=pb.JSON) == fields(7, 700, 1)
    below = sids("COUNTERS_DB", "localhost", "COUNTERS", "SID*", origin="sonic-db")
    assert get(router, below, prefix=pb.Path()) == {SID: fields(7, 700, 1)}


def test_a_sid_that_came_later_is_there_at_once(router: Client, core: Core) -> None:
    entry = {"prefix": OTHER, "locator": "main", "behavior": "End"}
    router.set(update={f"/srv6/local-sids/sid[prefix={OTHER}]": entry})
    core.report({ObjectRef(Kind.SID, p): INSTALLED for p in (SID, OTHER)})
    core.count({SID: SidCounters(7, 700, 1, 1), OTHER: SidCounters(1, 2, 3, 1)})
    assert get(router, sids("COUNTERS", "SID*")) == {
        NAMES[SID]: fields(7, 700, 1),
        NAMES[OTHER]: fields(1, 2, 3),
    }
    router.set(update={f"/srv6/local-sids/sid[prefix={OTHER}]/counters": False})
    assert code(router, sids("COUNTERS", f"SID:{NAMES[OTHER]}")) is grpc.StatusCode.NOT_FOUND


def test_what_is_not_served(router: Client) -> None:
    unimplemented = grpc.StatusCode.UNIMPLEMENTED
    assert code(router, sids("COUNTERS", "SID:fc00::/64")) is grpc.StatusCode.NOT_FOUND
    assert code(router, sids("COUNTERS", "Ethernet*")) is unimplemented
    assert code(router, sids("COUNTERS_SRV6_NAME_MAP")) is unimplemented
    config = sids("CONFIG_DB", "localhost", "VRF", origin="sonic-db")
    assert code(router, config, prefix=pb.Path()) is unimplemented
    assert code(router, sids("COUNTERS", "SID*"), encoding=pb.PROTO) is unimplemented


def reported(stream: Stream) -> Any:
    (update,) = stream.next().update.update
    return json.loads(update.val.json_ietf_val)


@pytest.mark.parametrize("mode", [ONCE, POLL])
def test_once_and_poll(router: Client, mode: int) -> None:
    asked = pb.Subscription(path=sids("COUNTERS", "SID*"))
    with router.subscribe(asked, mode=mode, prefix=PREFIX) as stream:
        for _ in range(1 if mode == ONCE else 3):
            assert reported(stream) == {SID: fields(7, 700, 1)}
            assert stream.next().sync_response
            if mode == POLL:
                stream.send(pb.SubscribeRequest(poll=pb.Poll()))


def test_samples(router: Client, core: Core) -> None:
    asked = pb.Subscription(
        path=sids("COUNTERS", f"SID:{SID}"), mode=pb.SAMPLE, sample_interval=100_000_000
    )
    with router.subscribe(asked, prefix=PREFIX) as stream:
        assert reported(stream) == fields(7, 700, 1)
        assert stream.next().sync_response
        core.count({SID: SidCounters(8, 800, 1, 1)})
        while reported(stream) != fields(8, 800, 1):
            pass


def test_on_change(router: Client, core: Core) -> None:
    asked = pb.Subscription(path=sids("COUNTERS", f"SID:{SID}"), mode=pb.ON_CHANGE)
    with router.subscribe(asked, prefix=PREFIX) as stream:
        assert reported(stream) == fields(7, 700, 1)
        assert stream.next().sync_response
        assert stream.quiet()
        core.count({SID: SidCounters(8, 800, 1, 1)})
        assert reported(stream) == fields(8, 800, 1)
        router.set(delete=[f"/srv6/local-sids/sid[prefix={SID}]"])
        assert list(stream.next().update.delete) == [sids("COUNTERS", f"SID:{SID}")]


def test_a_stream_is_as_fast_as_the_server_lets_it(router: Client) -> None:
    asked = pb.Subscription(path=sids("COUNTERS", "SID*"), mode=pb.SAMPLE, sample_interval=1)
    with router.subscribe(asked, prefix=PREFIX) as stream, pytest.raises(grpc.RpcError) as e:
        stream.drain()
    error: Any = e.value
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
