"""Notifications: RFC 5277, RFC 6470, and those of srv6mgrd."""

from __future__ import annotations

import datetime
import subprocess
import time
from collections.abc import Iterator

import pytest

from srv6mgrd.notifications import commit_rolled_back
from tests.contract.netconf.client import Client, rejected, texts
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import ROUTER, srv6, vrf

CHANGED = "//ev:netconf-config-change"
UNDONE = "//o:commit-undone"


@pytest.fixture
def listener(server: Server) -> Iterator[Client]:
    client = Client(server.socket)
    client.manager.create_subscription()
    yield client
    client.close()


def test_a_change_tells_who_made_it(listener: Client, client: Client) -> None:
    client.edit(ROUTER)
    event = listener.event_with(f"{CHANGED}[ev:datastore='running']")
    assert texts(event, "//ev:changed-by/ev:username") == ["root"]
    assert texts(event, "//ev:changed-by/ev:session-id") == [client.id]
    targets = texts(event, "//ev:edit/ev:target")
    assert any("vrf[" in target and "red" in target for target in targets), targets
    (when,) = texts(event, "/n:notification/n:eventTime")
    assert abs(datetime.datetime.fromisoformat(when).timestamp() - time.time()) < 60


def test_a_rejected_change_is_not_reported(listener: Client, client: Client) -> None:
    rejected(lambda: client.edit(srv6(vrf("blue", table=""))), "missing-element")
    client.edit(ROUTER)
    event = listener.event_with(CHANGED)
    assert "blue" not in "".join(texts(event, "//ev:target"))


def test_sessions_come_and_go(listener: Client, server: Server) -> None:
    passing = Client(server.socket)
    event = listener.event_with("//ev:netconf-session-start")
    assert texts(event, "//ev:session-id") == [passing.id]
    assert texts(event, "//ev:username") == ["root"]
    passing.close()
    event = listener.event_with("//ev:netconf-session-end")
    assert texts(event, "//ev:termination-reason") == ["closed"]
    killed = Client(server.socket)
    listener.event_with("//ev:netconf-session-start")
    listener.manager.kill_session(killed.id)
    event = listener.event_with("//ev:netconf-session-end")
    assert texts(event, "//ev:termination-reason") == ["killed"]
    assert texts(event, "//ev:killed-by") == [listener.id]
    dropped = Client(server.socket)
    dropped.leave()
    event = listener.event_with("//ev:netconf-session-end")
    assert texts(event, "//ev:termination-reason") == ["dropped"]


def test_rpcs_between_notifications(listener: Client) -> None:
    """:interleave, RFC 5277 section 6."""
    listener.edit(ROUTER)
    assert listener.texts("//s:vrf/s:table-id") == ["100"]
    assert texts(listener.event_with(CHANGED), "//ev:session-id") == [listener.id]


def test_notifications_of_srv6mgrd(listener: Client, router: Router) -> None:
    router.notify(commit_rolled_back("one"))
    event = listener.event_with(UNDONE)
    assert "one" in texts(event, f"{UNDONE}/*")


@pytest.mark.parametrize(
    "filter_",
    [
        '<n:filter nc:type="xpath" nc:select="/o:commit-undone"/>',
        "<n:filter><o:commit-undone/></n:filter>",
    ],
)
def test_a_filter(client: Client, other: Client, router: Router, filter_: str) -> None:
    client.rpc(f"<n:create-subscription>{filter_}</n:create-subscription>")
    other.edit(ROUTER)
    router.notify(commit_rolled_back("one"))
    assert texts(client.event(), UNDONE)
    assert client.quiet()


@pytest.fixture
def kept() -> Iterator[None]:
    """sysrepo keeps the notifications of srv6mgrd."""
    switch = ["sysrepoctl", "--change", "srv6mgr-operations", "--replay"]
    subprocess.run([*switch, "on"], check=True, capture_output=True)
    yield
    subprocess.run([*switch, "off"], check=True, capture_output=True)


@pytest.mark.usefixtures("kept")
def test_replay(server: Server, router: Router) -> None:
    before = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=1)
    witness, client = Client(server.socket), Client(server.socket)
    supported = "//mod:netconf/mod:streams/mod:stream/mod:replaySupport"
    assert texts(client.rpc("<nc:get/>"), supported) == ["true"]
    witness.manager.create_subscription()
    router.notify(commit_rolled_back("replayed"))
    witness.event_with(UNDONE)
    client.manager.create_subscription(start_time=before.isoformat())
    assert "replayed" in texts(client.event(), f"{UNDONE}/*")
    assert texts(client.event(), "//mod:replayComplete")
    router.notify(commit_rolled_back("live"))
    assert "live" in texts(client.event_with(UNDONE), f"{UNDONE}/*")
    client.close()
    witness.close()


def test_no_replay_of_what_is_not_kept(client: Client) -> None:
    start = "2020-01-01T00:00:00Z"
    xml = f"<n:create-subscription><n:startTime>{start}</n:startTime></n:create-subscription>"
    rejected(lambda: client.rpc(xml), "operation-not-supported", "keeps no notifications")
    xml = (
        "<sn:establish-subscription><sn:stream>NETCONF</sn:stream>"
        f"<sn:replay-start-time>{start}</sn:replay-start-time></sn:establish-subscription>"
    )
    rejected(lambda: client.rpc(xml), "operation-not-supported", "keeps no notifications",
            app_tag="ietf-subscribed-notifications:replay-unsupported")  # fmt: skip


@pytest.mark.usefixtures("kept")
def test_replay_that_stops(client: Client) -> None:
    now = datetime.datetime.now(datetime.UTC)
    start, stop = now - datetime.timedelta(minutes=1), now + datetime.timedelta(seconds=1)
    client.manager.create_subscription(start_time=start.isoformat(), stop_time=stop.isoformat())
    client.event_with("//mod:notificationComplete | //mod:replayComplete")
    client.event_with("//mod:notificationComplete")
    # The session may subscribe again.
    client.manager.create_subscription()


@pytest.mark.parametrize(
    ("inside", "tag", "words"),
    [
        ("<n:stream>nothing</n:stream>", "invalid-value", "no such stream"),
        ("<n:stopTime>2020-01-01T00:00:00Z</n:stopTime>", "missing-element", "needs startTime"),
        ("<n:startTime>2999-01-01T00:00:00Z</n:startTime>", "bad-element", "future"),
        ("<n:startTime>2020-01-02T00:00:00Z</n:startTime><n:stopTime>2020-01-01T00:00:00Z"
         "</n:stopTime>", "bad-element", "before startTime"),
        ("<n:startTime>yesterday</n:startTime>", "invalid-value", "yesterday"),
    ],
)  # fmt: skip
def test_subscriptions_that_are_rejected(client: Client, inside: str, tag: str, words: str) -> None:
    xml = f"<n:create-subscription>{inside}</n:create-subscription>"
    rejected(lambda: client.rpc(xml), tag, words)


def test_one_subscription_for_a_session(listener: Client) -> None:
    rejected(lambda: listener.rpc("<n:create-subscription/>"), "operation-failed", "has one")
