"""Secrets are for those whom a NACM rule names (RFC 8341 section 3.4.5, default-deny-all)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lxml import etree
from ncclient.operations.rpc import RPCError

from tests.contract.conftest import MARKER
from tests.contract.netconf.client import Client, rejected, texts
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import ROUTER, srv6
from tests.contract.netconf.test_access import USER, allow, data, rpc, rule
from tests.contract.netconf.test_push import LISTED, ON_CHANGE, to_datastore

ADDRESS = "2001:db8::2"
PASSWORD = "//bgp:neighbor/bgp:password"
SECRET = "/s:srv6/bgp:bgp/bgp:neighbor/bgp:password"
OPERATIONS = "srv6mgr-operations"


def neighbor(password: str = MARKER, more: str = "") -> str:
    return srv6(
        "<bgp:bgp><bgp:as-number>65000</bgp:as-number><bgp:router-id>192.0.2.1</bgp:router-id>"
        f"<bgp:neighbor><bgp:address>{ADDRESS}</bgp:address><bgp:remote-as>65000</bgp:remote-as>"
        f"<bgp:password>{password}</bgp:password>{more}</bgp:neighbor></bgp:bgp>"
    )


def described(text: str) -> str:
    """An edit beside the password."""
    whole = neighbor(more=f"<bgp:description>{text}</bgp:description>")
    return whole.replace(f"<bgp:password>{MARKER}</bgp:password>", "")


def printed(tree: Any) -> str:
    return etree.tostring(tree, encoding="unicode")


@pytest.fixture
def guest(server: Server, client: Client) -> Iterator[Client]:
    client.edit(ROUTER)
    client.edit(neighbor())
    guest = Client(server.socket, user=USER)
    yield guest
    guest.close()
    client.edit('<acm:nacm nc:operation="remove"/>')
    assert MARKER not in server.log.read_text()


def get_data(datastore: str, more: str = "") -> str:
    return f"<nmda:get-data><nmda:datastore>ds:{datastore}</nmda:datastore>{more}</nmda:get-data>"


def get_config(source: str) -> str:
    return f"<nc:get-config><nc:source><nc:{source}/></nc:source></nc:get-config>"


READS = [
    "<nc:get/>",
    *map(get_config, ("running", "candidate", "startup")),
    *map(get_data, ("running", "candidate", "startup", "operational")),
    get_data("operational", "<nmda:with-origin/>"),
    get_data("running", f"<nmda:xpath-filter>{PASSWORD}</nmda:xpath-filter>"),
    get_data("running", "<nmda:max-depth>5</nmda:max-depth>"),
    f'<nc:get><nc:filter nc:type="xpath" nc:select="{PASSWORD} | //s:vrf"/></nc:get>'.replace(
        "nc:type", "type"
    ).replace("nc:select", "select"),
]


@pytest.mark.parametrize("read", READS)
def test_reads(client: Client, guest: Client, read: str) -> None:
    client.manager.copy_config("running", "startup")
    client.edit(neighbor(more="<bgp:description>beta</bgp:description>"), target="candidate")
    try:
        assert MARKER in printed(client.rpc(read))
        assert MARKER not in printed(guest.rpc(read))
    finally:
        client.manager.discard_changes()


def test_a_rule_opens_them(client: Client, guest: Client) -> None:
    allow(client, rule("read", data(SECRET), "read", "permit"))
    assert guest.texts(PASSWORD) == [MARKER]


def test_without_a_rule_they_are_not_written(client: Client, guest: Client) -> None:
    client.edit("<acm:nacm><acm:write-default>permit</acm:write-default></acm:nacm>")
    guest.edit(described("beta"))
    rejected(lambda: guest.edit(neighbor("mine")), "access-denied")
    assert client.texts(PASSWORD) == [MARKER]


OPERATIONS_OF_EDITS = ("merge", "create", "replace", "delete", "remove", "none")
GUESSES = (MARKER, "a-wrong-guess")


def answers(guest: Client, call: Callable[[str], object]) -> list[str]:
    """What each guess is answered with."""
    found = []
    for guess in GUESSES:
        try:
            call(guess)
            found.append("ok")
        except RPCError as error:
            errors = getattr(error, "errlist", None) or [error]
            found.append(" ".join(f"{e.tag} {e.app_tag} {e.path} {e.message}" for e in errors))
        guest.manager.discard_changes()
    assert MARKER not in "".join(found)
    return found


def operated(guess: str, operation: str) -> str:
    """An edit of the password alone."""
    if operation == "none":
        return neighbor(guess)
    return neighbor(guess).replace("<bgp:password>", f'<bgp:password nc:operation="{operation}">')


@pytest.mark.parametrize("operation", OPERATIONS_OF_EDITS)
@pytest.mark.parametrize("target", ["candidate", "running"])
def test_no_edit_is_a_way_to_guess_them(
    client: Client, guest: Client, target: str, operation: str
) -> None:
    client.edit("<acm:nacm><acm:write-default>permit</acm:write-default></acm:nacm>")
    default = "none" if operation == "none" else "merge"
    given, wrong = answers(
        guest,
        lambda guess: guest.edit(operated(guess, operation), target, default_operation=default),
    )
    assert given == wrong
    assert given.startswith("access-denied")
    assert client.texts(PASSWORD) == [MARKER]


@pytest.mark.parametrize("operation", OPERATIONS_OF_EDITS)
def test_who_may_write_them_is_reported_nothing_either(
    client: Client, guest: Client, operation: str
) -> None:
    """In the candidate, which can be discarded."""
    writes = "create update delete"
    allow(
        client,
        rule("secret", data(SECRET), writes, "permit"),
        rule("rest", data("/s:srv6"), writes, "permit"),
    )
    default = "none" if operation == "none" else "merge"

    def edit(guess: str) -> None:
        guest.edit(operated(guess, operation), "candidate", default_operation=default)
        guest.manager.validate("candidate")

    right, wrong = answers(guest, edit)
    assert right == wrong


def test_nor_does_a_whole_configuration(client: Client, guest: Client) -> None:
    client.edit("<acm:nacm><acm:write-default>permit</acm:write-default></acm:nacm>")

    def copy(guess: str) -> None:
        config = f"<nc:config>{ROUTER}{neighbor(guess)}</nc:config>"
        target, source = "<nc:candidate/>", config
        guest.rpc(
            f"<nc:copy-config><nc:target>{target}</nc:target>"
            f"<nc:source>{source}</nc:source></nc:copy-config>"
        )

    right, wrong = answers(guest, copy)
    assert right == wrong
    assert right.startswith("access-denied")


def test_subscriptions(client: Client, guest: Client) -> None:
    everything = "<yp:datastore-xpath-filter>/s:srv6</yp:datastore-xpath-filter>"
    to_datastore(guest, ON_CHANGE, everything)
    first = guest.event_with("//yp:push-update")
    assert "remote-as" in printed(first)
    client.edit(neighbor(f"{MARKER}-new", "<bgp:description>beta</bgp:description>"))
    change = guest.event_with("//yp:push-change-update")
    assert "beta" in printed(change)
    assert MARKER not in printed(first) + printed(change)
    assert "password" not in printed(change)


def test_periodic_subscriptions(guest: Client) -> None:
    everything = "<yp:datastore-xpath-filter>/s:srv6</yp:datastore-xpath-filter>"
    to_datastore(guest, "<yp:periodic><yp:period>100</yp:period></yp:periodic>", everything)
    pushed = printed(guest.event_with("//yp:push-update"))
    assert "remote-as" in pushed
    assert MARKER not in pushed
    assert texts(guest.rpc("<nc:get/>"), LISTED) is not None


def test_compare_hides_them_and_what_the_caller_may_not_read(client: Client, guest: Client) -> None:
    before = max(texts(client.rpc("<nc:get/>"), "//o:transaction/o:id"), key=int)
    client.edit(neighbor(f"{MARKER}-new"))
    client.edit(srv6('<s:vrfs><s:vrf nc:operation="remove"><s:name>red</s:name></s:vrf></s:vrfs>'
                     '<s:local-sids nc:operation="remove"/>'))  # fmt: skip
    compare = f"<o:compare><o:transaction>{before}</o:transaction></o:compare>"
    rejected(lambda: guest.rpc(compare), "access-denied")

    mine = client.rpc(compare)
    assert MARKER not in printed(mine)
    changed = f"//o:change[contains(o:path, '{ADDRESS}')]"
    assert texts(mine, f"{changed}/o:before | {changed}/o:after") == ["(secret)", "(secret)"]
    assert "name='red'" in printed(mine)

    execute = rule("compare", rpc("compare", OPERATIONS), "exec", "permit")
    hide = rule("hide", data("/s:srv6/s:vrfs"), "read", "deny")
    allow(client, execute, hide)
    theirs = printed(guest.rpc(compare))
    assert "/sid[" in theirs
    assert "name='red'" not in theirs
    assert MARKER not in theirs
    assert ADDRESS not in theirs


@pytest.mark.parametrize(
    "name", ["plan", "reconcile", "clear-counters", "compare", "commit", "rollback"]
)
def test_every_rpc_needs_a_rule(guest: Client, name: str) -> None:
    inside = {
        "plan": "<o:configuration>{}</o:configuration>",
        "compare": "<o:transaction>1</o:transaction>",
        "commit": "<o:id>x</o:id>",
        "rollback": "<o:transaction>1</o:transaction>",
    }.get(name, "")
    rejected(lambda: guest.rpc(f"<o:{name}>{inside}</o:{name}>"), "access-denied", name)


def test_a_rule_for_another_module_does_not_open_them(client: Client, guest: Client) -> None:
    """sysrepo takes it for all that is below the containers of that module."""
    allow(client, rule("m", "<acm:module-name>srv6mgr-srv6</acm:module-name>", "read", "permit"))
    for read in READS:
        assert MARKER not in printed(guest.rpc(read))
    everything = "<yp:datastore-xpath-filter>/s:srv6</yp:datastore-xpath-filter>"
    to_datastore(guest, ON_CHANGE, everything)
    first = printed(guest.event_with("//yp:push-update"))
    assert "remote-as" in first
    client.edit('<s:srv6 nc:operation="remove"/>')
    client.edit(neighbor(f"{MARKER}-new"))
    later = [printed(guest.event_with("//yp:push-change-update")) for _ in range(2)]
    assert "remote-as" in later[1]
    assert MARKER not in first + "".join(later)
    allow(client, rule("m", "<acm:module-name>srv6mgr-bgp</acm:module-name>", "read", "permit"))
    assert guest.texts(PASSWORD) == [f"{MARKER}-new"]


RIGHT = f"/s:srv6/bgp:bgp/bgp:neighbor[bgp:password='{MARKER}']"
GUESS = f"starts-with(bgp:password, '{MARKER[:3]}')"


@pytest.mark.parametrize(
    "read",
    [
        f'<nc:get><nc:filter type="xpath" select="//bgp:neighbor[{GUESS}]"/></nc:get>',
        f'<nc:get><nc:filter type="xpath" select="/s:srv6[.//bgp:neighbor[{GUESS}]]/s:vrfs"/>'
        "</nc:get>",
        f'<nc:get-config><nc:source><nc:running/></nc:source><nc:filter type="xpath" '
        f'select="//bgp:neighbor[{GUESS}]"/></nc:get-config>',
        get_data("running", f"<nmda:xpath-filter>//bgp:neighbor[{GUESS}]</nmda:xpath-filter>"),
        get_data("operational", f"<nmda:xpath-filter>//bgp:neighbor[{GUESS}]</nmda:xpath-filter>"),
        # As many conditions as the list has keys, and none of them on a key.
        get_data("running", f"<nmda:xpath-filter>{RIGHT}</nmda:xpath-filter>"),
        get_data("operational", f"<nmda:xpath-filter>{RIGHT}/bgp:remote-as</nmda:xpath-filter>"),
        f'<nc:get><nc:filter type="xpath" select="{RIGHT}"/></nc:get>',
        "<nc:get><nc:filter><s:srv6><bgp:bgp><bgp:neighbor><bgp:password>"
        f"{MARKER}</bgp:password></bgp:neighbor></bgp:bgp></s:srv6></nc:filter></nc:get>",
    ],
)
def test_a_filter_is_no_way_to_guess_them(client: Client, guest: Client, read: str) -> None:
    """RFC 8341 section 3.2.4: a filter selects of what the user may read."""
    found = "//s:srv6/*"
    assert texts(client.rpc(read), found)
    assert not texts(guest.rpc(read), found)


@pytest.mark.parametrize(
    "path",
    [
        f"//bgp:neighbor[bgp:password='{MARKER}']",
        f"/s:srv6/bgp:bgp/bgp:neighbor[bgp:password='{MARKER}']/bgp:remote-as",
        f"/s:srv6/bgp:bgp/bgp:neighbor/bgp:password[.='{MARKER}']",
    ],
)
def test_nor_is_the_filter_of_a_subscription(client: Client, guest: Client, path: str) -> None:
    filter_ = f"<yp:datastore-xpath-filter>{path}</yp:datastore-xpath-filter>"
    for how in (ON_CHANGE, "<yp:periodic><yp:period>100</yp:period></yp:periodic>"):
        rejected(lambda how=how: to_datastore(guest, how, filter_), "access-denied", "filter")
        assert to_datastore(client, how, filter_)


def test_other_filters_of_subscriptions_are_for_everybody(guest: Client) -> None:
    for path in (f"/s:srv6/bgp:bgp/bgp:neighbor[bgp:address='{ADDRESS}']", "/s:srv6", "//s:vrf"):
        filter_ = f"<yp:datastore-xpath-filter>{path}</yp:datastore-xpath-filter>"
        assert to_datastore(guest, ON_CHANGE, filter_)


def test_nor_does_a_plan(client: Client, guest: Client, router: Router) -> None:
    """It says nothing that depends on a password that its caller may not read."""
    allow(client, rule("plan", rpc("plan", OPERATIONS), "exec", "permit"))
    manager = router.loop.world.manager

    def judged(asker: Client, guess: str) -> str:
        given = {"neighbor": [{"address": ADDRESS, "remote-as": 65000, "password": guess}]}
        whole = {"as-number": 65000, "router-id": "192.0.2.1", **given}
        text = json.dumps({"srv6mgr-srv6:srv6": {"srv6mgr-bgp:bgp": whole}})
        asker.rpc(f"<o:plan><o:configuration>{text}</o:configuration></o:plan>")
        tree = manager.trees[-1]["srv6mgr-srv6:srv6"]["srv6mgr-bgp:bgp"]
        return str(tree["neighbor"][0]["password"])

    assert judged(guest, "a-wrong-guess") == judged(guest, MARKER) == MARKER
    assert judged(client, "a-wrong-guess") == "a-wrong-guess"
