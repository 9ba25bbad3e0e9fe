"""Clients that want to stop the management of the router: the kinds of ``bench.hostile``."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.hostile_kinds import KINDS
from bench.hostile_kinds import Target as Servers
from lab.waiting import wait_until
from srv6mgrd.clients.passwords import hash_password
from tests.soak.chaos.target import Target

# Threads of each kind, and how many kinds there are at a time.
CLIENTS, AT_A_TIME = 2, 3
# Seconds for which they attack at least.
ATTACKED = (1.0, 4.0)
USER, PASSWORD = "guest", "of the campaign"
NOBODY = 65534
_ENDING = 3.0


def admit(target: Target) -> None:
    """Before srv6-gnmid starts: a user of gNMI, who may read."""
    users = f'[users]\n{USER} = "{hash_password(PASSWORD)}"\n'
    target.node.write_file("/etc/srv6mgr/gnmid.toml", users)


@dataclass(slots=True)
class Hostile:
    """Clients of some of these kinds, until it is healed. Others are served all the same."""

    name: str
    kinds: tuple[str, ...]
    spares: bool = True
    rejects: bool = False
    clients: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    def strike(self, target: Target, rng: random.Random) -> None:
        servers = json.dumps(asdict(_servers(target)))
        kinds = rng.sample(self.kinds, min(AT_A_TIME, len(self.kinds)))
        self.clients = {kind: _client(target, kind, servers) for kind in kinds}
        # They attack from when they are no longer root.
        processes = [Path(f"/proc/{client.pid}") for client in self.clients.values()]
        wait_until(lambda: all(p.stat().st_uid == NOBODY for p in processes), str(kinds), 60)
        time.sleep(rng.uniform(*ATTACKED))

    def heal(self, target: Target) -> None:
        while self.clients:
            kind, client = self.clients.popitem()
            client.terminate()
            try:
                outcomes, _ = client.communicate(timeout=_ENDING)
            except subprocess.TimeoutExpired:
                client.kill()
                outcomes, _ = client.communicate()
            print(f"   {kind}: {outcomes.strip() or 'killed'}", flush=True)


def _client(target: Target, kind: str, servers: str) -> subprocess.Popen[str]:
    client = target.node.popen(
        [sys.executable, "-m", "bench.hostile_kinds", kind, str(CLIENTS)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert client.stdin is not None
    client.stdin.write(f"{servers}\n")
    client.stdin.flush()
    return client


def _servers(target: Target) -> Servers:
    certificate = target.node.read_file("/var/lib/srv6mgr/gnmid/selfsigned.crt")
    group = int(target.shell("getent group srv6mgr | cut -d: -f3"))
    return Servers(
        "127.0.0.1", 9339, certificate, "/run/srv6mgr/netconf.sock", USER, PASSWORD, NOBODY, group
    )


FAULTS = (
    *(Hostile(f"clients: {kind}", (kind,)) for kind in KINDS),
    Hostile("clients: several kinds", tuple(KINDS)),
)
