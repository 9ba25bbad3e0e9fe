"""A raw gRPC client, and a stand-in for srv6mgrd."""

from __future__ import annotations

import json
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import IPv6Network
from pathlib import Path as File
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb
from gnmi_pb import gnmi_pb2_grpc as stubs

from srv6mgrd.commits.paths import commit_socket
from srv6mgrd.counters.node import beside
from srv6mgrd.counters.proxies import ProxiesWriter
from srv6mgrd.counters.proxies import beside as proxies_beside
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.datastore.running import read
from srv6mgrd.gnmi import wire
from srv6mgrd.gnmi.path import parse, text
from srv6mgrd.model.proxy_state import ProxyState
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.status import ObjectRef, ObjectStatus, SidCounters

_OPTIONS = [("grpc.max_receive_message_length", 64 << 20)]


class Core:
    """srv6mgrd's side: subscribed to changes, which it may reject, and writing the store."""

    def __init__(self, store: File) -> None:
        from srv6mgrd.commits.service import CommitService
        from srv6mgrd.datastore.connection import Connection

        self.veto = ""
        # What each commit is answered with beside.
        self.warned: tuple[str, ...] = ()
        # Raises RejectedError for a configuration that it rejects.
        self.judge: Callable[[Mapping[str, Any]], None] | None = None
        # Called in the middle of each commit.
        self.hold: Callable[[], None] | None = None
        self.changes: list[str] = []
        self.store = StoreWriter(store)
        self.node_file = beside(store)
        self.proxies = ProxiesWriter(proxies_beside(store))
        self._connection = Connection(originator="core")
        self._session = self._connection.session()
        self._session.subscribe_module_change_unsafe("srv6mgr-srv6", None, self._changed)
        self._commits = CommitService(commit_socket(store.parent), self)

    def current(self) -> str:
        """Revision of the configuration."""
        return str(len(self.changes))

    def changed_since(self, revision: str, connection: Any) -> str:
        return f"changed since {revision}"

    def size(self) -> int:
        return 0

    def warnings(self) -> tuple[str, ...]:
        return self.warned

    def pending(self) -> list[tuple[str, bytes]]:
        return []

    def _changed(self, session: Any, event: str, req_id: int, private_data: Any) -> None:
        import sysrepo

        from srv6mgrd.datastore.subscription import rejection

        if event == "change" and self.hold is not None:
            self.hold()
        if event == "change" and self.veto:
            # As srv6mgrd does: the binding passes a text on only when it is set by hand.
            error = sysrepo.SysrepoCallbackFailedError(self.veto)
            session.set_error(error)
            raise error
        if event == "change" and self.judge is not None:
            try:
                self.judge(json.loads(read(session)))
            except RejectedError as rejected:
                raise rejection(session, rejected) from None
        if event == "done":
            self.changes.append(event)

    def report(self, statuses: Mapping[ObjectRef, ObjectStatus]) -> None:
        self.store.set_statuses(statuses)

    def count(self, counters: Mapping[str, SidCounters], at: int | None = None) -> None:
        self.store.set_counters(counters, {}, at or time.time_ns())

    def learn(self, proxies: Mapping[IPv6Network, ProxyState]) -> None:
        self.proxies.write(proxies)

    def reset(self) -> None:
        self.veto, self.judge, self.hold, self.warned = "", None, None, ()
        self.store.set_statuses({})
        self.node_file.unlink(missing_ok=True)
        self.proxies.write({})
        self.changes.clear()

    def close(self) -> None:
        self._commits.close()
        self._connection.close()
        self.store.close()


def path(string: str) -> Any:
    found = re.match(r"(?:([\w-]+):)?(/.*)", string)
    assert found is not None
    return wire.path(parse(found[2]), found[1] or "")


def ietf(value: Any) -> Any:
    return pb.TypedValue(json_ietf_val=json.dumps(value).encode())


def typed(value: Any) -> Any:
    return value if isinstance(value, pb.TypedValue) else ietf(value)


def shown(message: Any) -> str:
    return text(wire.read_path(message).elems)


def value_of(typed_value: Any) -> Any:
    field = typed_value.WhichOneof("value")
    content = getattr(typed_value, field)
    if field in ("json_val", "json_ietf_val"):
        return json.loads(content)
    if field == "leaflist_val":
        return [value_of(e) for e in content.element]
    return content


