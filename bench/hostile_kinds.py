"""Clients that want to stop the management of a router, one process for each kind.

    python -m bench.hostile_kinds KIND COUNT

Reads a JSON line with where the servers are, then attacks with COUNT threads until SIGTERM. Prints
how often each outcome came: a gRPC status, an error, or ``done``.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import ssl
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import grpc
from gnmi_pb import gnmi_pb2 as pb
from gnmi_pb import gnmi_pb2_grpc as stubs

BASE = "urn:ietf:params:xml:ns:netconf:base:1.0"
HELLO = (
    f'<hello xmlns="{BASE}"><capabilities><capability>urn:ietf:params:netconf:base:1.1'
    "</capability></capabilities></hello>]]>]]>"
)
# A client that waits longer for an answer leaves, and comes again.
DEADLINE = 5.0
# Connections, streams or sessions that one client holds open.
HELD = 20
MANY_BYTES = 60_000_000


@dataclass(frozen=True, slots=True)
class Target:
    """Addresses of the servers (IPv4), and a user of gNMI who may read."""

    host: str
    port: int
    certificate: str
    netconf: str
    user: str
    password: str
    # Of the system, for the UNIX socket of NETCONF.
    uid: int
    gid: int

    def channel(self, *options: tuple[str, Any], gzip: bool = False) -> grpc.Channel:
        """Each one is a connection of its own."""
        name = ("grpc.ssl_target_name_override", "localhost")
        own = ("grpc.use_local_subchannel_pool", 1)
        return grpc.secure_channel(
            f"{self.host}:{self.port}",
            grpc.ssl_channel_credentials(self.certificate.encode()),
            options=[name, own, ("grpc.max_send_message_length", -1), *options],
            compression=grpc.Compression.Gzip if gzip else None,
        )

    def login(self, password: str | None = None) -> list[tuple[str, str]]:
        return [("username", self.user), ("password", password or self.password)]

    def session(self) -> socket.socket:
        """Of NETCONF, after the hellos."""
        found = socket.socket(socket.AF_UNIX)
        found.settimeout(DEADLINE)
        found.connect(self.netconf)
        found.sendall(HELLO.encode())
        got = b""
        while not got.endswith(b"]]>]]>"):
            if not (part := found.recv(1 << 16)):
                raise ConnectionError("no hello")
            got += part
        return found


Attack = Callable[[Target, int], None]


def ellipsis(target: Target, number: int) -> None:
    """Paths of many ``...``, read and subscribed to in turn."""
    elements = [pb.PathElem(name="...") for _ in range(24)] + [pb.PathElem(name="nothing")]
    path = pb.Path(elem=elements)
    with target.channel() as channel:
        stub = stubs.gNMIStub(channel)
        if number % 2:
            stub.Get(pb.GetRequest(path=[path]), timeout=DEADLINE, metadata=target.login())
        else:
            asked = pb.SubscriptionList(subscription=[pb.Subscription(path=path)])
            requests = iter([pb.SubscribeRequest(subscribe=asked)])
            for _ in stub.Subscribe(requests, timeout=DEADLINE, metadata=target.login()):
                pass


def xpath(target: Target, number: int) -> None:
    """Filters that never end, and filters of many terms."""
    bombs = (
        "//*[count(//*[count(//*[count(//*) = 1]) = 1]) = 1]",
        " or ".join(f"{n} = 1" for n in range(20_000)),
    )
    with target.session() as session:
        select = bombs[number % 2]
        rpc = f'<get><filter type="xpath" select="{select}"/></get>'
        session.sendall(framed(f'<rpc xmlns="{BASE}" message-id="1">{rpc}</rpc>'))
        session.recv(1 << 16)


def password(target: Target, number: int) -> None:
    """Guesses."""
    with target.channel() as channel:
        stub = stubs.gNMIStub(channel)
        for n in itertools.count():
            with suppress(grpc.RpcError):
                login = target.login(f"wrong {number} {n}")
                stub.Capabilities(pb.CapabilityRequest(), timeout=DEADLINE, metadata=login)


def idle_tls(target: Target, number: int) -> None:
    """Connections that say nothing after the handshake."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    held = []
    for _ in range(HELD):
        bare = socket.create_connection((target.host, target.port), timeout=DEADLINE)
        held.append(context.wrap_socket(bare))
    time.sleep(DEADLINE)


def gzip(target: Target, number: int) -> None:
    """Little on the wire that is much when it is unpacked; without a password."""
    value = pb.TypedValue(json_ietf_val=b" " * MANY_BYTES)
    bomb = pb.SetRequest(update=[pb.Update(path=pb.Path(), val=value)]).SerializeToString()
    with target.channel(gzip=True) as channel:
        call = channel.unary_unary("/gnmi.gNMI/Set")
        for _ in range(HELD):
            with suppress(grpc.RpcError):
                call(bomb, timeout=DEADLINE)


