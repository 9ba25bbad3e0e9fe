"""What clients do wrong: the status that the specification names, words, nothing changed, nothing
left behind."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from lab.waiting import wait_until
from tests.contract.gnmi.client import Client, Core, path, subscription, updates
from tests.contract.gnmi.conftest import Server
from tests.contract.gnmi.data import SRV6
from tests.contract.gnmi.test_read import failing

RED = "/srv6/vrfs/vrf[name=red]"
TABLE = f"{RED}/table-id"
LENGTH = "/srv6/locators/locator[name=main]/function-length"
INVALID = grpc.StatusCode.INVALID_ARGUMENT
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
MIB = 1 << 20


@pytest.fixture
def router(gnmi: Client) -> Client:
    gnmi.set(update={"/srv6": SRV6})
    return gnmi


# gRPC's own pool grows with the load, and shrinks again later.
POOL = 3


class Holdings:
    """What a server holds: threads, open files, and sysrepo's connections, event pipes and the
    shared memory where subscriptions stand (bytes)."""

    def __init__(self, server: Server, place: Path) -> None:
        self._process = Path("/proc") / str(server.process.pid)
        self._place = place

    def now(self) -> dict[str, int]:
        repository = self._place / "repository"
        return {
            "threads": len(list((self._process / "task").iterdir())),
            "files": len(os.listdir(self._process / "fd")),
            "connections": len(list((repository / "conn").iterdir())),
            "pipes": len(list(repository.glob("sr_evpipe*"))),
            "shared": Path(f"/dev/shm/{self._place.name}_ext").stat().st_size,
        }

    def settle(self, before: dict[str, int]) -> None:
        """Wait until nothing is held beyond what was."""
        before = {**before, "threads": before["threads"] + POOL}

        def more() -> dict[str, int]:
            return {k: n for k, n in self.now().items() if n > before[k]}

        wait_until(lambda: not more(), f"no more than {before}", seen=more)

    def memory(self) -> float:
        """MiB resident."""
        status = (self._process / "status").read_text().splitlines()
        (line,) = (line for line in status if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024


@pytest.fixture
def holdings(server: Server, place: Path) -> Holdings:
    return Holdings(server, place)


@pytest.fixture
def unchanged(router: Client, holdings: Holdings) -> Iterator[Client]:
    """A router whose configuration, and what whose server holds, is the same afterwards."""

    def config() -> Any:
        return router.get("/", encoding=pb.JSON, type=pb.GetRequest.CONFIG)

    def work() -> None:
        with router.subscribe(subscription("/srv6")) as stream:
            stream.until_sync()
        failing(router.set, update={TABLE: "x"})

    for _ in range(3):  # threads are started when they are first needed
        work()
    before, held = config(), holdings.now()
    yield router
    assert config() == before
    work()
    holdings.settle(held)


def raw(client: Client, rpc: str) -> Any:
    """An RPC whose messages are bytes."""
    make = client.channel.stream_stream if rpc == "Subscribe" else client.channel.unary_unary
    return make(f"/gnmi.gNMI/{rpc}", request_serializer=None, response_deserializer=None)


# Field 1 of each request is a Path, or an extension is; a byte alone is no message at all.
UNREADABLE = {
    "a key that is not UTF-8": b"\x12\x0d\x1a\x0b\x0a\x03vrf\x12\x04\x0a\x02\xff\xfe",
    "no message": b"\xff",
    "cut off": b"\x12\x7f\x0a",
}


@pytest.mark.parametrize("rpc", ["Get", "Set"])
@pytest.mark.parametrize("bad", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_request_is_refused(unchanged: Client, rpc: str, bad: bytes) -> None:
    code, text = failing(raw(unchanged, rpc), bad, timeout=10)
    assert code is INVALID
    assert f"it is no gnmi.{rpc}Request, or holds text that is not UTF-8" in text


def test_what_is_no_request_ends_a_stream_in_words(unchanged: Client) -> None:
    asked = pb.SubscriptionList(subscription=[subscription("/srv6")], encoding=pb.JSON_IETF)
    first = pb.SubscribeRequest(subscribe=asked).SerializeToString()
    for requests in ([b"\xff"], [first, b"\xff"]):
        code, text = failing(list, raw(unchanged, "Subscribe")(iter(requests), timeout=10))
        assert code is INVALID
        assert "it is no gnmi.SubscribeRequest" in text


def test_text_that_is_not_utf8_is_refused(unchanged: Client) -> None:
    update = pb.Update(path=path(LENGTH), val=pb.TypedValue(string_val="zz"))
    bad = pb.SetRequest(update=[update]).SerializeToString().replace(b"zz", b"\xff\xfe")
    code, text = failing(raw(unchanged, "Set"), bad, timeout=10)
    assert code is INVALID
    assert "not UTF-8" in text
    for kind in ("json_val", "json_ietf_val"):
        value = pb.TypedValue(**{kind: b'"\xff"'})
        code, text = failing(unchanged.set, update={LENGTH: value})
        assert code is INVALID
        assert LENGTH in text


def big(size: int = 10 * MIB) -> dict[str, Any]:
    text = "x" * size
    quoted = f'"{text}"'.encode()
    return {
        "a string": (LENGTH, pb.TypedValue(string_val=text)),
        "JSON": (LENGTH, pb.TypedValue(json_val=quoted)),
        "JSON_IETF": (LENGTH, pb.TypedValue(json_ietf_val=quoted)),
        "text": ("/srv6/vrfs/vrf[name=blue]/table-id", pb.TypedValue(ascii_val=text)),
        "no JSON": ("/srv6/vrfs", pb.TypedValue(json_ietf_val=b"{" * size)),
        "a name": ("/srv6/vrfs", pb.TypedValue(json_ietf_val=b'{"vrf":[{"name":%b}]}' % quoted)),
        "a member": ("/srv6/vrfs", pb.TypedValue(json_ietf_val=b"{%b:1}" % quoted)),
        "bytes": (LENGTH, pb.TypedValue(bytes_val=text.encode())),
        "a key": (f"/srv6/vrfs/vrf[name={text}]/table-id", pb.TypedValue(uint_val=1)),
        "an element": (f"/srv6/{text}", pb.TypedValue(uint_val=1)),
    }


@pytest.mark.parametrize("op", ["update", "replace"])
@pytest.mark.parametrize("what", big(0))
def test_ten_megabytes_are_refused_in_few_words(unchanged: Client, what: str, op: str) -> None:
    where, value = big()[what]
    code, text = failing(unchanged.set, **{op: {where: value}})
    assert code in (INVALID, grpc.StatusCode.NOT_FOUND), text
    assert 0 < len(text) < 5000


def test_ten_megabytes_that_are_right_are_taken(router: Client) -> None:
    value = b'{"vrf": [{"name": "red", "table-id": 101}]' + b" " * 10 * MIB + b"}"
    router.set(update={"/srv6/vrfs": pb.TypedValue(json_ietf_val=value)})
    assert router.value(TABLE) == 101


def test_ten_megabytes_in_a_path_that_is_read(unchanged: Client) -> None:
    for size, wanted in ((MIB, grpc.StatusCode.NOT_FOUND), (10 * MIB, EXHAUSTED)):
        where = f"/srv6/vrfs/vrf[name={'x' * size}]"
        code, text = failing(unchanged.raw_get, where)
        assert code is wanted
        assert 0 < len(text) < 5000
    code, text = failing(unchanged.set, delete=[f"{where}/nonsense"])
    assert code is grpc.StatusCode.NOT_FOUND
    assert 0 < len(text) < 5000


def origins(*given: tuple[str, str, Any]) -> list[Any]:
    """Updates, each of an origin."""
    return [
        pb.Update(path=path(f"{origin}:{where}" if origin else where), val=value)
        for origin, where, value in given
    ]


def test_origins_may_be_mixed_where_each_is_ours(router: Client) -> None:
    """One transaction, each path with its own origin (mixed-schema.md)."""
    given = origins(
        ("srv6mgr", TABLE, pb.TypedValue(uint_val=101)),
        ("", LENGTH, pb.TypedValue(uint_val=20)),
        ("srv6mgr-srv6", f"{RED}/interface", pb.TypedValue(json_ietf_val=b'["eth7"]')),
    )
    answer = router.stub.Set(pb.SetRequest(update=given), timeout=10)
    assert [r.path.origin for r in answer.response] == ["srv6mgr", "", "srv6mgr-srv6"]
    assert (router.value(TABLE), router.value(LENGTH)) == (101, 20)


@pytest.mark.parametrize("foreign", ["openconfig", "cli", "ietf", "sonic-db"])
def test_one_foreign_origin_refuses_all(unchanged: Client, foreign: str) -> None:
    given = origins(
        ("srv6mgr", TABLE, pb.TypedValue(uint_val=101)),
        (foreign, LENGTH, pb.TypedValue(uint_val=20)),
    )
    code, text = failing(unchanged.stub.Set, pb.SetRequest(update=given), timeout=10)
    assert code in (INVALID, grpc.StatusCode.NOT_FOUND), text
    assert foreign in text


def test_origins_in_prefix_and_path_contradict_each_other(unchanged: Client) -> None:
    for prefix, origin in (
        (pb.Path(origin="srv6mgr"), "srv6mgr"),
        (pb.Path(elem=path("/srv6").elem), "srv6mgr"),
    ):
        given = origins((origin, "/vrfs/vrf[name=red]/table-id", pb.TypedValue(uint_val=101)))
        code, text = failing(
            unchanged.stub.Set, pb.SetRequest(prefix=prefix, update=given), timeout=10
        )
        assert code is INVALID
        assert "origin" in text
    inside = pb.Update(path=pb.Path(target="pe1", elem=path(TABLE).elem))
    code, text = failing(unchanged.stub.Set, pb.SetRequest(update=[inside]), timeout=10)
    assert code is INVALID
    assert "target belongs into the prefix" in text


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (RED, {"name": "blue", "table-id": 5}),
        (RED, {"srv6mgr-srv6:name": "blue", "table-id": 5}),
        (RED, [{"name": "red", "table-id": 5}, {"name": "blue", "table-id": 6}]),
        (f"{RED}/name", "blue"),
        ("/srv6/vrfs/vrf[nme=red]", {"table-id": 5}),
        ("/srv6/vrfs/vrf[name=red][id=1]", {"table-id": 5}),
        ("/srv6/vrfs/vrf", {"table-id": 5}),
        ("/srv6/vrfs/vrf[name=*]", {"table-id": 5}),
    ],
)
@pytest.mark.parametrize("op", ["update", "replace"])
def test_keys_in_conflict_are_refused(unchanged: Client, where: str, value: Any, op: str) -> None:
    code, text = failing(unchanged.set, **{op: {where: value}})
    assert code is INVALID, text
    assert text


class Gate:
    """Holds a change up in srv6mgrd, in the middle of its commit."""

    def __init__(self, core: Core) -> None:
        self._entered, self._open = threading.Event(), threading.Event()
        self._core = core
        core.hold = self._hold

    def _hold(self) -> None:
        self._entered.set()
        self._open.wait(20)

    def wait(self) -> None:
        assert self._entered.wait(10)

    def open(self) -> None:
        self._core.hold = None
        self._open.set()


@pytest.fixture
def gate(router: Client, core: Core) -> Iterator[Gate]:
    made = Gate(core)
    yield made
    made.open()


def begin(client: Client, value: int) -> Any:
    update = pb.Update(path=path(TABLE), val=pb.TypedValue(uint_val=value))
    return client.stub.Set.future(pb.SetRequest(update=[update]), timeout=30)


def test_a_set_that_is_cancelled_in_mid_commit_is_done_whole(
    router: Client, core: Core, gate: Gate
) -> None:
    core.changes.clear()
    call = begin(router, 101)
    gate.wait()
    call.cancel()
    assert call.code() is grpc.StatusCode.CANCELLED
    # Until it is decided nothing of it is to be seen.
    assert router.value(TABLE) == 100
    gate.open()
    wait_until(lambda: router.value(TABLE) == 101)
    assert core.changes == ["done"]
    router.set(update={TABLE: 102})
    assert router.value(TABLE) == 102


def test_a_set_that_is_cancelled_in_mid_commit_and_refused_is_not_done_at_all(
    router: Client, core: Core, gate: Gate
) -> None:
    core.veto = "VRF red: no; try again"
    core.changes.clear()
    call = begin(router, 101)
    gate.wait()
    call.cancel()
    gate.open()
    # The next one waits for its end.
    assert failing(router.set, update={TABLE: 102})[1] == core.veto
    core.veto = ""
    assert router.value(TABLE) == 100
    assert core.changes == []


def test_a_set_that_is_cancelled_before_its_turn_is_not_begun(
    router: Client, core: Core, gate: Gate
) -> None:
    core.changes.clear()
    first, second = begin(router, 101), None
    gate.wait()
    with router.subscribe(subscription(TABLE)) as stream:
        assert stream.until_sync() == {TABLE: 100}
        second = begin(router, 102)
        # The server takes requests of a connection in turn: after this one it has the Set.
        router.capabilities()
        second.cancel()
        router.capabilities()
        gate.open()
        first.result()
        router.set(update={TABLE: 103})
        assert updates(stream.next().update) == {TABLE: 101}
        assert updates(stream.next().update) == {TABLE: 103}
    assert core.changes == ["done", "done"]


def test_sets_take_turns(router: Client, core: Core, gate: Gate) -> None:
    core.changes.clear()
    first = begin(router, 101)
    gate.wait()
    others = [begin(router, 102 + n) for n in range(10)]
    assert not any(call.done() for call in others)
    gate.open()
    for call in (first, *others):
        call.result()
    assert len(core.changes) == 11


def test_a_stream_that_says_nothing_is_free_to_leave(unchanged: Client) -> None:
    for _ in range(20):
        with unchanged.requests() as stream:
            assert stream.quiet(0.01)
    silent = unchanged.stub.Subscribe(iter([]), timeout=10)
    code, text = failing(list, silent)
    assert code is INVALID
    assert "the first request must hold a SubscriptionList" in text


def test_a_stream_whose_client_closed_its_side_goes_on(router: Client) -> None:
    asked = pb.SubscriptionList(subscription=[subscription(TABLE)], encoding=pb.JSON_IETF)
    call = router.stub.Subscribe(iter([pb.SubscribeRequest(subscribe=asked)]), timeout=20)
    assert next(call).update.update
    assert next(call).sync_response
    router.set(update={TABLE: 101})
    assert updates(next(call).update) == {TABLE: 101}
    call.cancel()


def test_connections_that_say_nothing_hold_up_nobody(
    unchanged: Client, server: Server, holdings: Holdings
) -> None:
    with contextlib.ExitStack() as stack:
        for beginning in (b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01", b"GET / "):
            tcp = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            tcp.sendall(beginning)
            local = stack.enter_context(socket.socket(socket.AF_UNIX))
            local.connect(str(server.socket))
            local.sendall(beginning)
        unchanged.set(update={TABLE: 100})


class Wire:
    """Between a client and a UNIX socket; it can go silent without a word to either."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.cut = threading.Event()
        self.closed = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        near, _ = self._listener.accept()
        with near, socket.socket(socket.AF_UNIX) as far, selectors.DefaultSelector() as selector:
            far.connect(str(self._target))
            other = {near: far, far: near}
            for side in other:
                selector.register(side, selectors.EVENT_READ)
            while not self.closed.is_set():
                for key, _ in selector.select(0.1):
                    side: Any = key.fileobj
                    data = side.recv(65536)
                    if not data and side is far:
                        self.closed.set()
                    elif not self.cut.is_set():
                        other[side].sendall(data)

    def close(self) -> None:
        self.closed.set()
        self._thread.join()
        self._listener.close()


