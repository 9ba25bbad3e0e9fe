"""No client takes more work, time or memory than a request may, or keeps others from theirs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from lab.waiting import wait_until
from srv6mgrd.clients.passwords import hash_password
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.contract.gnmi.client import Client, Core, path, subscription
from tests.contract.gnmi.conftest import Server
from tests.contract.gnmi.data import SRV6

EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
MIB = 1 << 20
DEEP = "/..." * 30


def failure(call: Callable[[], Any]) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as e:
        call()
    error: Any = e.value
    return error.code(), error.details()


@pytest.fixture
def router(gnmi: Client) -> Client:
    gnmi.set(update={"/srv6": SRV6})
    # A server that was there before the commit socket follows it after a moment.
    wait_until(lambda: has_vrf(gnmi))
    return gnmi


def has_vrf(client: Client) -> bool:
    try:
        return bool(client.get("/srv6/vrfs/vrf[name=red]"))
    except grpc.RpcError:
        return False


@pytest.fixture
def other(server: Server) -> Iterator[Client]:
    """Another client, with a connection of its own."""
    client = Client(f"unix:{server.socket}", own_connection=True)
    yield client
    client.close()


def test_a_path_of_many_multilevel_wildcards_is_one_like_another(router: Client) -> None:
    assert router.get(f"{DEEP}/table-id") == router.get("/.../table-id")
    code, text = failure(lambda: router.raw_get(f"{DEEP}/nonsense"))
    assert (code, "no node 'nonsense'" in text) == (grpc.StatusCode.NOT_FOUND, True)
    with router.subscribe(subscription(f"{DEEP}/table-id")) as stream:
        assert stream.until_sync() == router.get("/.../table-id")


def test_paths_and_their_elements_are_limited(router: Client) -> None:
    code, text = failure(lambda: router.raw_get("/srv6" * 65))
    assert (code, "64 are taken" in text) == (EXHAUSTED, True)
    code, text = failure(lambda: router.raw_get(*["/srv6"] * 1001))
    assert (code, "1000 are taken" in text) == (EXHAUSTED, True)
    assert failure(lambda: router.raw_get("/srv6", *["/" + "x" * MIB] * 5))[0] is EXHAUSTED


def bombs(address: str, number: int, metadata: Any = ()) -> list[grpc.StatusCode]:
    """So many requests of 60 MB at once, which have 60 kB on the wire."""
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_send_message_length", -1)]
    channel = grpc.insecure_channel(address, options, grpc.Compression.Gzip)
    call = channel.unary_unary("/gnmi.gNMI/Get", None, lambda answer: answer)
    request = bytes(60 * MIB)
    calls = [call.future(request, timeout=60, metadata=metadata) for _ in range(number)]
    codes = [c.code() for c in calls]
    channel.close()
    return codes


def test_a_request_is_taken_in_when_its_client_is_known(place: Path) -> None:
    users = Server(
        place,
        "memory",
        f'plaintext = ["unix:{place}/memory.sock"]\nlisten = []\n'
        f'[users]\nalice = "{hash_password("secret")}"',
    )
    address = f"unix:{place}/memory.sock"
    try:
        users.forget_peak()
        before = users.peak()
        nobody = (("username", "mallory"),)
        assert set(bombs(address, 6, nobody)) == {grpc.StatusCode.PERMISSION_DENIED}
        assert users.peak() - before < 32

        known = (("username", "alice"), ("password", "secret"))
        assert set(bombs(address, 4, known)) == {EXHAUSTED}
        # Two are in memory at once, each as it came, inflated, and as it is given to Python.
        assert users.peak() - before < 640
    finally:
        assert users.stop() == 0


def longest(client: Client, while_: Any) -> float:
    """Seconds of the longest Capabilities while something goes on."""
    return longest_of(client.capabilities, while_)


def longest_of(call: Callable[[], object], while_: Any) -> float:
    worst = 0.0
    while not while_.done():
        begin = time.monotonic()
        call()
        worst = max(worst, time.monotonic() - begin)
    return worst


def test_large_sets_that_are_rejected_hold_up_nobody(router: Client, other: Client) -> None:
    value = b'{"nonsense":"' + b"x" * 60 * MIB + b'"}'
    update = {"/srv6/vrfs": pb.TypedValue(json_ietf_val=value)}
    with ThreadPoolExecutor(5) as pool:
        sets = [pool.submit(failure, lambda: router.set(update=update)) for _ in range(4)]
        waited = pool.submit(lambda: [s.result() for s in sets])
        assert longest(other, waited) < 3
        codes = {code for code, _ in waited.result()}
    # On a busy machine they take long to arrive, and of those one client has one place.
    assert grpc.StatusCode.NOT_FOUND in codes
    assert codes <= {grpc.StatusCode.NOT_FOUND, grpc.StatusCode.DEADLINE_EXCEEDED}


@pytest.mark.parametrize("asked_for", ["/", "/..." * 64])
def test_one_who_asks_for_everything_holds_up_nobody(
    server: Server, router: Client, other: Client, asked_for: str
) -> None:
    """A reader of one leaf waits for slices of the others, however they are encoded."""
    sids = [f"fcbb:0:1:{n:x}::/64" for n in range(0x1000, 0x1000 + 2000)]
    entries = [{"prefix": p, "locator": "main", "behavior": "End"} for p in sids]
    router.set(update={"/srv6/local-sids": {"sid": entries}})
    every = pb.GetRequest(path=[path(asked_for)] * 1000, encoding=pb.PROTO)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(failure, lambda: router.stub.Get(every, timeout=4))
        assert longest_of(lambda: other.value("/srv6/vrfs/vrf[name=red]/table-id"), asked) < 1
        assert asked.result()[0] is grpc.StatusCode.DEADLINE_EXCEEDED
    # Its work ended when it left.
    wait_until(lambda: load(server) < 0.2)


def test_sampling_as_often_as_can_be_holds_up_nobody(
    server: Server, router: Client, core: Core, other: Client
) -> None:
    sids = [f"fcbb:0:1:{n:x}::/64" for n in range(0x1000, 0x1000 + 2000)]
    entries = [{"prefix": p, "locator": "main", "behavior": "End"} for p in sids]
    router.set(update={"/srv6/local-sids": {"sid": entries}})
    core.report({ObjectRef(Kind.SID, p): ObjectStatus(InstallStatus.INSTALLED) for p in sids})
    core.count({p: SidCounters(1, 2, 3, 4) for p in sids})
    whole = subscription("/srv6/local-sids", pb.SAMPLE)
    with router.subscribe(whole) as one, router.subscribe(whole) as two:
        for stream in (one, two):
            assert len(stream.until_sync()) > 20_000
        for _ in range(100):
            one.next()
            two.next()
        assert load(server) < 0.7
        for _ in range(20):
            begin = time.monotonic()
            other.value("/srv6/vrfs/vrf[name=red]/table-id")
            assert time.monotonic() - begin < 0.5


def load(server: Server) -> float:
    """The part of a core that it keeps busy."""
    begin, used = time.monotonic(), server.cpu()
    while time.monotonic() < begin + 0.3:
        pass
    return (server.cpu() - used) / (time.monotonic() - begin)
