"""The beginning of a Subscribe RPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.gnmi import wire
from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.gnmi.feed import TelemetryFeed
from srv6mgrd.gnmi.path import parse
from srv6mgrd.gnmi.subscribe import Subscription, Telemetry, first_request
from srv6mgrd.gnmi.view import Model, Snapshot
from srv6mgrd.gnmi.watch import SampleLimits, watches
from srv6mgrd.gnmi.workers import Caller, Workers
from tests.unit.gnmi.models import SRV6, schema


async def requests(*given: Any) -> AsyncIterator[Any]:
    for request in given:
        yield request


async def nothing() -> AsyncIterator[Any]:
    await asyncio.Event().wait()
    yield None


async def test_the_list_comes_first() -> None:
    asked = pb.SubscribeRequest(
        subscribe=pb.SubscriptionList(subscription=[pb.Subscription()], encoding=pb.PROTO)
    )
    assert await first_request(requests(asked)) is asked
    for given in ([], [pb.SubscribeRequest()], [pb.SubscribeRequest(poll=pb.Poll())]):
        with pytest.raises(RpcError, match="there is no subscription yet") as e:
            await first_request(requests(*given))
        assert e.value.code is grpc.StatusCode.INVALID_ARGUMENT


async def test_who_says_nothing_is_not_waited_for() -> None:
    with pytest.raises(RpcError, match=r"no SubscriptionList came for 0\.01 s") as e:
        await first_request(nothing(), 0.01)
    assert e.value.code is grpc.StatusCode.DEADLINE_EXCEEDED


COUNTERS = "/srv6/local-sids/sid[prefix=*]/state/counters"


@pytest.mark.parametrize("mode", [pb.ON_CHANGE, pb.SAMPLE, pb.TARGET_DEFINED])
def test_counters_of_all_sids_are_one_watch_however_they_are_named(mode: int) -> None:
    def packed(*paths: str, **more: Any) -> list[set[str]]:
        asked = pb.SubscriptionList(
            subscription=[
                pb.Subscription(path=wire.path(parse(path)), mode=mode) for path in paths
            ],
            **more,
        )
        found = watches(Model(schema()), asked, frozenset({SRV6}), SampleLimits())
        return [{leaf.name for leaf in w.packed} for w in found if w.only_packed]

    leaves = [f"{COUNTERS}/{name}" for name in ("in-pkts", "in-octets")]
    assert packed(*leaves) == [{"in-pkts", "in-octets"}]
    assert packed(*leaves, leaves[0]) == [{"in-pkts", "in-octets"}]
    assert packed(f"{COUNTERS}/in-pkts") == [{"in-pkts"}]


def test_counters_at_another_pace_are_another_watch() -> None:
    asked = pb.SubscriptionList()
    for seconds in (1, 2, 1):
        asked.subscription.add(
            path=wire.path(parse(COUNTERS)), mode=pb.SAMPLE, sample_interval=seconds * 10**9
        )
    found = watches(Model(schema()), asked, frozenset({SRV6}), SampleLimits())
    assert [w.interval for w in found] == [1, 2]


class StillFeed:
    """A router on which nothing happens."""

    def __init__(self, model: Model) -> None:
        self.model, self.root = model, model.root
        self.read: list[str] = []

    async def snapshot(self) -> Snapshot:
        self.read.append("counters")
        return Snapshot(self.model)

    async def without_counters(self) -> Snapshot:
        self.read.append("status")
        return Snapshot(self.model)

    async def sample(self) -> None:
        return None


@pytest.mark.parametrize(
    ("named", "read"), [("/srv6", "status"), ("/srv6/local-sids/sid[prefix=a]", "counters")]
)
async def test_counters_are_read_for_who_asks_for_them(named: str, read: str) -> None:
    """But where they are sent as they are stored: to read them takes long."""
    feed = StillFeed(Model(schema()))
    item = pb.Subscription(path=wire.path(parse(named)), mode=pb.SAMPLE)
    asked = pb.SubscriptionList(subscription=[item], encoding=pb.PROTO)
    found = watches(feed.model, asked, frozenset({SRV6}), SampleLimits())
    workers, synced = Workers(2), asyncio.Event()

    async def write(message: Any) -> None:
        synced.set()

    telemetry = Telemetry(cast(TelemetryFeed, feed), workers, SampleLimits())
    rpc = Subscription(telemetry, Caller(), asked, found, write)
    stream = asyncio.create_task(rpc.stream(nothing()))
    await synced.wait()
    stream.cancel()
    await asyncio.gather(stream, return_exceptions=True)
    workers.close()
    assert set(feed.read) == {read}
