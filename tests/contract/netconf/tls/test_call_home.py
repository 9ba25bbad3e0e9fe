"""Call home over TLS (RFC 8071)."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.contract.certificates import Authority, Certificate
from tests.contract.netconf.client import (
    Client,
    texts,
)
from tests.contract.netconf.data import ROUTER
from tests.contract.netconf.tls.conftest import GET_CONFIG, Listener, free_port, of, user_of
from tests.contract.netconf.wire import Wire


@contextmanager
def waiting(port: int = 0) -> Iterator[socket.socket]:
    """A client that waits to be called."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(5)
        listening.settimeout(20)
        yield listening


def called(listener: Listener, listening: socket.socket, certificate: Certificate | None) -> Wire:
    raw, _ = listening.accept()
    raw.settimeout(20)
    return Wire(listener.wrap(raw, certificate))


def test_call_home(listener: Listener, authority: Authority, client: Client) -> None:
    """It is the router that connects, and the client that begins TLS and NETCONF, as ever; and it
    calls again when a session has ended."""
    client.edit(ROUTER)
    certificate = authority.sign("nobody")
    with waiting() as listening:
        home = f"call-home 127.0.0.1:{listening.getsockname()[1]}"
        listener.start(of(authority, "common-name"), home, listen=False)
        for _ in range(2):
            with called(listener, listening, certificate) as wire:
                assert "nobody" in user_of(wire)
                assert texts(wire.call(GET_CONFIG), "//s:vrf/s:name") == ["red"]


def test_who_is_called_shows_a_certificate_too(listener: Listener, authority: Authority) -> None:
    with waiting() as listening:
        home = f"call-home 127.0.0.1:{listening.getsockname()[1]}"
        listener.start(of(authority, "common-name"), home, listen=False)
        with pytest.raises((ssl.SSLError, EOFError, ConnectionError)):
            called(listener, listening, None)
        listener.says("it shows no certificate; give it one")
        with called(listener, listening, authority.sign("nobody")) as wire:
            assert "nobody" in user_of(wire)


def test_who_does_not_answer_is_called_again(listener: Listener, authority: Authority) -> None:
    port = free_port()
    listener.start(of(authority, "common-name"), f"call-home 127.0.0.1:{port}")
    listener.says(f"call home 127.0.0.1:{port}: Connection refused; it is tried again")
    with listener.wire(authority.sign("nobody")) as wire:  # who calls us does not wait for that
        assert "nobody" in user_of(wire)
    with waiting(port) as listening, called(listener, listening, authority.sign("daemon")) as wire:
        assert "daemon" in user_of(wire)
