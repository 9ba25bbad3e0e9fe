"""The rules that the packages bring: what members of each group may do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ncclient.operations.rpc import RPCError

from tests.contract.conftest import MARKER
from tests.contract.netconf.client import Client
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import ROUTER, srv6, vrf
from tests.contract.netconf.test_access import USER
from tests.contract.netconf.test_secrets import PASSWORD, neighbor, printed

RULES = Path(__file__).parents[3] / "packaging/deb/debian/nacm.json"
MODULE = "ietf-netconf-acm"
EVERYBODY = ("", "srv6mgr-viewer", "srv6mgr-operator", "srv6mgr-admin")
WRITERS = EVERYBODY[2:]


def put(nacm: dict[str, Any]) -> None:
    from srv6mgrd.datastore.connection import Connection

    connection = Connection(originator="operator")
    session = connection.session()
    with session.get_ly_ctx() as context:
        text = json.dumps({f"{MODULE}:nacm": nacm})
        tree = context.parse_data_mem(text, "json", parse_only=True, strict=True)
    session.replace_config_ly(tree, MODULE)
    connection.close()


@pytest.fixture(params=EVERYBODY)
def group(request: pytest.FixtureRequest, client: Client, server: Server) -> Iterator[str]:
    """The packaged rules, and a user in one of their groups, or in none."""
    client.edit(ROUTER)
    client.edit(neighbor())
    nacm = json.loads(RULES.read_text())[f"{MODULE}:nacm"]
    member = {"name": request.param or "others", "user-name": [USER]}
    put({**nacm, "groups": {"group": [member]}})
    yield request.param
    put({})


@pytest.fixture
def member(group: str, server: Server) -> Iterator[Client]:
    client = Client(server.socket, user=USER)
    yield client
    client.close()


def may(call: Callable[[], object]) -> bool:
    try:
        call()
    except RPCError as error:
        return "access-denied" not in {e.tag for e in getattr(error, "errlist", None) or [error]}
    return True


def test_who_reads(group: str, member: Client) -> None:
    assert "remote-as" in printed(member.config())
    assert (member.texts(PASSWORD) == [MARKER]) is (group == "srv6mgr-admin")


def test_who_writes(group: str, member: Client, client: Client) -> None:
    assert may(lambda: member.edit(srv6(vrf(table="101")))) is (group in WRITERS)
    assert may(lambda: member.edit(neighbor(f"{MARKER}-new"))) is (group in WRITERS)
    assert client.texts(PASSWORD) == [f"{MARKER}-new" if group in WRITERS else MARKER]
    rules = "<acm:nacm><acm:write-default>permit</acm:write-default></acm:nacm>"
    assert may(lambda: member.edit(rules)) is (group == "srv6mgr-admin")


@pytest.mark.parametrize(
    ("rpc", "groups"),
    [
        ("<o:plan><o:configuration>{}</o:configuration></o:plan>", WRITERS),
        ("<o:reconcile/>", WRITERS),
        ("<o:clear-counters/>", WRITERS),
        ("<o:compare><o:transaction>1</o:transaction></o:compare>", EVERYBODY[1:]),
        ("<o:confirm><o:id>x</o:id></o:confirm>", WRITERS),
        ("<o:cancel><o:id>x</o:id></o:cancel>", WRITERS),
        ("<o:rollback><o:transaction>999999</o:transaction></o:rollback>", WRITERS),
        ("<nc:discard-changes/>", WRITERS),
        ("<nc:lock><nc:target><nc:candidate/></nc:target></nc:lock>", WRITERS),
        ("<nc:kill-session><nc:session-id>1</nc:session-id></nc:kill-session>", WRITERS[1:]),
    ],
)
def test_who_calls(
    group: str, member: Client, router: Router, rpc: str, groups: tuple[str, ...]
) -> None:
    assert may(lambda: member.rpc(rpc)) is (group in groups)
