"""NETCONF over TLS (RFC 7589), certificates of users (RFC 7407)."""

from __future__ import annotations

import ipaddress
import os
import pwd
import shutil
import socket
import ssl

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from ncclient import manager

from lab.waiting import wait_until
from tests.contract.certificates import DAY, Authority, Certificate
from tests.contract.netconf.client import (
    BASE,
    Client,
    texts,
    with_namespaces,
)
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import ROUTER, srv6, vrf
from tests.contract.netconf.tls.conftest import GET_CONFIG, Listener, of, user_of
from tests.contract.netconf.wire import Wire, framed

EDIT = "<edit-config><target><running/></target><config>{}</config></edit-config>"


def test_a_certificate_gives_the_user(
    listener: Listener, authority: Authority, client: Client
) -> None:
    client.edit(ROUTER)
    listener.start(of(authority, "common-name"))
    with listener.wire(authority.sign("nobody")) as wire:
        assert sorted(user_of(wire)) == ["nobody", "root"]
        assert texts(wire.call(GET_CONFIG), "//s:vrf/s:name") == ["red"]
        denied = wire.call(EDIT.format(with_namespaces(srv6(vrf(table="7")))))
        # NACM judges the user that the certificate gave.
        assert texts(denied, "//nc:error-tag") == ["access-denied"]


def test_ncclient(listener: Listener, authority: Authority, client: Client) -> None:
    client.edit(ROUTER)
    own = authority.sign("alice")
    listener.start(f"cert-to-name {own.fingerprint} specified root")
    with manager.connect_tls(
        host="localhost",
        port=listener.port,
        keyfile=str(own.key),
        certfile=str(own.file),
        ca_certs=str(authority.certificate.file),
        protocol=ssl.PROTOCOL_TLS_CLIENT,
        timeout=30,
    ) as session:
        change = with_namespaces(srv6(vrf(table="101")))
        session.edit_config(f'<nc:config xmlns:nc="{BASE}">{change}</nc:config>', target="running")
        reported = session.get_config("running").data_ele
        assert texts(reported, "//s:vrf/s:table-id") == ["101"]
    assert client.texts("//s:vrf/s:table-id") == ["101"]


def test_the_transport_is_reported(
    listener: Listener, authority: Authority, client: Client
) -> None:
    listener.start(of(authority, "common-name"))
    with listener.wire(authority.sign("nobody")):
        sessions = client.rpc("<nc:get/>")
        transport = "//m:session[m:username='nobody']/m:transport"
        assert [at.rpartition(":")[2] for at in texts(sessions, transport)] == ["netconf-tls"]
        transport = "//m:session[m:username='root']/m:transport"
        assert [at.rpartition(":")[2] for at in texts(sessions, transport)] == ["netconf-ssh"]


def test_where_a_client_is_is_shown(
    listener: Listener, authority: Authority, client: Client, router: Router
) -> None:
    own = authority.sign("alice")
    listener.start(f"cert-to-name {own.fingerprint} specified root")
    client.rpc("<n:create-subscription/>")
    with listener.wire(own) as wire:
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
    assert (origin.northbound, origin.user, origin.address) == (
        "srv6-netconfd",
        "root",
        "127.0.0.1",
    )


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
            reported = client.rpc("<nc:get/>")
            assert "nobody" in texts(reported, "//m:session/m:username")
            assert texts(reported, "//m:session/m:source-host") == []


def test_the_first_mapping_that_fits_decides(listener: Listener, authority: Authority) -> None:
    own, other = authority.sign("daemon", file="own"), authority.sign("daemon", file="other")
    stranger = Authority(listener.place, "strangers").certificate.fingerprint
    listener.start(
        f"cert-to-name {stranger} specified root",
        # It has no such name, so that the next one is looked at.
        of(authority, "san-dns-name"),
        f"cert-to-name {own.fingerprint} specified nobody",
        of(authority, "common-name"),
    )
    with listener.wire(own) as wire:
        assert user_of(wire) == ["nobody"]
    with listener.wire(other) as wire:
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
    listener: Listener, authority: Authority, how: str, name: x509.GeneralName, user: str
) -> None:
    listener.start(of(authority, how))
    certificate = authority.sign("absent-user", name)
    listener.rejects(certificate, f"CN=absent-user: this system has no user {user}; add it")


