"""A service chain on two routers, narrated: a firewall and a shaper that know nothing of SRv6, a
rule that blocks, a firewall that dies, packets that go around it, and its return."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from examples.narration import FailedError, Narration
from lab.guest.nodes import Node
from lab.guest.services import Router
from lab.problem import LabError
from lab.waiting import wait_until

HERE = Path(__file__).parent
SERVICES = ("redis", "frr", "sysrepo", "srv6mgrd")
SERVER, SERVER6 = "10.2.0.10", "fd00:2::10"
PINGS = 20
_FILTER = (
    "nft add table inet filter",
    "nft 'add chain inet filter forward { type filter hook forward priority 0; }'",
    "nft add rule inet filter forward ct state invalid drop",
)
_BLOCK = "nft add rule inet filter forward tcp dport 23 counter drop"
_PORTS = (80, 23)


def main() -> int:
    narration = Narration()
    try:
        demo = Demo(narration)
        demo.start()
        demo.functions()
        demo.configure()
        demo.traffic()
        demo.block()
        demo.die()
        demo.come_back()
        demo.what_next()
    except (FailedError, LabError) as failure:
        print(f"\ndemo failed: {failure}", file=sys.stderr)
        return 1
    return 0


class Demo:
    def __init__(self, narration: Narration) -> None:
        self.narration = narration
        self.pe1, self.pe2 = Node("pe1"), Node("pe2")
        self.firewall, self.shaper = Node("firewall"), Node("shaper")
        self.client, self.server = Node("client"), Node("server")

    def start(self) -> None:
        self.narration.step("Two provider edges start: " + ", ".join(SERVICES))
        for node in (self.pe1, self.pe2):
            Router(node.name).start(*SERVICES)
            self.narration.ok(f"{node.name} is ready")

    def functions(self) -> None:
        self.narration.step("Two functions that know nothing of SRv6, in namespaces of their own")
        self.narration.say("firewall: nftables with connection tracking, two links to pe1")
        for line in _FILTER:
            self.narration.shell(self.firewall, line)
        self.narration.say("shaper: a token bucket of tc, two links to pe2")
        self.narration.shell(
            self.shaper, "tc qdisc add dev out root tbf rate 50mbit burst 64kb latency 100ms"
        )

    def configure(self) -> None:
        self.narration.step(
            "One document per router: VPN red, the functions, the chain, who takes it"
        )
        chaining = 'jq \'.[]."srv6mgr-chain:service-chaining" | del(.["service-function"])\' -c'
        self.narration.shell(self.pe1, f"{chaining} examples/chain/pe1.json")
        for node in (self.pe1, self.pe2):
            self.narration.shell(node, f"srv6ctl apply examples/chain/{node.name}.json")
        for node in (self.pe1, self.pe2):
            self._until(partial(_installed, node), f"{node.name}: the chain is installed")
            self._until(partial(_is_up, node), f"{node.name}: packets pass through its function")
        self._until(lambda: self._reaches(SERVER), "the client reaches the server")

    def traffic(self) -> None:
        self.narration.step("The customer's packets go through both functions, there and back")
        before = self._entered()
        for address in (SERVER, SERVER6):
            line = f"ping -q -c{PINGS} -i0.05 {address}"
            out = self.narration.shell(self.client, line, lambda text: "packets" in text)
            self.narration.check(f" {PINGS} received" in out, f"the client reaches {address}")
        sent = 2 * PINGS
        self._until(
            lambda: self._entered() - before >= sent,
            f"pe1 put {sent} packets onto the chain, and the firewall got each of them",
        )
        self.narration.shell(self.pe1, "srv6ctl show classifiers")
        self.narration.shell(self.pe1, "srv6ctl show chains")
        self.narration.shell(self.pe2, "srv6ctl show chains")

    def block(self) -> None:
        self.narration.step("The firewall blocks telnet; it sees the customer's own packets")
        self.narration.shell(self.firewall, _BLOCK)
        with _listening(self.server):
            reached = {port: self._connects(port) for port in _PORTS}
        self.narration.check(reached[80], f"a connection to {SERVER} port 80 is made")
        self.narration.check(not reached[23], "one to port 23 is not")
        out = self.narration.shell(
            self.firewall, "nft list chain inet filter forward", lambda line: "dport 23" in line
        )
        found = re.search(r"packets (\d+)", out)
        self.narration.check(
            found is not None and int(found[1]) > 0, "the rule of the firewall counted its packets"
        )

    def die(self) -> None:
        self.narration.step("The firewall dies; on-failure of its hop is bypass")
        before = _passed(self.pe1)
        flow = self.client.popen(["ping", "-i0.02", "-c500", SERVER], stdout=subprocess.PIPE)
        wait_until(lambda: _passed(self.pe1) > before, "pings pass through the firewall")
        self.narration.shell(self.firewall, "nft add rule inet filter forward drop")
        self._until(lambda: _states(self.pe1) == {"down"}, "pe1: the firewall is down")
        self.narration.shell(self.pe1, "srv6ctl show functions")
        out = flow.communicate()[0].decode()
        lost = _lost(out)
        self.narration.output(line for line in out.splitlines() if "packets" in line)
        self.narration.check(
            lost * 0.02 < 1.0, f"{lost} packets of 50 a second were lost: less than 1 s"
        )
        self.narration.shell(self.pe1, "srv6ctl show alarms")

    def come_back(self) -> None:
        self.narration.step("It comes back")
        self.narration.shell(self.firewall, "nft flush chain inet filter forward")
        self._until(partial(_is_up, self.pe1), "pe1: the firewall is up")
        before = _passed(self.pe1)
        out = self.narration.shell(
            self.client, f"ping -q -c{PINGS} -i0.05 {SERVER}", lambda text: "packets" in text
        )
        self.narration.check(f" {PINGS} received" in out, "no packet is lost")
        self._until(lambda: _passed(self.pe1) - before >= PINGS, "the firewall gets them again")

    def what_next(self) -> None:
        self.narration.end()
        for line, about in (
            ("docs/tutorial/service-chain.md", "builds a chain step by step"),
            ("docs/chains.md", "functions, groups, chains and classifiers in full"),
        ):
            self.narration.say(f"{line:32}{about}")

    def _until(self, condition: Callable[[], object], claim: str) -> None:
        wait_until(condition, claim, timeout=60)
        self.narration.ok(claim)

    def _reaches(self, address: str) -> bool:
        return self.client.run(["ping", "-c1", "-W1", address], check=False).returncode == 0

    def _connects(self, port: int) -> bool:
        line = f"exec 3<>/dev/tcp/{SERVER}/{port}"
        return self.client.run(["timeout", "2", "bash", "-c", line], check=False).returncode == 0

    def _entered(self) -> int:
        return _passed(self.pe1)


def _chains(node: Node) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = node.json(["srv6ctl", "show", "chains", "--json"])["chains"]
    return found


def _installed(node: Node) -> bool:
    return all(hop["install-status"] == "installed" for hop in _chains(node))


def _functions(node: Node) -> list[dict[str, Any]]:
    """Those of the router itself."""
    found = node.json(["srv6ctl", "show", "functions", "--json"])["functions"]
    return [one for one in found if "interface" in one]


def _states(node: Node) -> set[str]:
    return {one.get("function-state", "unknown") for one in _functions(node)}


def _is_up(node: Node) -> bool:
    return _states(node) == {"up"}


def _passed(node: Node) -> int:
    """Packets that came out of its functions, forward and reverse."""
    return sum(int(one["out-pkts"]) for one in _functions(node))


def _lost(output: str) -> int:
    found = re.search(r"(\d+) packets transmitted, (\d+) received", output)
    assert found is not None, output
    return int(found[1]) - int(found[2])


@contextmanager
def _listening(server: Node) -> Iterator[None]:
    """A server of TCP on both ports."""
    script = (
        "import signal, socket\n"
        f"held = [socket.create_server(('{SERVER}', p)) for p in {_PORTS}]\n"
        "print('ready', flush=True)\n"
        "signal.pause()\n"
    )
    process = server.popen(["python3", "-c", script], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
