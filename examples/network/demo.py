"""A VPN on three provider edges as one object, narrated: changed on all of them, or on none.

Runs inside the lab on topology three-pe. If a check fails, it ends with status 1 and the reason.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from functools import partial

from examples.narration import FailedError, Narration
from examples.network import edges
from lab.guest.nodes import Node
from lab.problem import LabError
from lab.waiting import wait_until

_EXAMPLES = "examples/network"
_SRV6NET = "/opt/srv6mgr/bin/srv6net"


def main() -> int:
    narration = Narration()
    try:
        demo = Demo(narration)
        demo.start()
        demo.a_vpn_on_all()
        demo.a_fourth_site()
        demo.a_router_that_rejects()
        demo.the_controller_is_killed()
        demo.a_router_that_lost_it()
    except (FailedError, LabError) as failure:
        print(f"\ndemo failed: {failure}", file=sys.stderr)
        return 1
    narration.end()
    narration.say(
        "docs/srv6net.md                 inventory, services, and what a transaction promises"
    )
    return 0


class Demo:
    def __init__(self, narration: Narration) -> None:
        self.narration = narration
        self.controller = Node("ctl")
        self.edges = [Node(name) for name in edges.EDGES]

    def start(self) -> None:
        self.narration.step("Three provider edges start, and a controller that they know")
        edges.start(lambda name: self.narration.ok(f"{name} is ready, without any VPN"))
        self.narration.command("ctl", "cat /etc/srv6net/inventory.toml")
        self.narration.output((edges.HERE / "inventory.toml").read_text().splitlines()[1:8])

    def a_vpn_on_all(self) -> None:
        self.narration.step("One document makes VPN acme on all three")
        self._srv6net("plan any-to-any.json")
        self._srv6net("apply any-to-any.json")
        self._srv6net_is_well()
        for address in ("10.2.0.10", "10.3.0.10", "fd00:2::10", "fd00:3::10"):
            self._reaches("ce1", address)

    def a_fourth_site(self) -> None:
        self.narration.step("A fourth site: only its router is changed")
        self._srv6net("apply four-sites.json")
        self._srv6net("diff")
        for address in ("10.1.0.10", "10.2.0.10", "10.3.0.10"):
            self._reaches("ce4", address)

    def a_router_that_rejects(self) -> None:
        self.narration.step("VPN branch needs an interface that pe2 lacks: all roll back")
        self._srv6net("apply missing-interface.json", status=1)
        for edge in self.edges:
            links = {link["ifname"] for link in edge.json(["ip", "-j", "link"])}
            self.narration.check("branch" not in links, f"{edge.name}: no VRF branch is left")
        self._reaches("ce1", "10.2.0.10")

    def the_controller_is_killed(self) -> None:
        self.narration.step("The controller is killed in the middle of a change")
        self.narration.command("ctl", f"srv6net apply {_EXAMPLES}/hub-and-spoke.json")
        controller = self.controller.popen(
            [_SRV6NET, "apply", f"{_EXAMPLES}/hub-and-spoke.json"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for line in controller.stderr or ():
            self.narration.output([line.rstrip()])
            if "set, awaits confirmation" in line:
                controller.send_signal(signal.SIGKILL)
                break
        controller.communicate()
        self.narration.check(controller.returncode == -signal.SIGKILL, "kill -9: it is gone")
        self._srv6net("status", status=6)
        self._srv6net("resume")
        for edge in self.edges:
            self.narration.check(
                not edges.pending(edge), f"{edge.name}: no commit awaits confirmation"
            )
        self._reaches("ce2", "10.3.0.10")
        self.narration.say("The same, undisturbed: ce2 and ce3 are spokes, and reach the hub alone")
        self._srv6net("apply hub-and-spoke.json")
        self._reaches("ce2", "10.1.0.10")
        self._reaches_not("ce2", "10.3.0.10")
        self._srv6net("rollback")
        self._reaches("ce2", "10.3.0.10")

    def a_router_that_lost_it(self) -> None:
        self.narration.step("Somebody deletes the VPN on pe3 by hand")
        edge = self.edges[2]
        self.narration.shell(edge, "srv6ctl apply --replace examples/network/base/pe3.json")
        self._srv6net("status", status=6)
        self._srv6net("reconcile")
        self._srv6net_is_well()
        self._reaches("ce1", "10.4.0.10")

    def _srv6net_is_well(self) -> None:
        """BGP needs a moment for routes that come."""

        def is_well() -> bool:
            return not self.controller.run([_SRV6NET, "status"], check=False).returncode

        wait_until(is_well, "all routers as decided", timeout=60)
        self._srv6net("status")

    def _srv6net(self, words: str, status: int = 0) -> None:
        """Run srv6net on the controller; its status has to be this one."""
        words = " ".join(f"{_EXAMPLES}/{w}" if w.endswith(".json") else w for w in words.split())
        self.narration.command("ctl", f"srv6net {words}")
        done = self.controller.run([_SRV6NET, *words.split()], check=False, timeout=300)
        self.narration.output((done.stderr + done.stdout).splitlines())
        if done.returncode != status:
            raise FailedError(f"srv6net {words}: status {done.returncode}, not {status}")

    def _reaches(self, site: str, address: str) -> None:
        claim = f"{site} reaches {address}"
        wait_until(partial(_ping, Node(site), address), claim, timeout=60)
        self.narration.ok(claim)

    def _reaches_not(self, site: str, address: str) -> None:
        claim = f"{site} does not reach {address}"
        wait_until(lambda: not _ping(Node(site), address), claim, timeout=60)
        self.narration.ok(claim)


def _ping(site: Node, address: str) -> bool:
    return site.run(["ping", "-qc1", "-W1", address], check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
