"""srv6-stampd's sender and reflector with real sockets, in a network namespace."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.model.path_measurement import PORT, Session
from srv6mgrd.stamp import assignments, packet, results, sockets
from srv6mgrd.stamp.assignments import Assignments, ReflectorAssignment, SessionAssignment
from srv6mgrd.stamp.measuring import Measuring
from srv6mgrd.stamp.path_state import PathState
from srv6mgrd.stamp.reflector import Reflector
from srv6mgrd.stamp.results import SessionResult
from srv6mgrd.storage import Problems
from tests.contract.kernel.conftest import own_namespace
from tests.contract.stamp.sessions import (
    HERE,
    LOCAL,
    OTHER,
    SHORT,
    ip,
    measured,
    reflecting,
    sending,
    session,
    to_here,
    until,
)

pytestmark = pytest.mark.usefixtures("namespace")

MS = 1_000_000
HERE4, OTHER4 = IPv4Address("192.0.2.1"), IPv4Address("192.0.2.2")
LOCAL4 = IPv4Network("192.0.2.0/24")


@pytest.mark.usefixtures("addresses")
async def test_a_path_is_measured_with_the_kernels_times() -> None:
    async with reflecting(LOCAL), sending(session()) as sender:
        await until(sender, PathState.UP)
        found = await measured(sender)
    assert sender.kernel_timestamps
    assert found.sent > 50
    assert found.received == found.sent
    assert found.delay is not None
    assert found.jitter is not None
    # Nothing but the loopback is between them; its share of the scheduler's is not bounded here.
    assert 0 < found.delay.minimum <= found.delay.median < 5 * MS


@pytest.mark.usefixtures("addresses")
async def test_delay_is_that_of_the_link() -> None:
    shaped = subprocess.run(
        "tc qdisc add dev lo root netem delay 20ms",
        shell=True, check=False, capture_output=True, text=True,
    )  # fmt: skip
    if shaped.returncode:
        pytest.skip(f"kernel without netem: {shaped.stderr.strip()}")
    async with reflecting(LOCAL), sending(session()) as sender:
        found = await measured(sender)
    assert found.delay is not None
    # Both ways, and netem never sends early.
    assert found.delay.minimum >= 40 * MS
    assert found.delay.median == pytest.approx(40 * MS, rel=0.05)
    assert found.loss == 0


# Of each 8 test packets one on the way there, of each 16 answers one on the way back: sequence
# numbers are at the start of both.
LOSSES = """
table ip6 losses {
    chain input {
        type filter hook input priority 0
        udp dport 862 @th,64,32 & 7 == 3 drop
        udp sport 862 @th,64,32 & 15 == 4 drop
    }
}
"""


@pytest.mark.usefixtures("addresses")
async def test_loss_is_that_of_each_direction() -> None:
    dropping = subprocess.run(
        ["nft", "-f", "-"], check=False, capture_output=True, text=True, input=LOSSES
    )
    if dropping.returncode:
        pytest.skip(f"no nftables: {dropping.stderr.strip()}")
    async with reflecting(LOCAL), sending(session()) as sender:
        found = await measured(sender)
    there = [number % 8 == 3 for number in range(found.sent)]
    back = [number % 16 == 4 for number in range(found.sent)]
    assert found.sent > 50
    assert found.sent - found.received == sum(there) + sum(back)
    # Each direction from the first answer on, to packet 0, up to the last one.
    directions = found.directions
    assert directions is not None
    counted = directions.sent + 1
    assert found.sent - counted <= 2
    assert directions.sent - directions.reflected == sum(there[:counted])
    assert directions.answers - directions.arrived == sum(back[:counted])


@contextlib.contextmanager
def router_between(sid: str) -> Iterator[int]:
    """A router with a SID (End), behind a link over which it sends back what is for OTHER; a
    descriptor of its namespace. An End does not deliver to its own router (seg6_lookup_nexthop)."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    with own_namespace():
        there = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        ip("link add far type veth peer name near")
        ip(f"link set near netns /proc/{os.getpid()}/fd/{home}")
        ip("link set far up")
        ip("address add 2001:db8::3/64 dev far nodad")
        Path("/proc/sys/net/ipv6/conf/all/forwarding").write_text("1")
        seg6_enabled("far")
        ip(f"-6 route add {sid} encap seg6local action End count dev far")
    ip("link set near up")
    ip(f"address add {HERE}/64 dev near nodad")
    ip(f"address add {OTHER}/64 dev near nodad")
    ip(f"-6 route add {sid} via 2001:db8::3")
    seg6_enabled("near")
    try:
        yield there
    finally:
        os.close(there)
        os.close(home)


