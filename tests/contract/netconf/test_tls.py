"""NETCONF over TLS (RFC 7589), certificates of users (RFC 7407), call home (RFC 8071)."""

from __future__ import annotations

import ipaddress
import os
import pwd
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from ncclient import manager

from lab.waiting import wait_until
from tests.contract.certificates import DAY, Authority, Certificate
from tests.contract.netconf.client import (
    BASE,
    NS,
    Client,
    texts,
    with_namespaces,
)
from tests.contract.netconf.conftest import PROGRAM, SANITIZERS, Router, Server, started
from tests.contract.netconf.data import ROUTER, srv6, vrf
from tests.contract.netconf.wire import Wire, framed

TLS = PROGRAM.with_name("srv6-netconf-tls")
GET_CONFIG = "<get-config><source><running/></source></get-config>"
SESSIONS = (
    f"<get><filter><netconf-state xmlns='{NS['m']}'><sessions/></netconf-state></filter></get>"
)
EDIT = "<edit-config><target><running/></target><config>{}</config></edit-config>"


class Door:
    """srv6-netconf-tls as a process, with settings of the test's."""

    def __init__(self, place: Path, server: Server, authority: Authority) -> None:
        self.place, self.authority = place, authority
        self.log = place / "tls.log"
        self.log.write_text("")
        self.port = free_port()
        self.settings = {
            "certificate": str(authority.server().file),
            "key": str(place / "router.key"),
            "client-ca": str(authority.certificate.file),
            "socket": str(server.tls_socket),
        }
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *more: str, listen: bool = True) -> None:
        """With these settings added; a keyword that is there already is replaced."""
        settings = self.settings | {"listen": f"127.0.0.1:{self.port}"} if listen else self.settings
        keywords = {line.split()[0] for line in more}
        lines = [f"{name} {value}" for name, value in settings.items() if name not in keywords]
        file = self.place / "tls.conf"
        file.write_text("# of a test\n\n" + "\n".join([*lines, *more]) + "\n")
        self.process = started([TLS, "--config", file], self.place / "tls.notify", self.log)

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            assert self.process.wait(timeout=20) == 0, self.said()
            assert "Sanitizer" not in self.said(), self.said()
            assert "runtime error" not in self.said(), self.said()

    def said(self) -> str:
        return self.log.read_text()

    def says(self, words: str) -> None:
        """Sooner or later its log has this."""
        try:
            wait_until(lambda: words in self.said())
        except AssertionError:
            pytest.fail(f"it does not say '{words}' but:\n{self.said()}")

    def connect(self, certificate: Certificate | None = None) -> ssl.SSLSocket:
        return self.wrap(self.raw(), certificate)

    def raw(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def wrap(self, raw: socket.socket, certificate: Certificate | None) -> ssl.SSLSocket:
        context = ssl.create_default_context(cafile=str(self.authority.certificate.file))
        if certificate is not None:
            context.load_cert_chain(certificate.file, certificate.key)
        return context.wrap_socket(raw, server_hostname="localhost")

    def wire(self, certificate: Certificate) -> Wire:
        return Wire(self.connect(certificate))

    def refuses(self, certificate: Certificate | None, words: str) -> None:
        """No session, and the log says why. In TLS 1.3 the client hears of it only now."""
        with pytest.raises((ssl.SSLError, EOFError, ConnectionError)):
            Wire(self.connect(certificate))
        self.says(words)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture(scope="module")
def authority(place: Path) -> Authority:
    return Authority(place, "operators")


@pytest.fixture
def door(place: Path, server: Server, authority: Authority) -> Iterator[Door]:
    door = Door(place, server, authority)
    yield door
    door.stop()


def of(authority: Authority, how: str) -> str:
    """All that the authority has signed."""
    return f"cert-to-name {authority.certificate.fingerprint} {how}"


def user_of(wire: Wire) -> list[str]:
    sessions = wire.call(SESSIONS)
    return texts(sessions, "//m:session/m:username")


def test_a_certificate_gives_the_user(door: Door, authority: Authority, client: Client) -> None:
    client.edit(ROUTER)
    door.start(of(authority, "common-name"))
    with door.wire(authority.sign("nobody")) as wire:
        assert sorted(user_of(wire)) == ["nobody", "root"]
        assert texts(wire.call(GET_CONFIG), "//s:vrf/s:name") == ["red"]
        denied = wire.call(EDIT.format(with_namespaces(srv6(vrf(table="7")))))
        # NACM judges the user that the certificate gave.
        assert texts(denied, "//nc:error-tag") == ["access-denied"]


def test_ncclient(door: Door, authority: Authority, client: Client) -> None:
    client.edit(ROUTER)
    own = authority.sign("alice")
    door.start(f"cert-to-name {own.fingerprint} specified root")
    with manager.connect_tls(
        host="localhost",
        port=door.port,
        keyfile=str(own.key),
        certfile=str(own.file),
        ca_certs=str(authority.certificate.file),
        protocol=ssl.PROTOCOL_TLS_CLIENT,
        timeout=30,
    ) as session:
        change = with_namespaces(srv6(vrf(table="101")))
        session.edit_config(f'<nc:config xmlns:nc="{BASE}">{change}</nc:config>', target="running")
        told = session.get_config("running").data_ele
        assert texts(told, "//s:vrf/s:table-id") == ["101"]
    assert client.texts("//s:vrf/s:table-id") == ["101"]


def test_the_transport_is_told(door: Door, authority: Authority, client: Client) -> None:
    door.start(of(authority, "common-name"))
    with door.wire(authority.sign("nobody")):
        sessions = client.rpc("<nc:get/>")
        transport = "//m:session[m:username='nobody']/m:transport"
        assert [at.rpartition(":")[2] for at in texts(sessions, transport)] == ["netconf-tls"]
        transport = "//m:session[m:username='root']/m:transport"
        assert [at.rpartition(":")[2] for at in texts(sessions, transport)] == ["netconf-ssh"]


def test_where_a_client_is_is_shown(
    door: Door, authority: Authority, client: Client, router: Router
) -> None:
    own = authority.sign("alice")
    door.start(f"cert-to-name {own.fingerprint} specified root")
    client.rpc("<n:create-subscription/>")
    with door.wire(own) as wire:
        begin = client.event_with("//ev:netconf-session-start")
        assert texts(begin, "//ev:source-host") == ["127.0.0.1"]
        sessions = client.rpc("<nc:get/>")
        host = "//m:session[contains(m:transport, 'netconf-tls')]/m:source-host"
        assert texts(sessions, host) == ["127.0.0.1"]
        # Over SSH the process that says it is the user's own.
        host = "//m:session[contains(m:transport, 'netconf-ssh')]/m:source-host"
        assert texts(sessions, host) == []
        wire.call(EDIT.format(with_namespaces(srv6(vrf(table="7")))))
    origin = router.loop.newest().origin
    assert (origin.door, origin.user, origin.address) == ("srv6-netconfd", "root", "127.0.0.1")


def test_a_user_can_not_say_where_it_is(server: Server, client: Client) -> None:
    with socket.socket(socket.AF_UNIX) as raw:
        address = b"192.0.2.1"
        # Another process: the kernel shows root's real user id of this one.
        if not (child := os.fork()):
            os.setuid(pwd.getpwnam("nobody").pw_uid)
            raw.connect(str(server.tls_socket))
            raw.sendall(b"\0" + bytes([len(address)]) + address)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        with Wire(raw) as wire:
            assert wire.call(GET_CONFIG) is not None
            told = client.rpc("<nc:get/>")
            assert "nobody" in texts(told, "//m:session/m:username")
            assert texts(told, "//m:session/m:source-host") == []


def test_the_first_mapping_that_fits_decides(door: Door, authority: Authority) -> None:
    own, other = authority.sign("daemon", file="own"), authority.sign("daemon", file="other")
    stranger = Authority(door.place, "strangers").certificate.fingerprint
    door.start(
        f"cert-to-name {stranger} specified root",
        # It has no such name, so that the next one is looked at.
        of(authority, "san-dns-name"),
        f"cert-to-name {own.fingerprint} specified nobody",
        of(authority, "common-name"),
    )
    with door.wire(own) as wire:
        assert user_of(wire) == ["nobody"]
    with door.wire(other) as wire:
        assert "daemon" in user_of(wire)


@pytest.mark.parametrize(
    ("how", "name", "user"),
    [
        ("san-rfc822-name", x509.RFC822Name("Alice@Example.ORG"), "Alice@example.org"),
        ("san-dns-name", x509.DNSName("Router.Example.ORG"), "router.example.org"),
        ("san-ip-address", x509.IPAddress(ipaddress.ip_address("192.0.2.7")), "192.0.2.7"),
        (
            "san-ip-address",
            x509.IPAddress(ipaddress.ip_address("2001:db8::7")),
            "20010db8000000000000000000000007",
        ),
        ("san-any", x509.DNSName("Any.Example.org"), "any.example.org"),
        (
            "san-uri",
            x509.UniformResourceIdentifier("spiffe://example.org/Router"),
            "spiffe://example.org/Router",
        ),
        ("common-name", x509.DNSName("unused"), "absent-user"),
    ],
)
def test_names_in_certificates(
    door: Door, authority: Authority, how: str, name: x509.GeneralName, user: str
) -> None:
    door.start(of(authority, how))
    certificate = authority.sign("absent-user", name)
    door.refuses(certificate, f"CN=absent-user: this system has no user {user}; add it")


def test_certificates_that_are_refused(door: Door, authority: Authority) -> None:
    strangers = Authority(door.place, "strangers")
    revoked = authority.sign("nobody", file="revoked")
    door.start(of(authority, "common-name"), f"crl {authority.revoke(revoked)}")
    with door.wire(authority.sign("nobody")) as wire:
        assert "nobody" in user_of(wire)
    door.refuses(None, "it shows no certificate; give it one")
    door.refuses(strangers.sign("nobody", file="strange"), "certificate CN=nobody: unable to get")
    old = authority.sign("nobody", file="old", begin=-2 * DAY, end=-DAY)
    door.refuses(old, "certificate CN=nobody: certificate has expired; let its client show")
    new = authority.sign("nobody", file="new", begin=DAY, end=2 * DAY)
    door.refuses(new, "certificate CN=nobody: certificate is not yet valid; ")
    door.refuses(revoked, "certificate CN=nobody: certificate revoked; ")
    door.refuses(authority.sign("root"), "root is named by the certificate alone; ")
    # A NUL, a blank: no name.
    door.refuses(authority.sign("no body", file="blank"), "no cert-to-name gives it a user; add")


def test_a_certificate_without_mapping_is_refused(door: Door, authority: Authority) -> None:
    one = authority.sign("nobody")
    door.start(f"cert-to-name {one.fingerprint} specified nobody")
    door.refuses(authority.sign("nobody", file="two"), "no cert-to-name gives it a user; add one")
    with door.wire(one) as wire:
        assert "nobody" in user_of(wire)


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
def test_what_is_no_tls_is_told(door: Door, authority: Authority) -> None:
    door.start(of(authority, "common-name"))
    with door.raw() as raw:
        raw.sendall(b"GET / HTTP/1.1\r\n\r\n")
    door.says("TLS fails: http request; see that it speaks TLS 1.2 or 1.3 here")
    context = ssl.create_default_context(cafile=str(authority.certificate.file))
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    with door.raw() as raw, pytest.raises((ssl.SSLError, ConnectionError)):
        context.wrap_socket(raw, server_hostname="localhost")
    door.says("TLS fails: unsupported protocol; ")
    # A client that says who it trusts: not us.
    with door.raw() as raw, pytest.raises(ssl.SSLError):
        ssl.create_default_context().wrap_socket(raw, server_hostname="localhost")
    door.says("it does not trust our certificate; give it the CA that has signed that")
    with door.wire(authority.sign("nobody")) as wire:
        assert "nobody" in user_of(wire)


def test_long_messages_pass_both_ways(door: Door, authority: Authority) -> None:
    entries = "".join(
        f"<s:vrf><s:name>v{number}</s:name><s:table-id>{number}</s:table-id></s:vrf>"
        for number in range(1000, 6000)
    )
    door.start(of(authority, "specified root"))
    with door.wire(authority.sign("nobody")) as wire:
        reply = wire.call(EDIT.format(with_namespaces(srv6(f"<s:vrfs>{entries}</s:vrfs>"))))
        assert texts(reply, "//nc:ok") == ["ok"]
        names = texts(wire.call(GET_CONFIG), "//s:vrf/s:name")
    assert len(names) == 5000


def test_sessions_side_by_side(door: Door, authority: Authority, client: Client) -> None:
    """As many as over SSH in a storm; those that say nothing hold up nobody."""
    client.edit(ROUTER)
    door.start(of(authority, "common-name"))
    mute = [door.raw() for _ in range(5)]
    certificate = authority.sign("nobody")
    wires = [door.wire(certificate) for _ in range(50)]
    for wire in wires:
        wire.send(framed(f'<rpc xmlns="{BASE}" message-id="1">{GET_CONFIG}</rpc>'.encode()))
    for wire in wires:
        assert texts(wire.reply(), "//s:vrf/s:name") == ["red"]
    for wire in wires:
        wire.socket.close()
    for connection in mute:
        connection.close()
    wait_until(lambda: texts(client.rpc("<nc:get/>"), "count(//m:session)") == ["1.0"])


def test_a_session_that_is_killed_ends_the_connection(
    door: Door, authority: Authority, client: Client
) -> None:
    door.start(of(authority, "common-name"))
    wire = door.wire(authority.sign("nobody"))
    (number,) = texts(client.rpc("<nc:get/>"), "//m:session[m:username='nobody']/m:session-id")
    client.rpc(f"<nc:kill-session><nc:session-id>{number}</nc:session-id></nc:kill-session>")
    assert wire.ended()


def test_a_certificate_is_renewed_by_replacing_its_file(door: Door, authority: Authority) -> None:
    door.start(of(authority, "common-name"))
    certificate = authority.sign("nobody")
    with door.connect(certificate) as connection:
        first = connection.getpeercert(binary_form=True)
    renewed = authority.server()  # which writes the same files
    with door.connect(certificate) as connection:
        now = connection.getpeercert(binary_form=True)
    assert now != first
    assert now == renewed.content.public_bytes(Encoding.DER)
    shutil.copy(door.place / "router.crt", door.place / "spare.crt")
    (door.place / "router.crt").write_text("nonsense")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        door.connect(certificate)
    door.says("certificate " + str(door.place / "router.crt"))
    shutil.copy(door.place / "spare.crt", door.place / "router.crt")
    with door.wire(certificate) as wire:
        assert "nobody" in user_of(wire)


def test_a_session_ends_when_its_certificate_is_revoked(door: Door, authority: Authority) -> None:
    revoked, kept = (authority.sign("nobody", file=name) for name in ("ended", "kept"))
    door.start(of(authority, "common-name"), f"crl {authority.revoke()}")
    with door.wire(kept) as lasting:
        wire = door.wire(revoked)
        assert "nobody" in user_of(wire)
        authority.revoke(revoked)
        assert wire.ended()
        assert "nobody" in user_of(lasting)
    door.says("certificate CN=nobody: certificate revoked; its session is ended")


def test_a_session_ends_when_its_authority_is_removed(door: Door, authority: Authority) -> None:
    trusted = door.place / "trusted-tls.crt"
    shutil.copy(authority.certificate.file, trusted)
    door.start(of(authority, "common-name"), f"client-ca {trusted}")
    wire = door.wire(authority.sign("nobody"))
    fresh = trusted.with_suffix(".new")
    shutil.copy(Authority(door.place, "successor").certificate.file, fresh)
    fresh.rename(trusted)
    assert wire.ended()


def test_connections_that_do_not_authenticate_give_way(door: Door, authority: Authority) -> None:
    """Of a client that has all of its connections open, and shows no certificate in any."""
    door.start(of(authority, "common-name"), "max-connections-per-peer 5")
    mute = [door.raw() for _ in range(20)]
    certificate = authority.sign("nobody")
    wires = [door.wire(certificate) for _ in range(5)]
    assert all("nobody" in user_of(wire) for wire in wires)
    # Who has authenticated stays.
    with pytest.raises((ssl.SSLError, EOFError, ConnectionError)):
        Wire(door.connect(certificate))
    door.says("rejected: it has 5 connections")
    wires.pop().socket.close()
    wait_until(lambda: is_admitted(door, certificate))
    for connection in (*mute, *(wire.socket for wire in wires)):
        connection.close()


def is_admitted(door: Door, certificate: Certificate) -> bool:
    try:
        with door.wire(certificate) as wire:
            return "nobody" in user_of(wire)
    except (ssl.SSLError, EOFError, ConnectionError):
        return False


def test_a_handshake_has_a_deadline(door: Door, authority: Authority) -> None:
    door.start(of(authority, "common-name"))
    with door.raw() as raw:
        assert raw.recv(1) == b""
    door.says("no handshake within 10 s")


# Call home.


@contextmanager
def waiting(port: int = 0) -> Iterator[socket.socket]:
    """A client that waits to be called."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(5)
        listening.settimeout(20)
        yield listening


def called(door: Door, listening: socket.socket, certificate: Certificate | None) -> Wire:
    raw, _ = listening.accept()
    raw.settimeout(20)
    return Wire(door.wrap(raw, certificate))


def test_call_home(door: Door, authority: Authority, client: Client) -> None:
    """It is the router that connects, and the client that begins TLS and NETCONF, as ever; and it
    calls again when a session has ended."""
    client.edit(ROUTER)
    certificate = authority.sign("nobody")
    with waiting() as listening:
        home = f"call-home 127.0.0.1:{listening.getsockname()[1]}"
        door.start(of(authority, "common-name"), home, listen=False)
        for _ in range(2):
            with called(door, listening, certificate) as wire:
                assert "nobody" in user_of(wire)
                assert texts(wire.call(GET_CONFIG), "//s:vrf/s:name") == ["red"]


def test_who_is_called_shows_a_certificate_too(door: Door, authority: Authority) -> None:
    with waiting() as listening:
        home = f"call-home 127.0.0.1:{listening.getsockname()[1]}"
        door.start(of(authority, "common-name"), home, listen=False)
        with pytest.raises((ssl.SSLError, EOFError, ConnectionError)):
            called(door, listening, None)
        door.says("it shows no certificate; give it one")
        with called(door, listening, authority.sign("nobody")) as wire:
            assert "nobody" in user_of(wire)


def test_who_does_not_answer_is_called_again(door: Door, authority: Authority) -> None:
    port = free_port()
    door.start(of(authority, "common-name"), f"call-home 127.0.0.1:{port}")
    door.says(f"call home 127.0.0.1:{port}: Connection refused; it is tried again")
    with door.wire(authority.sign("nobody")) as wire:  # who calls us does not wait for that
        assert "nobody" in user_of(wire)
    with waiting(port) as listening, called(door, listening, authority.sign("daemon")) as wire:
        assert "daemon" in user_of(wire)


# Settings.

FINGERPRINT = "04" + 32 * ":ab"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense 1", "nonsense: there is no such setting; see srv6-netconf-tls(8)"),
        ("listen", "listen: it has no value; add one"),
        ("listen localhost", "listen: it is no host:port; write [2001:db8::1]:6513, say"),
        ("listen ::1:6513", "listen: an IPv6 address stands in brackets; "),
        ("listen 127.0.0.1:6513 more", "listen: there is more behind its value; remove that"),
        ("listen 192.0.2.1:6513", "listen 192.0.2.1:6513: Cannot assign requested address; "),
        ("certificate there.crt", "certificate: it is no absolute path; give one"),
        ("certificate /absent.crt", "certificate /absent.crt: No such file or directory; "),
        ("key /etc/hostname", "key /etc/hostname: "),
        ("client-ca /absent.crt", "client-ca /absent.crt: "),
        ("cert-to-name 04:zz specified a", "its fingerprint is not octets with colons between; "),
        ("cert-to-name 02:ab specified a", "its fingerprint does not begin with 04 (SHA-256)"),
        ("cert-to-name 04:ab specified a", "its fingerprint has not the length of its hash; "),
        (f"cert-to-name {FINGERPRINT}", "it has no map type; choose specified, "),
        (f"cert-to-name {FINGERPRINT} mine", "it has no map type; choose specified, "),
        (f"cert-to-name {FINGERPRINT} specified", "the user is missing; write it behind"),
    ],
)
def test_settings_that_are_refused(door: Door, authority: Authority, line: str, words: str) -> None:
    told = _try(door, of(authority, "common-name"), line)
    assert words in told, told


@pytest.mark.parametrize("absent", ["certificate", "key", "client-ca", "cert-to-name", "listen"])
def test_settings_that_are_missing(door: Door, authority: Authority, absent: str) -> None:
    lines = [of(authority, "common-name")] if absent != "cert-to-name" else []
    told = _try(door, *lines, without=absent)
    assert f"{absent} is missing; add it" in told.replace("listen or call-home", "listen"), told


def _try(door: Door, *lines: str, without: str = "") -> str:
    """What it says when it does not start."""
    settings = door.settings | {"listen": f"127.0.0.1:{door.port}"}
    keywords = {line.split()[0] for line in lines} - {"cert-to-name"} | {without}
    kept = [f"{name} {value}" for name, value in settings.items() if name not in keywords]
    file = door.place / "bad.conf"
    file.write_text("\n".join([*kept, *lines]) + "\n")
    done = subprocess.run(
        [TLS, "--config", file],
        env={**os.environ, **SANITIZERS},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 1, done
    return done.stderr
