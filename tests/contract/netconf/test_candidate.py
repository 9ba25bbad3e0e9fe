"""The candidate: edit, validate, commit, discard (RFC 6241 section 8.3, 8.6)."""

from __future__ import annotations

from lab.waiting import wait_until
from srv6mgrd.model.rejection import Rejection
from tests.contract.netconf.client import Client, rejected
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import ROUTER, locator, srv6, vrf

TABLES = "//s:vrf/s:table-id"
DANGLING = srv6(
    locator()
    + "<s:local-sids><s:sid><s:prefix>fcbb:0:1:64::/64</s:prefix><s:locator>main</s:locator>"
    "<s:behavior>s:End.DT46</s:behavior><s:vrf>red</s:vrf></s:sid></s:local-sids>"
)


def test_commit(client: Client, other: Client) -> None:
    client.edit(ROUTER, target="candidate")
    assert client.texts(TABLES) == []
    assert other.texts(TABLES, "candidate") == ["100"]
    client.manager.commit()
    assert client.texts(TABLES) == ["100"]


def test_what_is_committed_is_followed_again(client: Client, other: Client) -> None:
    """A later commit does not bring back what another edit of running has changed since."""
    client.edit(ROUTER, target="candidate")
    client.manager.commit()
    other.edit(srv6(vrf(table="101")))
    assert client.texts(TABLES, "candidate") == ["101"]


def test_a_candidate_from_before_does_not_undo_what_others_committed(
    client: Client, other: Client
) -> None:
    client.edit(ROUTER)
    client.edit(srv6(vrf(table="101")), target="candidate")
    other.edit(srv6(vrf("blue", table="200")))
    words = (
        "the running configuration has changed since its first edit, by transaction [0-9]+ "
        r"\(srv6-netconfd of root\): .*vrf\[name='blue'\]/table-id; discard"
    )
    rejected(client.manager.commit, "operation-failed", words, app_tag="candidate-outdated")
    assert sorted(client.texts(TABLES)) == ["100", "200"]
    client.manager.discard_changes()
    client.edit(srv6(vrf(table="101")), target="candidate")
    client.manager.commit()
    assert sorted(client.texts(TABLES)) == ["101", "200"]


def test_a_candidate_that_a_dead_server_left_undoes_nothing(client: Client, server: Server) -> None:
    client.edit(ROUTER)
    client.edit(srv6(vrf(table="101")), target="candidate")
    server.kill()
    server.start()
    later = Client(server.socket)
    later.edit(srv6(vrf("blue", table="200")))
    words = "the running configuration has changed since its first edit"
    for commit in (
        later.manager.commit,
        lambda: later.manager.copy_config(source="candidate", target="running"),
    ):
        rejected(commit, "operation-failed", words, app_tag="candidate-outdated")
    assert sorted(later.texts(TABLES)) == ["100", "200"]
    later.manager.discard_changes()
    later.edit(srv6(vrf(table="101")), target="candidate")
    later.manager.commit()
    assert sorted(later.texts(TABLES)) == ["101", "200"]
    later.close()
    # Nothing was left this time.
    server.kill()
    server.start()
    last = Client(server.socket)
    last.edit(srv6(vrf(table="102")), target="candidate")
    last.manager.commit()
    last.close()


def test_a_candidate_is_committed_when_all_is_as_it_was(client: Client, other: Client) -> None:
    client.edit(ROUTER)
    client.edit(srv6(vrf(table="101")), target="candidate")
    other.edit(srv6(vrf(table="105")))
    other.edit(srv6(vrf(table="100")))
    client.manager.commit()
    assert client.texts(TABLES) == ["101"]


def test_an_edit_that_fails_leaves_the_candidate_unchanged(client: Client, other: Client) -> None:
    client.edit(ROUTER)
    wrong = srv6("<s:vrfs><s:vrf><s:name>x</s:name><s:table-id>x</s:table-id></s:vrf></s:vrfs>")
    rejected(lambda: client.edit(wrong, target="candidate"), "invalid-value|bad-element")
    other.edit(srv6(vrf(table="105")))
    client.edit(srv6(vrf(table="101")), target="candidate")
    client.manager.commit()
    assert client.texts(TABLES) == ["101"]


def test_discard_changes(client: Client) -> None:
    client.edit(ROUTER)
    client.edit(srv6(vrf(table="101")), target="candidate")
    client.manager.discard_changes()
    assert client.texts(TABLES, "candidate") == ["100"]