def big_set(target: Target, number: int) -> None:
    """Sets of much that is not valid."""
    text = b'{"srv6mgr-srv6:srv6": {"nothing": [' + b"{}," * (MANY_BYTES // 3)
    value = pb.TypedValue(json_ietf_val=text)
    request = pb.SetRequest(update=[pb.Update(path=pb.Path(), val=value)]).SerializeToString()
    with target.channel() as channel:
        call = channel.unary_unary("/gnmi.gNMI/Set")
        while True:
            with suppress(grpc.RpcError):
                call(request, timeout=DEADLINE, metadata=target.login())


def sample(target: Target, number: int) -> None:
    """All SIDs as often as it goes."""
    for _ in subscribed(target):
        pass


def subscribed(target: Target, *options: tuple[str, Any]) -> Iterator[Any]:
    path = pb.Path(elem=[pb.PathElem(name="srv6")])
    subscription = pb.Subscription(path=path, mode=pb.SAMPLE, sample_interval=0)
    asked = pb.SubscriptionList(subscription=[subscription], mode=pb.SubscriptionList.STREAM)
    with target.channel(*options) as channel:
        requests = iter([pb.SubscribeRequest(subscribe=asked)])
        yield from stubs.gNMIStub(channel).Subscribe(requests, metadata=target.login())


def half_frame(target: Target, number: int) -> None:
    """NETCONF messages that begin and never end."""
    with _Held() as held:
        for _ in range(HELD):
            session = target.session()
            held.append(session)
            session.sendall(b"\n#100000\n" + b"<rpc " + b" " * 1000)
        held[0].settimeout(None)
        held[0].recv(1)


def slow_reader(target: Target, number: int) -> None:
    """Asks for much and takes nothing of it, over both protocols in turn."""
    if number % 2:
        for _ in subscribed(target, ("grpc.http2.bdp_probe", 0)):
            time.sleep(3600)
    with _Held() as held:
        for _ in range(HELD):
            session = target.session()
            held.append(session)
            rpc = framed(f'<rpc xmlns="{BASE}" message-id="1"><get/></rpc>')
            with suppress(TimeoutError):
                session.sendall(rpc * 1000)
        time.sleep(DEADLINE)


def silent(target: Target, number: int) -> None:
    """Streams and sessions in which nothing is ever asked for."""
    if number % 2:
        never = threading.Event()

        def nothing() -> Iterator[Any]:
            never.wait()
            yield pb.SubscribeRequest()

        with target.channel() as channel:
            stub = stubs.gNMIStub(channel)
            calls = [stub.Subscribe(nothing(), metadata=target.login()) for _ in range(HELD)]
            for call in calls:
                with suppress(grpc.RpcError):
                    next(call)
        return
    with _Held() as held:
        for _ in range(HELD):
            held.append(target.session())
        held[0].settimeout(None)
        held[0].recv(1)


class _Held(list[socket.socket]):
    """Sockets that end together."""

    def __enter__(self) -> _Held:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self:
            one.close()


def framed(rpc: str) -> bytes:
    """RFC 6242 section 4.2."""
    data = rpc.encode()
    return b"\n#%d\n%b\n##\n" % (len(data), data)


KINDS: dict[str, Attack] = {
    "ellipsis": ellipsis,
    "xpath": xpath,
    "password": password,
    "idle-tls": idle_tls,
    "gzip": gzip,
    "big-set": big_set,
    "sample-0": sample,
    "half-frame": half_frame,
    "slow-reader": slow_reader,
    "silent": silent,
}


def main() -> None:
    kind, count = sys.argv[1], int(sys.argv[2])
    target = Target(**json.loads(sys.stdin.readline()))
    # After the import: as little of the machine as there is, so that only the servers are loaded.
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    os.nice(19)
    os.setgroups([])
    os.setgid(target.gid)
    os.setuid(target.uid)

    outcomes: Counter[str] = Counter()

    def again(number: int) -> None:
        while True:
            outcome = "done"
            try:
                KINDS[kind](target, number)
            except (grpc.RpcError, OSError) as error:
                outcome = named(error)
            outcomes[outcome] += 1
            time.sleep(0.05)

    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    for number in range(count):
        threading.Thread(target=again, args=[number], daemon=True).start()
    signal.sigwait({signal.SIGTERM})
    print(json.dumps(outcomes), flush=True)
    os._exit(0)


def named(error: Exception) -> str:
    code = getattr(error, "code", None)
    return str(code().name) if code else type(error).__name__


if __name__ == "__main__":
    main()
