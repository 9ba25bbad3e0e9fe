"""Running daemons on the host's own kernel, which shows what they take where nothing is emulated.

They run in a network namespace and with a sysrepo of its own, without FRR. Where that kernel has
no dummy and no VRF, an ifb is the device of the SIDs, and no SID is in a VRF.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.gnmi_node import NOTES, notes
from bench.reconcile_node import RUNTIME
from bench.repository import place
from bench.sids import NO_VRF

_START_SECONDS = 600.0
_CLONE_NEWNET = 0x40000000


def own_network() -> None:
    """A network namespace for this process and its children. Raises OSError without root."""
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "a network namespace needs root")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


class Host:
    name = "host"

    def __init__(self, folder: Path, *, gnmi: bool) -> None:
        """With ``gnmi`` srv6-gnmid runs too, and both note their stages."""
        self._folder = folder
        self._children: list[subprocess.Popen[bytes]] = []
        settings = {
            "srv6mgrd": f'runtime_directory = "{folder}/run"\nstate_directory = "{folder}/state"\n'
            f'frr_directory = "{folder}/frr"\nredis_socket = "{folder}/redis.sock"\n',
            "srv6-gnmid": f'store = "{folder}/run/store"\nstate_directory = "{folder}/gnmi"\n',
        }
        self._commands = {"srv6mgrd": ["bench.reconcile_host"]}
        if gnmi:
            self._commands = {
                daemon: ["bench.daemon_stages", daemon, str(file)]
                for daemon, file in notes().items()
            }
        for daemon, command in self._commands.items():
            file = folder / f"{daemon}.toml"
            file.write_text(settings[daemon])
            command += ["--config", str(file)]

    def start(self) -> None:
        for daemon, command in self._commands.items():
            self._start(daemon, [sys.executable, "-m", *command])

    def _start(self, daemon: str, command: Sequence[str]) -> None:
        notify = self._folder / "notify"
        notify.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
            ready.bind(str(notify))
            ready.settimeout(_START_SECONDS)
            with (self._folder / f"{daemon}.log").open("ab") as log:
                child = subprocess.Popen(
                    command,
                    env={**os.environ, "NOTIFY_SOCKET": str(notify)},
                    stdout=log,
                    stderr=log,
                )
            self._children.append(child)
            while (said := ready.recv(100)) != b"READY=1":
                if not said.startswith(b"EXTEND_TIMEOUT_USEC="):
                    raise RuntimeError(f"{daemon} said {said!r} before it was ready")

    def stop(self) -> None:
        while self._children:
            child = self._children.pop()
            child.send_signal(signal.SIGTERM)
            child.wait(timeout=60)

    def run(self, *command: str) -> str:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def popen(self, *command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@contextmanager
def host(*, gnmi: bool = False) -> Iterator[Host]:
    """In the network namespace of the caller."""
    with prepared() as folder:
        daemons = Host(folder, gnmi=gnmi)
        try:
            yield daemons
        finally:
            daemons.stop()


@contextmanager
def prepared() -> Iterator[Path]:
    """A folder with what the daemons need: sysrepo's repository, Redis, the environment."""
    with place() as folder:
        os.environ[RUNTIME] = str(folder / "run")
        os.environ[NOTES] = str(folder)
        os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        vrf = ["ip", "link", "add", "try", "type", "vrf", "table", "1"]
        if subprocess.run(vrf, check=False, stderr=subprocess.DEVNULL).returncode:
            os.environ[NO_VRF] = "1"
        redis = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", f"{folder}/redis.sock", "--save", ""],
            stdout=subprocess.DEVNULL,
        )
        try:
            yield folder
        finally:
            redis.terminate()
            redis.wait()


def main() -> None:
    """srv6mgrd itself, with the stand-in."""
    from srv6mgrd import daemon
    from srv6mgrd.netlink import links

    if os.environ.get(NO_VRF):
        links.DUMMY = "ifb"
    daemon.main()


if __name__ == "__main__":
    main()
