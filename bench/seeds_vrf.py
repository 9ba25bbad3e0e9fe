"""One byte there and back, as the cover letter of the VRF series has it from netperf: TCP and UDP
over IPv4 and IPv6, on a kernel without l3mdev, on one with it outside of a VRF, and in a VRF.

netperf is not free software, so ``native/echo.c`` asks. The client is in the VRF, as there.
User-Mode Linux has one CPU, which both ends keep busy: its time for a transaction is what -cC would
call the service demand.
"""

from __future__ import annotations

import os
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bench.report import Goal
from bench.seeds_boots import NEWEST
from bench.seeds_runs import Runs, read
from lab.guest.nodes import Node

ROUNDS, SECONDS = 8, "0.1"
NO_L3MDEV = "no-l3mdev"
# What the program prints of a round.
_RATE, _CPU, _LOCAL = _KINDS = ("", ", CPU", ", UNIX socket")
WITHOUT, WITHIN = "no VRF", "VRF"
# What the cover letter printed of each: the new VRF driver, and l3mdev without VRF, beside a kernel
# without l3mdev, in transactions per second. No goal is above 1.
_PRINTED = {
    ("tcp", "IPv4"): (29996, 28036, 29534),
    ("tcp", "IPv6"): (30601, 28372, 30465),
    ("udp", "IPv4"): (31638, 30110, 30670),
    ("udp", "IPv6"): (24336, 24857, 24346),
}
_SERVERS = {"IPv4": "10.1.0.10", "IPv6": "fd00:1::10"}
_CLIENT, _SERVER, _PORT = "pe1", "ce-red1", "to-ce-red"


def in_lab(kernel: str) -> Runs:
    """Transactions per second, and microseconds of CPU for each, of both places in turn."""
    program = Path(os.environ["LAB_OUT"]) / "echo"
    subprocess.run(["gcc", "-O2", "-o", str(program), "bench/native/echo.c"], check=True)
    places = [WITHOUT] if kernel == NO_L3MDEV else [WITHOUT, WITHIN]
    # It has the same addresses.
    Node(_CLIENT).run(["ip", "link", "set", "to-ce-blue", "down"])
    runs: Runs = {}
    for protocol, family in _PRINTED:
        where = [protocol, _SERVERS[family], "7777"]
        server = Node(_SERVER).popen(
            [str(program), "serve", *where], stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        server.stdout.readline()
        try:
            for _ in range(ROUNDS):
                for place in places:
                    name = _name(protocol, family, place)
                    for kind, value in zip(_KINDS, _ask(program, where, place), strict=True):
                        runs.setdefault(f"{name}{kind}", []).append(value)
        finally:
            server.kill()
            server.wait()
    return runs


def _ask(program: Path, where: list[str], place: str) -> list[float]:
    client = Node(_CLIENT)
    if place == WITHIN:
        client.run(["sh", "-c", _INTO_VRF])
    else:
        client.run(["sh", "-c", _OUT_OF_VRF])
    device = ["red"] if place == WITHIN else []
    asked = client.run([str(program), "ask", *where, SECONDS, *device])
    return [float(value) for value in asked.stdout.split()]


# Addresses of IPv6 go with a change of the master unless they are kept.
_KEEP = f"sysctl -qw net.ipv6.conf.{_PORT}.keep_addr_on_down=1"
_INTO_VRF = (
    f"{_KEEP}; ip link show red >/dev/null 2>&1 ||"
    " { ip link add red type vrf table 10 && ip link set red up; };"
    f" ip link set {_PORT} master red"
)
_OUT_OF_VRF = f"{_KEEP}; ip link set {_PORT} nomaster; ip link delete red 2>/dev/null; true"


def _name(protocol: str, family: str, place: str) -> str:
    return f"{protocol.upper()}_RR {family}, {place}"


def goals() -> Iterator[Goal]:
    with_l3mdev, without = read("vrf", NEWEST), read("vrf", NO_L3MDEV)
    for (protocol, family), (none, vrf, outside) in _PRINTED.items():
        plain = _name(protocol, family, WITHOUT)
        inside = _name(protocol, family, WITHIN)
        for name, boots, kind in (
            (f"{plain}, no l3mdev", without, plain),
            (plain, with_l3mdev, plain),
            (inside, with_l3mdev, inside),
        ):
            rates = [rate for runs in boots for rate in runs[kind]]
            cpu = statistics.median(used for runs in boots for used in runs[f"{kind}{_CPU}"])
            deviation = statistics.stdev(rates)
            title = f"VRF: {name} (std. dev. {deviation:,.0f}, CPU {cpu:.1f} us)"
            yield Goal(title, rates, [], None, "/s", of="mean")
        head = f"{protocol.upper()}_RR {family}"
        in_vrf, beside = _beside_local(with_l3mdev, inside), _beside_local(with_l3mdev, plain)
        base = _beside_local(without, plain)
        for title, ours, goal in (
            (f"VRF: {head}, VRF beside no l3mdev", in_vrf, vrf / none),
            (f"VRF: {head}, l3mdev without VRF beside no l3mdev", beside, outside / none),
        ):
            yield Goal(title, ours, base, min(goal, 1), "", more=True, of="rounds")


def _beside_local(boots: list[Runs], name: str) -> list[float]:
    """One of each boot, as parts of the transactions over a UNIX socket at the same time: two
    kernels never run at once, and other load on the machine changes."""
    return [
        statistics.median(
            rate / local for rate, local in zip(runs[name], runs[f"{name}{_LOCAL}"], strict=True)
        )
        for runs in boots
    ]
