"""In the lab: the tables of the two kernel patches that the rest stands on.

End.DT46 beside End.DT4 and End.DT6 (the patch of End.DT46 says that it takes 0.9 and 1.5 % of their
throughput), and counters of behaviors on beside off (theirs says: nothing to be seen). CPU time of
a packet, as in ``bench.proxies``, which prints what this leaves.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from bench.proxies import Bench
from bench.proxies_network import Node, prefix
from bench.report import Goal, describe_machine

OUTPUT = Path(os.environ.get("LAB_OUT", ".")) / "proxies.json"
_HERE = "dev eth0"
# User-Mode Linux counts CPU time in hundredths of a second: as many as tell half a percent.
PACKETS = 250_000


def main() -> int:
    with contextlib.ExitStack() as open_:
        bench = Bench(open_)
        node = bench.node("behaviors")
        _build_vrf(node)

        def put(behavior: str) -> Callable[[], object]:
            command = f"ip -6 route replace {prefix(1)} encap seg6local action {behavior} {_HERE}"
            return lambda: node.on(node.name, command)

        def tail(name: str, behavior: str, inner: str) -> list[float]:
            return bench.add(name, node, put(behavior), inner, last=True).runs

        dt4 = tail("End.DT4", "End.DT4 vrftable 10", "ipv4")
        dt46_of_4 = tail("End.DT46, IPv4", "End.DT46 vrftable 10", "ipv4")
        dt6 = tail("End.DT6", "End.DT6 vrftable 10", "ipv6")
        dt46_of_6 = tail("End.DT46, IPv6", "End.DT46 vrftable 10", "ipv6")
        silent = bench.add("End", node, put("End")).runs
        counted = bench.add("End with counters", node, put("End count")).runs
        bench.run(PACKETS)
        if lost := {s.name: s.lost for s in bench.scenarios if s.lost}:
            raise RuntimeError(f"packets were lost: {lost}")
        goals = [
            Goal("End.DT46 beside End.DT4", dt46_of_4, dt4, None, "ns", of="median"),
            Goal("End.DT46 beside End.DT6", dt46_of_6, dt6, None, "ns", of="median"),
            Goal("End with counters beside End", counted, silent, None, "ns", of="median"),
        ]
        runs = {"machine": describe_machine(), "goals": [asdict(goal) for goal in goals]}
        OUTPUT.write_text(json.dumps(runs))
    return 0


def _build_vrf(node: Node) -> None:
    """A VRF whose routes lead to where packets end."""
    node.on(node.name, "sysctl -qw net.vrf.strict_mode=1")
    node.on(node.name, "ip link add red type vrf table 10")
    node.on(node.name, "ip link set red up")
    node.on(node.name, "ip addr add 10.0.11.1/24 dev eth1")
    neighbor = "$(cat /sys/class/net/eth1/address)"
    node.on(node.name, f"sh -c 'ip neigh add 10.0.11.2 lladdr {neighbor} dev eth1 nud permanent'")
    node.on(node.name, "ip route add 10.2.0.0/16 via 10.0.11.2 dev eth1 table 10")
    node.on(node.name, "ip -6 route add 2001:db8:200::/48 via 2001:db8:b::2 dev eth1 table 10")


if __name__ == "__main__":
    sys.exit(main())
