"""No file descriptor left: who knocks waits, nobody spins, and sysrepo's events are processed."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from functools import partial

import pytest

from lab.waiting import wait_until
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6mgrd.notifications import commit_rolled_back
from tests.contract.descriptors import check_calm, exhausted
from tests.contract.netconf.client import Client, rejected, texts
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import ROUTER

# Less than sysrepo's writers and readers wait for who does not answer.
SOON_MS = 4000
NACM = "/ietf-netconf-acm:nacm"


@pytest.fixture
def another() -> Iterator[Connection]:
    """Another program that uses sysrepo."""
    connection = Connection(originator="test")
    yield connection
    connection.close()


def test_without_descriptors_it_waits_and_goes_on(server: Server) -> None:
    with contextlib.ExitStack() as open_:

        def knock() -> None:
            client = open_.enter_context(socket.socket(socket.AF_UNIX))
            client.settimeout(0.01)
            client.connect(str(server.socket))

        check_calm(server.process.pid, knock)
    client = Client(server.socket)
    client.close()


def test_an_edit_without_descriptors_is_rejected_and_ends_nobody(
    client: Client, server: Server
) -> None:
    """libsysrepo frees a change twice whose store fails."""
    with exhausted(server.process.pid):
        edit = partial(client.edit, ROUTER, target="candidate")
        rejected(edit, "resource-denied", "Too many open files")
    client.edit(ROUTER, target="candidate")
    client.manager.discard_changes()


def test_rules_that_change_without_descriptors_count(
    client: Client, server: Server, another: Connection
) -> None:
    """sysrepo's own thread ends where it has none, and the rules would stay as they were."""
    client.edit(ROUTER)
    session = another.session()
    guest = Client(server.socket, user="nobody")

    def set_default(action: str) -> None:
        session.set_item(f"{NACM}/read-default", action)
        session.apply_changes(timeout_ms=SOON_MS)

    try:
        assert guest.texts("//s:vrf/s:table-id") == ["100"]
        with exhausted(server.process.pid):
            began = time.monotonic()
            set_default("deny")
            assert time.monotonic() - began < SOON_MS / 1000
        assert guest.texts("//s:vrf/s:table-id") == []
        set_default("permit")
        assert guest.texts("//s:vrf/s:table-id") == ["100"]
    finally:
        guest.close()
        client.edit('<acm:nacm nc:operation="remove"/>')


@pytest.mark.parametrize(
    "path",
    ["/ietf-netconf-monitoring:netconf-state/statistics", f"{NACM}/denied-operations"],
)
def test_state_is_read_without_descriptors(server: Server, another: Connection, path: str) -> None:
    session = another.session("operational")
    with exhausted(server.process.pid):
        for _ in range(3):
            assert session.get_data(path, timeout_ms=SOON_MS)


def test_state_without_srv6mgrd_is_read_without_descriptors(
    client: Client, router: Router, server: Server, another: Connection
) -> None:
    """What srv6mgrd wrote last, by which srv6-netconfd answers instead."""
    client.edit(ROUTER)
    installed = ObjectStatus(InstallStatus.INSTALLED, since=time.time_ns())
    router.store.set_statuses({ObjectRef(Kind.LOCATOR, "main"): installed})
    session = another.session("operational")

    def has_status() -> bool:
        found = session.get_data("/srv6mgr-srv6:srv6/locators", timeout_ms=SOON_MS)
        return "installed" in str(found)

    with router.gone():
        wait_until(has_status, "srv6-netconfd notices that srv6mgrd has gone")
        with exhausted(server.process.pid):
            for _ in range(3):
                assert has_status()


@pytest.mark.parametrize(
    "subscribe",
    [
        "<n:create-subscription/>",
        "<sn:establish-subscription><sn:stream>NETCONF</sn:stream></sn:establish-subscription>",
    ],
)
def test_a_subscriber_misses_nothing_without_descriptors(
    client: Client, router: Router, server: Server, subscribe: str
) -> None:
    client.rpc(subscribe)
    with exhausted(server.process.pid):
        router.notify(commit_rolled_back("meanwhile"))
        assert "meanwhile" in texts(client.event_with("//o:commit-undone"), "//o:commit-undone/*")
    router.notify(commit_rolled_back("afterwards"))
    assert "afterwards" in texts(client.event_with("//o:commit-undone"), "//o:commit-undone/*")
