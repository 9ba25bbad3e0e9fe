"""In the lab, by ``test_router.py``: the edges have booted the image's entry point."""

from __future__ import annotations

import json
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lab.guest.nodes import Node
from lab.waiting import wait_until
from tests.image import topology

TABLE = json.loads(Path("/lab/out/clab.json").read_text())
EDGES = topology.edges(TABLE)
BOOT = 400.0
# The one port that is open to others.
BGP = "179"
# Prefix of the names of interfaces that are not there yet.
LATER = "x-"


@pytest.fixture(scope="module")
def nodes() -> dict[str, Node]:
    """The nodes, after what containerlab does: it binds files and starts the entry points, adds the
    links meanwhile or later, then runs commands."""
    given: dict[str, dict[str, Any]] = TABLE["topology"]["nodes"]
    up = {name: Node(name) for name in given}
    for name in EDGES:
        plug(up[name], "", LATER)
    for name, node in given.items():
        for target, source in topology.configuration(node):
            up[name].write_file(f"{target}.new", source.read_text())
            up[name].path(f"{target}.new").rename(up[name].path(target))
    for name in EDGES:
        wait_until(partial(is_up, up[name]), f"{name}: systemd", BOOT, 1.0)
        plug(up[name], LATER, "")
    for name, node in given.items():
        for line in node.get("exec", ()):
            up[name].run(shlex.split(line))
    return up


def plug(node: Node, before: str, after: str) -> None:
    """Rename interfaces from the prefix ``before`` to the prefix ``after``: for srv6mgrd one goes
    and another one comes."""
    for end in (end for link in TABLE["topology"]["links"] for end in link["endpoints"]):
        name, _, interface = end.partition(":")
        if name == node.name:
            old, new = f"{before}{interface}", f"{after}{interface}"
            node.run(["ip", "link", "set", old, "down"])
            node.run(["ip", "link", "set", old, "name", new])
            node.run(["ip", "link", "set", new, "up"])


def is_up(node: Node) -> bool:
    """Whether systemd has started all, the given configuration with it."""
    state = node.run(["systemctl", "is-system-running"], check=False).stdout.strip()
    return state in ("running", "degraded") and active(node, "srv6mgr-startup")


def answers(node: Node, address: str) -> bool:
    return node.run(["ping", "-q", "-c", "1", "-W", "1", address], check=False).returncode == 0


def active(node: Node, unit: str) -> bool:
    return node.run(["systemctl", "is-active", unit], check=False).stdout.strip() == "active"


@pytest.mark.parametrize("name", EDGES)
def test_units_are_up(nodes: dict[str, Node], name: str) -> None:
    failed = nodes[name].run(["systemctl", "--failed", "--no-legend", "--plain"]).stdout
    assert failed == ""
    for unit in ("frr", "srv6-redis", "srv6mgrd", "srv6-gnmid", "srv6-netconfd"):
        assert active(nodes[name], unit), unit


def test_customers_reach_their_other_site(nodes: dict[str, Node]) -> None:
    for customer in ("red", "blue"):
        for address in ("10.2.0.10", "fd00:2::10"):
            reached = partial(answers, nodes[f"{customer}1"], address)
            wait_until(reached, f"{customer}: {address}", 120, 0.5)
    counters = nodes["pe2"].run(["srv6ctl", "show", "counters", "--no-rates"]).stdout
    assert {"fcbb:0:2:64::/64", "fcbb:0:2:c8::/64"} <= set(counters.split())


@pytest.mark.parametrize("name", EDGES)
def test_doctor_finds_nothing_wrong(nodes: dict[str, Node], name: str) -> None:
    done = nodes[name].run(["srv6ctl", "doctor", "--json"], check=False)
    findings = json.loads(done.stdout)["findings"]
    levels = {finding["level"] for finding in findings}
    assert "ok" in levels
    assert not levels & {"fail", "skip"}, findings


@pytest.mark.parametrize("name", EDGES)
def test_bgp_alone_listens(nodes: dict[str, Node], name: str) -> None:
    lines = nodes[name].run(["ss", "-Htln"]).stdout.splitlines()
    local = [line.split()[3].rpartition(":") for line in lines]
    open_to_all = {
        port
        for address, _, port in local
        if not address.startswith(("127.", "[::1]", "[::ffff:127"))
    }
    assert open_to_all == {BGP}


def test_each_has_keys_and_an_identity_of_its_own(nodes: dict[str, Node]) -> None:
    for path in ("/etc/ssh/ssh_host_ed25519_key.pub", "/var/lib/srv6mgr/gnmid/selfsigned.crt"):
        assert len({nodes[name].read_file(path) for name in EDGES}) == len(EDGES)


def test_it_forwards_whatever_the_engine_set(nodes: dict[str, Node]) -> None:
    node = nodes[EDGES[0]]
    node.run(["sysctl", "-qw", "net.ipv4.ip_forward=0"])
    node.run(["systemctl", "restart", "systemd-sysctl"])
    assert node.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout == "1\n"
