"""Who may do what: certificates, their rotation, NACM, limits."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from lab.waiting import wait_until
from srv6mgrd.clients.passwords import hash_password
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.contract.gnmi.client import Client, Core, deletes, failing, subscription, updates
from tests.contract.gnmi.conftest import Server
from tests.contract.gnmi.data import SID, SRV6
from tests.contract.gnmi.test_server import code, secure

RED, BLUE = "/srv6/vrfs/vrf[name=red]", "/srv6/vrfs/vrf[name=blue]"
TABLE = f"{RED}/table-id"


def certify(place: Path, *names: str) -> None:
    """Certificates by name; ``ca`` is self-signed, as is who begins with an ``x``."""
    for name in names:
        signed = () if name == "ca" or name[0] == "x" else ("-CA", "ca.crt", "-CAkey", "ca.key")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.crt", "-subj", f"/CN={name}",
             "-addext", "subjectAltName=IP:127.0.0.1", *signed],
            cwd=place, check=True, capture_output=True,
        )  # fmt: skip


def user(name: str, password: str = "secret") -> tuple[tuple[str, str], ...]:
    return ("username", name), ("password", password)


@pytest.fixture(scope="module")
def guarded(place: Path) -> Iterator[Server]:
    """alice, bob and root by password."""
    stored = hash_password("secret")
    users = "\n".join(f'{name} = "{stored}"' for name in ("alice", "bob", "root"))
    server = Server(place, "guarded", f"[users]\n{users}")
    yield server
    assert server.stop() == 0
    assert "Traceback" not in server.log.read_text()


def test_a_write_needs_a_rule(guarded: Server, gnmi: Client, rules: Callable[..., None]) -> None:
    gnmi.set(update={"/srv6": SRV6})
    alice, bob = (secure(guarded, user(name)) for name in ("alice", "bob"))
    rules({"path": "/srv6mgr-srv6:srv6/vrfs", "access-operations": "*", "action": "permit"})
    wait_until(lambda: alice.set(update={TABLE: 101}))
    rejected: tuple[tuple[Client, dict[str, Any]], ...] = (
        (bob, {"update": {TABLE: 102}}),
        (bob, {"delete": ["/"]}),
        (bob, {"replace": {"/srv6/vrfs": {}}}),
        (alice, {"delete": ["/srv6/local-sids"]}),
        (alice, {"update": {TABLE: 102, "/srv6/locators/locator[name=main]/function-length": 20}}),
    )
    for client, request in rejected:
        status, text = failing(client.set, **request)
        assert status is grpc.StatusCode.PERMISSION_DENIED, text
        assert "ask for a NACM rule" in text
    assert gnmi.value(TABLE) == 101
    assert gnmi.value(f"/srv6/local-sids/sid[prefix={SID}]/vrf") == "red"
    # What was rejected to one hinders no other; root is under no rule, by password or by socket.
    secure(guarded, user("root")).set(update={TABLE: 103})
    gnmi.set(delete=["/srv6/local-sids"])


def test_a_default_needs_no_right_to_be_written(
    guarded: Server, gnmi: Client, rules: Callable[..., None]
) -> None:
    counters = "/srv6mgr-srv6:srv6/local-sids/sid/counters"
    rules(
        {"path": counters, "access-operations": "create update delete", "action": "deny"},
        {"access-operations": "*", "action": "permit"},
    )
    alice = secure(guarded, user("alice"))
    wait_until(lambda: alice.value("/srv6") is not None)
    explicit = {"/srv6": SRV6, f"/srv6/local-sids/sid[prefix={SID}]/counters": False}
    status, text = failing(alice.set, update=explicit)
    assert status is grpc.StatusCode.PERMISSION_DENIED, text
    alice.set(update={"/srv6": SRV6})
    assert gnmi.value(f"/srv6/local-sids/sid[prefix={SID}]/counters") is True
    sid = {"locator": "main", "behavior": "End.DT4", "vrf": "red"}
    alice.set(replace={f"/srv6/local-sids/sid[prefix={SID}]": sid})
    alice.set(replace={"/srv6/local-sids/sid[prefix=fcbb:0:1:65::/64]": sid})
    assert gnmi.value(f"/srv6/local-sids/sid[prefix={SID}]/behavior") == "End.DT4"


def test_a_replace_by_a_user_keeps_what_the_user_does_not_see(
    guarded: Server, gnmi: Client, rules: Callable[..., None]
) -> None:
    gnmi.set(update={"/srv6": SRV6, BLUE: {"table-id": 200}})
    hidden = "/srv6mgr-srv6:srv6/vrfs/vrf[name='blue']"
    rules(
        {"path": hidden, "access-operations": "read", "action": "deny"},
        {"access-operations": "*", "action": "permit"},
    )
    alice = secure(guarded, user("alice"))
    wait_until(lambda: "blue" not in str(alice.value("/srv6/vrfs")))
    alice.set(replace={RED: {"table-id": 105}})
    assert gnmi.value(f"{BLUE}/table-id") == 200


def test_what_may_not_be_read_is_not_there(
    guarded: Server, gnmi: Client, rules: Callable[..., None]
) -> None:
    gnmi.set(update={"/srv6": SRV6, BLUE: {"table-id": 200}})
    alice, bob = (secure(guarded, user(name)) for name in ("alice", "bob"))
    with alice.subscribe(subscription("/srv6/vrfs")) as stream:
        assert f"{BLUE}/table-id" in stream.until_sync()
        hidden = "/srv6mgr-srv6:srv6/vrfs/vrf[name='blue']"
        rules({"path": hidden, "access-operations": "read", "action": "deny"})
        wait_until(lambda: "blue" not in str(alice.value("/srv6/vrfs")))
        assert failing(alice.raw_get, BLUE)[0] is grpc.StatusCode.NOT_FOUND
        assert bob.value(f"{BLUE}/table-id") == 200
        # A stream that was open before the rule came obeys it too.
        gnmi.set(update={f"{BLUE}/table-id": 201, TABLE: 101})
        assert updates(stream.next().update) == {TABLE: 101}
        gnmi.set(delete=[BLUE, f"{RED}/interface"])
        assert deletes(stream.next().update) == [f"{RED}/interface"]


@pytest.mark.parametrize("how", [pb.SAMPLE, pb.ON_CHANGE])
def test_a_rule_that_comes_later_holds_for_counters_of_all_sids(
    guarded: Server, gnmi: Client, core: Core, rules: Callable[..., None], how: int
) -> None:
    other = "fcbb:0:1:65::/64"
    end = {"prefix": other, "locator": "main", "behavior": "End"}
    gnmi.set(update={"/srv6": SRV6, "/srv6/local-sids": {"sid": [end]}})
    core.report(
        {ObjectRef(Kind.SID, p): ObjectStatus(InstallStatus.INSTALLED) for p in (SID, other)}
    )
    numbers = itertools.count(1)

    def reported() -> set[str]:
        """The SIDs of the next values."""
        n = next(numbers)
        core.count({p: SidCounters(n, 0, 0, 1) for p in (SID, other)})
        while not (found := updates(stream.next().update)):
            pass
        return {p for p in (SID, other) if p in str(found)}

    alice = secure(guarded, user("alice"))
    interval = {"sample_interval": 0.2} if how == pb.SAMPLE else {}
    asked = subscription("/srv6/local-sids/sid/state/counters/in-pkts", how, **interval)
    with alice.subscribe(asked) as stream:
        stream.until_sync()
        assert reported() == {SID, other}
        hidden = f"/srv6mgr-srv6:srv6/local-sids/sid[prefix='{other}']"
        rules({"path": hidden, "access-operations": "read", "action": "deny"})
        wait_until(lambda: reported() == {SID}, timeout=10)
        assert reported() == {SID}
        rules()
        wait_until(lambda: reported() == {SID, other}, timeout=10)


def test_get_of_the_counters_of_all_sids_obeys_rules(
    guarded: Server, gnmi: Client, core: Core, rules: Callable[..., None]
) -> None:
    other = "fcbb:0:1:65::/64"
    end = {"prefix": other, "locator": "main", "behavior": "End"}
    gnmi.set(update={"/srv6": SRV6, "/srv6/local-sids": {"sid": [end]}})
    core.report(
        {ObjectRef(Kind.SID, p): ObjectStatus(InstallStatus.INSTALLED) for p in (SID, other)}
    )
    core.count({p: SidCounters(1, 2, 3, 4) for p in (SID, other)})
    alice = secure(guarded, user("alice"))
    every = "/srv6/local-sids/sid/state/counters/in-pkts"
    leaves = {p: f"/srv6/local-sids/sid[prefix={p}]/state/counters/in-pkts" for p in (SID, other)}
    assert alice.get(every).keys() == set(leaves.values())

    hidden = f"/srv6mgr-srv6:srv6/local-sids/sid[prefix='{other}']"
    rules({"path": hidden, "access-operations": "read", "action": "deny"})
    wait_until(lambda: alice.get(every).keys() == {leaves[SID]}, timeout=10)
    counters = "/srv6mgr-srv6:srv6/local-sids/sid/state/counters/in-pkts"
    rules({"path": counters, "access-operations": "read", "action": "deny"})
    wait_until(lambda: _nothing(alice, every), timeout=10)


def _nothing(client: Client, path: str) -> bool:
    try:
        client.get(path)
    except grpc.RpcError as error:
        return bool(error.code() is grpc.StatusCode.NOT_FOUND)
    return False


def test_a_certificate_says_who_is_there(
    place: Path, gnmi: Client, rules: Callable[..., None]
) -> None:
    certify(place, "ca", "alice", "xmallory")
    server = Server(place, "mutual", f'client_ca = "{place}/ca.crt"')

    def client(name: str, metadata: Any = ()) -> Client:
        key, chain = (place / f"{name}.{end}" for end in ("key", "crt"))
        return secure(
            server, metadata, private_key=key.read_bytes(), certificate_chain=chain.read_bytes()
        )

    try:
        gnmi.set(update={"/srv6": SRV6})
        assert client("alice").capabilities().gNMI_version
        assert code(client("xmallory").capabilities) is grpc.StatusCode.UNAVAILABLE
        assert code(secure(server).capabilities) is grpc.StatusCode.UNAVAILABLE
        # A name without password is the certificate's, or none.
        assert client("alice", (("username", "alice"),)).capabilities().gNMI_version
        denied = client("alice", (("username", "bob"),)).capabilities
        assert code(denied) is grpc.StatusCode.PERMISSION_DENIED
        assert code(lambda: client("alice").set(update={TABLE: 7})) is (
            grpc.StatusCode.PERMISSION_DENIED
        )
        rules({"access-operations": "*", "action": "permit"})
        client("alice").set(update={TABLE: 7})
    finally:
        assert server.stop() == 0


def test_a_certificate_is_rotated_and_the_last_good_one_kept(place: Path) -> None:
    certify(place, "x1", "x2")
    names = "certificate", "key"
    files = dict(zip(names, (place / "tls.crt", place / "tls.key"), strict=True))

    def put(certificate: str, key: str) -> None:
        shutil.copy(place / f"{certificate}.crt", files["certificate"])
        shutil.copy(place / f"{key}.key", files["key"])

    def serves(name: str) -> bool:
        root = grpc.ssl_channel_credentials((place / f"{name}.crt").read_bytes())
        client = Client(f"127.0.0.1:{server.port}", root, user("alice"))
        try:
            return bool(client.capabilities().gNMI_version)
        except grpc.RpcError:
            return False
        finally:
            client.close()

    put("x1", "x1")
    settings = [*(f'{k} = "{v}"' for k, v in files.items()), "[users]"]
    settings.append(f'alice = "{hash_password("secret")}"')
    server = Server(place, "rotated", "\n".join(settings))
    try:
        root = grpc.ssl_channel_credentials((place / "x1.crt").read_bytes())
        early = Client(f"127.0.0.1:{server.port}", root, user("alice"))
        assert early.capabilities().gNMI_version
        put("x2", "x1")
        assert serves("x1")
        assert not serves("x2")
        files["key"].write_text("-----BEGIN")
        assert serves("x1")
        put("x2", "x2")
        assert serves("x2")
        assert not serves("x1")
        assert early.capabilities().gNMI_version  # its connection goes on
        assert "the last good certificate stays in service" in server.log.read_text()
    finally:
        assert server.stop() == 0


def test_the_authority_of_the_clients_is_rotated(place: Path) -> None:
    certify(place, "xold", "xnew")
    trusted = place / "trusted.crt"
    shutil.copy(place / "xold.crt", trusted)
    server = Server(place, "trusting", f'client_ca = "{trusted}"')

    def admits(name: str) -> bool:
        key, chain = (place / f"{name}.{end}" for end in ("key", "crt"))
        root = (server.state / "selfsigned.crt").read_bytes()
        pair = grpc.ssl_channel_credentials(root, key.read_bytes(), chain.read_bytes())
        client = Client(f"127.0.0.1:{server.port}", pair, own_connection=True)
        try:
            return succeeds(client.capabilities)
        finally:
            client.close()

    try:
        assert (admits("xold"), admits("xnew")) == (True, False)
        trusted.write_text("nonsense")
        assert (admits("xold"), admits("xnew")) == (True, False)
        shutil.copy(place / "xnew.crt", trusted)
        assert (admits("xold"), admits("xnew")) == (False, True)
    finally:
        assert server.stop() == 0


@pytest.fixture(scope="module")
def narrow(place: Path) -> Iterator[Server]:
    limits = "max_connections = 3\nmax_streams = 2\nmax_subscribers = 3\nmax_message = 1"
    server = Server(place, "narrow", limits)
    yield server
    assert server.stop() == 0
    assert "Traceback" not in server.log.read_text()


@pytest.fixture
def connect(narrow: Server) -> Iterator[Callable[[], Client]]:
    """Clients with a connection of their own each."""
    clients = []

    def make() -> Client:
        client = Client(f"unix:{narrow.socket}", own_connection=True)
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()


def succeeds(call: Callable[[], Any]) -> bool:
    try:
        call()
    except grpc.RpcError:
        return False
    return True


def test_connections_are_limited(connect: Callable[[], Client]) -> None:
    clients = [connect() for _ in range(3)]
    for client in clients:
        assert client.capabilities().gNMI_version
    assert code(connect().capabilities) is grpc.StatusCode.UNAVAILABLE
    clients[0].close()
    wait_until(lambda: succeeds(connect().capabilities))


def test_subscribers_are_limited(connect: Callable[[], Client], gnmi: Client) -> None:
    one, two = connect(), connect()
    asked = subscription("/srv6")
    with two.subscribe(asked) as kept:
        kept.until_sync()
        with one.subscribe(asked) as first, one.subscribe(asked) as second:
            first.until_sync()
            second.until_sync()
            with two.subscribe(asked) as fourth:
                assert code(fourth.drain) is grpc.StatusCode.RESOURCE_EXHAUSTED

        def admitted() -> None:
            with one.subscribe(asked) as again:
                again.until_sync()

        wait_until(lambda: succeeds(admitted))


def test_paths_of_a_subscription_are_limited(gnmi: Client) -> None:
    with gnmi.subscribe(*[subscription("/srv6")] * 1001) as stream:
        assert code(stream.drain) is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_streams_of_a_connection_are_limited(connect: Callable[[], Client], gnmi: Client) -> None:
    """What is too much waits at the client (RFC 9113 section 5.1.2)."""
    client = connect()
    with client.subscribe(subscription("/srv6")) as first:
        first.until_sync()
        with client.subscribe(subscription("/srv6")) as second:
            second.until_sync()
            third = client.stub.Capabilities.future(pb.CapabilityRequest(), timeout=0.5)
            assert third.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert wait_until(lambda: succeeds(client.capabilities))


def test_a_message_is_limited(connect: Callable[[], Client], gnmi: Client) -> None:
    client = connect()
    big = pb.TypedValue(json_ietf_val=b'{"vrf": []' + b" " * (1 << 20) + b"}")
    assert failing(client.set, update={"/srv6/vrfs": big})[0] is grpc.StatusCode.RESOURCE_EXHAUSTED
    client.set(update={"/srv6": SRV6})
