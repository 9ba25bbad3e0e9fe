"""Three routers in a row, each a network namespace. Needs root and seg6local.

    a ---- p ---- b

fcbb:0:3::/48 (End) and fcbd:3::/32 (uN) are at p; fcbb:0:2:1::/64 (End), fcbb:0:2:64::/64 (End.DT6)
and fcbd:2::/32 (uN) are at b.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from lab.waiting import wait_until

_NODES = ("a", "p", "b")
_SETUP = """
link add to-p netns {a} type veth peer name to-a netns {p}
link add to-p netns {b} type veth peer name to-b netns {p}
-n {a} address add 2001:db8:1::1/64 dev to-p nodad
-n {p} address add 2001:db8:1::2/64 dev to-a nodad
-n {p} address add 2001:db8:2::2/64 dev to-b nodad
-n {b} address add 2001:db8:2::1/64 dev to-p nodad
-n {a} address add 2001:db8::1/128 dev lo nodad
-n {b} address add 2001:db8::2/128 dev lo nodad
-n {a} link set lo up
-n {p} link set lo up
-n {b} link set lo up
-n {a} link set to-p up
-n {p} link set to-a up
-n {p} link set to-b up
-n {b} link set to-p up
-n {a} route add default via 2001:db8:1::2
-n {b} route add 2001:db8::/32 via 2001:db8:2::2
-n {p} route add 2001:db8::1 via 2001:db8:1::1
-n {p} route add 2001:db8::2 via 2001:db8:2::1
-n {p} route add fcbb:0:2::/48 via 2001:db8:2::1
-n {p} route add fcbd:2::/32 via 2001:db8:2::1
-n {a} sr tunsrc set 2001:db8::1
-n {p} route add fcbb:0:3::/48 encap seg6local action End dev to-a
-n {b} route add fcbb:0:2:1::/64 encap seg6local action End dev to-p
-n {b} route add fcbb:0:2:64::/64 encap seg6local action End.DT6 table 254 dev to-p
-n {p} route add fcbd:3::/32 encap seg6local action End flavors next-csid lblen 16 nflen 16 dev to-a
-n {b} route add fcbd:2::/32 encap seg6local action End flavors next-csid lblen 16 nflen 16 dev to-p
"""
_SYSCTLS = "net.ipv6.conf.all.forwarding net.ipv6.conf.all.seg6_enabled"


@dataclass(frozen=True)
class Ran:
    status: int
    out: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Row:
    """``ctl`` is srv6ctl at a."""

    def __init__(self) -> None:
        self._names = {node: f"oam-{node}-{os.getpid()}" for node in _NODES}

    def build(self) -> None:
        for name in self._names.values():
            _run(f"ip netns add {name}")
        for line in _SETUP.strip().splitlines():
            _run(f"ip -6 {line.format(**self._names)}")
        for node, links in (("a", ["to-p"]), ("p", ["to-a", "to-b"]), ("b", ["to-p"])):
            enabled = [f"net.ipv6.conf.{link}.seg6_enabled" for link in links]
            for key in [*_SYSCTLS.split(), *enabled]:
                self.on(node, f"sysctl -qw {key}=1")
            # A second error to the same peer may else not be sent (icmpv6_xrlim_allow).
            self.on(node, "sysctl -qw net.ipv6.icmp.ratelimit=0")
        # A carrier is reported within a second (linkwatch_do_dev).
        wait_until(lambda: self.ctl("ping 2001:db8::2 -c1 --timeout 0.2").status == 0, "b is there")

    def close(self) -> None:
        for name in self._names.values():
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)

    def on(self, node: str, command: str) -> None:
        _run(f"ip netns exec {self._names[node]} {command}")

    def ctl(self, line: str) -> Ran:
        done = subprocess.run(
            f"ip netns exec {self._names['a']} {sys.executable} -m srv6mgrd.cli.main {line}",
            shell=True, check=False, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout + done.stderr)


def _run(command: str) -> None:
    done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")


@pytest.fixture
def row() -> Iterator[Row]:
    if os.geteuid():
        pytest.skip("needs root")
    made = Row()
    try:
        made.build()
        yield made
    finally:
        made.close()