def test_certificates_that_are_rejected(listener: Listener, authority: Authority) -> None:
    strangers = Authority(listener.place, "strangers")
    revoked = authority.sign("nobody", file="revoked")
    listener.start(of(authority, "common-name"), f"crl {authority.revoke(revoked)}")
    with listener.wire(authority.sign("nobody")) as wire:
        assert "nobody" in user_of(wire)
    listener.rejects(None, "it shows no certificate; give it one")
    listener.rejects(
        strangers.sign("nobody", file="strange"), "certificate CN=nobody: unable to get"
    )
    old = authority.sign("nobody", file="old", begin=-2 * DAY, end=-DAY)
    listener.rejects(old, "certificate CN=nobody: certificate has expired; let its client show")
    new = authority.sign("nobody", file="new", begin=DAY, end=2 * DAY)
    listener.rejects(new, "certificate CN=nobody: certificate is not yet valid; ")
    listener.rejects(revoked, "certificate CN=nobody: certificate revoked; ")
    listener.rejects(authority.sign("root"), "root is named by the certificate alone; ")
    # A NUL, a blank: no name.
    listener.rejects(
        authority.sign("no body", file="blank"), "no cert-to-name gives it a user; add"
    )


def test_a_certificate_without_mapping_is_rejected(
    listener: Listener, authority: Authority
) -> None:
    one = authority.sign("nobody")
    listener.start(f"cert-to-name {one.fingerprint} specified nobody")
    listener.rejects(
        authority.sign("nobody", file="two"), "no cert-to-name gives it a user; add one"
    )
    with listener.wire(one) as wire:
        assert "nobody" in user_of(wire)


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
def test_what_is_no_tls_is_reported(listener: Listener, authority: Authority) -> None:
    listener.start(of(authority, "common-name"))
    with listener.raw() as raw:
        raw.sendall(b"GET / HTTP/1.1\r\n\r\n")
    listener.says("TLS fails: http request; see that it speaks TLS 1.2 or 1.3 here")
    context = ssl.create_default_context(cafile=str(authority.certificate.file))
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    with listener.raw() as raw, pytest.raises((ssl.SSLError, ConnectionError)):
        context.wrap_socket(raw, server_hostname="localhost")
    listener.says("TLS fails: unsupported protocol; ")
    # A client that says who it trusts: not us.
    with listener.raw() as raw, pytest.raises(ssl.SSLError):
        ssl.create_default_context().wrap_socket(raw, server_hostname="localhost")
    listener.says("it does not trust our certificate; give it the CA that has signed that")
    with listener.wire(authority.sign("nobody")) as wire:
        assert "nobody" in user_of(wire)


def test_long_messages_pass_both_ways(listener: Listener, authority: Authority) -> None:
    entries = "".join(
        f"<s:vrf><s:name>v{number}</s:name><s:table-id>{number}</s:table-id></s:vrf>"
        for number in range(1000, 6000)
    )
    listener.start(of(authority, "specified root"))
    with listener.wire(authority.sign("nobody")) as wire:
        reply = wire.call(EDIT.format(with_namespaces(srv6(f"<s:vrfs>{entries}</s:vrfs>"))))
        assert texts(reply, "//nc:ok") == ["ok"]
        names = texts(wire.call(GET_CONFIG), "//s:vrf/s:name")
    assert len(names) == 5000


