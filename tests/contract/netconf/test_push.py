"""Dynamic subscriptions: RFC 8639 to streams, RFC 8641 to datastores."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from lab.waiting import wait_until
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.notifications import commit_rolled_back
from tests.contract.netconf.client import Client, rejected, texts
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import ROUTER, SID, srv6, vrf

SRV6 = "<yp:datastore-xpath-filter>/s:srv6/s:vrfs</yp:datastore-xpath-filter>"
ON_CHANGE = "<yp:on-change/>"
UNDONE = "//o:commit-undone"
LIST = (
    "<nmda:get-data><nmda:datastore>ds:operational</nmda:datastore><nmda:xpath-filter>"
    "/sn:subscriptions</nmda:xpath-filter></nmda:get-data>"
)
LISTED = "//sn:subscriptions/sn:subscription"


def subscribe(client: Client, inside: str) -> str:
    """Its number."""
    reply = client.rpc(f"<sn:establish-subscription>{inside}</sn:establish-subscription>")
    (number,) = texts(reply, "//sn:id")
    return number


def to_datastore(client: Client, how: str, filter_: str = SRV6, datastore: str = "running") -> str:
    return subscribe(client, f"<yp:datastore>ds:{datastore}</yp:datastore>{filter_}{how}")


def to_stream(client: Client, more: str = "") -> str:
    return subscribe(client, f"<sn:stream>NETCONF</sn:stream>{more}")


def act(client: Client, name: str, number: str, more: str = "") -> Any:
    return client.rpc(
        f"<sn:{name}-subscription><sn:id>{number}</sn:id>{more}</sn:{name}-subscription>"
    )


def test_on_change(client: Client, other: Client) -> None:
    client.edit(ROUTER)
    number = to_datastore(client, ON_CHANGE)
    first = client.event_with("//yp:push-update")
    assert texts(first, "//yp:push-update/yp:id") == [number]
    assert texts(first, "//s:vrf/s:table-id") == ["100"]
    assert texts(first, "//s:sid") == []
    other.edit(srv6(vrf(table="101")))
    change = client.event_with("//yp:push-change-update")
    edit = "//yp:push-change-update//*[local-name()='edit']"
    assert texts(change, f"{edit}/*[local-name()='operation']") == ["replace"]
    (target,) = texts(change, f"{edit}/*[local-name()='target']")
    assert target.endswith("table-id")
    assert "red" in target
    assert texts(change, "//s:table-id") == ["101"]
    other.edit(srv6(vrf(table="", operation="delete") + '<s:local-sids nc:operation="delete"/>'))
    change = client.event_with("//yp:push-change-update")
    assert "delete" in texts(change, f"{edit}/*[local-name()='operation']")


def test_on_change_without_a_beginning(client: Client, other: Client) -> None:
    client.edit(ROUTER)
    to_datastore(client, "<yp:on-change><yp:sync-on-start>false</yp:sync-on-start></yp:on-change>")
    assert client.quiet(0.2)
    other.edit(srv6(vrf(table="101")))
    assert texts(client.event(), "//s:table-id") == ["101"]


def test_kinds_of_changes_are_left_out(client: Client, other: Client) -> None:
    client.edit(ROUTER)
    to_datastore(client, "<yp:on-change><yp:sync-on-start>false</yp:sync-on-start>"
                 "<yp:excluded-change>replace</yp:excluded-change></yp:on-change>")  # fmt: skip
    other.edit(srv6(vrf(table="101")))
    other.edit(srv6(vrf("blue", "200")))
    assert "101" not in texts(client.event_with("//yp:push-change-update"), "//s:table-id")


def test_periodic(client: Client) -> None:
    client.edit(ROUTER)
    number = to_datastore(client, "<yp:periodic><yp:period>100</yp:period></yp:periodic>")
    for _ in range(3):
        event = client.event_with("//yp:push-update", 3)
        assert texts(event, "//yp:push-update/yp:id") == [number]
        assert texts(event, "//s:vrf/s:table-id") == ["100"]


def test_periodic_ones_read_as_other_reads_do(client: Client, router: Router) -> None:
    """State of SIDs is in the store: neither sysrepo nor srv6mgrd is asked for it."""
    client.edit(ROUTER)
    router.store.set_statuses({ObjectRef(Kind.SID, SID): ObjectStatus(InstallStatus.INSTALLED)})
    router.store.set_counters({SID: SidCounters(7, 700, 0, 1)}, {}, 1)
    state = "/s:srv6/s:local-sids/s:sid/s:state"
    period = "<yp:periodic><yp:period>100</yp:period></yp:periodic>"
    filter_ = f"<yp:datastore-xpath-filter>{state}</yp:datastore-xpath-filter>"
    with router.gone():
        to_datastore(client, period, filter_, "operational")
        for _ in range(2):
            event = client.event_with("//yp:push-update", 5)
            assert texts(event, "//s:counters/s:in-pkts") == ["7"]


def test_state_is_pushed_too(client: Client) -> None:
    client.edit(ROUTER)
    filter_ = "<yp:datastore-xpath-filter>/s:srv6/o:transactions</yp:datastore-xpath-filter>"
    to_datastore(client, "<yp:periodic><yp:period>100</yp:period></yp:periodic>", filter_,
                 "operational")  # fmt: skip
    assert texts(client.event_with("//yp:push-update"), "//o:transaction/o:id")


def test_a_subtree_filter(client: Client) -> None:
    client.edit(ROUTER)
    filter_ = (
        f"<yp:datastore-subtree-filter>{srv6('<s:local-sids/>')}</yp:datastore-subtree-filter>"
    )
    to_datastore(client, ON_CHANGE, filter_)
    event = client.event_with("//yp:push-update")
    assert texts(event, "//s:sid/s:prefix") == [SID]
    assert texts(event, "//s:vrfs") == []


def test_modify(client: Client, other: Client) -> None:
    client.edit(ROUTER)
    number = to_datastore(client, "<yp:periodic><yp:period>10000</yp:period></yp:periodic>")
    client.event_with("//yp:push-update")
    act(client, "modify", number,
        "<yp:datastore>ds:running</yp:datastore>"
        "<yp:datastore-xpath-filter>/s:srv6/s:local-sids</yp:datastore-xpath-filter>"
        "<yp:periodic><yp:period>110</yp:period></yp:periodic>")  # fmt: skip
    reported = client.event_with("//sn:subscription-modified")
    assert texts(reported, "//sn:subscription-modified/sn:id") == [number]
    assert texts(reported, "//yp:periodic/yp:period") == ["110"]
    event = client.event_with("//yp:push-update", 3)
    assert texts(event, "//s:sid/s:prefix") == [SID]
    assert texts(event, "//s:vrfs") == []
    other_kind = "<yp:datastore>ds:running</yp:datastore><yp:on-change/>"
    rejected(lambda: act(client, "modify", number, other_kind), "invalid-value", "keep to the kind")
    stop = (
        "<yp:datastore>ds:running</yp:datastore><sn:stop-time>2999-01-01T00:00:00Z</sn:stop-time>"
    )
    rejected(lambda: act(other, "modify", number, stop), "invalid-value", "no subscription",
            app_tag="ietf-subscribed-notifications:no-such-subscription")  # fmt: skip


def test_resync(client: Client) -> None:
    client.edit(ROUTER)
    number = to_datastore(client, ON_CHANGE)
    client.event_with("//yp:push-update")
    client.rpc(f"<yp:resync-subscription><yp:id>{number}</yp:id></yp:resync-subscription>")
    assert texts(client.event_with("//yp:push-update"), "//s:vrf/s:table-id") == ["100"]
    periodic = to_datastore(client, "<yp:periodic><yp:period>10000</yp:period></yp:periodic>")
    resync = f"<yp:resync-subscription><yp:id>{periodic}</yp:id></yp:resync-subscription>"
    rejected(lambda: client.rpc(resync), "operation-failed|invalid-value", "no on-change")


def test_delete(client: Client, other: Client, router: Router) -> None:
    number = to_stream(client)
    router.notify(commit_rolled_back("one"))
    client.event_with(UNDONE)
    rejected(lambda: act(other, "delete", number), "invalid-value", "no subscription")
    act(client, "delete", number)
    router.notify(commit_rolled_back("two"))
    assert client.quiet()
    rejected(lambda: act(client, "delete", number), "invalid-value", "no subscription",
            app_tag="ietf-subscribed-notifications:no-such-subscription")  # fmt: skip


def test_kill(client: Client, other: Client) -> None:
    number = to_stream(client)
    act(other, "kill", number)
    reported = client.event_with("//sn:subscription-terminated")
    assert texts(reported, "//sn:subscription-terminated/sn:id") == [number]
    assert texts(reported, "//sn:reason")[0].endswith("no-such-subscription")
    rejected(lambda: act(other, "kill", number), "invalid-value", "no subscription")


def test_several_in_one_session(client: Client, router: Router) -> None:
    first = to_stream(client, "<sn:stream-xpath-filter>/o:commit-undone</sn:stream-xpath-filter>")
    second = to_datastore(client, ON_CHANGE)
    assert first != second
    router.notify(commit_rolled_back("one"))
    client.event_with(UNDONE)
    client.edit(ROUTER)
    client.event_with("//yp:push-change-update")


def test_it_ends_at_its_time(client: Client) -> None:
    stop = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=0.5)
    number = to_stream(client, f"<sn:stop-time>{stop.isoformat()}</sn:stop-time>")
    reported = client.event_with("//sn:subscription-completed | //sn:subscription-terminated")
    assert number in texts(reported, "//sn:id")


def test_subscriptions_are_listed(client: Client, other: Client) -> None:
    number = to_stream(client)
    entry = f"{LISTED}[sn:id='{number}']"
    tree = other.rpc(LIST)
    assert texts(tree, f"{entry}/sn:stream") == ["NETCONF"]
    assert texts(tree, f"{entry}//sn:receiver/sn:state") == ["active"]
    act(client, "delete", number)
    assert texts(other.rpc(LIST), entry) == []


def test_they_end_with_their_session(client: Client, server: Server) -> None:
    short = Client(server.socket)
    number = to_stream(short)
    short.leave()
    entry = f"{LISTED}[sn:id='{number}']"
    wait_until(lambda: not texts(client.rpc(LIST), entry))


@pytest.mark.parametrize(
    ("inside", "tag", "words"),
    [
        ("<sn:stream>nothing</sn:stream>", "invalid-value", "no stream nothing"),
        ("<yp:datastore>ds:running</yp:datastore><yp:periodic><yp:period>99</yp:period>"
         "</yp:periodic>", "invalid-value", "choose 100 or more"),
        ("<yp:datastore>ds:running</yp:datastore><yp:datastore-xpath-filter>//*[count(//*) = 1]"
         "</yp:datastore-xpath-filter><yp:on-change/>", "invalid-value", "plain paths"),
        ("<sn:stream>NETCONF</sn:stream><sn:stream-xpath-filter>//*[count(//*) = 1]"
         "</sn:stream-xpath-filter>", "invalid-value", "plain paths"),
        ("<yp:datastore>ds:running</yp:datastore>", "missing-element", "periodic or on-change"),
        ("<yp:datastore>ds:nothing</yp:datastore><yp:on-change/>", "invalid-value", "nothing"),
        ("<sn:stream>NETCONF</sn:stream><sn:stream-xpath-filter>/s:srv6[</sn:stream-xpath-filter>",
         "invalid-value", "XPath|filter"),
        ("<sn:stream>NETCONF</sn:stream><sn:stop-time>x</sn:stop-time>", "invalid-value", "x"),
        ("<sn:stream>NETCONF</sn:stream><sn:stop-time>2001-01-01T00:00:00Z</sn:stop-time>",
         "invalid-value", "past"),
    ],
)  # fmt: skip
def test_what_is_rejected(client: Client, inside: str, tag: str, words: str) -> None:
    rejected(lambda: subscribe(client, inside), tag, words)


def test_subscriptions_of_a_session_are_counted(client: Client) -> None:
    numbers = [to_stream(client) for _ in range(32)]
    rejected(lambda: to_stream(client), "resource-denied", "32 subscriptions",
            app_tag="ietf-subscribed-notifications:insufficient-resources")  # fmt: skip
    act(client, "delete", numbers[0])
    to_stream(client)


def test_on_change_of_state(client: Client, router: Router) -> None:
    """Whether what was declared is installed: sysrepo itself reports no change of that."""
    ref = ObjectRef(Kind.SID, SID)
    client.edit(ROUTER)
    router.store.set_statuses({ref: ObjectStatus(InstallStatus.PENDING, "waits", 1)})
    state = "/s:srv6/s:local-sids/s:sid/s:state"
    number = to_datastore(
        client, ON_CHANGE, f"<yp:datastore-xpath-filter>{state}</yp:datastore-xpath-filter>",
        "operational",
    )  # fmt: skip
    first = client.event_with("//yp:push-update")
    assert texts(first, "//s:install-status") == ["pending"]
    # Counters are no change.
    router.store.set_counters({SID: SidCounters(7, 700, 0, 1)}, {}, 2)
    assert client.quiet()
    router.store.set_statuses({ref: ObjectStatus(InstallStatus.INSTALLED, "", 2)})
    change = client.event_with("//yp:push-change-update")
    assert texts(change, "//yp:push-change-update/yp:id") == [number]
    edit = "//*[local-name()='edit']"
    targets = texts(change, f"{edit}/*[local-name()='target']")
    assert any(SID in target and target.endswith("install-status") for target in targets)
    assert texts(change, "//s:install-status") == ["installed"]
    router.store.set_statuses({})
    change = client.event_with("//yp:push-change-update")
    assert "delete" in texts(change, f"{edit}/*[local-name()='operation']")
    act(client, "delete", number)
    router.store.set_statuses({ref: ObjectStatus(InstallStatus.FAILED, "x", 3)})
    assert client.quiet()


def test_on_change_of_transactions(client: Client, other: Client) -> None:
    client.edit(ROUTER)
    path = "/s:srv6/o:transactions"
    to_datastore(
        client, ON_CHANGE, f"<yp:datastore-xpath-filter>{path}</yp:datastore-xpath-filter>",
        "operational",
    )  # fmt: skip
    client.event_with("//yp:push-update")
    other.edit(srv6(vrf(table="101")))
    change = client.event_with("//yp:push-change-update")
    assert texts(change, "//o:transaction/o:status") == ["done"]
