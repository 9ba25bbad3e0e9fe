"""Which VRF a packet in a tunnel came from."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address

import pytest

from srv6mgrd.kernel import path_mtu
from srv6mgrd.kernel.packet_too_big import PacketTooBig
from srv6mgrd.kernel.path_mtu import PathMtu, Senders
from srv6mgrd.model.desired import Desired
from srv6mgrd.netlink.errors import KernelError

SID, OTHER = IPv6Address("fcbb:0:2:64::"), IPv6Address("fcbb:0:2:c8::")
HOST = IPv4Address("10.2.0.10")
# VRFs 10 and 20 have the same addresses; 30 has a route without a tunnel; 0 is no VRF.
ROUTES = {(HOST, 10): SID, (HOST, 20): OTHER}
VRFS = [0, 10, 20, 30]


def error(segment: IPv6Address = SID, receiver: IPv4Address = HOST) -> PacketTooBig:
    source, sender = IPv6Address("2001:db8::1"), IPv4Address("10.1.0.10")
    return PacketTooBig(source, segment, 1336, sender, receiver, b"")


class Counting:
    """Routes, and how often one was asked for."""

    def __init__(self, routes: dict[tuple[object, int], IPv6Address]) -> None:
        self.routes = routes
        self.asked = 0

    def __call__(self, to: object, vrf: int) -> IPv6Address | None:
        self.asked += 1
        return self.routes.get((to, vrf))


def test_the_vrf_whose_route_leads_to_the_segment() -> None:
    senders = Senders(Counting(dict(ROUTES)))

    assert senders.of(error(), VRFS, 1.0) == (10,)
    assert senders.of(error(OTHER), VRFS, 1.0) == (20,)


def test_every_vrf_that_it_may_have_been() -> None:
    senders = Senders(Counting({(HOST, 0): SID, (HOST, 10): SID}))

    assert senders.of(error(), VRFS, 1.0) == (0, 10)


def test_what_was_found_is_not_sought_again() -> None:
    routes = Counting(dict(ROUTES))
    senders = Senders(routes)

    for _ in range(5):
        assert senders.of(error(), VRFS, 1.0) == (10,)

    assert routes.asked == len(VRFS) + 4


def test_a_route_that_moves_is_sought_again() -> None:
    routes = Counting(dict(ROUTES))
    senders = Senders(routes)
    senders.of(error(), VRFS, 1.0)

    routes.routes = {(HOST, 30): SID}

    assert senders.of(error(), VRFS, 1.0) == (30,)


def test_what_was_not_found_is_sought_a_second_later() -> None:
    routes = Counting({})
    senders = Senders(routes)
    assert senders.of(error(), VRFS, 1.0) == ()

    routes.routes = dict(ROUTES)

    assert senders.of(error(), VRFS, 1.5) == ()
    assert routes.asked == len(VRFS)
    assert senders.of(error(), VRFS, 2.5) == (10,)


def test_lookups_in_a_second_are_limited() -> None:
    routes = Counting(dict(ROUTES))
    senders = Senders(routes)
    many = list(range(600))

    found = [senders.of(error(IPv6Address(n)), many, 1.0) for n in range(1, 100)]

    assert found == [()] * 99
    assert routes.asked == 1800
    assert senders.of(error(), many, 2.0) == (10,)


def test_segments_remembered_are_limited() -> None:
    senders = Senders(Counting({}))
    for n in range(1, 5000):
        senders.of(error(IPv6Address(n)), [0], float(n))

    assert len(senders._known) <= 1000


def test_other_questions_use_up_lookups_too() -> None:
    senders = Senders(Counting({}))

    assert [senders.may_ask(1.0, 1000), senders.may_ask(1.5, 1000)] == [True, True]
    assert not senders.may_ask(1.9)
    assert senders.of(error(), VRFS, 1.9) == ()
    assert senders.may_ask(2.0)


async def test_a_failure_in_the_thread_is_logged_and_the_next_error_is_taken(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    threads, taken = list[threading.Thread](), asyncio.Event()
    loop = asyncio.get_running_loop()

    class Errors:
        received = ours

    @contextlib.contextmanager
    def errors() -> Iterator[Errors]:
        with ours, theirs:
            yield Errors()

    def take(_: object, found: Errors) -> None:
        threads.append(threading.current_thread())
        if len(threads) == 1:
            raise KernelError("netlink", "it failed", "try again")
        found.received.recv(1)
        loop.call_soon_threadsafe(taken.set)

    monkeypatch.setattr(path_mtu, "Errors", errors)
    monkeypatch.setattr(path_mtu, "_AGAIN", 0.0)
    monkeypatch.setattr(PathMtu, "take", take)
    theirs.send(b"too big")
    running = asyncio.create_task(PathMtu(Desired).run())
    await asyncio.wait_for(taken.wait(), 30)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert "it failed" in caplog.text
    assert threading.main_thread() not in threads