def test_sessions_side_by_side(listener: Listener, authority: Authority, client: Client) -> None:
    """As many as over SSH in a storm; those that say nothing hold up nobody."""
    client.edit(ROUTER)
    listener.start(of(authority, "common-name"))
    mute = [listener.raw() for _ in range(5)]
    certificate = authority.sign("nobody")
    wires = [listener.wire(certificate) for _ in range(50)]
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
    listener: Listener, authority: Authority, client: Client
) -> None:
    listener.start(of(authority, "common-name"))
    wire = listener.wire(authority.sign("nobody"))
    (number,) = texts(client.rpc("<nc:get/>"), "//m:session[m:username='nobody']/m:session-id")
    client.rpc(f"<nc:kill-session><nc:session-id>{number}</nc:session-id></nc:kill-session>")
    assert wire.ended()


def test_a_certificate_is_renewed_by_replacing_its_file(
    listener: Listener, authority: Authority
) -> None:
    listener.start(of(authority, "common-name"))
    certificate = authority.sign("nobody")
    with listener.connect(certificate) as connection:
        first = connection.getpeercert(binary_form=True)
    renewed = authority.server()  # which writes the same files
    with listener.connect(certificate) as connection:
        now = connection.getpeercert(binary_form=True)
    assert now != first
    assert now == renewed.content.public_bytes(Encoding.DER)
    shutil.copy(listener.place / "router.crt", listener.place / "spare.crt")
    (listener.place / "router.crt").write_text("nonsense")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        listener.connect(certificate)
    listener.says("certificate " + str(listener.place / "router.crt"))
    shutil.copy(listener.place / "spare.crt", listener.place / "router.crt")
    with listener.wire(certificate) as wire:
        assert "nobody" in user_of(wire)


def test_a_session_ends_when_its_certificate_is_revoked(
    listener: Listener, authority: Authority
) -> None:
    revoked, kept = (authority.sign("nobody", file=name) for name in ("ended", "kept"))
    listener.start(of(authority, "common-name"), f"crl {authority.revoke()}")
    with listener.wire(kept) as lasting:
        wire = listener.wire(revoked)
        assert "nobody" in user_of(wire)
        authority.revoke(revoked)
        assert wire.ended()
        assert "nobody" in user_of(lasting)
    listener.says("certificate CN=nobody: certificate revoked; its session is ended")


def test_a_session_ends_when_its_authority_is_removed(
    listener: Listener, authority: Authority
) -> None:
    trusted = listener.place / "trusted-tls.crt"
    shutil.copy(authority.certificate.file, trusted)
    listener.start(of(authority, "common-name"), f"client-ca {trusted}")
    wire = listener.wire(authority.sign("nobody"))
    fresh = trusted.with_suffix(".new")
    shutil.copy(Authority(listener.place, "successor").certificate.file, fresh)
    fresh.rename(trusted)
    assert wire.ended()


def test_connections_that_do_not_authenticate_give_way(
    listener: Listener, authority: Authority
) -> None:
    """Of a client that has all of its connections open, and shows no certificate in any."""
    listener.start(of(authority, "common-name"), "max-connections-per-peer 5")
    mute = [listener.raw() for _ in range(20)]
    certificate = authority.sign("nobody")
    wires = [listener.wire(certificate) for _ in range(5)]
    assert all("nobody" in user_of(wire) for wire in wires)
    # Who has authenticated stays.
    with pytest.raises((ssl.SSLError, EOFError, ConnectionError)):
        Wire(listener.connect(certificate))
    listener.says("rejected: it has 5 connections")
    wires.pop().socket.close()
    wait_until(lambda: is_admitted(listener, certificate))
    for connection in (*mute, *(wire.socket for wire in wires)):
        connection.close()


def is_admitted(listener: Listener, certificate: Certificate) -> bool:
    try:
        with listener.wire(certificate) as wire:
            return "nobody" in user_of(wire)
    except (ssl.SSLError, EOFError, ConnectionError):
        return False


def test_a_handshake_has_a_deadline(listener: Listener, authority: Authority) -> None:
    listener.start(of(authority, "common-name"))
    with listener.raw() as raw:
        assert raw.recv(1) == b""
    listener.says("no handshake within 10 s")
