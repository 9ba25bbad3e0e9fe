"""openconfig's own client, gnmi_cli, over TLS: written in Go, shares nothing with ours.

It reads a password from a terminal alone, so it connects to a UNIX socket."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.contract.gnmi.client import Client
from tests.contract.gnmi.conftest import Server
from tests.contract.gnmi.data import SRV6

CLI = Path(__file__).parents[3] / "build/bin/gnmi_cli"
RED = (
    'elem: {name: "srv6"} elem: {name: "vrfs"} elem: {name: "vrf" key: {key: "name" value: "red"}}'
)
TABLE = f'path: {{{RED} elem: {{name: "table-id"}}}}'


@pytest.fixture
def cli(server: Server, gnmi: Client) -> Cli:
    if not CLI.exists():
        pytest.skip(f"{CLI} is absent: make build/bin/gnmi_cli")
    gnmi.set(update={"/srv6": SRV6})
    return Cli(server)


class Cli:
    """Runs it; what it has to say, errors too, is on its standard output."""

    def __init__(self, server: Server) -> None:
        state = server.state / "selfsigned.crt"
        self._command = [
            str(CLI),
            "-a",
            f"unix://{server.secure_socket}",
            "-server_name",
            "localhost",
        ]
        self._command += ["-ca_crt", str(state), "-logtostderr"]

    def run(self, *arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [*self._command, *arguments], capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def ask(self, *arguments: str) -> str:
        code, reported = self.run(*arguments)
        assert code == 0, reported
        return reported

    def rejected(self, *arguments: str) -> str:
        code, reported = self.run(*arguments)
        assert code, reported
        return reported

    @contextmanager
    def watch(self, path: str, *arguments: str) -> Iterator[Iterator[str]]:
        """Lines as they come; a test's time limit is the one for the next."""
        command = [*self._command, "-q", path, *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield (line for line in process.stdout if line.strip())
            finally:
                process.kill()


def test_capabilities(cli: Cli) -> None:
    reported = cli.ask("-capabilities")
    assert re.search(r'name:\s+"srv6mgr-srv6"', reported)
    assert re.search(r'gNMI_version:\s+"0.10.0"', reported)


def test_get(cli: Cli) -> None:
    reported = cli.ask("-get", "-proto", f"{TABLE} encoding: JSON_IETF")
    assert re.search(r'json_ietf_val:\s+"100"', reported)
    reported = cli.rejected("-get", "-proto", 'path: {elem: {name: "x"}} encoding: JSON_IETF')
    assert "code = Unimplemented desc = path /x: the data tree has no node" in reported


def test_set(cli: Cli, gnmi: Client) -> None:
    reported = cli.ask("-set", "-proto", f"update: {{{TABLE} val: {{uint_val: 101}}}}")
    assert re.search(r"op:\s+UPDATE", reported)
    assert gnmi.value("/srv6/vrfs/vrf[name=red]/table-id") == 101
    blue = json.dumps({"table-id": 101}).replace('"', '\\"')
    path = RED.replace("red", "blue")
    reported = cli.rejected(
        "-set", "-proto", f'update: {{path: {{{path}}} val: {{json_ietf_val: "{blue}"}}}}'
    )
    assert "table 101 is already used by VRF red; choose another table-id" in reported


def test_subscribe_once(cli: Cli) -> None:
    path = "srv6/vrfs/vrf[name=red]/table-id"
    (line,) = cli.ask("-dt", "single", "-q", path, "-qt", "once").splitlines()
    assert value(line) == "100"


def test_subscribe_poll(cli: Cli) -> None:
    # As a tree each time: polls are not displayed otherwise.
    with cli.watch(
        "srv6/vrfs/vrf/table-id", "-dt", "group", "-qt", "polling", "-pi", "50ms"
    ) as all_:
        tables = (line for line in all_ if "table-id" in line)
        assert all("100" in next(tables) for _ in range(3))


def test_subscribe_stream(cli: Cli, gnmi: Client) -> None:
    with cli.watch("srv6/vrfs/*/table-id", "-dt", "single", "-qt", "streaming") as lines:
        assert value(next(lines)) == "100"
        gnmi.set(update={"/srv6/vrfs/vrf[name=red]/table-id": 101})
        assert value(next(lines)) == "101"


def value(line: str) -> str:
    """gnmi_cli asks for JSON, and marks that as deprecated."""
    found = re.search(r"table-id, \{.*JsonVal (\d+)\}", line)
    assert found, line
    return found[1]
