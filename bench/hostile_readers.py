"""Well-behaved clients, and how long they wait.

    python -m bench.hostile_readers gnmi|netconf SECONDS

Reads a JSON line with where the servers are; prints the seconds of each request, by its name, but
for those of the first seconds. A request without an answer counts as one that took all of its
deadline.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import grpc
from gnmi_pb import gnmi_pb2 as pb
from gnmi_pb import gnmi_pb2_grpc as stubs

from bench.hostile_kinds import BASE, Target, framed
from bench.sids import address

# A client that waits for longer gives up.
DEADLINE = 10.0
# Imports, the first derivation of a password's key, and the first connection are not counted.
WARM_UP = 2.0
OURS = "urn:srv6mgr:yang:srv6mgr-srv6"
# The SID that is read, and the one that comes and goes; those of the configuration are lower.
READ, CHANGED = 7, 60_001
# Of the collector, each with a sample a second.
STREAMS = 2
Waits = dict[str, list[float]]


def gnmi(target: Target, end: float) -> Waits:
    """Reads one SID's counters, connects again, subscribes, and has all counters sampled."""
    waits: Waits = {"Get": [], "connect": [], "subscribe": [], "sample late": []}
    names = ("srv6", "local-sids", "sid", "state", "counters")
    everything = pb.Path(elem=[pb.PathElem(name=name) for name in names])
    one = pb.Path(elem=[pb.PathElem(name=name) for name in names])
    one.elem[2].key["prefix"] = address(READ)

    def get() -> None:
        with target.channel() as channel:
            stub = stubs.gNMIStub(channel)
            while time.monotonic() < end:
                asked = pb.GetRequest(path=[one], encoding=pb.JSON_IETF)
                waits["Get"].append(
                    waited(lambda: stub.Get(asked, timeout=DEADLINE, metadata=target.login()))  # noqa: B023
                )
                time.sleep(0.05)

    def connect() -> None:
        while time.monotonic() < end:
            with target.channel() as channel:
                stub = stubs.gNMIStub(channel)
                asked = pb.CapabilityRequest()
                waits["connect"].append(
                    waited(
                        lambda: stub.Capabilities(asked, timeout=DEADLINE, metadata=target.login())  # noqa: B023
                    )
                )
            time.sleep(0.2)

    def subscribe() -> None:
        while time.monotonic() < end:
            with target.channel() as channel:
                waits["subscribe"].append(
                    waited(lambda: _first_sample(stubs.gNMIStub(channel), target, everything))
                )
            time.sleep(0.5)

    def sampled() -> None:
        while time.monotonic() < end:
            with suppress(grpc.RpcError), target.channel() as channel:
                _sampled(stubs.gNMIStub(channel), target, everything, end, waits["sample late"])

    side_by_side(get, connect, subscribe, *[sampled] * STREAMS)
    return waits


def _first_sample(stub: Any, target: Target, path: Any) -> None:
    stream = _subscribed(stub, target, path, DEADLINE)
    for message in stream:
        if message.sync_response:
            break
    stream.cancel()


def _sampled(stub: Any, target: Target, path: Any, end: float, late: list[float]) -> None:
    """How much later than a second after the last sample each comes. The first has no such time."""
    before = None
    try:
        for message in _subscribed(stub, target, path, max(1.0, end - time.monotonic())):
            now = time.monotonic()
            if message.sync_response:
                before = now
            # The messages of one sample follow each other at once.
            elif before is not None and now - before > 0.5:
                late.append(max(0.0, now - before - 1.0))
                before = now
    finally:
        if before is not None:
            late.append(max(0.0, time.monotonic() - before - 1.0))


def _subscribed(stub: Any, target: Target, path: Any, timeout: float) -> Any:
    subscription = pb.Subscription(path=path, mode=pb.SAMPLE, sample_interval=10**9)
    asked = pb.SubscriptionList(
        subscription=[subscription], mode=pb.SubscriptionList.STREAM, encoding=pb.PROTO
    )
    requests = iter([pb.SubscribeRequest(subscribe=asked)])
    return stub.Subscribe(requests, timeout=timeout, metadata=target.login())


def netconf(target: Target, end: float) -> Waits:
    """Changes the candidate, commits, and reads what it committed."""
    waits: Waits = {"edit and commit": [], "get-config": []}
    session: Session | None = None
    present = False

    def commit() -> None:
        nonlocal session, present
        session = session or Session(target)
        session.ask(_edit(present))
        session.ask("<commit/>")
        present = not present

    def read() -> None:
        nonlocal session
        session = session or Session(target)
        session.ask(_READ)

    while time.monotonic() < end:
        for name, call in (("edit and commit", commit), ("get-config", read)):
            took = waited(call)
            waits[name].append(took)
            if took >= DEADLINE and session is not None:
                session.close()
                session = None
        time.sleep(0.1)
    return waits


_READ = (
    "<get-config><source><running/></source><filter type='xpath'"
    f" xmlns:s='{OURS}' select='/s:srv6/s:locators'/></get-config>"
)


def _edit(present: bool) -> str:
    operation = "remove" if present else "merge"
    sid = (
        f'<sid xmlns:nc="{BASE}" nc:operation="{operation}"><prefix>{address(CHANGED)}</prefix>'
        "<locator>MAIN</locator><behavior>End</behavior></sid>"
    )
    config = f'<srv6 xmlns="{OURS}"><local-sids>{sid}</local-sids></srv6>'
    return f"<edit-config><target><candidate/></target><config>{config}</config></edit-config>"


class Session:
    """Of NETCONF."""

    def __init__(self, target: Target) -> None:
        self._socket = target.session()
        self._socket.settimeout(DEADLINE)

    def ask(self, inside: str) -> bytes:
        """The answer. Raises OSError."""
        self._socket.sendall(framed(f'<rpc xmlns="{BASE}" message-id="1">{inside}</rpc>'))
        got = b""
        while not got.endswith(b"\n##\n"):
            if not (part := self._socket.recv(1 << 16)):
                raise ConnectionError("the server ended the session")
            got += part
        if b"<rpc-error>" in got:
            print(got[:1000].decode(), file=sys.stderr)
            raise ConnectionError("rejected")
        return got

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def waited(call: Callable[[], object]) -> float:
    """Seconds; without an answer the deadline."""
    start = time.monotonic()
    try:
        call()
    except (grpc.RpcError, OSError) as error:
        print(f"{type(error).__name__}: {error}"[:300], file=sys.stderr)
        return DEADLINE
    return time.monotonic() - start


def side_by_side(*calls: Callable[[], None]) -> None:
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    name, seconds = sys.argv[1], float(sys.argv[2])
    target = Target(**json.loads(sys.stdin.readline()))
    clients = {"gnmi": gnmi, "netconf": netconf}[name]
    clients(target, time.monotonic() + WARM_UP)
    print(json.dumps(clients(target, time.monotonic() + seconds)))


if __name__ == "__main__":
    main()
