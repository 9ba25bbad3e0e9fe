"""Which daemons are to run on this host, and do.

systemd is not asked: its files and control groups say it, at the cost of a few system calls.
Without systemd a daemon is to run whose socket is there: it made it since the last boot, and did
not end in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from srv6mgrd.host_conditions.judge import Daemon

# Of a unit that is enabled; all of ours have this target.
_ENABLED = "etc/systemd/system/multi-user.target.wants"
_GROUPS = "sys/fs/cgroup/system.slice"
_UNITS = (
    "srv6-gnmid",
    "srv6-netconfd",
    "srv6-netconf-sshd",
    "srv6-netconf-tls",
    "srv6-configdbd",
    "srv6-stampd",
    "srv6-metricsd",
    "srv6-orchagent",
)
_SOCKETS = {"srv6-gnmid": "gnmi.sock", "srv6-netconfd": "netconf.sock"}
# linux/net.h: __SO_ACCEPTCON among the flags of a socket that listens.
_LISTENS = 1 << 16
# Fields of proc_net_unix(5).
_FLAGS, _PATH = 3, 7


def found(runtime: Path, root: Path = Path("/")) -> list[Daemon]:
    """Those that are to run. Raises OSError."""
    if (root / "run/systemd/system").is_dir():
        return list(_units(root))
    return list(_sockets(runtime, root))


def _units(root: Path) -> Iterator[Daemon]:
    for name in _UNITS:
        if not (root / _ENABLED / f"{name}.service").is_symlink():
            continue
        processes: list[str] = []
        with suppress(FileNotFoundError):
            processes = (root / _GROUPS / f"{name}.service/cgroup.procs").read_text().split()
        stopped = next((int(p) for p in processes if _is_stopped(root, p)), None)
        yield Daemon(name, bool(processes), stopped)


def _sockets(runtime: Path, root: Path) -> Iterator[Daemon]:
    wanted = {str(runtime / file): name for name, file in _SOCKETS.items()}
    there = {path: name for path, name in wanted.items() if Path(path).is_socket()}
    if not there:
        return
    listening = set()
    for line in (root / "proc/net/unix").read_text().splitlines()[1:]:
        fields = line.split(maxsplit=7)
        if len(fields) > _PATH and int(fields[_FLAGS], 16) & _LISTENS:
            listening.add(fields[_PATH])
    for path, name in there.items():
        yield Daemon(name, path in listening)


def _is_stopped(root: Path, process: str) -> bool:
    with suppress(OSError, IndexError):
        status = (root / "proc" / process / "stat").read_text(errors="replace")
        # The name in brackets may hold anything.
        return status.rpartition(")")[2].split()[0] in {"T", "t"}
    return False
