"""What the kernel of a node holds, read with iproute2, which is not our code."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robot.api import SkipExecution
from robot.api.deco import library

from lab.problem import LabError
from lab.waiting import wait_until
from srv6mgrd.model.capabilities import ROUTE_LOOKUP_TABLE
from tests.robot.library.frr import explained
from tests.robot.library.network import node

SID_TABLE = "8986"
# Seconds between packets that the kernel sends on a link by itself after it came up.
LONGEST_GAP = 2.0


@dataclass(frozen=True, slots=True)
class Counted:
    """What a SID counted."""

    packets: int = 0
    octets: int = 0
    errors: int = 0

    def __sub__(self, other: Counted) -> Counted:
        return Counted(
            self.packets - other.packets, self.octets - other.octets, self.errors - other.errors
        )


def sid_routes(name: str) -> dict[str, dict[str, Any]]:
    """The table of SIDs: prefix -> route; empty before the kernel has made the table."""
    try:
        shown = node(name).json(["ip", "-6", "-s", "-j", "route", "show", "table", SID_TABLE])
    except LabError as error:
        if "Dump terminated" not in str(error):
            raise
        return {}
    return {_prefix(route["dst"]): route for route in shown}


def _prefix(dst: str) -> str:
    return dst if "/" in dst else f"{dst}/128"


def counted(route: Mapping[str, Any]) -> Counted:
    """Counters of a seg6local route as ``ip -s -j`` shows it."""
    stats = route["encap"]["stats64"]
    return Counted(stats["packets"], stats["bytes"], stats["errors"])


def segments(route: Mapping[str, Any]) -> list[str]:
    """Segments that a route puts on its packets."""
    found: list[str] = route.get("encap", {}).get("segs", [])
    return found


def ports(links: list[dict[str, Any]], vrf: str) -> list[str]:
    return sorted(link["ifname"] for link in links if link.get("master") == vrf)


@library(scope="GLOBAL", auto_keywords=True)
class Kernel:
    """State of a node's kernel."""

    def the_kernel_takes_tables(self, name: str) -> None:
        """Skip what needs SEG6_IPTUNNEL_TABLE (Linux 7.3), where the kernel ignores it."""
        shown = node(name).json(["srv6ctl", "show", "capabilities", "--json"])
        if ROUTE_LOOKUP_TABLE not in shown["capabilities"]["facility"]:
            raise SkipExecution("the kernel ignores SEG6_IPTUNNEL_TABLE")

    def sids_in_kernel(self, name: str) -> list[str]:
        """Prefixes of the SIDs that the kernel holds, in order."""
        return sorted(sid_routes(name))

    def sid_in_kernel(self, name: str, prefix: str) -> dict[str, Any]:
        """The seg6local part of a SID's route: ``action``, ``vrftable``, ..."""
        routes = sid_routes(name)
        if prefix not in routes:
            raise AssertionError(f"{name} has no SID {prefix}; it has {', '.join(routes)}")
        encap: dict[str, Any] = routes[prefix]["encap"]
        return encap

    def kernel_counters(self, name: str, prefix: str) -> Counted:
        """What the kernel counted for a SID since it was put there."""
        return counted(sid_routes(name)[prefix])

    def wait_for_sid(self, name: str, prefix: str, timeout: float = 1) -> float:
        """Wait until the kernel has a SID; the seconds that it took."""
        started = time.monotonic()
        wait_until(
            lambda: prefix in sid_routes(name), f"{name}: SID {prefix}", timeout,
            seen=lambda: ", ".join(sid_routes(name)) or "no SID",
        )  # fmt: skip
        return time.monotonic() - started

    def encapsulated_to(self, name: str, vrf: str, prefix: str) -> list[str]:
        """Segments that packets of a VRF to a prefix get."""
        family = "-6" if ":" in prefix else "-4"
        shown = node(name).json(["ip", family, "-j", "route", "show", "vrf", vrf, prefix])
        if len(shown) != 1:
            raise AssertionError(f"{name}: VRF {vrf}: {len(shown)} routes to {prefix}")
        return segments(shown[0])

    def wait_for_tunnels(self, name: str, vrf: str, *prefixes: str, timeout: float = 90) -> None:
        """Wait until routes of a VRF to these prefixes go through SRv6 tunnels."""
        what = f"{name}: VRF {vrf}: tunnels to {', '.join(prefixes)}"
        with explained(vrf, prefixes):
            wait_until(lambda: all(_tunnelled(name, vrf, p) for p in prefixes), what, timeout, 0.05)

    def wait_for_no_tunnel(self, name: str, vrf: str, prefix: str, timeout: float = 90) -> None:
        """Wait until a VRF has no tunnel to a prefix any more."""
        what = f"{name}: VRF {vrf}: no tunnel to {prefix}"
        with explained(vrf, [prefix]):
            wait_until(lambda: not _tunnelled(name, vrf, prefix), what, timeout, 0.05)

    def vrf_devices(self, name: str) -> list[str]:
        """Names of the VRF devices, in order."""
        shown = node(name).json(["ip", "-j", "link", "show", "type", "vrf"])
        return sorted(link["ifname"] for link in shown)

    def ports_of(self, name: str, vrf: str) -> list[str]:
        """Interfaces in a VRF, in order."""
        return ports(node(name).json(["ip", "-j", "link", "show"]), vrf)

    def wait_until_holds(self, name: str, command: str, timeout: float = 1) -> float:
        """Wait until a shell line succeeds on a node; the seconds that it took."""
        started = time.monotonic()
        there = node(name)
        shell = ["sh", "-c", command]
        wait_until(
            lambda: there.run(shell, check=False).returncode == 0, f"{name}: {command}", timeout,
            seen=lambda: said(there.run(shell, check=False)),
        )  # fmt: skip
        return time.monotonic() - started

    def wait_until_quiet(self, name: str, *links: str) -> None:
        """Wait until a node has sent nothing on its links for longer than the gaps between what
        the kernel sends when they come up (RFC 3810 section 9.11, RFC 4861 section 10)."""
        before: list[int] = []
        since = time.monotonic()

        def quiet() -> bool:
            nonlocal before, since
            shown = node(name).json(["ip", "-j", "-s", "link", "show"])
            sent = [x["stats64"]["tx"]["packets"] for x in shown if x["ifname"] in links]
            if sent != before:
                before, since = sent, time.monotonic()
            return time.monotonic() - since > LONGEST_GAP

        wait_until(quiet, f"{name}: quiet on {', '.join(links)}", 30, seen=lambda: before)

    def sysctl_of(self, name: str, key: str) -> str:
        """Value of a sysctl."""
        return node(name).run(["sysctl", "-n", key]).stdout.strip()


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a command printed, and its status."""
    return f"status {done.returncode}: {done.stderr.strip() or done.stdout.strip()}"


def _tunnelled(name: str, vrf: str, prefix: str) -> bool:
    family = "-6" if ":" in prefix else "-4"
    command = ["ip", family, "-j", "route", "show", "vrf", vrf, prefix]
    done = node(name).run(command, check=False)
    return '"segs"' in done.stdout
