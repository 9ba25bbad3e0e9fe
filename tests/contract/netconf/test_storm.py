"""Many sessions, many notifications, many edits: nobody is stalled, nothing is left behind."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.waiting import wait_until
from srv6mgrd.notifications import commit_rolled_back
from tests.contract.netconf.client import Client, texts, with_namespaces
from tests.contract.netconf.conftest import PRODUCT, Router, Server
from tests.contract.netconf.data import ROUTER, srv6, vrf
from tests.contract.netconf.wire import Wire

SESSIONS = 200
# NETCONF_EDITS=10000 for the whole run.
EDITS = int(os.environ.get("NETCONF_EDITS", "300"))
# What the allocator keeps may grow a little; a leak of an edit's tree is more than 1 KiB each.
KIB_FOR_EACH_EDIT = 0.2
GET = "<get-config><source><running/></source></get-config>"


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Server]:
    """Without the sanitizers, which keep what is freed."""
    place.chmod(0o711)
    server = Server(place, PRODUCT)
    yield server
    server.stop()


def test_many_sessions(server: Server, client: Client) -> None:
    client.edit(ROUTER)
    wires = [Wire(server.socket, seconds=60) for _ in range(SESSIONS)]
    replies: list[str] = []

    def ask(wire: Wire) -> None:
        for _ in range(3):
            reply = wire.call(GET)
            reported = texts(reply, "//s:vrf/s:table-id | //nc:error-message")
            replies.append("".join(reported))

    threads = [threading.Thread(target=ask, args=[wire]) for wire in wires]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(replies) == {"100"}
    assert len(replies) == 3 * SESSIONS
    for wire in wires:
        wire.socket.close()
    sessions = "count(//m:sessions/m:session)"
    wait_until(lambda: texts(client.rpc("<nc:get/>"), sessions) == ["1.0"], timeout=20)


def test_many_that_come_and_go(server: Server, client: Client) -> None:
    for _ in range(SESSIONS):
        with Wire(server.socket) as wire:
            wire.send(b"\n#10\n<rpc")
    assert client.edit(ROUTER).ok


def test_many_notifications(server: Server, client: Client, router: Router) -> None:
    """Some readers read, one does not; all who read get all."""
    readers = [Wire(server.socket, seconds=60) for _ in range(5)]
    asleep = Wire(server.socket)
    subscription = with_namespaces(
        "<n:create-subscription><n:filter><o:commit-undone/></n:filter></n:create-subscription>"
    )
    for wire in (*readers, asleep):
        assert texts(wire.call(subscription), "//nc:ok") == ["ok"]
    router.notify(*(commit_rolled_back(f"commit-{number}") for number in range(200)))
    for wire in readers:
        seen = [texts(wire.reply(), "//o:commit-undone/*") for _ in range(200)]
        assert seen[-1] == ["commit-199"]
    assert client.edit(ROUTER).ok
    for wire in (*readers, asleep):
        wire.socket.close()


def test_memory_stays_flat(server: Server) -> None:
    def edit(count: int) -> None:
        for number in range(count):
            config = with_namespaces(srv6(vrf(table=str(100 + number % 100))))
            target = "<target><running/></target>"
            reply = wire.call(f"<edit-config>{target}<config>{config}</config></edit-config>")
            assert texts(reply, "//nc:ok") == ["ok"]
            assert texts(
                wire.call("<get-config><source><running/></source></get-config>"), "//s:vrf"
            )
            wire.call("<edit-config><target><running/></target></edit-config>")

    with Wire(server.socket) as wire:
        edit(100)
        before = server.resident()
        edit(EDITS)
        grown = server.resident() - before
    assert grown < max(512, EDITS * KIB_FOR_EACH_EDIT), f"{grown} KiB after {EDITS} edits"


def test_a_long_edit_does_not_stall_others(server: Server, client: Client) -> None:
    """State is read at once; configuration at the latest when sysrepo has stored the edit."""
    client.edit(ROUTER)
    sids = "".join(
        f"<s:sid><s:prefix>fcbb:0:1:{number:x}::/64</s:prefix><s:locator>main</s:locator>"
        "<s:behavior>s:End</s:behavior></s:sid>"
        for number in range(0x100, 0x2000)
    )
    edit = with_namespaces(srv6(f"<s:local-sids>{sids}</s:local-sids>"))
    rpc = f"<edit-config><target><running/></target><config>{edit}</config></edit-config>"
    state = with_namespaces(
        '<nc:get><nc:filter type="xpath" select="/m:netconf-state/m:statistics"/></nc:get>'
    )
    waits = []
    with Wire(server.socket, seconds=60) as writer, Wire(server.socket) as reader:
        whole: list[float] = []

        def write() -> None:
            start = time.monotonic()
            assert texts(writer.call(rpc), "//nc:ok") == ["ok"]
            whole.append(time.monotonic() - start)

        thread = threading.Thread(target=write)
        thread.start()
        while thread.is_alive():
            start = time.monotonic()
            assert texts(reader.call(state), "//m:in-rpcs")
            waits.append(time.monotonic() - start)
        thread.join()
    assert whole, "the edit was refused"
    assert max(waits) < max(0.5, whole[0] / 2), (max(waits), whole)
