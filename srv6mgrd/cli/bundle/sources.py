"""What a support bundle holds: files by name, each with how it is read."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from srv6mgrd.settings import Settings

_TIMEOUT = 30.0
# Bytes of one log or one dump: 100,000 routes have some 20 MB.
MOST = 32 << 20
_LOG_LINES = 20_000
SERVICES = ("srv6mgrd", "srv6-gnmid", "srv6-netconfd", "srv6-netconf-sshd", "srv6-netconf-tls",
            "srv6-stampd", "srv6-metricsd", "srv6-configdbd", "srv6-orchagent", "frr",
            "srv6-redis")  # fmt: skip
_PACKAGES = "srv6mgr* frr* sysrepo* libsysrepo* libyang* libnetconf2* redis* iproute2 linux-image*"


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the bundle. ``read`` raises what it likes: the bundle says so instead."""

    name: str
    read: Callable[[], str]


class System(Protocol):
    """The machine, as far as it is asked."""

    def run(self, argv: Sequence[str]) -> str:
        """What a command printed, on standard output and standard error."""
        ...

    def file(self, path: Path) -> str:
        """The end of a file."""
        ...

    def files(self, pattern: str) -> list[Path]:
        """Paths that match an absolute pattern."""
        ...


class Machine:
    """This machine."""

    def run(self, argv: Sequence[str]) -> str:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=_TIMEOUT, check=False,
        )  # fmt: skip
        text = done.stdout[-MOST:].decode(errors="replace")
        return text if not done.returncode else f"{text}(exit status {done.returncode})\n"

    def file(self, path: Path) -> str:
        with path.open("rb") as file:
            length = file.seek(0, 2)
            file.seek(max(0, length - MOST))
            return file.read().decode(errors="replace")

    def files(self, pattern: str) -> list[Path]:
        return sorted(Path("/").glob(pattern.lstrip("/")))


COMMANDS: dict[str, str] = {
    "versions/kernel.txt": "uname -a",
    "versions/packages.txt": f"dpkg-query -W {_PACKAGES}",
    "versions/frr.txt": "vtysh -c 'show version'",
    "versions/yang.txt": "sysrepoctl --list",
    "kernel/links.txt": "ip -d -s link",
    "kernel/addresses.txt": "ip address",
    "kernel/rules.txt": "ip rule",
    "kernel/rules6.txt": "ip -6 rule",
    "kernel/routes.txt": "ip -d route show table all",
    "kernel/routes6.txt": "ip -6 -d -s route show table all",
    "kernel/encapsulation-source.txt": "ip sr tunsrc show",
    "kernel/neighbors.txt": "ip neighbor",
    "kernel/nftables.txt": "nft list ruleset",
    "kernel/sysctls.txt": "sysctl -r 'forwarding|seg6|net.vrf|l3mdev|rp_filter|disable_ipv6'",
    "kernel/bpf-links.txt": "bpftool link",
    "kernel/log.txt": f"journalctl --no-pager -k -n {_LOG_LINES}",
    "frr/running-config.txt": "vtysh -c 'show running-config'",
    "frr/daemons.txt": "vtysh -c 'show daemons'",
    "frr/locators.json": "vtysh -c 'show segment-routing srv6 locator json'",
    "frr/sids.txt": "vtysh -c 'show segment-routing srv6 sid'",
    "frr/bgp.txt": "vtysh -c 'show bgp vrf all summary'",
    "frr/bgp-sids.txt": "vtysh -c 'show bgp segment-routing srv6'",
    "frr/routes.txt": "vtysh -c 'show ip route vrf all summary'",
    "frr/isis.txt": "vtysh -c 'show isis neighbor detail'",
    "frr/ospf.txt": "vtysh -c 'show ip ospf vrf all neighbor'",
    "frr/bfd.txt": "vtysh -c 'show bfd peers brief'",
    "system/processes.txt": "ps -eLo pid,tid,stat,pcpu,rss,wchan:24,etime,comm",
    "system/memory.txt": "free -b",
    "system/disks.txt": "df -h / /run /dev/shm /var/lib/srv6mgr",
    "system/sockets.txt": "ss -xlp",
}
FILES = ("/etc/srv6mgr/*.toml", "/etc/srv6mgr/*.conf", "/etc/frr/daemons", "/etc/frr/frr.conf",
         "/var/log/frr/*.log", "/run/srv6mgr/node.json", "/run/srv6mgr/proxies.json")  # fmt: skip


def of_system(system: System, settings: Settings) -> list[Source]:
    """What commands print and files hold."""
    found = [
        Source(name, partial(system.run, shlex.split(line))) for name, line in COMMANDS.items()
    ]
    journal = ("journalctl", "--no-pager", "-o", "short-iso-precise", "-n", str(_LOG_LINES), "-u")
    found += [
        Source(f"logs/{service}.txt", partial(system.run, (*journal, f"{service}.service")))
        for service in SERVICES
    ]
    runtime = Path(settings.runtime_directory)
    # Settings are there in the container of SONiC, which makes them.
    made = (f"{runtime}/node.json", f"{runtime}/proxies.json", f"{runtime}/*.toml")
    patterns = (*FILES, *made)
    paths = dict.fromkeys(path for pattern in patterns for path in system.files(pattern))
    found += [Source(f"files{path}", partial(system.file, path)) for path in paths]
    return found


def as_json(read: Callable[[], Any]) -> Callable[[], str]:
    """A source that gives JSON."""
    return lambda: json.dumps(read(), indent=2, default=str) + "\n"
