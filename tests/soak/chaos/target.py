"""The router that a campaign attacks, and who takes systemd's part for it."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator

from lab.guest.nodes import Node
from lab.guest.services import Router
from lab.problem import LabError

# In the order in which they start.
SERVICES = (
    "redis", "frr", "sysrepo", "srv6mgrd", "srv6-gnmid", "srv6-netconfd", "srv6-configdbd", "sshd",
)  # fmt: skip
MANAGEMENT = ("srv6mgrd", "srv6-gnmid", "srv6-netconfd", "srv6-configdbd")
FRR = ("zebra", "bgpd", "staticd", "mgmtd")
# systemd starts a unit again that often before it gives up (StartLimitBurst).
STARTS = 5
# Seconds between a death and the start after it (RestartSec).
RESTART = 1.0
# Seconds that watchfrr takes at most: it stops all daemons first, each phase of which may take a
# minute on a machine that does other work.
_FRR_BACK = 240.0
# Where disks can be full; each a file system of its own, of so many MiB.
DISKS = {"/var/lib/srv6mgr": 32, "/run/srv6mgr": 64}


class Target:
    """One provider edge."""

    def __init__(self, name: str = "pe1") -> None:
        self.node = Node(name)
        self.router = Router(self.node)

    def shell(self, line: str, *, check: bool = False, timeout: float = 60) -> str:
        return self.node.run(["sh", "-c", line], check=check, timeout=timeout).stdout.strip()

    def pid(self, name: str) -> int:
        """Outside the node; of a service or of a daemon of FRR. 0 without one."""
        if name in FRR:
            path = self.node.path(f"/run/frr/{name}.pid")
            with contextlib.suppress(OSError, ValueError):
                inner = int(path.read_text())
                return self._outer(inner)
            return 0
        try:
            return self.router.pid(name)
        except LabError:
            return 0

    def _outer(self, inner: int) -> int:
        """A pid of the node as this process sees it."""
        listed = subprocess.run(
            ["grep", "-lE", f"^NSpid:.*\t{inner}$", "-r", "/proc", "--include=status", "-s",
             "--exclude-dir=task", "--exclude-dir=self", "--exclude-dir=thread-self"],
            check=False, capture_output=True, text=True,
        ).stdout.split()  # fmt: skip
        for path in listed:
            pid = path.split("/")[2]
            with contextlib.suppress(OSError):
                if self.node.path("/proc").samefile(f"/proc/{pid}/root/proc"):
                    return int(pid)
        return 0

    def small_disks(self) -> None:
        """Before the services start."""
        for path, size in DISKS.items():
            self.shell(f"mkdir -p {path}; mount -t tmpfs -o size={size}m,mode=755 small {path}")

    @contextlib.contextmanager
    def supervised(self) -> Iterator[threading.Event]:
        """Services that die meanwhile are started again, as by systemd; a start that fails is tried
        again. The event pauses that while it is clear."""
        begin, stop = threading.Event(), threading.Event()
        begin.set()

        def watch() -> None:
            while not stop.wait(RESTART):
                for name in SERVICES if begin.is_set() else ():
                    if not self._is_active(name):
                        with contextlib.suppress(LabError):
                            self.router.start(name)

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield begin
        finally:
            stop.set()
            thread.join()

    def revive(self) -> None:
        """Start what does not run, as systemd does (Restart=always)."""
        for name in SERVICES:
            for attempt in range(1, STARTS + 1):
                if self._is_active(name):
                    break
                try:
                    self.router.start(name)
                except LabError:
                    if attempt == STARTS:
                        raise
        self.router.wait_ready("frr", _FRR_BACK)

    def _is_active(self, name: str) -> bool:
        """As systemd sees it: the unit of FRR is as long as watchfrr is, which starts its daemons
        again."""
        if name != "frr":
            return self.router.is_running(name)
        with contextlib.suppress(OSError):
            pid = self.node.path("/run/frr/watchfrr.pid").read_text().strip()
            return self.node.path(f"/proc/{pid}/comm").read_text() == "watchfrr\n"
        return False

    def reboot(self) -> None:
        """Everything dies; kernel, shared memory and /run are as after a boot, disks stay."""
        for name in ("srv6-configdbd", "srv6-netconfd", "srv6-gnmid", "srv6mgrd", "redis", "sshd"):
            if self.router.is_running(name):
                self.router.kill(name)
        self.router.stop("frr")
        self.shell(
            "rm -rf /dev/shm/sr* /run/srv6mgr/* /sys/fs/bpf/srv6mgr*;"
            "ip -6 route flush table 8986; nft delete table ip6 srv6mgr;"
            "for l in v0-port v1-port v2-port v3-port red blue v0 v1 v2 v3 srv6mgr;"
            " do ip link del $l; done;"
            "for f in -4 -6; do ip $f rule | sed -n 's/:.*proto 86.*//p' |"
            " while read p; do ip $f rule del pref $p; done; done;"
            "ip nexthop flush proto zebra; sysctl -qw net.vrf.strict_mode=0"
        )
