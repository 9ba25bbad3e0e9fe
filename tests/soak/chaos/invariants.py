"""What holds after each step, whatever struck. Each one answers with what is wrong, or nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from lab.guest.catalogue import log_file
from lab.guest.nodes import Node
from tests.robot.library.gnmi import bare, not_installed
from tests.robot.library.sonic import client
from tests.soak.chaos.faults_network import BLUE, PROXY, RED
from tests.soak.chaos.northbounds import Ctl, Gnmi, Netconf
from tests.soak.chaos.target import MANAGEMENT, Target
from tests.soak.chaos.things import THINGS, Thing

BASE_SIDS = frozenset({RED, BLUE, PROXY})
BASE_VRFS = frozenset({"red", "blue"})
BASE_PORTS = {"to-ce-red": "red", "to-ce-blue": "blue"}
STATE_DB = 6


@dataclass(slots=True)
class World:
    """The router, who reads from it, and the names of what is declared."""

    target: Target
    gnmi: Gnmi
    netconf: Netconf
    ctl: Ctl
    declared: frozenset[str] = frozenset()
    # Counters begin again then.
    rebooted: bool = False
    # Whether the last fault spares the path of the unaffected tenant.
    spared: bool = True

    @property
    def sids(self) -> frozenset[str]:
        return BASE_SIDS | {THINGS[name].sid for name in self.declared}

    @property
    def vrfs(self) -> frozenset[str]:
        return BASE_VRFS | {thing.vrf for thing in self.customers}

    @property
    def customers(self) -> list[Thing]:
        """What is declared with a VRF, its port and its route."""
        return [thing for name in sorted(self.declared) if (thing := THINGS[name]).vrf]


class Invariant(Protocol):
    name: str
    # It may take a while until it holds.
    settles: bool

    def check(self, world: World) -> list[str]: ...


def compared(what: str, found: frozenset[str], wanted: frozenset[str]) -> list[str]:
    return [
        *(f"{what} lacks {name}" for name in sorted(wanted - found)),
        *(f"{what} has {name}, which is not declared" for name in sorted(found - wanted)),
    ]


def _names(tree: Mapping[str, Any], parent: str, entry: str, key: str) -> frozenset[str]:
    return frozenset(one[key] for one in tree.get(parent, {}).get(entry, []))


class Declared:
    """sysrepo, gNMI and NETCONF agree on the configuration."""

    name = "configuration"
    settles = True

    def check(self, world: World) -> list[str]:
        wrong: list[str] = []
        for where, tree in (
            ("sysrepo", bare(world.ctl.running())),
            ("gNMI config", bare(world.gnmi.config())),
        ):
            wrong += compared(where, _names(tree, "local-sids", "sid", "prefix"), world.sids)
            wrong += compared(where, _names(tree, "vrfs", "vrf", "name"), world.vrfs)
            ports = frozenset({"to-p", *(thing.port for thing in world.customers)})
            wrong += compared(where, _names(tree, "interfaces", "interface", "name"), ports)
        text = world.netconf.call("get_config", source="running")
        sids = frozenset(re.findall(r"<prefix>(fcbb:0:1:[0-9a-f]+::/64)</prefix>", text))
        wrong += compared("NETCONF config", sids, world.sids)
        return wrong


class Installed:
    """Each declared object has the status installed, over gNMI and over NETCONF."""

    name = "status"
    settles = True

    def check(self, world: World) -> list[str]:
        (tree,) = world.gnmi.session.get("/srv6mgr-srv6:srv6")
        wrong = [f"gNMI: {line}" for line in not_installed(bare(tree))]
        text = world.netconf.call("get")
        statuses = re.findall(r"<install-status>([a-z-]+)</install-status>", text)
        others = sorted(set(statuses) - {"installed"})
        return wrong + [f"NETCONF: an object is {status}" for status in others]


class Kernel:
    """SIDs, VRFs and ports."""

    name = "kernel"
    settles = True

    def check(self, world: World) -> list[str]:
        node = world.target.node
        routes = node.json(["ip", "-6", "-j", "route", "show", "table", "8986"])
        found = frozenset(route["dst"] for route in routes if "dst" in route)
        links = node.json(["ip", "-j", "-d", "link"])
        vrfs = frozenset(
            link["ifname"]
            for link in links
            if link.get("linkinfo", {}).get("info_kind") == "vrf" and "UP" in link["flags"]
        )
        wrong = compared("kernel", found, world.sids)
        wrong += compared("kernel", vrfs - {FOREIGN_VRF}, world.vrfs)
        programs = node.run(["bpftool", "net", "show", "dev", "to-fw"], check=False).stdout
        if "back_function" not in programs:
            wrong.append("kernel: to-fw lacks the eBPF program of the service proxy")
        masters = {link["ifname"]: link.get("master") for link in links}
        ports = BASE_PORTS | {thing.port: thing.vrf for thing in world.customers}
        for port, vrf in ports.items():
            if masters.get(port) != vrf:
                wrong.append(f"kernel: {port} is in {masters.get(port)}, not in {vrf}")
        others = [name for name in masters if name.endswith("-port") and name not in ports]
        wrong += [f"kernel has {name}, which is not declared" for name in others]
        addresses = node.run(["ip", "-br", "-4", "address"]).stdout
        wrong += [
            f"kernel: {thing.port} lacks {thing.address}"
            for thing in world.customers
            if thing.address not in addresses
        ]
        return wrong


class Frr:
    """BGP instances of the declared VRFs and no others, and tunnels to the other site."""

    name = "FRR"
    settles = True

    def check(self, world: World) -> list[str]:
        node = world.target.node
        text = node.run(["vtysh", "-c", "show running-config"], timeout=30).stdout
        found = frozenset(re.findall(r"^router bgp 65000 vrf (\S+)", text, re.MULTILINE))
        wrong = compared("FRR", found, world.vrfs)
        if "locator MAIN" not in text:
            wrong.append("FRR lacks locator MAIN")
        for vrf in BASE_VRFS:
            route = node.run(["ip", "-j", "route", "show", "vrf", vrf, "10.2.0.0/24"], check=False)
            if '"segs"' not in route.stdout:
                wrong.append(f"VRF {vrf} has no tunnel to 10.2.0.0/24")
        blackholes = node.run(["ip", "route", "show", "type", "blackhole", "table", "all"]).stdout
        wrong += compared(
            "FRR",
            frozenset(re.findall(r"^blackhole (10\.78\.\S+)", blackholes, re.MULTILINE)),
            frozenset(thing.route for thing in world.customers),
        )
        return wrong


# No event reports these: a compare finds them, which a busy machine puts off.
_SYSCTLS = {"net.ipv4.ip_forward": "1", "net.ipv6.conf.all.forwarding": "1",
            "net.vrf.strict_mode": "1"}  # fmt: skip
TENANTS = ("ce-red1", "ce-blue1")
OTHER_SITE = "10.2.0.10"


class Passes:
    """Both tenants reach their other site, and nothing that a commit relies on is switched off."""

    name = "traffic"
    settles = True

    def check(self, world: World) -> list[str]:
        found = world.target.node.run(["sysctl", "-n", *_SYSCTLS]).stdout.split()
        wrong = [
            f"{name} is {now}"
            for (name, wanted), now in zip(_SYSCTLS.items(), found, strict=True)
            if now != wanted
        ]
        for tenant in TENANTS:
            ping = ["ping", "-q", "-c2", "-i0.02", "-W1", OTHER_SITE]
            if Node(tenant).run(ping, check=False).returncode:
                wrong.append(f"no packet of {tenant} reaches {OTHER_SITE}")
        return wrong


class Redis:
    """Rows of STATE_DB."""

    name = "Redis"
    settles = True

    def check(self, world: World) -> list[str]:
        rows = list(client(world.target.node.name, STATE_DB).scan_iter("SRV6MGR_*|*"))
        sids = frozenset(r.partition("|")[2] for r in rows if r.startswith("SRV6MGR_SID|"))
        vrfs = frozenset(r.partition("|")[2] for r in rows if r.startswith("SRV6MGR_VRF|"))
        return compared("Redis", sids, world.sids) + compared("Redis", vrfs, world.vrfs)


FOREIGN_VRF = "others"
_PUT = """ip link add others type vrf table 77; ip link set others up
ip link add theirs type veth peer name theirs2; ip link set theirs up
ip -6 rule add pref 30000 from 2001:db8:77::/48 lookup 77
ip -6 route add 2001:db8:77::/48 dev theirs table 77 metric 500
ip -6 route add 2001:db8:78::1/128 encap seg6local action End dev theirs
nft add table ip6 theirs; nft add chain ip6 theirs one
vtysh -c 'configure terminal' -c 'ip prefix-list THEIRS seq 5 permit 192.0.2.0/24' -c end
"""
_SEEN = """ip -br link show type vrf | grep -o '^others'; ip -br link show theirs | cut -d@ -f1
ip -6 rule show pref 30000; ip -6 route show table 77 | grep 2001:db8:77
ip -6 route show 2001:db8:78::1; nft list table ip6 theirs
vtysh -c 'show running-config' | grep THEIRS
"""


@dataclass(slots=True)
class Foreign:
    """What others put into kernel and FRR stays as it was."""

    name: str = "foreign objects"
    settles: bool = True
    before: str = ""

    def put(self, target: Target) -> None:
        target.shell(_PUT)
        # FRR's own configuration outlives its restart only where it is written.
        target.shell("vtysh -c 'write memory'")
        self.before = target.shell(_SEEN)
        assert len(self.before.splitlines()) > 8, self.before

    def check(self, world: World) -> list[str]:
        now = world.target.shell(_SEEN)
        old, new = self.before.splitlines(), now.splitlines()
        return [f"gone: {line}" for line in old if line not in new] + [
            f"new: {line}" for line in new if line not in old
        ]


@dataclass(slots=True)
class Counters:
    """Those of a SID that stays declared never go back."""

    name: str = "counters"
    settles: bool = False
    seen: dict[str, int] = field(default_factory=dict)

    def check(self, world: World) -> list[str]:
        if world.rebooted:
            self.seen, world.rebooted = {}, False
        now = {}
        for sid in BASE_SIDS:
            path = f"/srv6mgr-srv6:srv6/local-sids/sid[prefix={sid}]/state/counters/in-pkts"
            (value,) = world.gnmi.session.get(path)
            now[sid] = int(value)
        wrong = [
            f"SID {sid} counted {count} packets after {self.seen[sid]}"
            for sid, count in now.items()
            if count < self.seen.get(sid, 0)
        ]
        self.seen = now
        return wrong


# Seconds without a repair: the campaign compares every two.
_STILL = 2.5


@dataclass(slots=True)
class Still:
    """Repairs come to an end: nothing that srv6mgrd puts back is taken away by itself or FRR."""

    name: str = "repairs"
    settles: bool = True
    repairs: int = -1
    since: float = 0.0

    def check(self, world: World) -> list[str]:
        (value,) = world.gnmi.session.get("/srv6mgr-srv6:srv6/statistics/repairs")
        if int(value) != self.repairs:
            self.repairs, self.since = int(value), time.monotonic()
        quiet = time.monotonic() - self.since
        return [f"the last of {self.repairs} is {quiet:.1f} s ago"] if quiet < _STILL else []


@dataclass(frozen=True, slots=True)
class Usage:
    memory: int
    files: int
    threads: int

    @classmethod
    def of(cls, pid: int) -> Usage:
        status = Path(f"/proc/{pid}/status").read_text()
        rss = re.search(r"VmRSS:\s+(\d+)", status)
        threads = re.search(r"Threads:\s+(\d+)", status)
        assert rss is not None
        assert threads is not None
        files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        return cls(int(rss[1]) >> 10, files, int(threads[1]))


# MiB, descriptors, threads that a process may have more than at the end of its first step.
ROOM = Usage(memory=48, files=24, threads=12)


@dataclass(slots=True)
class Flat:
    """Memory, descriptors and threads of a process that lives on do not grow."""

    name: str = "resources"
    settles: bool = True
    first: dict[int, Usage] = field(default_factory=dict)

    def check(self, world: World) -> list[str]:
        wrong = []
        for service in MANAGEMENT:
            pid = world.target.pid(service)
            if not pid:
                wrong.append(f"{service} does not run")
                continue
            now = Usage.of(pid)
            first = self.first.setdefault(pid, now)
            for what in ("memory", "files", "threads"):
                limit = getattr(first, what) + getattr(ROOM, what)
                if getattr(now, what) > limit:
                    wrong.append(f"{service}: {what} {getattr(now, what)}, first {first}")
        return wrong


_FRR = "frr-daemons"


@dataclass(slots=True)
class Logs:
    """No traceback, no complaint of a sanitizer, no crash; of FRR, no crash that a fault which
    spares the unaffected tenant should not bring about."""

    name: str = "logs"
    settles: bool = False
    read: dict[str, int] = field(default_factory=dict)

    def check(self, world: World) -> list[str]:
        wrong = []
        for service in (*MANAGEMENT, _FRR):
            path = log_file(world.target.node.name, service)
            if not path.exists():
                continue
            with path.open(errors="replace") as log:
                log.seek(self.read.get(service, 0))
                text = log.read()
                self.read[service] = log.tell()
            if service == _FRR and not world.spared:
                continue
            if found := re.search(
                r"Traceback \(most recent|Sanitizer|Segmentation|core dumped|never awaited"
                r"|Received signal \d+ at|assertion .*failed",
                text,
            ):
                shown = text[max(0, found.start() - 300) : found.start() + 2500]
                wrong.append(f"{service}:\n{shown}")
        return wrong


def invariants() -> list[Invariant]:
    return [
        Declared(), Installed(), Kernel(), Frr(), Redis(), Passes(), Foreign(), Counters(),
        Still(), Flat(), Logs(),
    ]  # fmt: skip
