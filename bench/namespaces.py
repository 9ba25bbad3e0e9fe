"""Network namespaces of this host that route SRv6: commands in one, and this thread."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from lab.guest.namespaces import NET, setns

_SYSCTLS = (
    "net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1 net.ipv6.conf.default.accept_dad=0"
    " net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0"
    " net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.default.seg6_enabled=1"
)


def create(space: str) -> None:
    run(f"ip netns add {space}")
    on(space, f"sysctl -qw {_SYSCTLS}")
    on(space, "ip link set lo up")


def delete(space: str) -> None:
    subprocess.run(["ip", "netns", "delete", space], check=False, capture_output=True)


def on(space: str, command: str) -> str:
    return run(f"ip netns exec {space} {command}")


def run(command: str) -> str:
    done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


@contextmanager
def entered(space: str) -> Iterator[None]:
    """This thread in the namespace."""
    with open("/proc/thread-self/ns/net") as home, open(f"/run/netns/{space}") as there:
        setns(there.fileno(), NET)
        try:
            yield
        finally:
            setns(home.fileno(), NET)