class Stream:
    """A Subscribe RPC in the background."""

    def __init__(self, call: Any, requests: queue.Queue[Any]) -> None:
        self._call = call
        self._requests = requests
        self._answers: queue.Queue[Any] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            for answer in self._call:
                self._answers.put(answer)
        except grpc.RpcError as e:
            self._answers.put(e)

    def next(self, seconds: float = 5) -> Any:
        answer = self._answers.get(timeout=seconds)
        if isinstance(answer, grpc.RpcError):
            raise answer
        return answer

    def quiet(self, seconds: float = 0.4) -> bool:
        """Whether nothing comes for a while."""
        try:
            self._answers.get(timeout=seconds)
        except queue.Empty:
            return True
        return False

    def until_sync(self) -> dict[str, Any]:
        """Leaves up to the sync_response."""
        leaves: dict[str, Any] = {}
        while not (answer := self.next()).sync_response:
            leaves |= updates(answer.update)
        return leaves

    def drain(self) -> None:
        """Read until the RPC fails."""
        while True:
            self.next()

    def send(self, request: Any) -> None:
        self._requests.put(request)


def updates(notification: Any) -> dict[str, Any]:
    return {shown(u.path): value_of(u.val) for u in notification.update}


def deletes(notification: Any) -> list[str]:
    return [shown(d) for d in notification.delete]


def subscription(string: str, mode: int = pb.ON_CHANGE, **fields: Any) -> Any:
    for name in ("sample_interval", "heartbeat_interval"):
        if name in fields:
            fields[name] = int(fields[name] * 1e9)
    return pb.Subscription(path=path(string), mode=mode, **fields)


class Client:
    """gNMI without a client library."""

    def __init__(
        self,
        address: str,
        credentials: Any = None,
        metadata: Any = (),
        *,
        own_connection: bool = False,
    ) -> None:
        options = [*_OPTIONS, ("grpc.use_local_subchannel_pool", int(own_connection))]
        self.channel = (
            grpc.secure_channel(address, credentials, options=options)
            if credentials
            else grpc.insecure_channel(address, options=options)
        )
        self.stub = stubs.gNMIStub(self.channel)
        self.metadata = metadata

    def close(self) -> None:
        self.channel.close()

    def capabilities(self) -> Any:
        return self.stub.Capabilities(pb.CapabilityRequest(), timeout=10, metadata=self.metadata)

    def raw_get(self, *paths: str, encoding: int = pb.JSON_IETF, **fields: Any) -> Any:
        request = pb.GetRequest(path=[path(p) for p in paths], encoding=encoding, **fields)
        return self.stub.Get(request, timeout=10, metadata=self.metadata)

    def get(self, string: str, **fields: Any) -> Any:
        """Values by path of one requested path."""
        (notification,) = self.raw_get(string, **fields).notification
        return updates(notification)

    def value(self, string: str, **fields: Any) -> Any:
        (value,) = self.get(string, **fields).values()
        return value

    def set(
        self,
        delete: Any = (),
        replace: Mapping[str, Any] | None = None,
        update: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Any:
        request = pb.SetRequest(
            delete=[path(p) for p in delete],
            replace=[pb.Update(path=path(p), val=typed(v)) for p, v in (replace or {}).items()],
            update=[pb.Update(path=path(p), val=typed(v)) for p, v in (update or {}).items()],
            **fields,
        )
        return self.stub.Set(request, timeout=60, metadata=self.metadata)

    @contextmanager
    def subscribe(
        self, *subscriptions: Any, mode: int = pb.SubscriptionList.STREAM, **fields: Any
    ) -> Iterator[Stream]:
        fields.setdefault("encoding", pb.JSON_IETF)
        asked = pb.SubscriptionList(subscription=subscriptions, mode=mode, **fields)
        with self.requests(pb.SubscribeRequest(subscribe=asked)) as stream:
            yield stream

    @contextmanager
    def requests(self, *first: Any) -> Iterator[Stream]:
        requests: queue.Queue[Any] = queue.Queue()
        for request in first:
            requests.put(request)
        call = self.stub.Subscribe(iter(requests.get, None), metadata=self.metadata)
        try:
            yield Stream(call, requests)
        finally:
            requests.put(None)
            call.cancel()


def failing(call: object, *args: object, **kwargs: object) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as e:
        call(*args, **kwargs)  # type: ignore[operator]
    return e.value.code(), e.value.details()  # type: ignore[attr-defined]
