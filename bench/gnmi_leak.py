"""What is left of ten thousand Subscribe RPCs that were cancelled, and of as many Sets."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
from gnmi_pb import gnmi_pb2 as pb
from gnmi_pb import gnmi_pb2_grpc as stubs

from bench.gnmi_servers import Feeder, Server, configure, ours
from bench.report import Goal

TIMES = 10_000
# The first ones fill what is kept for good: caches, threads, arenas.
WARM_UP = 2_000
SIDS = 10
# MiB.
GOAL = 2.0
# gRPC's own pool grows with the load, and shrinks again later.
POOL = 3


def leaks(folder: Path) -> list[Goal]:
    """What memory and threads grow by."""
    configure(SIDS)
    (folder / "store").unlink(missing_ok=True)
    feeder = Feeder(folder / "store", SIDS, 0.05)
    goals = []
    try:
        with ours(folder) as server, grpc.insecure_channel(server.plain) as channel:
            stub = stubs.gNMIStub(channel)
            for what, work in (("subscribe and cancel", _subscribe), ("Sets", _set)):
                memory, threads = _grown(server, what, work(stub))
                name = f"{TIMES} {what}"
                goals += [
                    Goal(f"{name}, memory grown", [memory], [], GOAL, "MiB"),
                    Goal(f"{name}, threads more", [threads], [], POOL, ""),
                ]
    finally:
        feeder.close()
    return goals


def _grown(server: Server, what: str, work: Iterator[None]) -> tuple[float, float]:
    for _ in itertools.islice(work, WARM_UP):
        pass
    memory, threads = server.memory(), server.threads()
    for n, _ in enumerate(itertools.islice(work, TIMES), 1):
        if n % (TIMES // 5) == 0:
            print(f"-- {what} {n}: {server.memory():.1f} MiB, {server.threads()} threads",
                  file=sys.stderr, flush=True)  # fmt: skip
    return server.memory() - memory, float(server.threads() - threads)


def _path(*names: str, **keys: str) -> Any:
    """The keys are those of the last element."""
    elements = [pb.PathElem(name=name) for name in names]
    elements[-1].key.update(keys)
    return pb.Path(elem=elements)


def _subscribe(stub: Any) -> Iterator[None]:
    """Every kind in turn, left once before anything has come and once after it all has."""
    where = _path("srv6")
    counters = _path("srv6", "local-sids", "sid", "state", "counters")
    kinds = [
        (pb.SubscriptionList.STREAM, pb.Subscription(path=where, mode=pb.ON_CHANGE)),
        (pb.SubscriptionList.STREAM, pb.Subscription(path=counters, mode=pb.ON_CHANGE)),
        (pb.SubscriptionList.STREAM,
         pb.Subscription(path=where, mode=pb.SAMPLE, sample_interval=10**8)),
        (pb.SubscriptionList.STREAM,
         pb.Subscription(path=counters, mode=pb.SAMPLE, suppress_redundant=True)),
        (pb.SubscriptionList.STREAM, pb.Subscription(path=where, heartbeat_interval=10**8)),
        (pb.SubscriptionList.POLL, pb.Subscription(path=where)),
        (pb.SubscriptionList.ONCE, pb.Subscription(path=where)),
    ]  # fmt: skip
    for n in itertools.count():
        mode, subscription = kinds[n % len(kinds)]
        asked = pb.SubscriptionList(subscription=[subscription], mode=mode, encoding=pb.PROTO)
        call = stub.Subscribe(iter([pb.SubscribeRequest(subscribe=asked)]))
        if n // len(kinds) % 2:
            for answer in call:
                if answer.sync_response:
                    break
        call.cancel()
        yield


def _set(stub: Any) -> Iterator[None]:
    """Changes of every kind, and some that are rejected."""
    vrf = _path("srv6", "vrfs", "vrf", name="blue")
    calls: list[Callable[[int], Any]] = [
        lambda n: pb.SetRequest(update=[_update(vrf, {"table-id": 1000 + n % 100})]),
        lambda n: pb.SetRequest(replace=[_update(vrf, {"table-id": 2000 + n % 100})]),
        lambda _: pb.SetRequest(update=[_update(vrf, {"table-id": "x"})]),
        lambda _: pb.SetRequest(replace=[_update(vrf, {"table-id": 10})]),
        lambda _: pb.SetRequest(delete=[vrf]),
    ]
    rejected = 0
    for n in itertools.count():
        try:
            stub.Set(calls[n % len(calls)](n))
        except grpc.RpcError as e:
            rejected += 1
            if n % len(calls) not in (2, 3):
                raise RuntimeError("a good Set was refused") from e
        if n == len(calls) and rejected != 2:
            raise RuntimeError("a bad Set was taken")
        yield


def _update(where: Any, value: dict[str, Any]) -> Any:
    return pb.Update(path=where, val=pb.TypedValue(json_ietf_val=json.dumps(value).encode()))
