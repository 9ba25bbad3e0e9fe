"""What BGP holds and sends, from FRR's own commands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from ipaddress import IPv6Address
from typing import Any

from robot.api import SkipExecution, logger
from robot.api.deco import library

from lab.guest.catalogue import FRR_PROGRAMS, FRR_ROOT, PATCHED_FRR, STOCK_FRR, use_frr
from lab.guest.nodes import LabError
from lab.waiting import wait_until
from tests.robot.library.network import node, router

_LABEL_BITS = 20


def transposed(sid: str, label: int, locator: int = 48, function: int = 16) -> str:
    """The SID behind a VPN route: the function rides in the label (RFC 9252, section 4)."""
    value = int(IPv6Address(sid)) | (label >> (_LABEL_BITS - function)) << (
        128 - locator - function
    )
    return f"{IPv6Address(value)}"


def advertised(answer: Mapping[str, Any], rd: str) -> list[str]:
    """SIDs of the paths with a route distinguisher in ``show bgp ipv4 vpn PREFIX json``."""
    paths = answer.get(rd, {}).get("paths", [])
    return [transposed(path["remoteSid"], path["remoteLabel"]) for path in paths]


def vtysh(name: str, command: str) -> str:
    return node(name).run(["vtysh", "-c", command]).stdout


@contextmanager
def explained(vrf: str, prefixes: Sequence[str]) -> Iterator[None]:
    """A wait for routes that fails reports what both provider edges know of them."""
    try:
        yield
    except LabError as error:
        said = [f"{error}"]
        for name in ("pe1", "pe2"):
            for command in ("show bgp summary", *_questions(vrf, prefixes)):
                answer = node(name).run(["vtysh", "-c", command], check=False)
                said += [f"{name}: {command}", answer.stdout.strip(), answer.stderr.strip()]
        raise AssertionError("\n".join(filter(None, said))) from error


def _questions(vrf: str, prefixes: Sequence[str]) -> Iterator[str]:
    for prefix in prefixes:
        bgp, routes = ("ipv6", "ipv6") if ":" in prefix else ("ipv4", "ip")
        yield f"show bgp {bgp} vpn {prefix}"
        yield f"show bgp vrf {vrf} {bgp} {prefix}"
        yield f"show {routes} route vrf {vrf} {prefix}"


@library(scope="GLOBAL", auto_keywords=True)
class Frr:
    """BGP routes and the running configuration."""

    def advertised_sids(self, name: str, prefix: str, rd: str) -> list[str]:
        """SIDs that a VPN prefix with this route distinguisher is advertised with."""
        family = "ipv6" if ":" in prefix else "ipv4"
        return advertised(json.loads(vtysh(name, f"show bgp {family} vpn {prefix} json")), rd)

    def wait_for_session(self, name: str, neighbor: str, timeout: float = 60) -> None:
        """Wait until the BGP session to a neighbor is established."""

        def established() -> bool:
            done = node(name).run(["vtysh", "-c", "show bgp summary json"], check=False)
            try:
                families = json.loads(done.stdout)
            except ValueError:
                return False
            states = [f.get("peers", {}).get(neighbor, {}).get("state") for f in families.values()]
            return "Established" in states

        wait_until(established, f"{name}: BGP session to {neighbor}", timeout, 0.1)

    def wait_for_bfd(self, name: str, sessions: int, timeout: float = 60) -> None:
        """Wait until so many BFD sessions are up, and none is not: before that, a failure is found
        by the slower timers of the protocols."""
        seen: list[str] = []

        def up() -> bool:
            done = node(name).run(["vtysh", "-c", "show bfd peers json"], check=False)
            try:
                seen[:] = [peer["status"] for peer in json.loads(done.stdout)]
            except ValueError:
                return False
            return seen == ["up"] * sessions

        wait_until(up, f"{name}: {sessions} BFD sessions", timeout, 0.1, seen=lambda: seen)

    def times_established(self, name: str, neighbor: str) -> int:
        """How often the session with a neighbor has come up; one that is up now is asked for."""
        shown = json.loads(vtysh(name, f"show bgp neighbors {neighbor} json"))[neighbor]
        assert shown["bgpState"] == "Established", shown["bgpState"]
        times: int = shown["connectionsEstablished"]
        return times

    def vtysh_configures(self, name: str, *lines: str) -> None:
        """An operator types these lines into FRR's configuration."""
        commands = [word for line in ("configure terminal", *lines) for word in ("-c", line)]
        node(name).run(["vtysh", *commands])

    def frr_daemons(self, name: str) -> dict[str, str]:
        """Process of each daemon of FRR that runs: another one, or none, has died."""
        listing = "for d in mgmtd zebra bgpd staticd; do echo $d $(pgrep -x $d); done"
        shown = node(name).run(["sh", "-c", listing]).stdout
        return {line.partition(" ")[0]: line.partition(" ")[2] for line in shown.splitlines()}

    def frr_daemon_runs_again(self, name: str, daemon: str, before: dict[str, str]) -> None:
        """Wait until all daemons run, this one as another process: FRR's own watchfrr has seen that
        it had died."""

        def again() -> bool:
            now = self.frr_daemons(name)
            return all(now.values()) and now[daemon] != before[daemon]

        wait_until(again, f"{name}: {daemon} started again", 120, 0.2)

    def frr_is_whole(self, name: str) -> None:
        """Restart FRR where one of its daemons has died, with a warning in the report: a suite
        begins with all of them, whatever the one before has done."""
        dead = [daemon for daemon, process in self.frr_daemons(name).items() if not process]
        if dead:
            logger.warn(f"{name}: {', '.join(dead)} had died; FRR is restarted")
            router(name).restart("frr")

    def both_frrs_are_there(self) -> None:
        """Skip what needs the stock FRR and the patched one, where either can't be had."""
        if FRR_ROOT != STOCK_FRR:
            raise SkipExecution(f"all routers run the FRR below {FRR_ROOT}")
        if not PATCHED_FRR.is_dir():
            raise SkipExecution("no patched FRR: make frr")

    def use_frr(self, name: str, which: str) -> None:
        """Have a node run the patched or the stock FRR from the next start of the service on."""
        if which == "patched":
            use_frr(node(name), PATCHED_FRR)
            return
        for place in FRR_PROGRAMS:
            if not node(name).run(["mountpoint", "-q", place], check=False).returncode:
                # Daemons that still run keep what they have.
                node(name).run(["umount", "--lazy", place])

    def frr_has_not_died(self, name: str, before: dict[str, str]) -> None:
        """The daemons are the processes that they were before."""
        now = self.frr_daemons(name)
        died = [daemon for daemon in before if now[daemon] != before[daemon]]
        if died:
            raise AssertionError(f"{name}: {', '.join(died)} died; see {name}/frr-daemons.log")

    def running_configuration(self, name: str) -> str:
        """``show running-config``."""
        return vtysh(name, "show running-config")
