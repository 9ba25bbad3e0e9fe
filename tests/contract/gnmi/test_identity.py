"""Who a client is: by its certificate, by the kernel, by PAM; and default deny."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from cryptography import x509

from tests.contract.certificates import DAY, Authority, Certificate
from tests.contract.gnmi.client import Client, failing, subscription
from tests.contract.gnmi.conftest import Server
from tests.contract.gnmi.data import SRV6
from tests.contract.gnmi.test_access import succeeds, user
from tests.contract.gnmi.test_server import code, secure

NOBODY = 65534
TABLE = "/srv6/vrfs/vrf[name=red]/table-id"
SPIFFE = "spiffe://example.net/collector"
UNAUTHENTICATED = grpc.StatusCode.UNAUTHENTICATED
DENIED = grpc.StatusCode.PERMISSION_DENIED
# Writes as the user that it is started as.
WRITER = """
import sys
from tests.contract.gnmi.client import Client
client = Client(sys.argv[1])
print(client.value("/srv6/vrfs/vrf[name=red]/table-id"))
client.set(update={"/srv6/vrfs/vrf[name=red]/table-id": 7})
"""


@pytest.fixture(scope="module")
def authority(place: Path) -> Authority:
    return Authority(place, "clients")


@pytest.fixture
def mutual(place: Path, authority: Authority) -> Iterator[Callable[..., Server]]:
    """Starts a server that has clients show certificates."""
    servers: list[Server] = []

    def start(*settings: str) -> Server:
        given = f'client_ca = "{authority.certificate.file}"\n' + "\n".join(settings)
        servers.append(Server(place, f"mutual-{len(servers)}", given))
        return servers[-1]

    yield start
    for server in servers:
        assert server.stop() == 0
        assert not server.tracebacks()


def client(server: Server, certificate: Certificate) -> Client:
    root = (server.state / "selfsigned.crt").read_bytes()
    pair = grpc.ssl_channel_credentials(
        root, certificate.key.read_bytes(), certificate.file.read_bytes()
    )
    return Client(f"127.0.0.1:{server.port}", pair, own_connection=True)


def test_a_client_without_a_name_is_rejected(server: Server) -> None:
    """Over TLS from this machine, too; nothing is read and nothing written."""
    nameless = secure(server)
    for call in (
        nameless.capabilities,
        lambda: nameless.raw_get("/srv6"),
        lambda: nameless.set(update={"/srv6": SRV6}),
    ):
        assert code(call) is UNAUTHENTICATED
    with nameless.subscribe(subscription("/srv6")) as stream:
        assert code(stream.drain) is UNAUTHENTICATED
    assert "connect to the UNIX socket" in failing(nameless.capabilities)[1]


def test_a_certificate_that_names_nobody_is_rejected(
    mutual: Callable[..., Server], authority: Authority
) -> None:
    server = mutual()
    for certificate, words in (
        (authority.sign("", x509.DNSName("host"), file="no-cn"), "no common-name that can be"),
        (authority.sign("root", file="cn-root"), "no certificate makes a client root"),
        (authority.sign("two words", file="blank"), "no common-name that can be a user's name"),
    ):
        status, text = failing(client(server, certificate).set, update={"/srv6": SRV6})
        assert status is UNAUTHENTICATED
        assert words in text


def test_a_name_is_taken_from_where_the_settings_say_in_their_order(
    mutual: Callable[..., Server],
    authority: Authority,
    gnmi: Client,
    rules: Callable[..., None],
) -> None:
    gnmi.set(update={"/srv6": SRV6})
    server = mutual('certificate_names = ["san-uri", "san-rfc822-name", "san-dns-name"]')
    names = {
        SPIFFE: [x509.DNSName("other"), x509.UniformResourceIdentifier(SPIFFE)],
        "Alice@example.net": [x509.DNSName("other"), x509.RFC822Name("Alice@EXAMPLE.net")],
        "host.example.net": [x509.DNSName("HOST.example.net")],
    }
    for number, (name, alternatives) in enumerate(names.items()):
        connected = client(server, authority.sign("cn", *alternatives, file=f"san-{number}"))
        assert code(lambda: connected.set(update={TABLE: 7})) is DENIED  # noqa: B023
        rules(
            {"access-operations": "*", "action": "permit"},
            groups={"group": [{"name": "staff", "user-name": [name]}]},
        )
        connected.set(update={TABLE: 100 + number})
        assert gnmi.value(TABLE) == 100 + number
        rules()
    without = client(server, authority.sign("alice", file="cn-alone"))
    status, text = failing(without.capabilities)
    assert status is UNAUTHENTICATED
    assert "no san-uri or san-rfc822-name or san-dns-name" in text


def test_a_revoked_certificate_ends_on_connections_that_are_open(
    mutual: Callable[..., Server], authority: Authority, gnmi: Client
) -> None:
    gnmi.set(update={"/srv6": SRV6})
    revoked, kept = authority.sign("revoked"), authority.sign("kept")
    server = mutual(f'crl = "{authority.revoke()}"')
    before, other = client(server, revoked), client(server, kept)
    assert before.capabilities().gNMI_version
    with (
        before.subscribe(subscription("/srv6")) as stream,
        other.subscribe(subscription("/srv6")) as lasting,
    ):
        stream.until_sync()
        lasting.until_sync()
        authority.revoke(revoked)
        status, text = failing(before.capabilities)
        assert status is UNAUTHENTICATED
        assert text == "certificate CN=revoked: it is revoked; issue another one"
        assert code(stream.drain) is UNAUTHENTICATED
        gnmi.set(update={TABLE: 101})
        assert lasting.next().update.update
    assert code(client(server, revoked).capabilities) is UNAUTHENTICATED


def test_a_list_of_revoked_certificates_that_is_old_or_missing_admits_nobody(
    mutual: Callable[..., Server], authority: Authority, place: Path
) -> None:
    alice, path = authority.sign("alice", file="listed"), authority.revoke()
    server = mutual(f'crl = "{path}"')
    connected = client(server, alice)
    assert connected.capabilities().gNMI_version
    # Half a file leaves the last good one in use.
    whole = path.read_text()
    path.write_text(whole[:100])
    assert connected.capabilities().gNMI_version
    assert "what it held before stays in use" in server.log.read_text()
    authority.revoke(until=-DAY)
    assert "is out of date" in failing(connected.capabilities)[1]
    Authority(place, "others").revoke()
    assert "there is no CRL of CN=clients" in failing(connected.capabilities)[1]
    authority.revoke()
    assert connected.capabilities().gNMI_version


def test_each_authority_of_a_chain_has_its_list(
    place: Path, authority: Authority, mutual: Callable[..., Server]
) -> None:
    """The client shows the intermediate authority, which the root can revoke."""
    below = Authority(place, "intermediate", authority)
    alice = below.sign("alice", file="chained")
    with alice.file.open("ab") as chain:
        chain.write(below.certificate.file.read_bytes())
    whole = place / "chain.crl"

    def publish(*lists: bytes) -> None:
        fresh = whole.with_suffix(".new")
        fresh.write_bytes(b"".join(lists))
        fresh.rename(whole)

    ours, theirs = authority.revoke().read_bytes(), below.revoke().read_bytes()
    publish(ours, theirs)
    connected = client(mutual(f'crl = "{whole}"'), alice)
    assert connected.capabilities().gNMI_version
    publish(ours)
    assert "there is no CRL of CN=intermediate" in failing(connected.capabilities)[1]
    publish(authority.revoke(below.certificate).read_bytes(), theirs)
    assert "it is revoked" in failing(connected.capabilities)[1]
    publish(ours, below.revoke(alice).read_bytes())
    assert "it is revoked" in failing(connected.capabilities)[1]
    publish(theirs, ours)
    assert connected.capabilities().gNMI_version


def test_an_authority_that_is_removed_takes_its_certificates_along(
    place: Path, authority: Authority
) -> None:
    """On a connection that is open."""
    trusted = place / "trusted-now.crt"
    trusted.write_bytes(authority.certificate.file.read_bytes())
    server = Server(place, "removing", f'client_ca = "{trusted}"')
    try:
        connected = client(server, authority.sign("alice", file="orphan"))
        assert connected.capabilities().gNMI_version
        trusted.write_bytes(Authority(place, "successor").certificate.file.read_bytes())
        assert "no authority of client_ca has signed it" in failing(connected.capabilities)[1]
    finally:
        assert server.stop() == 0


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user may enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_the_kernel_says_who_comes_over_the_socket(
    place: Path, shared: Path, gnmi: Client, rules: Callable[..., None]
) -> None:
    gnmi.set(update={"/srv6": SRV6})
    path = shared / "gnmi.sock"
    settings = f'listen = []\nplaintext = ["unix:{path}"]\nsocket_group = "nogroup"'
    server = Server(place, "local", settings)

    def write(uid: int, gid: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", WRITER, f"unix:{path}"], user=uid, group=gid, extra_groups=[],
            capture_output=True, text=True, check=False, cwd="/src",
            env={**os.environ, "PYTHONPATH": "/src", "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip

    try:
        assert (path.stat().st_mode & 0o777, path.stat().st_gid) == (0o660, NOBODY)
        read_only = write(NOBODY, NOBODY)
        assert read_only.stdout == "100\n", read_only.stderr
        assert "PERMISSION_DENIED" in read_only.stderr
        rules(
            {"access-operations": "*", "action": "permit"},
            groups={"group": [{"name": "staff", "user-name": ["nobody"]}]},
        )
        assert write(NOBODY, NOBODY).returncode == 0
        assert gnmi.value(TABLE) == 7
        # Who is not of the group does not connect at all, and a uid without a name is nobody.
        assert "Permission denied" in write(12345, 12345).stderr
        assert "uid 12345: this system has no such user" in write(12345, NOBODY).stderr
    finally:
        assert server.stop() == 0
    assert not path.exists()


def test_a_socket_that_another_server_listens_at_is_left_alone(place: Path, server: Server) -> None:
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as probe:
        with pytest.raises(pytest.fail.Exception, match="another server listens there"):
            Server(place, "second", f'listen = []\nplaintext = ["unix:{server.socket}"]')
        probe.connect(str(server.socket))


@pytest.fixture
def pam(tmp_path: Path) -> Iterator[str]:
    """A PAM service that asks a script: alice's password is what PAM_USER is, twice. mallory's
    account is locked."""
    tmp_path.chmod(0o755)
    script = tmp_path / "check"
    script.write_text(
        "#!/bin/sh\n"
        'if [ "$PAM_TYPE" = account ]; then [ "$PAM_USER" != mallory ]; exit; fi\n'
        'password=$(tr -d "\\000"); echo "$PAM_USER $PAM_RHOST" >>"$0.asked"\n'
        '[ "$password" = "$PAM_USER$PAM_USER" ]\n'
    )
    script.chmod(0o755)
    service = Path("/etc/pam.d/srv6mgr-test")
    service.write_text(
        f"auth required pam_exec.so quiet expose_authtok {script}\n"
        f"account required pam_exec.so quiet {script}\n"
    )
    yield str(script) + ".asked"
    service.unlink()


def test_passwords_are_checked_by_pam(place: Path, pam: str) -> None:
    server = Server(place, "pam", 'pam = "srv6mgr-test"')

    def comes_in(name: str, password: str) -> bool:
        return succeeds(secure(server, user(name, password)).capabilities)

    try:
        assert comes_in("alice", "alicealice")
        assert not comes_in("alice", "alice")
        assert not comes_in("mallory", "mallorymallory")
        # Nobody is asked about root, who is under no rules.
        assert not comes_in("root", "rootroot")
        assert comes_in("alice", "alicealice")
        asked = Path(pam).read_text().splitlines()
        names = ["alice", "alice", "mallory"]
        assert asked == [f"{name} 127.0.0.1" for name in names], server.log.read_text()
    finally:
        assert server.stop() == 0
    assert not server.tracebacks()


def test_groups_of_the_system_are_groups_of_nacm(
    place: Path, pam: str, gnmi: Client, rules: Callable[..., None]
) -> None:
    """RFC 8341 enable-external-groups."""
    gnmi.set(update={"/srv6": SRV6})
    server = Server(place, "pam-groups", 'pam = "srv6mgr-test"')
    try:
        nobody = secure(server, user("nobody", "nobodynobody"))
        assert code(lambda: nobody.set(update={TABLE: 7})) is DENIED
        rules(**{"rule-list": [{"name": "l", "group": ["nogroup"], "rule": [
            {"name": "all", "access-operations": "*", "action": "permit"}]}]})  # fmt: skip
        nobody.set(update={TABLE: 7})
        assert gnmi.value(TABLE) == 7
    finally:
        assert server.stop() == 0