def test_it_may_be_invalid_until_the_commit(client: Client) -> None:
    client.edit(DANGLING, target="candidate")
    words = "SID fcbb:0:1:64::/64: VRF red does not exist; create it"
    for call in (lambda: client.manager.validate("candidate"), client.manager.commit):
        rejected(call, "data-missing", words, app_tag="instance-required")
    assert client.texts("//s:locator") == []
    client.edit(srv6(vrf()), target="candidate")
    client.manager.validate("candidate")
    client.manager.commit()
    assert client.texts(TABLES) == ["100"]


def test_validate_of_given_configuration(client: Client) -> None:
    def validate(config: str) -> None:
        source = f"<nc:source><nc:config>{config}</nc:config></nc:source>"
        client.rpc(f"<nc:validate>{source}</nc:validate>")

    validate(ROUTER)
    rejected(lambda: validate(DANGLING), "data-missing", "VRF red does not exist")
    assert client.texts("//s:srv6/*") == []


def test_validate_of_running(client: Client) -> None:
    client.edit(ROUTER)
    assert client.manager.validate("running").ok


def test_validate_asks_srv6mgrd(client: Client, router: Router) -> None:
    """Of what YANG can't say: the same words as those of the commit."""
    rejection = Rejection("SID fcbb:0:1:64::/64", "outside locator main", "choose another", "x")
    manager = router.loop.world.manager
    client.edit(ROUTER)
    client.edit(srv6(vrf(table="101")), target="candidate")
    client.manager.copy_config(source="candidate", target="startup")
    given = f"<nc:validate><nc:source><nc:config>{ROUTER}</nc:config></nc:source></nc:validate>"
    checks = [
        lambda: client.manager.validate("candidate"),
        lambda: client.manager.validate("startup"),
        lambda: client.rpc(given),
        lambda: client.edit(srv6(vrf(table="102")), test_option="test-only"),
        lambda: client.edit(srv6(vrf(table="102")), "candidate", test_option="test-only"),
        lambda: client.edit(srv6(vrf(table="102")), "candidate", test_option="test-then-set"),
    ]
    manager.rejection = rejection
    for check in checks:
        rejected(check, "operation-failed", f"^{rejection}$")
    manager.rejection = None
    manager.trees.clear()
    for check in checks:
        check()
    tables = [tree["srv6mgr-srv6:srv6"]["vrfs"]["vrf"][0]["table-id"] for tree in manager.trees]
    assert tables == [101, 101, 100, 102, 102, 102]
    assert client.texts(TABLES) == ["100"]
    assert client.texts(TABLES, "candidate") == ["102"]
    client.manager.discard_changes()


def test_validate_judges_what_its_user_may_not_read(client: Client, server: Server) -> None:
    hidden = (
        "<acm:nacm><acm:read-default>deny</acm:read-default>"
        "<acm:write-default>permit</acm:write-default></acm:nacm>"
    )
    client.edit(ROUTER)
    client.edit(hidden)
    guest = Client(server.socket, user="nobody")
    guest.manager.validate("running")
    guest.close()
    client.edit('<acm:nacm nc:operation="remove"/>')


def test_what_srv6mgrd_rejects_stays_in_the_candidate(client: Client, router: Router) -> None:
    rejection = Rejection("SID fcbb:0:1:64::/64", "outside locator main", "choose another", "x")
    router.loop.world.manager.change_rejection = rejection
    client.edit(ROUTER, target="candidate")
    rejected(client.manager.commit, "operation-failed", f"^{rejection}$")
    assert client.texts(TABLES) == []
    router.loop.world.manager.change_rejection = None
    client.manager.commit()
    assert client.texts(TABLES) == ["100"]


def test_changes_left_by_a_dead_session_go_with_its_lock(client: Client, other: Client) -> None:
    """RFC 6241 section 8.3.5.2: what the holder of the lock left there is discarded."""
    other.manager.lock("candidate")
    other.edit(ROUTER, target="candidate")
    other.leave()
    wait_until(lambda: client.texts(TABLES, "candidate") == [])


def test_copy_from_candidate(client: Client) -> None:
    client.edit(ROUTER, target="candidate")
    client.manager.copy_config(source="candidate", target="running")
    assert client.texts(TABLES) == ["100"]
