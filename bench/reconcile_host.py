"""A running srv6mgrd on the host's own kernel, which shows what it takes where nothing is emulated.

It runs in a network namespace and with a sysrepo of its own, without FRR. Where that kernel has no
dummy and no VRF, an ifb is the device of the SIDs, and no SID is in a VRF.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.reconcile_node import RUNTIME
from bench.repository import place
from bench.sids import NO_VRF

_START_SECONDS = 600.0


class Host:
    name = "host"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._child: subprocess.Popen[bytes] | None = None
        self._settings = folder / "srv6mgrd.toml"
        self._settings.write_text(
            f'runtime_directory = "{folder}/run"\nstate_directory = "{folder}/state"\n'
            f'frr_directory = "{folder}/frr"\nredis_socket = "{folder}/redis.sock"\n'
        )

    def start(self) -> None:
        notify = self._folder / "notify"
        notify.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
            ready.bind(str(notify))
            ready.settimeout(_START_SECONDS)
            command = [sys.executable, "-m", "bench.reconcile_host", "--config", self._settings]
            with (self._folder / "srv6mgrd.log").open("ab") as log:
                self._child = subprocess.Popen(
                    command,
                    env={**os.environ, "NOTIFY_SOCKET": str(notify)},
                    stdout=log,
                    stderr=log,
                )
            if ready.recv(100) != b"READY=1":
                raise RuntimeError("srv6mgrd said something else before it was ready")

    def stop(self) -> None:
        if self._child is not None:
            self._child.send_signal(signal.SIGTERM)
            self._child.wait(timeout=60)
            self._child = None

    def run(self, *command: str) -> str:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def popen(self, *command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@contextmanager
def host() -> Iterator[Host]:
    """In the network namespace of the caller."""
    with place() as folder:
        os.environ[RUNTIME] = str(folder / "run")
        os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        vrf = ["ip", "link", "add", "try", "type", "vrf", "table", "1"]
        if subprocess.run(vrf, check=False, stderr=subprocess.DEVNULL).returncode:
            os.environ[NO_VRF] = "1"
        redis = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", f"{folder}/redis.sock", "--save", ""],
            stdout=subprocess.DEVNULL,
        )
        manager = Host(folder)
        try:
            yield manager
        finally:
            manager.stop()
            redis.terminate()
            redis.wait()


def main() -> None:
    """srv6mgrd itself, with the stand-in."""
    from srv6mgrd import daemon
    from srv6mgrd.kernel import links

    if os.environ.get(NO_VRF):
        links.DUMMY = "ifb"
    daemon.main()


if __name__ == "__main__":
    main()
