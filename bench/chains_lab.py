"""In the lab: how long a function that dies costs its chain, and what a thousand chains take.

    python -m bench.chains_lab [failures] [commit]

The firewall of lab/topologies/chain.toml drops all from one moment on; a flow of echo requests
through it says for how long nothing passed. Leaves its runs as JSON for ``bench.chains``.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from examples.chain.demo import SERVER, SERVICES
from lab.guest.nodes import Node
from lab.guest.services import Router
from lab.waiting import wait_until

OUTPUT = Path(os.environ.get("LAB_OUT", ".")) / "chains.json"
EXAMPLES = Path(__file__).parents[1] / "examples/chain"
FLOW = Path(__file__).parents[1] / "tests/robot/library/flow.py"
CHAINING = "srv6mgr-chain:service-chaining"
KILLS, CHAINS, HOPS = 50, 1_000, 3
# Between two packets of the flow, in seconds.
_INTERVAL = 0.02
_TABLE = (
    "nft add table inet filter",
    "nft 'add chain inet filter forward { type filter hook forward priority 0; }'",
)


def main() -> int:
    parts = sys.argv[1:] or ["failures", "commit"]
    pe1, pe2, client = Node("pe1"), Node("pe2"), Node("client")
    for node in (pe1, pe2):
        Router(node.name).start(*SERVICES)
        node.run(["srv6ctl", "apply", str(EXAMPLES / f"{node.name}.json")], timeout=120)
    for node in (pe1, pe2):
        wait_until(partial(_state_is, node, "up"), f"{node.name}: its function is up", timeout=60)
    ping = ["ping", "-c1", "-W1", SERVER]
    wait_until(lambda: client.run(ping, check=False).returncode == 0, "traffic", timeout=60)
    runs: dict[str, list[float]] = {}
    if "failures" in parts:
        runs["blocked"] = _failures(pe1, client)
    if "commit" in parts:
        runs["committed"] = [_commit(pe1)]
    OUTPUT.write_text(json.dumps(runs))
    return 0


def _state_is(node: Node, state: str) -> bool:
    found = node.json(["srv6ctl", "show", "functions", "--json"])["functions"]
    return {one.get("function-state") for one in found if "interface" in one} == {state}


def _failures(pe1: Node, client: Node) -> list[float]:
    """Seconds in which nothing passed, for each death of the firewall."""
    firewall = Node("firewall")
    for line in _TABLE:
        firewall.run(["sh", "-c", line])
    found = []
    for number in range(KILLS):
        flow = client.popen(
            ["python3", "-S", str(FLOW), SERVER, str(_INTERVAL)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert flow.stdout is not None
        assert flow.stdout.readline() == "flowing\n"
        firewall.run(["nft", "add", "rule", "inet", "filter", "forward", "drop"])
        wait_until(partial(_state_is, pe1, "down"), "the firewall is down", timeout=20)
        found.append(float(json.loads(flow.communicate()[0])["blocked"]))
        firewall.run(["nft", "flush", "chain", "inet", "filter", "forward"])
        wait_until(partial(_state_is, pe1, "up"), "the firewall is up", timeout=20)
        print(f"-- lab: death {number + 1} of {KILLS}: {found[-1]} s", file=sys.stderr, flush=True)
    return found


def _commit(pe1: Node) -> float:
    """Seconds for a thousand chains through three functions, with a rule for each."""
    tree: dict[str, Any] = json.loads((EXAMPLES / "pe1.json").read_text())
    chaining = tree["srv6mgr-srv6:srv6"][CHAINING]
    remote = copy.deepcopy(chaining["service-function"][1])
    for number in range(2, HOPS):
        more = {**copy.deepcopy(remote), "name": f"function{number}"}
        for sid in more["function-sid"]:
            sid["address"] = sid["address"].replace("fcbb:0:2:", f"fcbb:0:{number + 1}:")
        chaining["service-function"].append(more)
    names = [one["name"] for one in chaining["service-function"]]
    chaining["service-function-chain"] += [
        {
            "name": f"chain{number}",
            "hop": [{"index": n, "service-function": name} for n, name in enumerate(names)],
            "forward": {"segment": ["fcbb:0:2:64::"]},
        }
        for number in range(CHAINS)
    ]
    chaining["classifier"][0]["rule"] += [
        {
            "priority": 1000 + number,
            "destination-prefix": f"10.{100 + number // 256}.{number % 256}.0/24",
            "service-function-chain": f"chain{number}",
        }
        for number in range(CHAINS)
    ]
    began = time.monotonic()
    pe1.run(["srv6ctl", "apply", "-"], input=json.dumps(tree), timeout=300)
    took = time.monotonic() - began
    print(f"-- lab: {CHAINS} chains: {took:.1f} s", file=sys.stderr, flush=True)
    return took


if __name__ == "__main__":
    sys.exit(main())
