"""Reads are computed in turn: who asks for much waits for itself, and not others for it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from lab.waiting import wait_until
from tests.contract.netconf.client import Client, acting_as, texts
from tests.contract.netconf.conftest import Server
from tests.contract.netconf.data import ROUTER
from tests.contract.netconf.test_budget import HOSTILE, by_xpath, children, cpu, get, sids
from tests.contract.netconf.wire import BASE, Wire, framed

READ = framed(f'<rpc xmlns="{BASE}" message-id="1"><get-config><source><running/></source>'
              "</get-config></rpc>".encode())  # fmt: skip
SESSIONS = 40
# Sessions of a user that are few, and all that one may have (places.h).
FEW, OF_USER = 8, 64


@pytest.fixture(autouse=True)
def configured(client: Client) -> None:
    client.edit(ROUTER)


@pytest.fixture
def many_sids(configured: None, client: Client) -> None:
    client.edit(sids(1000))


@contextmanager
def sessions(server: Server, user: str, number: int = SESSIONS) -> Iterator[list[Wire]]:
    with ExitStack() as held:
        with acting_as(user):
            found = [held.enter_context(Wire(server.socket, seconds=60)) for _ in range(number)]
        yield found


def answered(wires: list[Wire]) -> int:
    """How many have got something by now."""
    poll = select.poll()
    for wire in wires:
        poll.register(wire.socket, select.POLLIN)
    return len(poll.poll(0))


@pytest.mark.usefixtures("many_sids")
def test_many_reads_of_one_user_hold_up_no_other(server: Server) -> None:
    with sessions(server, "nobody") as many, Wire(server.socket) as one:
        for wire in many:
            wire.send(READ)
        one.send(READ)
        one.reply()
        assert answered(many) < SESSIONS // 2
        # They come, too.
        for wire in many:
            wire.reply()


@pytest.mark.usefixtures("many_sids")
def test_nothing_is_read_for_who_left(server: Server) -> None:
    def spent(number: int, *, leave: bool) -> int:
        before = cpu(server)
        with sessions(server, "nobody", number) as many:
            for wire in many:
                wire.send(READ)
            if not leave:
                for wire in many:
                    wire.reply()
        with Wire(server.socket) as wire:
            wait_until(lambda: sessions_of(wire, "nobody") == 0, timeout=60)
        return cpu(server) - before

    assert spent(SESSIONS, leave=True) < spent(SESSIONS, leave=False) / 2


def sessions_of(wire: Wire, user: str) -> int:
    tree = wire.call(
        '<get><filter type="subtree"><netconf-state xmlns="urn:ietf:params:xml:ns:yang:'
        'ietf-netconf-monitoring"><sessions/></netconf-state></filter></get>'
    )
    return texts(tree, "//m:sessions/m:session/m:username").count(user)


@pytest.mark.usefixtures("many_sids")
def test_who_reads_nothing_holds_up_no_session_of_its_own(server: Server) -> None:
    with sessions(server, "nobody", 10) as deaf, acting_as("nobody"):
        for wire in deaf:
            wire.send(READ * 20)
        with Wire(server.socket, seconds=60) as wire:
            wire.send(READ)
            assert texts(wire.reply(), "//s:sid/s:prefix")


def test_costly_filters_leave_reads_of_their_user_alone(server: Server, client: Client) -> None:
    read = framed(
        f'<rpc xmlns="{BASE}" message-id="1">'
        f'<get-config><source><running/></source><filter type="xpath" select="{HOSTILE}"/>'
        "</get-config></rpc>".encode()
    )
    with sessions(server, "root", 2) as costly:
        for wire in costly:
            wire.send(read)
        wait_until(lambda: len(children(server)) == 2, timeout=20)
        assert texts(client.rpc(get(by_xpath("/s:srv6/s:vrfs"), "running")), "//s:vrf/s:name")


def priorities(server: Server) -> set[int]:
    """The nice values of the server's threads."""
    found = set()
    for task in Path(f"/proc/{server.process.pid}/task").iterdir():
        try:
            found.add(int((task / "stat").read_text().rpartition(")")[2].split()[16]))
        except FileNotFoundError:
            continue  # the thread is gone
    return found


def usual_priority(server: Server) -> int:
    """The one of all threads, once those of sessions that ended before are gone."""
    wait_until(lambda: len(priorities(server)) == 1, timeout=60)
    (usual,) = priorities(server)
    return usual


@pytest.mark.usefixtures("many_sids")
def test_who_asks_for_more_is_read_for_at_a_lower_priority(server: Server) -> None:
    usual = usual_priority(server)
    with sessions(server, "nobody", FEW) as some:
        for wire in some:
            wire.send(READ * 3)
        wait_until(lambda: max(priorities(server)) > usual)
        for wire in some:
            for _ in range(3):
                wire.reply()
        wait_until(lambda: priorities(server) == {usual}, timeout=20)


@contextmanager
def busy(processor: int, number: int) -> Iterator[None]:
    """As many processes with the low priority that compute on this CPU."""
    argv = ["nice", "-n", "10", "taskset", "-c", str(processor), sys.executable, "-c"]
    running = [subprocess.Popen([*argv, "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


@contextmanager
def pinned(server: Server, processor: int) -> Iterator[None]:
    """All threads of the server on this CPU, and on those of before afterwards."""

    def pin(processors: str) -> None:
        argv = ["taskset", "-a", "-c", "-p", processors, str(server.process.pid)]
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)

    before = ",".join(map(str, os.sched_getaffinity(server.process.pid)))
    pin(str(processor))
    try:
        yield
    finally:
        pin(before)


@pytest.mark.usefixtures("many_sids")
def test_who_asks_for_more_gives_way_where_the_cpu_is_short(server: Server) -> None:
    """Shared fairly, the two threads that read would have two parts of five."""
    (processor, *_) = os.sched_getaffinity(0)
    seconds = 4.0
    with (
        pinned(server, processor),
        busy(processor, 3),
        sessions(server, "nobody", FEW) as many,
    ):
        for wire in many:
            wire.send(READ * 100)
        wait_until(lambda: max(priorities(server)) > 0)
        before, start = cpu(server), time.monotonic()
        wait_until(lambda: time.monotonic() - start > seconds)
        spent = (cpu(server) - before) / os.sysconf("SC_CLK_TCK")
    assert spent < seconds * 0.25


def test_many_sessions_of_a_user_are_served_at_a_lower_priority(server: Server) -> None:
    usual = usual_priority(server)
    with sessions(server, "root", FEW + 1):
        assert priorities(server) == {usual}
    with sessions(server, "nobody", FEW + 1):
        wait_until(lambda: max(priorities(server)) > usual)


def test_who_asked_for_too_many_sessions_is_served_at_a_lower_priority(server: Server) -> None:
    usual = usual_priority(server)
    with (
        sessions(server, "nobody", OF_USER),
        acting_as("nobody"),
        pytest.raises((OSError, EOFError)),
    ):
        Wire(server.socket)
    with Wire(server.socket) as wire:
        wait_until(lambda: sessions_of(wire, "nobody") == 0, timeout=60)
    with sessions(server, "nobody", 1):
        wait_until(lambda: max(priorities(server)) > usual)


def test_sessions_of_who_has_many_begin_one_after_the_other(server: Server) -> None:
    """Each takes work: who comes and goes without end would have much done."""
    started = time.monotonic()
    with sessions(server, "nobody", 5 * FEW):
        # The first of those beyond begins at once.
        assert time.monotonic() - started > (4 * FEW - 1) * 0.05
