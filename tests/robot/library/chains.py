"""A service function chain on two routers, and the functions that it leads through."""

from __future__ import annotations

import copy
import json
from functools import partial
from pathlib import Path
from typing import Any

from robot.api.deco import library

from lab.waiting import wait_until
from tests.robot.library.network import node
from tests.robot.library.traffic import sampled

EXAMPLES = Path(__file__).parents[3] / "examples/chain"
EDGES = ("pe1", "pe2")
CHAINING = "srv6mgr-chain:service-chaining"
# What makes each function: it forwards, filters or shapes, and knows nothing of SRv6.
_SET_UP = {
    "firewall": (
        "nft add table inet filter",
        "nft 'add chain inet filter forward { type filter hook forward priority 0; }'",
        "nft add rule inet filter forward ct state invalid drop",
    ),
    "shaper": ("tc qdisc add dev out root tbf rate 50mbit burst 64kb latency 100ms",),
}
_TAKE_DOWN = {
    "firewall": "nft delete table inet filter",
    "shaper": "tc qdisc del dev out root",
}


@library(scope="SUITE", auto_keywords=True)
class Chains:
    """Keywords of the suite ``chains``."""

    def functions_are_set_up(self) -> None:
        for name, lines in _SET_UP.items():
            for line in lines:
                node(name).run(["sh", "-c", line])

    def functions_are_taken_down(self) -> None:
        for name, line in _TAKE_DOWN.items():
            node(name).run(["sh", "-c", line])

    def declare_the_chain(self, on_failure: str = "bypass", drain: str = "") -> None:
        """On both edges; ``drain`` names a function that gets no new flows."""
        for name in EDGES:
            tree = copy.deepcopy(json.loads((EXAMPLES / f"{name}.json").read_text()))
            chaining = tree["srv6mgr-srv6:srv6"][CHAINING]
            for hop in chaining["service-function-chain"][0]["hop"]:
                hop["on-failure"] = on_failure
            for function in chaining["service-function"]:
                function["drain"] = function["name"] == drain
            node(name).run(["srv6ctl", "apply", "-"], input=json.dumps(tree), timeout=120)

    def the_chain_works(self) -> None:
        """It is installed, and packets pass through the function of each edge."""
        for name in EDGES:
            wait_until(partial(_works, name), f"{name}: the chain works", timeout=90)

    def wait_for_function_state(self, name: str, function: str, state: str) -> None:
        wait_until(
            lambda: functions(name)[function].get("function-state") == state,
            f"{name}: {function} is {state}",
            timeout=30,
            seen=lambda: functions(name)[function],
        )

    def packets_through(self, name: str, function: str) -> int:
        """That came out of it, in both directions, all until now."""
        sampled(name)
        return _through(name, function)

    def wait_for_packets_through(self, name: str, function: str, packets: int) -> None:
        """Exactly so many."""
        wait_until(
            lambda: _through(name, function) == packets,
            f"{name}: {packets} packets through {function}",
            timeout=10,
            seen=lambda: _through(name, function),
        )

    def classified_by(self, name: str, priority: int) -> int:
        """Packets that a rule matched."""
        rules = node(name).json(["srv6ctl", "show", "classifiers", "--json"])["classifiers"]
        found: int = next(one["pkts"] for one in rules if one["priority"] == int(priority))
        return found

    def wait_for_chain_drops(self, name: str, least: int) -> None:
        """Packets that found no path."""
        wait_until(
            lambda: chains(name)[0].get("dropped-pkts", 0) >= int(least),
            f"{name}: {least} packets dropped",
            timeout=10,
        )

    def nothing_of_chains_is_left(self, name: str) -> None:
        node(name).run(["sh", "-c", "! ls -d /sys/fs/bpf/srv6mgr-chains-* 2>/dev/null"])
        shown = node(name).run(["bpftool", "net", "show"]).stdout
        assert "classify" not in shown, shown


def _through(name: str, function: str) -> int:
    return int(functions(name)[function]["out-pkts"])


def functions(name: str) -> dict[str, dict[str, Any]]:
    """By name, as ``srv6ctl show functions`` has them."""
    found = node(name).json(["srv6ctl", "show", "functions", "--json"])["functions"]
    return {one["name"]: one for one in found}


def chains(name: str) -> list[dict[str, Any]]:
    """The hops, as ``srv6ctl show chains`` has them."""
    found: list[dict[str, Any]] = node(name).json(["srv6ctl", "show", "chains", "--json"])["chains"]
    return found


def _works(name: str) -> bool:
    hops = chains(name)
    own = [one for one in functions(name).values() if "interface" in one]
    return all(hop["install-status"] == "installed" for hop in hops) and all(
        one.get("function-state") == "up" for one in own
    )
