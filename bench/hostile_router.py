"""The router that ``bench.hostile`` attacks: srv6mgrd, srv6-gnmid and srv6-netconfd on the host's
kernel, and clients that come from networks of their own."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from bench.cgroups import UNITS, Groups, groups
from bench.hostile_kinds import Target
from bench.netconf import SERVER
from bench.reconcile_host import Host, prepared

PORT = 9339
READER, GUEST = "collector", "guest"
PASSWORD = "of the bench"
SERVER_CPU, CLIENT_CPU = 0, 1 if (os.cpu_count() or 1) > 1 else 0
NOBODY = 65534
_ENDING = 10.0
_NETWORKS = itertools.count(1)
# The reader and the guest may read, whatever the default is.
_NACM = {
    "ietf-netconf-acm:nacm": {
        "groups": {"group": [{"name": "readers", "user-name": [READER, GUEST, "nobody"]}]},
        "rule-list": [
            {
                "name": "readers",
                "group": ["readers"],
                "rule": [
                    {
                        "name": "read",
                        "module-name": "*",
                        "access-operations": "read",
                        "action": "permit",
                    }
                ],
            }
        ],
    }
}


_UNITS = {
    "srv6mgrd": UNITS / "srv6mgr.srv6mgrd.service",
    "srv6-gnmid": UNITS / "srv6mgr.srv6-gnmid.service",
    "srv6-netconfd": UNITS / "srv6mgr-netconfd.srv6-netconfd.service",
}


class Fortress(Host):
    """All three daemons on one CPU, each in a control group."""

    def __init__(self, folder: Path, own: Groups) -> None:
        super().__init__(folder, gnmi=False)
        self._own = own
        from srv6mgrd.clients.passwords import hash_password

        hashed = hash_password(PASSWORD)
        gnmid = folder / "gnmid.toml"
        gnmid.write_text(
            f'listen = ["0.0.0.0:{PORT}"]\nplaintext = []\nstore = "{folder}/run/store"\n'
            f'state_directory = "{folder}/gnmi"\nlog_level = "warning"\n'
            f'[users]\n{READER} = "{hashed}"\n{GUEST} = "{hashed}"\n'
        )
        self.netconf = folder / "run/netconf.sock"
        self._argv = {
            "srv6mgrd": [
                sys.executable, "-m", "bench.reconcile_host", "--config", f"{folder}/srv6mgrd.toml",
            ],
            "srv6-gnmid": [sys.executable, "-m", "srv6mgrd.gnmi.daemon", "--config", str(gnmid)],
            "srv6-netconfd": [
                SERVER, "--socket", str(self.netconf),
                "--tls-socket", f"{folder}/run/netconf-tls.sock", "--store", f"{folder}/run/store",
                "--commit-socket", f"{folder}/run/commit.sock", "--group", "nogroup",
            ],
        }  # fmt: skip

    def start(self) -> None:
        for daemon, argv in self._argv.items():
            pinned = ["taskset", "-c", str(SERVER_CPU), *argv]
            self._start(daemon, self._own.within(daemon, pinned))
        # The hostile user of NETCONF is one who may log in: sshd would connect for it.
        self._folder.chmod(0o755)
        self.netconf.parent.chmod(0o755)
        self.netconf.chmod(0o666)

    def stop(self) -> None:
        """A daemon that is too busy to end is killed."""
        for child in reversed(self._children):
            child.terminate()
            try:
                child.wait(timeout=_ENDING)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._children.clear()

    def dead(self) -> list[str]:
        """Daemons that ended though nobody stopped them."""
        names = list(self._argv)
        return [names[n] for n, child in enumerate(self._children) if child.poll() is not None]

    def used(self) -> dict[str, tuple[float, float]]:
        """Seconds of CPU and MiB of each daemon."""
        found = {}
        for name, child in zip(self._argv, self._children, strict=True):
            fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
            cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            found[name] = (cpu, int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20))
        return found

    def permit(self) -> None:
        """Let the readers read."""
        import sysrepo

        with (
            sysrepo.SysrepoConnection() as connection,
            connection.start_session("running") as session,
            connection.get_ly_ctx() as context,
        ):
            tree = context.parse_data_mem(json.dumps(_NACM), "json", parse_only=True, strict=True)
            session.replace_config_ly(tree, "ietf-netconf-acm", 60_000)

    def target(self, address: str, user: str) -> Target:
        certificate = (self._folder / "gnmi/selfsigned.crt").read_text()
        uid, gid = (NOBODY, NOBODY) if user == GUEST else (0, 0)
        return Target(address, PORT, certificate, str(self.netconf), user, PASSWORD, uid, gid)

    def client(
        self, module: str, user: str, *arguments: str, first: bool = False
    ) -> subprocess.Popen[str]:
        """A process in a network of its own, which has one link to the router. ``first``: it runs
        whenever it can, as on a machine of its own."""
        # sched(7): ahead of all others on the CPU of the clients.
        priority = ["chrt", "--rr", "1"] if first else []
        child = subprocess.Popen(
            ["taskset", "-c", str(CLIENT_CPU), *priority, "unshare", "--net",
             sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        number = next(_NETWORKS)
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{child.pid}/ns/net") == own:
            time.sleep(0.01)
        device, network = f"c{number}", f"10.99.{number}"
        there = ["nsenter", "--target", str(child.pid), "--net"]
        for argv in (
            ["ip", "link", "add", device, "type", "veth",
             "peer", "name", "eth0", "netns", str(child.pid)],
            ["ip", "address", "add", f"{network}.1/24", "dev", device],
            ["ip", "link", "set", device, "up"],
            [*there, "ip", "address", "add", f"{network}.2/24", "dev", "eth0"],
            [*there, "ip", "link", "set", "eth0", "up"],
        ):  # fmt: skip
            subprocess.run(argv, check=True)
        assert child.stdin is not None
        child.stdin.write(f"{json.dumps(asdict(self.target(f'{network}.1', user)))}\n")
        child.stdin.flush()
        return child


def ended(children: Sequence[subprocess.Popen[str]]) -> list[str]:
    """End clients; what each printed. One that does not end in time prints nothing."""
    for child in children:
        child.terminate()
    said = []
    for child in children:
        try:
            said.append(child.communicate(timeout=_ENDING)[0].strip())
        except subprocess.TimeoutExpired:
            child.kill()
            said.append(child.communicate()[0].strip())
    return said


@contextmanager
def fortress() -> Iterator[Fortress]:
    """In the network namespace of the caller."""
    with prepared() as folder, groups(_UNITS) as own:
        router = Fortress(folder, own)
        try:
            router.start()
            router.permit()
            yield router
        finally:
            router.stop()