@pytest.fixture(scope="module")
def pinging(place: Path) -> Iterator[Server]:
    """It pings each second, waits as long for an answer, and serves one subscriber."""
    server = Server(place, "pinging", "keepalive = 1\nmax_subscribers = 1")
    yield server
    assert server.stop() == 0
    assert not server.tracebacks()


@pytest.fixture
def cable(pinging: Server) -> Iterator[Callable[[], Wire]]:
    wires: list[Wire] = []

    def make() -> Wire:
        wires.append(Wire(pinging.socket))
        return wires[-1]

    yield make
    for wire in wires:
        wire.close()


@pytest.mark.parametrize("beginning", [b"", b"\x16\x03\x01", b"PRI * HTTP/2.0\r\n"])
def test_a_connection_that_says_nothing_is_ended(pinging: Server, beginning: bytes) -> None:
    tcp = socket.create_connection(("127.0.0.1", pinging.port))
    local = socket.socket(socket.AF_UNIX)
    with tcp, local:
        local.connect(str(pinging.socket))
        for side in (tcp, local):
            side.settimeout(10)
            side.sendall(beginning)
        for side in (tcp, local):
            with contextlib.suppress(ConnectionResetError):
                while side.recv(4096):
                    pass


def test_a_client_that_vanished_is_found_out(cable: Callable[[], Wire], gnmi: Client) -> None:
    wire = cable()
    client = Client(f"127.0.0.1:{wire.port}", own_connection=True)
    with client.subscribe(subscription("/srv6")) as stream:
        stream.until_sync()
        wire.cut.set()
        assert wire.closed.wait(10)
    # Its place is free.
    again = Client(f"127.0.0.1:{cable().port}", own_connection=True)
    with again.subscribe(subscription("/srv6")) as stream:
        stream.until_sync()
    again.close()
    client.close()


