"""srv6-netconf-tls as a process, and what its clients say."""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.waiting import wait_until
from tests.contract.certificates import Authority, Certificate
from tests.contract.netconf.client import (
    NS,
    texts,
)
from tests.contract.netconf.conftest import PROGRAM, Server, started
from tests.contract.netconf.wire import Wire

TLS = PROGRAM.with_name("srv6-netconf-tls")
GET_CONFIG = "<get-config><source><running/></source></get-config>"
SESSIONS = (
    f"<get><filter><netconf-state xmlns='{NS['m']}'><sessions/></netconf-state></filter></get>"
)


class Listener:
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
        wait_until(lambda: words in self.said(), f"'{words}' in the log", seen=self.said)

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

    def rejects(self, certificate: Certificate | None, words: str) -> None:
        """No session, and the log says why. In TLS 1.3 the client hears of it only now."""
        with pytest.raises((ssl.SSLError, EOFError, ConnectionError)):
            Wire(self.connect(certificate))
        self.says(words)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def of(authority: Authority, how: str) -> str:
    """All that the authority has signed."""
    return f"cert-to-name {authority.certificate.fingerprint} {how}"


def user_of(wire: Wire) -> list[str]:
    sessions = wire.call(SESSIONS)
    return texts(sessions, "//m:session/m:username")


@pytest.fixture(scope="module")
def authority(place: Path) -> Authority:
    return Authority(place, "operators")


@pytest.fixture
def listener(place: Path, server: Server, authority: Authority) -> Iterator[Listener]:
    listener = Listener(place, server, authority)
    yield listener
    listener.stop()
