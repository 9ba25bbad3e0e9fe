"""A controller with srv6net, and the routers that it changes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import Any

from robot.api.deco import library

from examples.network import edges
from lab.waiting import wait_until
from tests.robot.library.network import node

_SRV6NET = "/opt/srv6mgr/bin/srv6net"


@library(scope="SUITE", auto_keywords=True)
class Controller:
    """srv6net on node ctl, over TLS to each edge."""

    def edges_accept_the_controller(self) -> None:
        """Routers that run get their base configuration, and know its certificate."""
        shown = edges.credentials()
        for name in edges.EDGES:
            edges.admit(name, shown)

    def edges_are_as_before(self) -> None:
        for name in edges.EDGES:
            edges.as_before(name)

    def controller_has_forgotten_all(self) -> None:
        node("ctl").run(["rm", "/var/lib/srv6net/network.sqlite"])

    def import_is_adopted(self) -> str:
        """What the routers have becomes srv6net's; what ``import`` noted."""
        done = node("ctl").run([_SRV6NET, "import"])
        node("ctl").write_file("/etc/srv6net/imported.json", done.stdout)
        self.srv6net("adopt /etc/srv6net/imported.json")
        return done.stderr

    def srv6net(self, words: str, status: int = 0) -> str:
        """Run srv6net, which has to end with this status; all that it prints."""
        done = node("ctl").run([_SRV6NET, *words.split()], check=False, timeout=200)
        said = done.stderr + done.stdout
        if done.returncode != int(status):
            raise AssertionError(f"srv6net {words}: status {done.returncode}: {said}")
        return said

    def srv6net_is_killed(self, words: str, after: str) -> None:
        """Run it, and kill it as soon as it prints a line with these words."""
        child = node("ctl").popen(
            [_SRV6NET, *words.split()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        said = []
        for line in child.stderr or ():
            said.append(line)
            if after in line:
                os.kill(child.pid, signal.SIGKILL)
                break
        child.communicate()
        if child.returncode != -signal.SIGKILL:
            raise AssertionError(f"it was not killed: {''.join(said)}")

    def network_is_at_revision(self, number: int) -> None:
        found = self._status()
        if found["revision"] != int(number) or (found["transaction"] or {}).get("open"):
            raise AssertionError(f"it is not at revision {number}: {found}")

    def all_edges_are_as_decided(self) -> None:
        """Nothing is missing on any, and no commit awaits confirmation."""
        found = self._status()
        odd = [one for one in found["routers"] if one["problem"] or one["missing"]]
        if odd:
            raise AssertionError(f"they are not as decided: {odd}")
        for name in edges.EDGES:
            if pending := edges.pending(node(name)):
                raise AssertionError(f"{name}: a commit awaits confirmation: {pending}")

    def commits_of(self, name: str) -> int:
        """Number of the last transaction of a router."""
        found = edges.transactions(node(name)).get("transaction", ())
        return max((int(one["id"]) for one in found), default=0)

    def vrf_is_on(self, vrf: str, *names: str) -> None:
        """On these edges, in the kernel, and on no other one; by repair within some seconds."""

        def found() -> list[str]:
            return [e for e in edges.EDGES if vrf in _vrfs(e)]

        wait_until(
            lambda: found() == sorted(names), f"VRF {vrf} on {names}", 30,
            seen=lambda: f"it is on {found()}",
        )  # fmt: skip

    def no_traffic(self, name: str, address: str) -> None:
        done = node(name).run(["ping", "-qc3", "-i0.2", "-W1", address], check=False)
        if done.returncode == 0:
            raise AssertionError(f"{name} reaches {address}")

    def _status(self) -> Any:
        done = node("ctl").run([_SRV6NET, "--json", "status"], check=False)
        return json.loads(done.stdout)


def _vrfs(name: str) -> set[str]:
    return {link["ifname"] for link in node(name).json(["ip", "-j", "link", "show", "type", "vrf"])}
