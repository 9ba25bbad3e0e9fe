"""Locks (RFC 6241 section 7.5)."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import pytest
from ncclient.operations import RPCError

from lab.waiting import wait_until
from srv6mgrd.commits.fields import encode, receive
from srv6mgrd.commits.paths import commit_socket
from srv6mgrd.datastore.history import Origin
from tests.contract.netconf.client import Client, rejected, texts
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import ROUTER, srv6, vrf

LOCKS = "//m:datastore[m:name='{}']//m:locked-by-session"


@pytest.mark.parametrize("datastore", ["running", "candidate", "startup"])
def test_another_session_is_reported_who_holds_it(
    client: Client, other: Client, datastore: str
) -> None:
    client.manager.lock(datastore)
    error = rejected(lambda: other.manager.lock(datastore), "lock-denied", f"session {client.id}")
    assert f"<session-id>{client.id}</session-id>" in error.info
    assert texts(other.rpc("<nc:get/>"), LOCKS.format(datastore)) == [client.id]
    client.manager.unlock(datastore)
    other.manager.lock(datastore)
    other.manager.unlock(datastore)


def test_others_do_not_write_what_is_locked(client: Client, other: Client) -> None:
    client.manager.lock("running")
    rejected(lambda: other.edit(ROUTER), "in-use", "locked|lock")
    client.edit(ROUTER)
    assert other.texts("//s:vrf/s:table-id") == ["100"]
    client.manager.unlock("running")


def test_others_do_not_commit_into_what_is_locked(client: Client, other: Client) -> None:
    client.manager.lock("running")
    other.edit(ROUTER, target="candidate")
    rejected(other.manager.commit, "in-use", "lock")
    client.manager.unlock("running")
    other.manager.commit()
    assert client.texts("//s:vrf/s:table-id") == ["100"]


def test_others_do_not_edit_a_locked_candidate(client: Client, other: Client) -> None:
    client.manager.lock("candidate")
    rejected(lambda: other.edit(ROUTER, target="candidate"), "in-use", "lock")
    rejected(other.manager.commit, "in-use", "lock")
    client.manager.unlock("candidate")


def test_the_lock_of_a_dead_session_is_released(client: Client, other: Client) -> None:
    other.manager.lock("running")
    other.leave()

    def free() -> bool:
        try:
            client.manager.lock("running")
        except Exception:
            return False
        return True

    wait_until(free)
    client.edit(ROUTER)
    client.manager.unlock("running")


def test_a_session_that_asks_nothing_keeps_it_over_a_restart_of_srv6mgrd(
    client: Client, other: Client, router: Router
) -> None:
    client.manager.lock("running")
    with router.gone():
        rejected(lambda: client.edit(ROUTER), "operation-failed", "not running")

    def is_locked() -> bool:
        try:
            other.edit(ROUTER)
        except RPCError as error:
            return "locked by" in str(error)
        return False

    wait_until(is_locked)
    client.manager.unlock("running")
    other.edit(ROUTER)


def test_a_session_whose_lock_another_has_after_a_restart_ends(
    client: Client, other: Client, router: Router, server: Server, place: Path
) -> None:
    client.manager.lock("running")
    with router.gone():
        # So that the other one is first.
        server.process.send_signal(signal.SIGSTOP)
    try:
        with socket.socket(socket.AF_UNIX) as first:
            first.connect(str(commit_socket(place)))
            first.sendall(encode([("request", b"lock"), ("northbound", b"test")]))
            granted = receive(first)
            assert granted is not None
            assert granted.text("result") == "ok"
            server.process.send_signal(signal.SIGCONT)
            wait_until(lambda: not client.manager.connected)
    finally:
        server.process.send_signal(signal.SIGCONT)
    wait_until(lambda: other.manager.lock("running").ok)
    other.manager.unlock("running")


def test_a_session_holds_it_once(client: Client) -> None:
    client.manager.lock("running")
    rejected(lambda: client.manager.lock("running"), "lock-denied")
    client.manager.unlock("running")
    rejected(lambda: client.manager.unlock("running"), "operation-failed", "holds no lock")


def test_a_changed_candidate_is_not_locked(client: Client, other: Client) -> None:
    """RFC 6241 section 7.5: changes of others would be lost or committed."""
    client.edit(ROUTER, target="candidate")
    rejected(lambda: other.manager.lock("candidate"), "in-use", "holds changes")
    client.manager.discard_changes()
    other.manager.lock("candidate")
    other.manager.unlock("candidate")


def test_running_is_not_locked_during_the_confirmed_commit_of_another(
    client: Client, other: Client
) -> None:
    """RFC 6241 section 7.5."""
    client.edit(ROUTER)
    client.edit(srv6(vrf(table="101")), target="candidate")
    client.manager.commit(confirmed=True, timeout="60")
    rejected(lambda: other.manager.lock("running"), "in-use", "awaits confirmation until")
    # The session that has to confirm it may.
    client.manager.lock("running")
    client.manager.commit()
    client.manager.unlock("running")
    other.manager.lock("running")
    other.manager.unlock("running")


def test_running_is_not_locked_during_a_commit_of_another_northbound(
    client: Client, router: Router
) -> None:
    world = router.loop.world
    router.loop.run(world.coordinator.begin(Origin("srv6-gnmid", "alice", "one"), 60))
    rejected(lambda: client.manager.lock("running"), "in-use", "srv6-gnmid of alice")
    for datastore in ("candidate", "startup"):
        client.manager.lock(datastore)
        client.manager.unlock(datastore)
    router.loop.run(world.coordinator.confirmation.cancel("one"))
