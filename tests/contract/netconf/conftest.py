"""A real srv6-netconfd on a sysrepo of its own; srv6mgrd's clock and state, without a kernel.

Run with ``lab/lab chroot -- python -m pytest tests/contract/netconf -m contract``.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from srv6mgrd.counters.node import NodeWriter, beside
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.datastore.history import Origin
from srv6mgrd.datastore.notifications import Notifier
from srv6mgrd.datastore.operational import OperationalSubscription
from srv6mgrd.notifications import Notification
from tests.contract.datastore.coordinator_world import Loop
from tests.contract.netconf.client import Client

# Built with sanitizers for addresses and undefined behaviour, which end it at the first mistake.
PROGRAM = Path(os.environ.get("NETCONFD", "/opt/netconfd/checked/srv6-netconfd"))
PRODUCT = Path("/opt/netconfd/srv6-netconfd")
SANITIZERS = {
    "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=0",
    "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.contract)


def started(argv: Sequence[object], notify: Path, log: Path) -> subprocess.Popen[bytes]:
    """A process that has said that it is ready, through the socket ``notify``."""
    notify.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
        ready.bind(str(notify))
        ready.settimeout(20)
        with log.open("ab") as file:
            process = subprocess.Popen(
                [str(word) for word in argv],
                env={**os.environ, **SANITIZERS, "NOTIFY_SOCKET": str(notify)},
                stdout=file,
                stderr=file,
            )
        try:
            assert ready.recv(100) == b"READY=1"
        except TimeoutError:
            process.kill()
            pytest.fail(f"{argv[0]} did not start:\n{log.read_text()}")
    return process


class Server:
    """srv6-netconfd as a process."""

    def __init__(self, place: Path, program: Path = PROGRAM, name: str = "netconf") -> None:
        self.socket, self.tls_socket = place / f"{name}.sock", place / f"{name}-tls.sock"
        self.store = place / f"{name}-store"
        self.log = place / f"{name}.log"
        self._place, self._program, self._name = place, program, name
        self.start()

    def start(self) -> None:
        argv = [
            self._program, "--socket", self.socket, "--tls-socket", self.tls_socket,
            "--store", self.store, "--commit-socket", self._place / "commit.sock",
            # A client that acts as another user stays in this group.
            "--group", "root",
        ]  # fmt: skip
        self.process = started(argv, self._place / f"{self._name}.notify", self.log)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=10)

    def stop(self) -> None:
        """It ends in order, without a complaint of the sanitizers."""
        self.process.terminate()
        status = self.process.wait(timeout=20)
        said = self.log.read_text()
        assert status == 0, said
        assert "Sanitizer" not in said, said
        assert "runtime error" not in said, said

    def resident(self) -> int:
        """Memory in KiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])


class Router:
    """srv6mgrd's commit clock, RPCs, state and notifications."""

    def __init__(self, place: Path) -> None:
        store = place / "netconf-store"
        self._path = store
        self.store = StoreWriter(store)
        self.node = NodeWriter(beside(store), now=time.time_ns())
        self.notifier = Notifier()
        self.loop = Loop(self.node, self.notifier, save=False, runtime=place)
        self._telling = self.loop.begin(self._send())
        self._operational = OperationalSubscription(store)
        self._operational.start()

    def reset(self) -> None:
        """No configuration, nothing pending."""
        self.loop.world.manager.change_rejection = None
        self.loop.world.manager.judge = lambda _: None
        if (pending := self.loop.pending()) is not None:
            self.loop.run(self.loop.world.coordinator.confirmation.cancel("", pending.id))
        self.loop.world.running.replace("{}", Origin("test"))

    async def _send(self) -> None:
        # Called here, in the thread of the loop, which owns it.
        await self.notifier.run()

    def notify(self, *notifications: Notification) -> None:
        async def put() -> None:
            self.notifier.put(notifications)

        self.loop.run(put())

    @contextmanager
    def gone(self) -> Iterator[None]:
        """Nobody reports state, and nobody listens at the commit socket."""
        self._operational.close()
        self.loop.run(self.loop.world.end_commits())
        try:
            yield
        finally:
            self.loop.run(self._serve_commits())
            self._operational = OperationalSubscription(self._path)
            self._operational.start()

    async def _serve_commits(self) -> None:
        self.loop.world.serve_commits()

    def close(self) -> None:
        self._telling.cancel()
        self._operational.close()
        self.loop.close()
        self.notifier.close()
        self.store.close()
        self._path.unlink()


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Server]:
    place.chmod(0o711)  # for users that are not root
    server = Server(place)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def whole_router(place: Path) -> Iterator[Router]:
    router = Router(place)
    yield router
    router.close()


@pytest.fixture(autouse=True)
def router(whole_router: Router, server: Server) -> Iterator[Router]:
    """A router without configuration."""
    whole_router.reset()
    yield whole_router
    assert server.process.poll() is None, server.log.read_text()[-5000:]


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    client = Client(server.socket)
    # The candidate is everybody's, and may be another test's.
    client.manager.discard_changes()
    yield client
    client.close()


@pytest.fixture
def other(server: Server) -> Iterator[Client]:
    """A second session."""
    client = Client(server.socket)
    yield client
    client.close()