def seg6_enabled(interface: str) -> None:
    for name in ("all", interface):
        Path(f"/proc/sys/net/ipv6/conf/{name}/seg6_enabled").write_text("1")


async def test_segments_are_on_the_way() -> None:
    sid = "fcbb:0:3::/48"
    with router_between(sid) as there:
        sender = session(segments=(IPv6Address("fcbb:0:3::"),))
        async with reflecting(LOCAL), sending(sender):
            await until(sender, PathState.UP)
        shown = subprocess.run(
            f"nsenter --net=/proc/{os.getpid()}/fd/{there} ip -6 -s route show {sid}",
            shell=True, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    assert "action End" in shown
    assert " packets 0 " not in shown


async def test_answers_take_the_return_path() -> None:
    sid = "fcbb:0:3::/48"
    with router_between(sid) as there:

        def passed() -> str:
            return subprocess.run(
                f"nsenter --net=/proc/{os.getpid()}/fd/{there} ip -6 -s route show {sid}",
                shell=True, check=True, capture_output=True, text=True,
            ).stdout  # fmt: skip

        back = (IPv6Address("fcbb:0:3::"),)
        async with reflecting(LOCAL), sending(session(return_segments=back)) as sender:
            await until(sender, PathState.DEGRADED, "the reflector does not send its answers")
        assert " packets 0 " in passed()
        async with (
            reflecting(LOCAL, return_paths=True),
            sending(session(return_segments=back)) as sender,
        ):
            await until(sender, PathState.UP)
        assert " packets 0 " not in passed()


@pytest.mark.usefixtures("addresses")
async def test_only_with_the_same_key() -> None:
    key, other = b"a key of a session", b"the key of another"
    keyed = replace(SHORT, key=key)
    async with (
        reflecting(LOCAL, key=key) as reflector,
        sending(session(keyed)) as sender,
        sending(session()) as without,
    ):
        await until(sender, PathState.UP)
        await until(without, PathState.DOWN, "no answer")
        # The key of the reflector changes.
        reflector.configure(to_here(LOCAL, key=other))
        await until(sender, PathState.DOWN, "no answer")
        reflector.configure(to_here(LOCAL))
        await until(sender, PathState.DOWN, "answers are not authenticated with the declared")


@pytest.mark.usefixtures("addresses")
async def test_the_router_that_answers_is_the_one_that_is_asked_for() -> None:
    """It answers from the address that was asked for (RFC 9503 section 3)."""
    node = IPv6Address("2001:db8::22")
    asked = replace(SHORT, node_address=node)
    async with reflecting(LOCAL), sending(session(asked)) as sender:
        await until(sender, PathState.DEGRADED, "the router that answers does not say that it has")
        ip(f"address add {node}/128 dev lo nodad")
        await until(sender, PathState.UP)


async def test_a_path_over_ipv4() -> None:
    """With the kernel's times, from the address that is asked for, and to no stranger."""
    here, other, node = (IPv4Address(f"192.0.2.{n}") for n in (1, 2, 22))
    ip("link set lo up")
    for address in (here, other):
        ip(f"address add {address}/32 dev lo")
    asked = replace(SHORT, destination=other, node_address=node)
    async with sending(session(asked, source=here)) as sender, reflecting(LOCAL) as reflector:
        await until(sender, PathState.DOWN)
        reflector.configure(to_here(LOCAL, IPv4Network("192.0.2.9/32")))
        await until(sender, PathState.DOWN, "no answer")
        reflector.configure(to_here(IPv4Network("192.0.2.1/32")))
        await until(sender, PathState.DEGRADED, "the router that answers does not say that it has")
        ip(f"address add {node}/32 dev lo")
        await until(sender, PathState.UP)
        assert sender.kernel_timestamps


def test_an_address_is_not_ours_because_a_socket_can_be_bound_to_it(addresses: None) -> None:
    Path("/proc/sys/net/ipv6/ip_nonlocal_bind").write_text("1")
    ip("-6 route add local 2001:db8:a::/48 dev lo")
    assert sockets.is_own(OTHER)
    assert not sockets.is_own(IPv6Address("2001:db8::22"))
    assert not sockets.is_own(IPv6Address("2001:db8:a::1"))


async def test_answers_need_not_leave_by_the_interface_that_requests_come_from() -> None:
    """The kernel sends packets with an interface in in6_pktinfo on that interface alone."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    with own_namespace():
        there = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        for name in ("a", "b"):
            ip(f"link add far-{name} type veth peer name near-{name}")
            ip(f"link set near-{name} netns /proc/{os.getpid()}/fd/{home}")
            ip(f"link set far-{name} up")
        ip("link set lo up")
        ip(f"address add {OTHER}/128 dev lo nodad")
        ip("address add fd00:a::2/64 dev far-a nodad")
        ip("address add fd00:b::2/64 dev far-b nodad")
        ip(f"-6 route add {HERE} via fd00:b::1 dev far-b")
        reflector = Reflector()
        reflector.configure(to_here(LOCAL))
    try:
        for name in ("a", "b"):
            ip(f"link set near-{name} up")
            ip(f"address add fd00:{name}::1/64 dev near-{name} nodad")
        ip(f"address add {HERE}/128 dev lo nodad")
        ip(f"-6 route add {OTHER} via fd00:a::2 dev near-a")
        async with sending(session()) as sender:
            await until(sender, PathState.UP)
    finally:
        reflector.close()
        os.close(there)
        os.close(home)


@pytest.mark.parametrize(
    ("here", "other", "local"),
    [(HERE, OTHER, LOCAL), (HERE4, OTHER4, LOCAL4)],
    ids=["IPv6", "IPv4"],
)
async def test_a_path_within_a_vrf(
    here: IPv4Address | IPv6Address,
    other: IPv4Address | IPv6Address,
    local: IPv4Network | IPv6Network,
) -> None:
    """Two VRFs of one router, with a link between them."""
    made = subprocess.run(
        "ip link add red type vrf table 10 && ip link add blue type vrf table 20",
        shell=True, check=False, capture_output=True, text=True,
    )  # fmt: skip
    if made.returncode:
        pytest.skip(f"kernel without VRFs: {made.stderr.strip()}")
    ip("link add to-blue type veth peer name to-red")
    for vrf, port, address in (("red", "to-blue", here), ("blue", "to-red", other)):
        ip(f"link set {port} master {vrf}")
        ip(f"link set {vrf} up")
        ip(f"link set {port} up")
        ip(f"address add {address}/{local.prefixlen} dev {port} nodad")
    reflector = Reflector()
    try:
        async with sending(
            session(replace(SHORT, destination=other, vrf="red"), source=None)
        ) as sender:
            reflector.configure(to_here(local))
            await until(sender, PathState.DOWN)
            reflector.configure(ReflectorAssignment(allowed={"blue": (local,)}))
            await until(sender, PathState.UP)
    finally:
        reflector.close()


@pytest.mark.usefixtures("addresses")
async def test_a_path_goes_down_and_comes_back() -> None:
    async with sending(session()) as sender:
        await until(sender, PathState.DOWN, f"{OTHER} answers at port 862 that nothing listens")
        async with reflecting(LOCAL):
            await until(sender, PathState.UP)
        await until(sender, PathState.DOWN)


@pytest.mark.usefixtures("addresses")
async def test_the_reason_changes_when_icmp_errors_end() -> None:
    async with sending(session()) as sender:
        await until(sender, PathState.DOWN, f"{OTHER} answers at port 862 that nothing listens")
        async with reflecting(LOCAL, key=b"the key of another"):
            await until(sender, PathState.DOWN, "no answer")


async def test_an_address_that_comes_later_is_used() -> None:
    async with sending(session()) as sender, reflecting(LOCAL):
        await until(sender, PathState.DOWN, "test packets cannot be sent:")
        for address in (HERE, OTHER):
            ip(f"address add {address}/128 dev lo nodad")
        await until(sender, PathState.UP)


class Peer:
    """Sends packets to the reflector."""

    def __init__(self, source: IPv6Address = HERE) -> None:
        self._socket = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind((str(source), 0))
        self._socket.connect((str(OTHER), PORT))

    def send(self, data: bytes) -> None:
        self._socket.send(data)

    def answer(self) -> bytes | None:
        try:
            return self._socket.recv(2048)
        except BlockingIOError:
            return None

    async def ask(self, data: bytes) -> bytes:
        self.send(data)
        found: list[bytes] = []
        await wait_until_async(lambda: found.extend(filter(None, [self.answer()])) or bool(found))
        return found[0]


@pytest.mark.usefixtures("addresses")
async def test_no_stranger_is_answered_and_no_answer_is_longer_than_its_request() -> None:
    request = packet.encode(packet.SenderPacket(1, time.time_ns()))
    ip("address add 2001:db8:bad::1/128 dev lo nodad")
    async with reflecting(LOCAL):
        strange, short = Peer(IPv6Address("2001:db8:bad::1")), Peer()
        strange.send(request)
        short.send(request[: packet.LENGTH - 1])
        found = await Peer().ask(request + bytes.fromhex("80 09 0001 aa"))
        # The reflector takes packets in turn: it has had those before.
        assert len(found) == len(request) + 5
        assert packet.decode_reflected(found).sender_hop_limit == 64
        assert strange.answer() is None
        assert short.answer() is None


@pytest.mark.usefixtures("addresses")
async def test_a_change_of_the_reflector_keeps_what_it_counted() -> None:
    """Senders take counters that begin again for packets that were lost."""
    request, peer = packet.encode(packet.SenderPacket(1, time.time_ns())), Peer()
    async with reflecting(LOCAL) as reflector:
        for count, more in enumerate(((), (IPv6Network("2001:db8:77::/48"),), ()), 1):
            reflector.configure(to_here(LOCAL, *more))
            counted = packet.decode_reflected(await peer.ask(request)).answered.counters
            assert counted == (0, count, count)


@pytest.mark.usefixtures("addresses")
async def test_without_declared_senders_it_does_not_listen() -> None:
    async with reflecting() as reflector:
        assert not reflector.is_listening
        reflector.configure(to_here(LOCAL))
        assert reflector.is_listening
        reflector.configure(to_here())
        assert not reflector.is_listening


@pytest.mark.usefixtures("addresses")
async def test_a_port_in_use_is_reported_and_tried_again() -> None:
    async with reflecting(LOCAL), reflecting(LOCAL) as second:
        assert second.problem == "IPv6 port 862 cannot be used: Address already in use"
    async with reflecting(LOCAL) as alone:
        assert not alone.problem


@pytest.mark.usefixtures("addresses")
async def test_sessions_follow_what_is_assigned(tmp_path: Path) -> None:
    file, reported = tmp_path / "stamp.json", tmp_path / "results.json"
    measuring = Measuring(file, reported, Problems())

    def assign(*sessions: Session) -> None:
        assigned = {one.name: SessionAssignment(one, HERE) for one in sessions}
        made = assignments.encode(Assignments(to_here(LOCAL), assigned))
        fresh = tmp_path / "fresh"
        fresh.write_text(json.dumps(made))
        fresh.rename(file)

    def result(name: str) -> SessionResult | None:
        return results.read(reported).sessions.get(name)

    def is_up(name: str) -> bool:
        found = result(name)
        return found is not None and found.judgement.state is PathState.UP

    task = asyncio.create_task(measuring.run())
    try:
        assign(SHORT)
        await wait_until_async(lambda: is_up("pe2"), "pe2 is up")
        assert results.read(reported).listening
        since = result("pe2")
        file.write_text("{")
        assign(SHORT, Session("again", OTHER))
        await wait_until_async(lambda: is_up("again"), "again is up")
        # The one that stays is not started again.
        assert since is not None
        assert (still := result("pe2")) is not None
        assert still.since == since.since
        assign()
        await wait_until_async(lambda: not results.read(reported).sessions, "no session")
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
