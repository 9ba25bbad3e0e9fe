"""The candidate: edit, validate, commit, discard (RFC 6241 section 8.3, 8.6)."""

from __future__ import annotations

from srv6mgrd.model.refusal import Refusal
from tests.contract.netconf.client import Client, eventually, refused
from tests.contract.netconf.conftest import Router
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


def test_discard_changes(client: Client) -> None:
    client.edit(ROUTER)
    client.edit(srv6(vrf(table="101")), target="candidate")
    client.manager.discard_changes()
    assert client.texts(TABLES, "candidate") == ["100"]


def test_it_may_be_invalid_until_the_commit(client: Client) -> None:
    client.edit(DANGLING, target="candidate")
    words = "SID fcbb:0:1:64::/64: vrf red does not exist; create it"
    for call in (lambda: client.manager.validate("candidate"), client.manager.commit):
        refused(call, "data-missing", words, app_tag="instance-required")
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
    refused(lambda: validate(DANGLING), "data-missing", "vrf red does not exist")
    assert client.texts("//s:srv6/*") == []


def test_validate_of_running(client: Client) -> None:
    client.edit(ROUTER)
    assert client.manager.validate("running").ok


def test_what_srv6mgrd_refuses_stays_in_the_candidate(client: Client, router: Router) -> None:
    refusal = Refusal("SID fcbb:0:1:64::/64", "outside locator main", "choose another", "x")
    router.loop.world.manager.change_refusal = refusal
    client.edit(ROUTER, target="candidate")
    refused(client.manager.commit, "operation-failed", f"^{refusal}$")
    assert client.texts(TABLES) == []
    router.loop.world.manager.change_refusal = None
    client.manager.commit()
    assert client.texts(TABLES) == ["100"]


def test_changes_left_by_a_dead_session_go_with_its_lock(client: Client, other: Client) -> None:
    """RFC 6241 section 8.3.5.2: what the holder of the lock left there is discarded."""
    other.manager.lock("candidate")
    other.edit(ROUTER, target="candidate")
    other.leave()
    eventually(lambda: client.texts(TABLES, "candidate") == [])


def test_copy_from_candidate(client: Client) -> None:
    client.edit(ROUTER, target="candidate")
    client.manager.copy_config(source="candidate", target="running")
    assert client.texts(TABLES) == ["100"]
