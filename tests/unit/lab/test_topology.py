"""Topology files: what is accepted, and what each rejection says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab import topology
from lab.problem import LabError

ROOT = Path(__file__).resolve().parents[3]

GOOD = """
name = "pair"
[nodes.a]
role = "router"
lo = ["2001:db8::1/128"]
interfaces = { eth0 = ["10.0.0.1/24", "fd00::1/64"] }
routes = [{ to = "fd01::/64", via = "fd00::2" }]
sysctl = { "net.ipv4.ip_forward" = 1 }
[nodes.b]
role = "host"
gateway = ["10.0.0.1"]
[[links]]
ends = ["a:eth0", "b:eth0"]
mtu = 9000
"""


def test_reads_all_fields() -> None:
    found = topology.parse(GOOD, "t")
    a, b = found.nodes
    assert a.interfaces == {"eth0": ("10.0.0.1/24", "fd00::1/64")}
    assert a.routes == (topology.Route("fd01::/64", "fd00::2"),)
    assert a.sysctl == {"net.ipv4.ip_forward": "1"}
    assert b.gateway == ("10.0.0.1",)
    assert found.links == (topology.Link((("a", "eth0"), ("b", "eth0")), 9000),)


def test_survives_json() -> None:
    found = topology.parse(GOOD, "t")
    assert topology.from_json(json.loads(json.dumps(found.as_json()))) == found


@pytest.mark.parametrize("path", sorted((ROOT / "lab/topologies").glob("*.toml")), ids=str)
def test_own_topologies_are_valid(path: Path) -> None:
    assert topology.parse(path.read_text(), path.name).nodes


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        ('role = "host"', 'role = "switch"', "node b: role is 'switch' (use one of router, host)"),
        ("10.0.0.1/24", "10.0.0.1", "interface eth0: address 10.0.0.1: has no prefix length"),
        ("10.0.0.1/24", "10.0.0/24", "address 10.0.0/24"),
        ('via = "fd00::2"', 'via = "10.0.0.2"', "next hop 10.0.0.2 is of the other family"),
        ('to = "fd01::/64"', 'to = "fd01::1/64"', "route to fd01::1/64"),
        ('"b:eth0"]', '"c:eth0"]', "link 1: node c does not exist (nodes are a, b)"),
        ('"b:eth0"]', '"a:eth0"]', "a:eth0 has a cable already"),
        ('"b:eth0"]', '"b"]', "end 'b' is not NODE:INTERFACE"),
        ('"b:eth0"]', '"b:lo"]', "'lo' is no name for it"),
        ('"b:eth0"]', '"b:an-interface-name"]', "is no name for it"),
        (', "b:eth0"]', "]", "link 1: has 1 ends"),
        ("mtu = 9000", "mtu = 900", "mtu is 900 (use a number from 1280 to 65535)"),
        ("mtu = 9000", "speed = 1", "'speed' is unknown (known are ends, mtu)"),
        ("interfaces = { eth0", "interfaces = { eth1", "interface eth1: is on no link"),
        ("[nodes.b]", "[nodes.B_]", "node B_: is not a node name"),
        ('name = "pair"', "", "name is None"),
        ('"net.ipv4.ip_forward"', '"; rm"', "sysctl ; rm: is not the name of one"),
        ("[nodes.a]", "[nodes.a", "is not TOML"),
    ],
)
def test_rejects(old: str, new: str, reported: str) -> None:
    assert old in GOOD
    with pytest.raises(LabError) as caught:
        topology.parse(GOOD.replace(old, new), "t")
    assert reported in str(caught.value)
    assert str(caught.value).startswith("t")


def test_rejects_two_cables_in_one_interface() -> None:
    with pytest.raises(LabError, match=r"b:eth0 has a cable already \(see link 1\)"):
        topology.parse(GOOD + '[[links]]\nends = ["a:eth1", "b:eth0"]\n', "t")


def test_rejects_no_nodes() -> None:
    with pytest.raises(LabError, match="has no nodes"):
        topology.parse('name = "x"', "t")


def test_nodes_can_be_reported_to_boot_a_fresh_debian():
    plain = topology.parse(GOOD, "pair.toml")
    name = plain.nodes[0].name

    changed = plain.with_fresh([name])

    assert [node.name for node in changed.nodes if node.fresh] == [name]
    assert topology.from_json(json.loads(json.dumps(changed.as_json()))) == changed
    with pytest.raises(LabError, match="no such node"):
        plain.with_fresh(["nobody"])
