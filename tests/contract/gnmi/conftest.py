"""A real srv6-gnmid on a sysrepo of its own; the test takes the place of srv6mgrd.

Run with ``lab/lab chroot -- python -m pytest tests/contract/gnmi -m contract``.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.clients.passwords import hash_password
from srv6mgrd.datastore.connection import Connection
from tests.contract.gnmi.client import Client, Core, failing, subscription
from tests.contract.gnmi.data import SRV6, TABLE
from tests.contract.gnmi.holdings import Holdings

# For clients that come over TLS; who comes over the socket is root by that.
USER, PASSWORD = "root", "of a test"
# Of srv6mgrd, whatever it is asked for.
OPERATION = {"number": 1, "verb": "create", "object": "link red", "command": "ip link add red"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.contract)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Server:
    """srv6-gnmid as a process."""

    def __init__(self, place: Path, name: str, settings: str) -> None:
        self.port = free_port()
        self.socket = place / f"{name}.sock"
        self.secure_socket = place / f"{name}-tls.sock"
        self.state = place / f"{name}-state"
        self.log = place / f"{name}.log"
        file = place / f"{name}.toml"
        secure = f'listen = ["127.0.0.1:{self.port}", "unix:{self.secure_socket}"]\n'
        plain = f'plaintext = ["unix:{self.socket}"]\n'
        file.write_text(
            ("" if "listen" in settings else secure + plain)
            + f'state_directory = "{self.state}"\nstore = "{place}/store"\n{settings}\n'
        )
        notify = place / f"{name}.notify"
        notify.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
            ready.bind(str(notify))
            with self.log.open("wb") as log:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "srv6mgrd.gnmi.daemon", "--config", str(file)],
                    env={**os.environ, "NOTIFY_SOCKET": str(notify)},
                    stdout=log,
                    stderr=log,
                )
            pidfd = os.pidfd_open(self.process.pid)
            said, _, _ = select.select([ready, pidfd], [], [], 20)
            os.close(pidfd)
            if ready not in said:
                self.process.kill()
                self.process.wait()
                pytest.fail(f"srv6-gnmid did not start:\n{self.log.read_text()}")
            assert ready.recv(100) == b"READY=1"

    def tracebacks(self) -> list[str]:
        """What the log has of them."""
        _, *found = self.log.read_text().split("Traceback")
        return found

    def forget_peak(self) -> None:
        """Begin the measurement of ``peak`` again (proc(5), clear_refs)."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def peak(self) -> int:
        """The most memory that it had, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) >> 10

    def cpu(self) -> float:
        """Seconds of computing that it took (proc(5), stat)."""
        _, _, fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")
        user, system = fields.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=10)


@pytest.fixture(scope="session")
def server(place: Path) -> Iterator[Server]:
    users = f'[users]\n{USER} = "{hash_password(PASSWORD)}"'
    server = Server(place, "gnmid", f"counter_interval = 0.3\n{users}")
    yield server
    status = server.stop()
    assert status == 0, server.log.read_text()
    assert not server.tracebacks()


@pytest.fixture(scope="session")
def whole_core(place: Path) -> Iterator[Core]:
    core = Core(place / "store")
    yield core
    core.close()


@pytest.fixture
def core(whole_core: Core) -> Iterator[Core]:
    """What srv6mgrd would do: accept or reject changes, report status and counters."""
    whole_core.reset()
    yield whole_core
    whole_core.reset()


@pytest.fixture(scope="session")
def channel(server: Server) -> Iterator[Any]:
    client = Client(f"unix:{server.socket}")
    yield client
    client.close()


@pytest.fixture
def gnmi(channel: Client, core: Core) -> Iterator[Client]:
    """A client of a router without configuration."""
    core.veto = ""
    channel.set(delete=["/"])
    yield channel
    core.veto = ""


@pytest.fixture
def rules(place: Path) -> Iterator[Callable[..., None]]:
    """Sets NACM's rules for the group staff, which is alice."""
    from srv6mgrd.datastore.connection import Connection

    connection = Connection(originator="operator")
    session = connection.session()

    def write(content: Any) -> None:
        with session.get_ly_ctx() as context:
            text = json.dumps({"ietf-netconf-acm:nacm": content})
            tree = context.parse_data_mem(text, "json", parse_only=True, strict=True)
        session.replace_config_ly(tree, "ietf-netconf-acm")

    def put(*rules: dict[str, Any], **more: Any) -> None:
        named = [{"name": str(n), **rule} for n, rule in enumerate(rules)]
        write(
            {
                "groups": {"group": [{"name": "staff", "user-name": ["alice"]}]},
                "rule-list": [{"name": "l", "group": ["staff"], "rule": named}],
                **more,
            }
        )

    yield put
    write({})
    connection.close()


@pytest.fixture
def router(gnmi: Client) -> Client:
    gnmi.set(update={"/srv6": SRV6})
    return gnmi


@pytest.fixture
def holdings(server: Server, place: Path) -> Holdings:
    return Holdings(server.process.pid, place)


@pytest.fixture
def unchanged(router: Client, holdings: Holdings) -> Iterator[Client]:
    """A router whose configuration, and what whose server holds, is the same afterwards."""

    def config() -> Any:
        return router.get("/", encoding=pb.JSON, type=pb.GetRequest.CONFIG)

    def work() -> None:
        with router.subscribe(subscription("/srv6")) as stream:
            stream.until_sync()
        failing(router.set, update={TABLE: "x"})

    for _ in range(3):  # threads are started when they are first needed
        work()
    before, held = config(), holdings.now()
    yield router
    assert config() == before
    work()
    holdings.settle(held)


@pytest.fixture
def asked() -> Iterator[list[tuple[str, Any]]]:
    """What srv6mgrd was asked for; it answers with one operation."""
    connection, found = Connection(originator="operations"), []

    def answering(rpc: str) -> Callable[..., dict[str, Any]]:
        def called(_path: str, given: Mapping[str, Any], event: str, _private: Any) -> Any:
            found.append((rpc, dict(given)))
            return {} if rpc == "clear-counters" else {"operation": [OPERATION]}

        return called

    session = connection.session()
    for rpc in ("plan", "reconcile", "clear-counters"):
        session.subscribe_rpc_call(f"/srv6mgr-operations:{rpc}", answering(rpc))
    yield found
    connection.close()
