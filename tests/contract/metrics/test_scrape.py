"""Scrapes of a real daemon: what is served, and to whom."""

from __future__ import annotations

import base64
import http.client
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.contract.certificates import Authority, Certificate
from tests.contract.metrics.conftest import PASSWORD, USER, Server, Start
from tests.unit.metrics.router import RED

OPEN = {"Accept": "application/openmetrics-text; version=1.0.0"}


def basic(user: str, password: str) -> dict[str, str]:
    token = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"Authorization": f"Basic {token}"}


@contextmanager
def connected(
    server: Server, ca: Path | None = None, own: Certificate | None = None
) -> Iterator[http.client.HTTPSConnection]:
    context = ssl.create_default_context(cafile=ca or server.selfsigned)
    if own is not None:
        context.load_cert_chain(own.file, own.key)
    client = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=20, context=context)
    try:
        yield client
    finally:
        client.close()


def get(
    client: http.client.HTTPConnection, headers: Mapping[str, str], target: str = "/metrics"
) -> tuple[int, str]:
    client.request("GET", target, headers=dict(headers))
    answer = client.getresponse()
    return answer.status, answer.read().decode()


class OverSocket(http.client.HTTPConnection):
    """To a UNIX socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=20)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(20)
        self.sock.connect(str(self._path))


def samples(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def test_a_scrape(start: Start) -> None:
    server = start()
    with connected(server) as client:
        status, text = get(client, OPEN | basic(USER, PASSWORD))
        found = samples(text)
        assert status == 200
        labels = {"sid": RED, "vrf": "red", "behavior": "End.DT46"}
        assert (labels, 840.0) in found["srv6_sid_bytes_total"]
        assert found["srv6mgr_up"] == [({}, 1.0)]
        assert found["process_resident_memory_bytes"][0][1] > 1e6
        # Another one on the same connection.
        status, text = get(client, OPEN | basic(USER, PASSWORD), "/metrics?kind=sid&vrf=red")
        assert status == 200
        assert len(samples(text)) == 3


def test_a_scrape_over_a_unix_socket(start: Start) -> None:
    client = OverSocket(start().socket)

    status, text = get(client, OPEN)

    client.close()
    assert status == 200
    assert "srv6_sid_packets_total" in samples(text)


def test_who_is_nobody_gets_nothing(start: Start) -> None:
    server = start()
    wrong = (
        {},
        basic(USER, "guess"),
        basic("nobody", PASSWORD),
        {"Authorization": "Bearer x"},
        {"Authorization": "Basic %"},
    )
    for headers in wrong:
        with connected(server) as client:
            status, text = get(client, OPEN | headers)
            assert status == 401, headers
            assert "srv6_" not in text
            # Not even whether a page exists.
            assert get(client, headers, "/other")[0] in (401, 429)


def test_certificates(start: Start, tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca")
    server_own = authority.server()
    server = start(
        f'client_ca = "{authority.certificate.file}"\nreaders = ["prometheus"]\n'
        f'certificate = "{server_own.file}"\nkey = "{server_own.key}"'
    )
    ca = authority.certificate.file
    with connected(server, ca, authority.sign("prometheus")) as client:
        assert get(client, OPEN)[0] == 200
    with connected(server, ca, authority.sign("mallory")) as client:
        status, text = get(client, OPEN)
        assert (status, text) == (403, "user mallory: may not read; add it to readers\n")
    with connected(server, ca) as client, pytest.raises((ssl.SSLError, OSError)):
        get(client, OPEN)


def test_errors_say_what_is_wrong(start: Start, place: Path) -> None:
    server = start()
    client = OverSocket(server.socket)
    assert get(client, {}, "/metrics?kind=x")[0] == 400
    assert get(client, {}, "/")[0] == 404
    client.request("DELETE", "/metrics")
    answer = client.getresponse()
    answer.read()
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")
    client.request("HEAD", "/metrics")
    answer = client.getresponse()
    assert (answer.status, answer.read()) == (200, b"")
    client.request("POST", "/metrics", body=b"x" * 10)
    assert client.getresponse().status == 400
    client.close()
    (place / "store").rename(place / "hidden")
    server.stop()
    client = OverSocket(start().socket)
    status, text = get(client, {})
    client.close()
    assert status == 503
    assert "absent; is srv6mgrd running?" in text
