"""Who may do what (RFC 8341). The kernel says who is at the other end of the socket."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.netconf.client import Client, rejected, texts
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import ROUTER, SID, srv6, vrf

USER = "nobody"
RULES = """<acm:nacm><acm:groups><acm:group><acm:name>guests</acm:name>
<acm:user-name>nobody</acm:user-name></acm:group></acm:groups>
<acm:rule-list><acm:name>guests</acm:name><acm:group>guests</acm:group>{}</acm:rule-list>
</acm:nacm>"""


def rule(name: str, what: str, operations: str, action: str) -> str:
    return (
        f"<acm:rule><acm:name>{name}</acm:name>{what}"
        f"<acm:access-operations>{operations}</acm:access-operations>"
        f"<acm:action>{action}</acm:action></acm:rule>"
    )


def data(path: str) -> str:
    return f"<acm:path>{path}</acm:path>"


def rpc(name: str, module: str = "*") -> str:
    return f"<acm:module-name>{module}</acm:module-name><acm:rpc-name>{name}</acm:rpc-name>"


@pytest.fixture
def guest(server: Server, client: Client) -> Iterator[Client]:
    client.edit(ROUTER)
    guest = Client(server.socket, user=USER)
    yield guest
    guest.close()
    client.edit('<acm:nacm nc:operation="remove"/>')


def allow(client: Client, *rules: str) -> None:
    client.edit(RULES.format("".join(rules)))


def test_writes_need_a_rule(client: Client, guest: Client) -> None:
    change = srv6(vrf(table="101"))
    rejected(lambda: guest.edit(change), "access-denied", "srv6|vrf|table-id")
    assert guest.texts("//s:vrf/s:table-id") == ["100"]
    allow(client, rule("write", data("/s:srv6/s:vrfs"), "*", "permit"))
    guest.edit(change)
    assert guest.texts("//s:vrf/s:table-id") == ["101"]
    sids = '<s:local-sids nc:operation="remove"/>'
    rejected(lambda: guest.edit(srv6(sids)), "access-denied")


def test_a_rejection_has_a_path(guest: Client) -> None:
    error = rejected(lambda: guest.edit(srv6(vrf(table="101"))), "access-denied")
    assert "srv6" in (error.path or ""), error.path


def test_what_may_not_be_read_is_not_there(client: Client, guest: Client) -> None:
    allow(client, rule("hide", data("/s:srv6/s:vrfs"), "read", "deny"))
    tree = guest.rpc("<nc:get/>")
    assert texts(tree, "//s:vrfs") == []
    assert texts(tree, "//s:sid/s:prefix") == [SID]
    assert guest.texts("//s:vrfs") == []
    assert client.texts("//s:vrfs/s:vrf/s:table-id") == ["100"]


def test_operations(client: Client, guest: Client) -> None:
    write = rule("write", data("/s:srv6/s:vrfs"), "create update", "permit")
    allow(client, write)
    assert guest.manager.lock("candidate").ok
    guest.manager.unlock("candidate")
    allow(client, rule("no-locks", rpc("lock"), "exec", "deny"), write)
    rejected(lambda: guest.manager.lock("candidate"), "access-denied", "lock")


RIGHT = "nobody: no rule permits a write"
EVERYTHING = "<acm:module-name>*</acm:module-name>"


@pytest.mark.parametrize(
    "rules",
    [
        [],
        [rule("read", data("/s:srv6"), "read exec", "permit")],
        [rule("rpcs", rpc("*"), "*", "permit")],
        [
            rule("no", EVERYTHING, "create update delete", "deny"),
            rule("late", data("/s:srv6"), "*", "permit"),
        ],
    ],
)
def test_who_may_not_write_holds_up_nobody(client: Client, guest: Client, rules: list[str]) -> None:
    """A lock, a discard, a commit or its end is nothing for those who only read."""
    if rules:
        allow(client, *rules)
    client.edit(srv6(vrf(table="101")), target="candidate")
    for target in ("running", "candidate", "startup"):
        rejected(lambda target=target: guest.manager.lock(target), "access-denied", RIGHT)
    rejected(guest.manager.discard_changes, "access-denied", RIGHT)
    rejected(guest.manager.commit, "access-denied", RIGHT)
    rejected(lambda: guest.rpc("<nc:cancel-commit/>"), "access-denied", RIGHT)
    assert client.texts("//s:vrf/s:table-id", "candidate") == ["101"]
    client.manager.discard_changes()


@pytest.mark.parametrize(
    "change",
    [
        "<acm:nacm><acm:write-default>permit</acm:write-default></acm:nacm>",
        "<acm:nacm><acm:enable-nacm>false</acm:enable-nacm></acm:nacm>",
        RULES.format(rule("delete", data("/s:srv6"), "delete", "permit")),
        RULES.format(rule("all", EVERYTHING, "*", "permit")),
    ],
)
def test_who_may_write_somewhere_may_lock(client: Client, guest: Client, change: str) -> None:
    client.edit(change)
    guest.manager.lock("running")
    guest.manager.unlock("running")
    guest.manager.discard_changes()


def test_kill_session_is_denied_unless_permitted(client: Client, guest: Client) -> None:
    rejected(lambda: guest.manager.kill_session(client.id), "access-denied", "kill-session")
    assert client.manager.connected


def test_the_rpcs_of_srv6mgrd_are_denied_unless_permitted(client: Client, guest: Client) -> None:
    confirm = "<o:confirm><o:id>one</o:id></o:confirm>"
    rejected(lambda: guest.rpc(confirm), "access-denied", "confirm")
    allow(client, rule("may", rpc("confirm", "srv6mgr-operations"), "exec", "permit"))
    rejected(lambda: guest.rpc(confirm), "data-missing", "no commit awaits")


def test_a_commit_needs_the_right_to_write_but_not_that_to_the_clock(
    client: Client, guest: Client, router: Router
) -> None:
    rejected(lambda: guest.edit(srv6(vrf(table="101")), target="candidate"), "access-denied")
    allow(client, rule("write", data("/s:srv6"), "*", "permit"))
    guest.edit(srv6(vrf(table="101")), target="candidate")
    guest.manager.commit(confirmed=True, timeout="60")
    pending = router.loop.pending()
    assert pending is not None
    assert pending.origin.user == USER
    guest.rpc("<nc:cancel-commit/>")
    assert guest.texts("//s:vrf/s:table-id") == ["100"]


def test_closing_is_always_permitted(client: Client, guest: Client) -> None:
    allow(client, rule("nothing", rpc("*"), "exec", "deny"))
    rejected(lambda: guest.rpc("<o:reconcile/>"), "access-denied")
    assert guest.config() is not None  # RFC 8341 section 3.2.4: reading is judged by its data
    assert guest.manager.close_session().ok


def test_notifications(client: Client, guest: Client, router: Router) -> None:
    from srv6mgrd.notifications import commit_rolled_back

    hide = "<acm:module-name>srv6mgr-operations</acm:module-name><acm:notification-name>*"
    allow(client, rule("hide", f"{hide}</acm:notification-name>", "read", "deny"))
    guest.manager.create_subscription()
    router.notify(commit_rolled_back("one"))
    client.edit(srv6(vrf(table="102")))
    guest.event_with("//ev:netconf-config-change")
    assert guest.quiet()


def test_denials_are_counted(client: Client, guest: Client) -> None:
    def denied() -> int:
        return int(texts(client.rpc("<nc:get/>"), "//acm:denied-data-writes")[0])

    before = denied()
    rejected(lambda: guest.edit(srv6(vrf(table="101"))), "access-denied")
    assert denied() == before + 1
