"""Commits to be confirmed (RFC 6241 section 8.4), with srv6mgrd's own commit clock."""

from __future__ import annotations

from typing import Any

import pytest
from ncclient.operations.rpc import RPCError

from lab.waiting import wait_until
from srv6mgrd.datastore.connection import PendingError
from srv6mgrd.datastore.history import Origin, Status
from srv6mgrd.model.rejection import Rejection
from tests.contract.netconf.client import Client, rejected, texts
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import ROUTER, srv6, vrf

TABLES = "//s:vrf/s:table-id"


@pytest.fixture(autouse=True)
def configured(client: Client) -> None:
    client.edit(ROUTER)


def begin(client: Client, table: str = "101", **options: Any) -> None:
    client.edit(srv6(vrf(table=table)), target="candidate")
    client.manager.commit(confirmed=True, **options)


def test_what_is_not_confirmed_is_undone_on_time(client: Client, router: Router) -> None:
    begin(client, timeout="1")
    assert client.texts(TABLES) == ["101"]
    wait_until(lambda: client.texts(TABLES) == ["100"])
    wait_until(lambda: router.loop.pending() is None)


def test_what_is_confirmed_stays(client: Client, router: Router) -> None:
    begin(client, timeout="60")
    pending = router.loop.pending()
    assert pending is not None
    assert (pending.origin.northbound, pending.origin.user) == ("srv6-netconfd", "root")
    assert pending.timeout == 60
    client.manager.commit()
    assert router.loop.pending() is None
    assert client.texts(TABLES) == ["101"]


def test_the_default_is_600_seconds(client: Client, router: Router) -> None:
    begin(client)
    pending = router.loop.pending()
    assert pending is not None
    assert pending.timeout == 600
    client.rpc("<nc:cancel-commit/>")


def test_cancel(client: Client, router: Router) -> None:
    begin(client, timeout="60")
    client.rpc("<nc:cancel-commit/>")
    assert client.texts(TABLES) == ["100"]
    assert router.loop.pending() is None
    rejected(lambda: client.rpc("<nc:cancel-commit/>"), "operation-failed", "no commit awaits")


def test_a_further_one_prolongs_it(client: Client, router: Router) -> None:
    begin(client, timeout="60")
    begin(client, "102", timeout="500")
    pending = router.loop.pending()
    assert pending is not None
    assert pending.timeout == 500
    assert client.texts(TABLES) == ["102"]
    client.rpc("<nc:cancel-commit/>")
    assert client.texts(TABLES) == ["100"]


def test_the_confirming_commit_brings_further_changes(client: Client) -> None:
    begin(client, timeout="60")
    client.edit(srv6(vrf(table="102")), target="candidate")
    client.manager.commit()
    assert client.texts(TABLES) == ["102"]


@pytest.mark.parametrize("end", ["close", "leave"])
def test_it_ends_with_its_session(client: Client, server: Server, router: Router, end: str) -> None:
    short = Client(server.socket)
    begin(short, timeout="60")
    getattr(short, end)()
    wait_until(lambda: client.texts(TABLES) == ["100"])
    wait_until(lambda: router.loop.pending() is None)


def test_it_ends_when_its_session_is_killed(client: Client, other: Client) -> None:
    begin(other, timeout="60")
    client.manager.kill_session(other.id)
    wait_until(lambda: client.texts(TABLES) == ["100"])


def test_persist_outlives_the_session(client: Client, server: Server, router: Router) -> None:
    short = Client(server.socket)
    begin(short, timeout="60", persist="token")
    short.close()
    pending = router.loop.pending()
    assert pending is not None
    assert pending.is_of("token")
    assert client.texts(TABLES) == ["101"]
    client.manager.commit(persist_id="token")
    assert client.texts(TABLES) == ["101"]
    assert router.loop.pending() is None


def test_persist_is_prolonged_and_cancelled_by_any_session(
    client: Client, other: Client, router: Router
) -> None:
    begin(client, timeout="60", persist="token")
    other.rpc(
        "<nc:commit><nc:confirmed/><nc:confirm-timeout>500</nc:confirm-timeout>"
        "<nc:persist-id>token</nc:persist-id></nc:commit>"
    )
    pending = router.loop.pending()
    assert pending is not None
    assert pending.timeout == 500
    other.rpc("<nc:cancel-commit><nc:persist-id>token</nc:persist-id></nc:cancel-commit>")
    assert client.texts(TABLES) == ["100"]


