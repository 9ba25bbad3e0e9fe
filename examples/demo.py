"""The main job, narrated: one gNMI Set per provider edge makes an SRv6 VPN that carries traffic.

Runs inside the lab on topology two-pe. If a check fails, it ends with status 1 and the reason.
With --stay, it leaves the configured network open in a shell.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from examples.gnmi import Gnmi, GnmiError
from examples.narration import FailedError, Narration
from lab.guest.nodes import Node
from lab.guest.services import Router
from lab.problem import LabError
from lab.waiting import wait_until

SERVICES = ("redis", "frr", "sysrepo", "srv6mgrd", "srv6-gnmid")
CONFIG = Path(__file__).parent / "l3vpn"
PINGS = 10
WIDTH = 92
SRV6 = "/srv6mgr-srv6:srv6"
# Site 2 as both tenants number it, and an address that exists in blue alone.
SITE2 = ("10.2.0.10", "fd00:2::10")
BLUE_ONLY = "10.2.0.99"
# What the open network shows, in the order of a first look: a command, and what it is about.
TOUR = (
    ("on ce-red1 ping -c3 10.2.0.10", "traffic through the tunnel"),
    ("on pe1 srv6ctl show vrfs", "VPNs, with the state of their service"),
    ("on pe1 srv6ctl show counters", "packets that the SIDs counted, and rates"),
    ("on -t pe1 srv6ctl top", "the same live; q quits"),
    ("on pe1 srv6ctl trace 10.2.0.10 --vrf red", "the path, hop by hop"),
    ("on pe1 ip -6 route flush table 8986", "delete the SIDs: they are back at once"),
    ("on pe1 srv6ctl show statistics", "the repair was counted"),
    ("on pe1 ip link set to-ce-red down; on pe1 srv6ctl doctor", "break VPN red: cause and remedy"),
    ("on pe1 ip link set to-ce-red up", "repair it"),
)


def main() -> int:
    narration = Narration()
    try:
        demo = Demo(narration)
        demo.start()
        demo.configure()
        if "--stay" in sys.argv:
            return demo.stay()
        demo.show()
        demo.traffic()
        demo.counters()
        demo.isolation()
        demo.remove_red()
        demo.what_next()
    except (FailedError, GnmiError, LabError) as failure:
        print(f"\ndemo failed: {failure}", file=sys.stderr)
        return 1
    return 0


class Demo:
    def __init__(self, narration: Narration) -> None:
        self.narration = narration
        self.pes = [Node("pe1"), Node("pe2")]
        self.ces = {n: Node(f"ce-{n}") for n in ("red1", "red2", "blue1", "blue2")}
        self.routers = [Router(pe) for pe in self.pes]

    def gnmi(self, pe: Node) -> Gnmi:
        return Gnmi(pe, lambda line: self.narration.command(pe.name, line))

    def start(self) -> None:
        self.narration.step("Two provider edges start: " + ", ".join(SERVICES))
        for router in self.routers:
            router.start(*SERVICES)
            self.narration.ok(f"{router.node.name} is ready")

    def configure(self) -> None:
        self.narration.step("One gNMI Set per provider edge declares locator, VRFs, SIDs and BGP")
        self.narration.say("(gnmic lines are what a user would type; here pygnmi sends the same)")
        for pe in self.pes:
            file = CONFIG / f"{pe.name}.json"
            if pe.name == "pe1":
                self.narration.command(pe.name, f"cat examples/l3vpn/{file.name}")
                self.narration.output(_compact(json.loads(file.read_text())))
            done = self.gnmi(pe).set(
                update=[("/", json.loads(file.read_text()))], file=f"examples/l3vpn/{file.name}"
            )
            self.narration.check(done == ["UPDATE"], f"{pe.name} accepted it")
        for pe in self.pes:
            for vrf in ("red", "blue"):
                self._until(
                    partial(_has_remote_routes, pe, vrf),
                    f"{pe.name}: VRF {vrf} has the other site's IPv4 and IPv6 prefix",
                )

    def show(self) -> None:
        pe1 = self.pes[0]
        self.narration.step("State of kernel and BGP")
        self.narration.shell(pe1, "ip -br link show type vrf")
        self.narration.shell(pe1, "ip -6 rule show", lambda line: "proto 86" in line)
        self.narration.shell(pe1, "ip -6 -s route show table 8986")
        self.narration.shell(pe1, "ip route show vrf red; ip -6 route show vrf red", _tunnels)
        self.narration.shell(pe1, "vtysh -c 'show bgp ipv4 vpn'", _bgp_rows)
        wait_until(
            lambda: all(v["bgp"]["install-status"] == "installed" for v in _vrfs(pe1)),
            "pe1: both VRFs are advertised",
        )
        self.narration.shell(pe1, "srv6ctl show vrfs")
        self.narration.shell(pe1, "srv6ctl show sids")

    def traffic(self) -> None:
        self.narration.step(f"{PINGS} pings per tenant and family, site 1 to site 2")
        for tenant in ("red", "blue"):
            for address in SITE2:
                self._ping(self.ces[f"{tenant}1"], address)

    def isolation(self) -> None:
        self.narration.step("Tenants cannot reach each other, though their addresses are the same")
        blue2 = self.ces["blue2"]
        before = _echoes(blue2)
        self.ces["red1"].run(["ping", "-c3", "-i0.1", "-W1", SITE2[0]])
        self.narration.check(
            _echoes(blue2) == before, f"3 pings from red to {SITE2[0]}: none arrived at blue"
        )
        blue2.run(["ip", "address", "add", f"{BLUE_ONLY}/32", "dev", "lo"])
        # Of site 2's prefix, so it needs no route of its own.
        reached = {t: self._reaches(t, BLUE_ONLY) for t in ("blue", "red")}
        self.narration.check(
            reached["blue"], f"{BLUE_ONLY}, an address of blue alone: blue reaches it"
        )
        self.narration.check(not reached["red"], f"{BLUE_ONLY}: red does not")

    def counters(self) -> None:
        self.narration.step("Counters equal the packets sent")
        for pe in self.pes:
            # Site 2 gets the requests, site 1 the replies, of both families.
            wanted = {_sid(pe, vrf): 2 * PINGS for vrf in ("red", "blue")}
            wait_until(
                partial(_have_counted, pe, wanted),
                f"{pe.name}: {2 * PINGS} packets counted on each SID",
            )
            self.narration.shell(pe, "srv6ctl show counters --no-rates")
            counted = _counted(pe)
            for sid, packets in wanted.items():
                reported = counted[sid]
                self.narration.check(
                    (reported["in-pkts"], reported["in-errors"]) == (packets, 0),
                    f"{pe.name}: {sid} counted {packets} packets, as many as were sent to it",
                )
        path = f"{SRV6}/local-sids/sid[prefix={_sid(self.pes[0], 'red')}]/state/counters"
        over_gnmi = self.gnmi(self.pes[0]).get(path)[0]
        self.narration.output(_compact(over_gnmi))
        self.narration.check(
            int(over_gnmi["srv6mgr-srv6:in-pkts"]) == 2 * PINGS,
            "gNMI reports the same to collectors",
        )

    def remove_red(self) -> None:
        pe1, pe2 = self.pes
        self.narration.step("One gNMI Set deletes VRF red on pe1")
        sid = _sid(pe1, "red")
        done = self.gnmi(pe1).set(
            delete=[f"{SRV6}/vrfs/vrf[name=red]", f"{SRV6}/local-sids/sid[prefix={sid}]"]
        )
        self.narration.check(done == ["DELETE", "DELETE"], "pe1 accepted it")
        links = {link["ifname"] for link in pe1.json(["ip", "-j", "link", "show", "type", "vrf"])}
        self.narration.check(links == {"blue"}, "kernel: the VRF device is gone")
        left = pe1.run(["ip", "-6", "route", "show", "table", "8986"]).stdout
        self.narration.check(sid.partition("/")[0] not in left, "kernel: the SID is gone")
        self._until(
            lambda: "vrf red" not in pe1.run(["vtysh", "-c", "show running-config"]).stdout,
            "FRR: nothing of red is configured",
        )
        self._until(lambda: _redis_keys(pe1, "red") == "", "Redis: no row names red")
        self._until(lambda: _remote_routes(pe2, "red") == 0, "pe2 lost red's routes of site 1")
        self._ping(self.ces["blue1"], SITE2[0])

    def what_next(self) -> None:
        self.narration.end()
        for line, about in (
            ("make lab-shell", "opens this network for you, with a tour in nine commands"),
            ("docs/tutorial/first-vpn.md", "builds the VPN step by step, on routers of your own"),
            ("docs/tutorial/service-chain.md", "sends a VPN through a firewall"),
            ("make docs", "builds this documentation as a site: build/site/index.html"),
        ):
            self.narration.say(f"{line:32}{about}")

    def stay(self) -> int:
        self.narration.step("The network is yours: a tour in nine commands")
        for number, (line, shows) in enumerate(TOUR, 1):
            self.narration.say(f"{number}  {line:70}{shows}")
        self.narration.say(
            "exit ends the lab. 'on NODE COMMAND' runs a command on pe1, pe2, p, ce-red1, ..."
        )
        self.narration.say(
            "docs/tutorial/service-chain.md works here: it adds a firewall to the VPN."
        )
        shell = ["bash", "--rcfile", "/src/lab/guest/shellrc"]
        subprocess.call(shell, env={**os.environ, "LAB_PROMPT": "lab"})
        return 0

    def _until(self, condition: Callable[[], object], claim: str) -> None:
        wait_until(condition, claim, timeout=60)
        self.narration.ok(claim)

    def _ping(self, ce: Node, address: str) -> None:
        line = f"ping -q -c{PINGS} -i0.05 {address}"
        out = self.narration.shell(ce, line, lambda text: "packets" in text)
        self.narration.check(f" {PINGS} received" in out, f"{ce.name} reaches {address}")

    def _reaches(self, tenant: str, address: str) -> bool:
        ping = ["ping", "-c1", "-W1", address]
        return self.ces[f"{tenant}1"].run(ping, check=False).returncode == 0


def _compact(tree: Any, indent: int = 0, name: str = "") -> list[str]:
    """JSON with what fits on a line on one line."""
    pad = " " * indent + name
    whole = pad + json.dumps(tree)
    if len(whole) < WIDTH or not isinstance(tree, (dict, list)):
        return [whole]
    if isinstance(tree, dict):
        parts = [_compact(v, indent + 2, f"{json.dumps(k)}: ") for k, v in tree.items()]
    else:
        parts = [_compact(v, indent + 2) for v in tree]
    for part in parts[:-1]:
        part[-1] += ","
    opening, closing = "{}" if isinstance(tree, dict) else "[]"
    return [pad + opening, *(line for part in parts for line in part), " " * indent + closing]


def _sid(pe: Node, vrf: str) -> str:
    config = json.loads((CONFIG / f"{pe.name}.json").read_text())["srv6mgr-srv6:srv6"]
    return str(next(s["prefix"] for s in config["local-sids"]["sid"] if s["vrf"] == vrf))


def _vrfs(pe: Node) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = pe.json(["srv6ctl", "show", "vrfs", "--json"])["vrfs"]
    return shown


def _counted(pe: Node) -> dict[str, dict[str, Any]]:
    """Counters by SID."""
    shown = pe.json(["srv6ctl", "show", "counters", "--no-rates", "--json"])["counters"]
    return {entry["prefix"]: entry for entry in shown}


def _have_counted(pe: Node, wanted: Mapping[str, int]) -> bool:
    counted = _counted(pe)
    return all(counted[sid]["in-pkts"] >= packets for sid, packets in wanted.items())


def _tunnels(line: str) -> bool:
    return "seg6" in line or "unreachable" in line


def _bgp_rows(line: str) -> bool:
    return bool(line) and line[0] in " *R" and ("*>" in line or "sid=" in line or "Route" in line)


def _remote_routes(pe: Node, vrf: str) -> int:
    """Prefixes of a VRF that go through an SRv6 tunnel."""
    shown = pe.run(
        ["sh", "-c", f"ip route show vrf {vrf}; ip -6 route show vrf {vrf}"], check=False
    )
    return shown.stdout.count("encap seg6")


def _has_remote_routes(pe: Node, vrf: str) -> bool:
    """Of both families, one each."""
    return _remote_routes(pe, vrf) == 2


def _echoes(host: Node) -> str:
    return host.run(["nstat", "-asz", "IcmpInEchos"]).stdout


def _redis_keys(pe: Node, word: str) -> str:
    line = f"for db in 0 2 6; do redis-cli -s /run/redis/redis.sock -n $db keys '*{word}*'; done"
    return pe.run(["sh", "-c", line]).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