def test_subscribe_and_set_leave_nothing_behind(router: Client, holdings: Holdings) -> None:
    kinds = [
        {"mode": pb.SubscriptionList.STREAM, "how": pb.ON_CHANGE},
        {"mode": pb.SubscriptionList.STREAM, "how": pb.SAMPLE},
        {"mode": pb.SubscriptionList.STREAM, "how": pb.TARGET_DEFINED},
        {"mode": pb.SubscriptionList.POLL, "how": pb.TARGET_DEFINED},
        {"mode": pb.SubscriptionList.ONCE, "how": pb.TARGET_DEFINED},
    ]

    def work(times: int) -> None:
        for n in range(times):
            kind = kinds[n % len(kinds)]
            asked = pb.SubscriptionList(
                subscription=[subscription("/srv6", kind["how"])],
                mode=kind["mode"],
                encoding=pb.JSON_IETF,
            )
            call = router.stub.Subscribe(iter([pb.SubscribeRequest(subscribe=asked)]))
            if n % 2:
                for answer in call:
                    if answer.sync_response:
                        break
            call.cancel()
            if n % 4 == 0:
                router.set(replace={TABLE: 1000 + n})
            elif n % 4 == 2:
                failing(router.set, update={TABLE: "x"})

    work(400)
    memory, held = holdings.memory(), holdings.now()
    work(1600)
    holdings.settle(held)
    assert holdings.memory() < memory + 2