def test_a_follow_up_sets_another_token(client: Client, other: Client, router: Router) -> None:
    """RFC 6241 section 8.4.5.1: persist sets a token on the ongoing confirmed commit."""
    begin(client, timeout="60", persist="first")
    follow = "<nc:confirmed/><nc:persist>second</nc:persist><nc:persist-id>first</nc:persist-id>"
    other.rpc(f"<nc:commit>{follow}</nc:commit>")
    rejected(lambda: client.manager.commit(persist_id="first"), "invalid-value", "another commit")
    other.manager.commit(persist_id="second")
    assert router.loop.pending() is None
    assert client.texts(TABLES) == ["101"]


def test_a_follow_up_lets_it_outlive_its_session(
    client: Client, server: Server, router: Router
) -> None:
    short = Client(server.socket)
    begin(short, timeout="60")
    short.rpc("<nc:commit><nc:confirmed/><nc:persist>token</nc:persist></nc:commit>")
    short.leave()
    sessions = "count(//m:sessions/m:session)"
    wait_until(lambda: texts(client.rpc("<nc:get/>"), sessions) == ["1.0"])
    pending = router.loop.pending()
    assert pending is not None
    assert pending.is_of("token")
    assert client.texts(TABLES) == ["101"]
    client.manager.commit(persist_id="token")


def test_another_session_can_not_go_on_without_the_token(client: Client, other: Client) -> None:
    begin(client, timeout="60", persist="token")
    awaits = "srv6-netconfd of root and awaits confirmation until"
    for call in (other.manager.commit, client.manager.commit):
        rejected(call, "in-use", awaits)
    rejected(lambda: other.manager.commit(persist_id="x"), "invalid-value", "another commit")
    rejected(lambda: other.rpc("<nc:cancel-commit/>"), "in-use", awaits)
    wrong = "<nc:cancel-commit><nc:persist-id>x</nc:persist-id></nc:cancel-commit>"
    rejected(lambda: other.rpc(wrong), "invalid-value", "another commit")
    assert client.texts(TABLES) == ["101"]
    client.rpc("<nc:cancel-commit><nc:persist-id>token</nc:persist-id></nc:cancel-commit>")


def test_the_token_is_shown_to_nobody(client: Client, other: Client, router: Router) -> None:
    token = "hunter2-not-for-others"
    begin(client, timeout="60", persist=token)
    for rpc in ("<nc:get/>", "<nc:commit/>", "<nc:cancel-commit/>"):
        try:
            answer = str(other.rpc(rpc))
        except RPCError as error:
            answer = str(error.message) + str(error.info)
        assert token not in answer
    pending = router.loop.pending()
    assert pending is not None
    public = f"<nc:persist-id>{pending.id}</nc:persist-id>"
    for call in ("commit", "cancel-commit"):
        rejected(
            lambda call=call: other.rpc(f"<nc:{call}>{public}</nc:{call}>"),
            "invalid-value",
            "another commit",
        )
    other.rpc(f"<nc:cancel-commit><nc:persist-id>{token}</nc:persist-id></nc:cancel-commit>")


def test_the_number_of_a_session_is_no_token(client: Client, other: Client) -> None:
    begin(client, timeout="60")
    guess = f"<nc:persist-id>netconf-session-{client.id}</nc:persist-id>"
    rejected(lambda: other.rpc(f"<nc:commit>{guess}</nc:commit>"), "invalid-value", "another")
    client.rpc("<nc:cancel-commit/>")


def test_others_wait(client: Client, other: Client) -> None:
    begin(client, timeout="60")
    awaits = f"commit netconf-session-{client.id}: it came through srv6-netconfd of root and awaits"
    rejected(lambda: other.edit(srv6(vrf(table="105"))), "in-use", awaits)
    rejected(lambda: begin(other, "105"), "in-use", awaits)
    rejected(other.manager.commit, "in-use", awaits)
    client.manager.commit()
    other.manager.discard_changes()
    other.edit(srv6(vrf(table="105")))
    assert client.texts(TABLES) == ["105"]


