"""What a suite leaves on the network that it shares with the next one: a listener that compares the
nodes before and after each suite. The declared configuration may differ, all else may not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lab.guest import nodes
from lab.guest.nodes import Node
from lab.guest.services import Router
from tests.robot.library.console import indented, suite_file
from tests.runner import records
from tests.runner.records import Record

# Of the configuration that suites start from.
DECLARED = {"red", "blue", "srv6mgr"}
# Who writes a route or a rule by itself; `boot` and `static` are somebody's hands.
BY_HAND = {"boot", "static"}
L3MDEV = 1000
Seen = set[str]


class Leftovers:
    """Listener of Robot Framework."""

    ROBOT_LISTENER_API_VERSION = 3

    def __init__(self) -> None:
        self._before: Seen = set()

    def start_suite(self, data: Any, result: Any) -> None:
        if data.tests:
            self._before = network()

    def end_suite(self, data: Any, result: Any) -> None:
        if not data.tests:
            return
        after = network()
        text = "\n".join(
            [f"left: {line}" for line in sorted(after - self._before)]
            + [f"gone: {line}" for line in sorted(self._before - after)]
        )
        if text:
            print(indented(f"the network is not as it was before\n{text}"), flush=True)
        if text and (path := os.environ.get(records.VARIABLE)):
            name = f"{suite_file(data)}::leaves the network as it was"
            records.append(Path(path), Record("suite", name, 0, "failed", text))


def network() -> Seen:
    """All nodes that are up, but those that boot a Debian of their own."""
    return {
        f"{name}: {line}"
        for name in nodes.names()
        if not (node := Node(name)).is_fresh
        for line in seen(node)
    }


def seen(node: Node) -> Seen:
    """Links, addresses, routes and rules by hand, namespaces, filters, services, settings."""
    found: Seen = set()
    for link in node.json(["ip", "-j", "address"]):
        if link["ifname"] in DECLARED:
            continue
        found.add(f"link {link['ifname']}")
        found |= {
            f"address {a['local']} of {link['ifname']}"
            for a in link["addr_info"]
            if a["scope"] != "link"
        }
    for family in ("-4", "-6"):
        for route in node.json(["ip", "-j", family, "route", "show", "table", "all"]):
            if route.get("protocol") in BY_HAND:
                found.add(f"route {route['dst']} by {route.get('dev', route.get('type'))}")
        for rule in node.json(["ip", "-j", family, "rule"]):
            # The one of l3mdev comes with the first VRF and stays (vrf_newlink).
            if rule["priority"] != L3MDEV and rule.get("protocol") in (None, *BY_HAND):
                found.add(f"rule {family} {rule['priority']} from {rule['src']}")
    for folder in ("/run/netns", "/etc/srv6mgr"):
        path = node.path(folder)
        found |= {f"{folder}/{p.name}" for p in path.iterdir()} if path.is_dir() else set()
    tables = node.run(["nft", "list", "tables"], check=False).stdout.splitlines()
    found |= {table for table in tables if table != "table ip6 srv6mgr"}
    router = Router(node)
    names = {path.stem for path in node.state.glob("*.service")}
    return found | {f"service {name}" for name in names if router.is_running(name)}
