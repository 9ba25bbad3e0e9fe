"""Secrets are for those whom a NACM rule names (RFC 8341 section 3.4.5, default-deny-all)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from lab.waiting import wait_until
from srv6mgrd.clients.passwords import hash_password
from tests.contract.conftest import MARKER
from tests.contract.gnmi.client import Client, failing, subscription
from tests.contract.gnmi.conftest import Server
from tests.contract.gnmi.data import SRV6
from tests.contract.gnmi.test_access import user
from tests.contract.gnmi.test_server import secure

NEIGHBOR = "/srv6/bgp/neighbor[address=2001:db8::2]"
IN_VRF = "/srv6/vrfs/vrf[name=red]/bgp/neighbor[address=2001:db8::3]"
OSPF = "/srv6/vrfs/vrf[name=red]/ospfv3/interface[name=eth1]"
PASSWORDS = (
    f"{NEIGHBOR}/password",
    f"{IN_VRF}/password",
    f"{OSPF}/authentication/password",
)
EVERY = "/srv6mgr-srv6:srv6"


def neighbor(address: str, password: str = MARKER) -> dict[str, Any]:
    return {"neighbor": [{"address": address, "remote-as": 65000, "password": password}]}


CONFIG: dict[str, Any] = {
    "/srv6": SRV6,
    "/srv6/bgp": {"as-number": 65000, "router-id": "192.0.2.1", **neighbor("2001:db8::2")},
    "/srv6/vrfs/vrf[name=red]/bgp": {
        "rd": "65000:1",
        "import-rt": ["65000:1"],
        "export-rt": ["65000:1"],
        **neighbor("2001:db8::3"),
    },
    "/srv6/vrfs/vrf[name=red]/ospfv3": {
        "router-id": "10.0.0.1",
        "interface": [{"name": "eth1", "authentication": {"password": MARKER}}],
    },
}


@pytest.fixture(scope="module")
def guarded(place: Any) -> Iterator[Server]:
    stored = hash_password("secret")
    users = "\n".join(f'{name} = "{stored}"' for name in ("alice", "bob", "root"))
    server = Server(place, "secrets", f"[users]\n{users}")
    yield server
    assert server.stop() == 0
    assert MARKER not in server.log.read_text()


@pytest.fixture
def bob(guarded: Server, gnmi: Client) -> Client:
    """A user without any rule, of a router with passwords."""
    gnmi.set(update=CONFIG)
    return secure(guarded, user("bob"))


@pytest.mark.parametrize("encoding", [pb.JSON, pb.JSON_IETF, pb.PROTO, pb.ASCII])
def test_get(guarded: Server, bob: Client, encoding: int) -> None:
    paths = "/", "/srv6", NEIGHBOR, IN_VRF, "/srv6/..."
    for path in paths:
        answer = bob.raw_get(path, encoding=encoding)
        assert MARKER not in str(answer)
        assert "remote-as" in str(answer)
    for path in PASSWORDS:
        assert failing(bob.raw_get, path, encoding=encoding)[0] is grpc.StatusCode.NOT_FOUND
    assert MARKER in str(secure(guarded, user("root")).raw_get("/srv6", encoding=encoding))


@pytest.mark.parametrize("path", ["/srv6", *PASSWORDS])
def test_subscribe(bob: Client, gnmi: Client, path: str) -> None:
    with bob.subscribe(subscription(path)) as stream:
        first = stream.until_sync()
        gnmi.set(update={PASSWORDS[0]: f"{MARKER}-new", f"{NEIGHBOR}/hold-time": 30,
                         f"{NEIGHBOR}/keepalive": 10})  # fmt: skip
        gnmi.set(delete=list(PASSWORDS[:2]))
        if path == "/srv6":
            reported = str(stream.next())
            assert "hold-time" in reported
            assert MARKER not in f"{first}{reported}"
        assert stream.quiet()
    with bob.subscribe(subscription(path), mode=pb.SubscriptionList.ONCE) as stream:
        assert MARKER not in str(stream.until_sync())


def test_a_rule_opens_them_and_closes_them(
    guarded: Server, bob: Client, rules: Callable[..., None]
) -> None:
    alice = secure(guarded, user("alice"))
    rules({"path": f"{EVERY}/srv6mgr-bgp:bgp", "access-operations": "read", "action": "permit"})
    wait_until(lambda: MARKER in str(alice.raw_get("/srv6")))
    assert alice.value(PASSWORDS[0]) == MARKER
    assert failing(alice.raw_get, PASSWORDS[1])[0] is grpc.StatusCode.NOT_FOUND
    assert MARKER not in str(bob.raw_get("/srv6"))
    with alice.subscribe(subscription("/srv6")) as stream:
        assert MARKER in str(stream.until_sync())
        rules()
        wait_until(lambda: MARKER not in str(alice.raw_get("/srv6")))
        secure(guarded, user("root")).set(update={PASSWORDS[0]: f"{MARKER}-new"})
        assert stream.quiet()


def test_who_writes_need_not_read(
    guarded: Server, gnmi: Client, bob: Client, rules: Callable[..., None]
) -> None:
    write = "create update delete"
    rules({"path": EVERY, "access-operations": write, "action": "permit"})
    alice, root = (secure(guarded, user(name)) for name in ("alice", "root"))
    wait_until(lambda: alice.set(update={PASSWORDS[0]: f"{MARKER}-new"}))
    assert root.value(PASSWORDS[0]) == f"{MARKER}-new"
    assert MARKER not in str(alice.raw_get("/srv6"))
    # What others hold beside is kept, though it was not seen.
    alice.set(update={f"{NEIGHBOR}/description": "beta"})
    assert root.value(PASSWORDS[0]) == f"{MARKER}-new"


def test_without_a_rule_they_are_not_written_either(
    guarded: Server, bob: Client, rules: Callable[..., None]
) -> None:
    rules(**{"write-default": "permit"})
    wait_until(lambda: bob.set(update={f"{NEIGHBOR}/description": "beta"}))
    requests: tuple[dict[str, Any], ...] = (
        {"update": {PASSWORDS[0]: "mine"}},
        {"delete": [PASSWORDS[0]]},
        {"delete": [NEIGHBOR]},
        {"replace": {NEIGHBOR: {"remote-as": 65000}}},
    )
    for request in requests:
        status, text = failing(bob.set, **request)
        assert status is grpc.StatusCode.PERMISSION_DENIED, text
        assert MARKER not in text
    assert secure(guarded, user("root")).value(PASSWORDS[0]) == MARKER


@pytest.mark.parametrize(
    "password", [f"{MARKER} with blanks", f"{MARKER}{'x' * 80}", [MARKER], {"a": MARKER}]
)
def test_a_rejection_does_not_repeat_them(gnmi: Client, server: Server, password: Any) -> None:
    gnmi.set(update=CONFIG)
    whole = {"remote-as": 65000, "password": password}
    for request in ({PASSWORDS[0]: password}, {NEIGHBOR: whole}):
        status, text = failing(gnmi.set, update=request)
        assert status is grpc.StatusCode.INVALID_ARGUMENT
        assert MARKER not in text
    assert MARKER not in server.log.read_text()


def test_no_set_is_a_way_to_guess_them(
    guarded: Server, bob: Client, rules: Callable[..., None]
) -> None:
    """Who is right changes nothing, which sysrepo would permit."""
    rules(**{"write-default": "permit"})
    wait_until(lambda: bob.set(update={f"{NEIGHBOR}/description": "beta"}))
    for request in (
        lambda guess: {"update": {PASSWORDS[0]: guess}},
        lambda guess: {"replace": {PASSWORDS[0]: guess}},
        lambda guess: {"replace": {NEIGHBOR: {"remote-as": 65000, "password": guess}}},
        lambda guess: {"update": {"/srv6/bgp": neighbor("2001:db8::2", guess)}},
    ):
        right, wrong = (failing(bob.set, **request(guess)) for guess in (MARKER, "mine"))
        assert right == wrong
        assert right[0] is grpc.StatusCode.PERMISSION_DENIED
    # A name that is written with an escape is the same name.
    text = json.dumps(neighbor("2001:db8::2")).replace("password", "p\\u0061ssword")
    escaped = {"/srv6/bgp": pb.TypedValue(json_ietf_val=text.encode())}
    assert failing(bob.set, update=escaped)[0] is grpc.StatusCode.PERMISSION_DENIED