def test_a_commit_of_another_northbound_blocks(client: Client, router: Router) -> None:
    client.edit(srv6(vrf(table="101")), target="candidate")
    world = router.loop.world
    router.loop.run(world.coordinator.begin(Origin("srv6-gnmid", "alice", "one"), 60))
    awaits = "it came through srv6-gnmid of alice and awaits confirmation until"
    rejected(lambda: client.edit(srv6(vrf(table="105"))), "in-use", awaits)
    rejected(lambda: client.manager.commit(confirmed=True), "in-use", awaits)
    rejected(client.manager.commit, "in-use", awaits)
    router.loop.run(world.coordinator.confirmation.cancel("one"))
    client.manager.commit()
    assert client.texts(TABLES) == ["101"]


def test_another_northbound_is_blocked(client: Client, router: Router) -> None:
    begin(client, timeout="60")
    world = router.loop.world
    with pytest.raises(PendingError, match="it came through srv6-netconfd"):
        router.loop.run(world.coordinator.begin(Origin("srv6-gnmid", "alice", "one"), 60))
    client.rpc("<nc:cancel-commit/>")


def test_what_is_rejected_leaves_nothing_pending(client: Client, router: Router) -> None:
    rejection = Rejection("VRF red", "the kernel has none", "load vrf", "x")
    router.loop.world.manager.change_rejection = rejection
    rejected(lambda: begin(client, timeout="60"), "operation-failed", f"^{rejection}$")
    router.loop.world.manager.change_rejection = None
    assert router.loop.pending() is None
    assert client.texts(TABLES) == ["100"]


def test_the_history_says_what_became_of_it(client: Client, router: Router) -> None:
    begin(client, timeout="60")
    name = f"netconf-session-{client.id}"
    of_it = f"//o:transaction[o:commit-id='{name}']"
    assert texts(client.rpc("<nc:get/>"), f"{of_it}/o:status") == [Status.AWAITING.value]
    client.rpc("<nc:cancel-commit/>")
    assert Status.ROLLED_BACK.value in texts(client.rpc("<nc:get/>"), f"{of_it}/o:status")


def test_what_a_killed_process_left_is_undone(server: Server, router: Router) -> None:
    """A session dies with its server; what it did not confirm is undone at the next start."""
    begin(Client(server.socket), timeout="600")
    server.kill()
    server.start()
    assert router.loop.pending() is None
    client = Client(server.socket)
    assert client.texts(TABLES) == ["100"]
    client.close()


def test_what_persists_outlives_a_killed_process(server: Server, router: Router) -> None:
    begin(Client(server.socket), timeout="600", persist="token")
    server.kill()
    server.start()
    client = Client(server.socket)
    assert client.texts(TABLES) == ["101"]
    client.manager.commit(persist_id="token")
    assert router.loop.pending() is None
    client.close()


def test_changes_of_other_modules_are_rejected(client: Client) -> None:
    """The clock goes back to a configuration of our modules, not to one of others."""
    client.edit("<acm:nacm><acm:enable-nacm>false</acm:enable-nacm></acm:nacm>", "candidate")
    rejected(lambda: client.manager.commit(confirmed=True), "operation-not-supported",
            "module ietf-netconf-acm")  # fmt: skip
    client.manager.discard_changes()


@pytest.mark.parametrize(
    ("inside", "tag", "words"),
    [
        ("<nc:confirmed/><nc:confirm-timeout>0</nc:confirm-timeout>", "invalid-value", "timeout"),
        ("<nc:confirmed/><nc:confirm-timeout>86401</nc:confirm-timeout>", "invalid-value",
         "above 86400"),
        ("<nc:persist-id>none</nc:persist-id>", "invalid-value", "no commit awaits"),
        ("<nc:confirmed/><nc:persist/>", "invalid-value", "1 to 255 characters"),
    ],
)  # fmt: skip
def test_bad_parameters(client: Client, inside: str, tag: str, words: str) -> None:
    rejected(lambda: client.rpc(f"<nc:commit>{inside}</nc:commit>"), tag, words)
