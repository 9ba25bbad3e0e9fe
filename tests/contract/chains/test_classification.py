"""What customers send, by the rules of a classifier, onto paths of chains."""

from __future__ import annotations

import re
from ipaddress import ip_network

import pytest
from scapy.layers.inet6 import IPv6, IPv6ExtHdrSegmentRouting

from srv6mgrd.kinds.chain.object import ChainPrograms, ClassifierHook
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chain_state import ChainDrops
from srv6mgrd.model.chains import ClassifierRule, Way
from srv6mgrd.plan.actions import Create
from tests.contract.chains.network import (
    CHAIN,
    CLASSIFIER,
    FUNCTION_SIDS,
    OWN,
    PORT,
    ROUTER,
    SITE,
    SITE_SIDS,
    Network,
    everything,
    path,
    rules,
)

pytestmark = pytest.mark.contract

IP = (Family.IPV6, Family.IPV4)
FIREWALL = path("firewall")


@pytest.mark.parametrize("family", IP)
def test_onto_a_path(network: Network, family: Family) -> None:
    by_firewall = path("firewall", family=family)
    network.declare(by_firewall, rules(everything()))

    assert network.ping(family) == 3

    assert network.by_rule() >= 3
    assert network.on_path(by_firewall) == 3
    assert network.through(FUNCTION_SIDS["firewall"]) == 3
    assert network.through(SITE_SIDS[family]) == 3


@pytest.mark.parametrize("family", IP)
def test_streams(network: Network, family: Family) -> None:
    """Super-packets."""
    by_firewall = path("firewall", family=family)
    network.declare(by_firewall, rules(everything()))

    network.transfer(family, 1 << 20)

    assert network.on_path(by_firewall) > 1 << 9


def test_what_is_written_is_read_back(network: Network) -> None:
    objects = (
        ChainPrograms(),
        path("firewall", "cache"),
        path("firewall", family=Family.IPV4, preference=7, weight=3),
        path(preference=9),
        rules(
            ClassifierRule(1, None, family=Family.IPV4, source=ip_network("10.1.0.0/16")),
            ClassifierRule(
                2, CHAIN, destination=ip_network("2001:db8:2::/48"), protocol=6,
                source_ports=(1024, 65535), destination_ports=(80, 80), dscp=46, mark=7,
            ),
            ClassifierRule(3, CHAIN),
        ),
        ClassifierHook(PORT, CLASSIFIER),
    )  # fmt: skip
    network.create(*objects)

    assert network.observed() == set(objects)

    network.delete(*objects[::-1])
    assert network.observed() == set()
    assert not network.programs.folder.exists()


@pytest.mark.parametrize("family", IP)
def test_the_lowest_priority_that_matches_decides(network: Network, family: Family) -> None:
    site = ip_network(SITE[family])
    wide = ip_network((site.network_address, site.prefixlen // 4), strict=False)
    network.declare(
        path("firewall", family=family),
        rules(
            ClassifierRule(1, None, destination=site, protocol=17, destination_ports=(1000, 1999)),
            ClassifierRule(2, CHAIN, destination=wide, protocol=17, source_ports=(80, 80)),
            ClassifierRule(3, None, destination=wide, destination_ports=(53, 53)),
            ClassifierRule(4, CHAIN, source=site),
            ClassifierRule(5, CHAIN, destination=site, protocol=17, dscp=0),
        ),
    )
    by_rule = {}
    for sport, dport, wanted in (
        (80, 1000, 1),
        (80, 1999, 1),
        (80, 2000, 2),
        (81, 999, 5),
        (80, 53, 2),
        (81, 53, 3),
    ):
        network.send(family, sport, dport)
        by_rule[wanted] = by_rule.get(wanted, 0) + 1
    # No rule has packets of other protocols: they go on as they are.
    assert network.ping(family) == 3

    assert {n: network.by_rule(n) for n in range(1, 6)} == {4: 0, **by_rule}
    assert network.on_path(path("firewall", family=family)) == by_rule[2] + by_rule[5]


def test_marks_and_dscp(network: Network) -> None:
    """Flows that differ in nothing else."""
    network.declare(
        FIREWALL,
        rules(
            ClassifierRule(1, CHAIN, dscp=46), ClassifierRule(2, CHAIN, dscp=10, protocol=17),
            ClassifierRule(3, None, mark=7),
        ),
    )  # fmt: skip
    for dscp in (46, 46, 10, 0):
        network.send(Family.IPV6, 20000, tclass=dscp << 2)

    assert [network.by_rule(n) for n in (1, 2, 3)] == [2, 1, 0]
    assert network.on_path(FIREWALL) == 3


def test_fragments_go_by_their_addresses(network: Network) -> None:
    network.declare(
        path("firewall", family=Family.IPV4),
        rules(ClassifierRule(1, None, destination_ports=(9, 9)), everything()),
    )
    network.send(Family.IPV4, 20000, size=4000)

    assert network.by_rule(1) == 0
    assert network.by_rule() == 3


def test_neighbors_and_the_link_stay_where_they_are(network: Network) -> None:
    """Unless a rule names them."""
    network.declare(FIREWALL, rules(everything()))
    network.on("host", "ip neigh flush all")

    assert network.ping(Family.IPV6, to="ff02::2%eth0", more="-t 64") >= 3

    assert network.by_rule() == 0
    network.replace(
        rules(everything()), named := rules(everything(destination=ip_network("ff02::/16")))
    )
    network.ping(Family.IPV6, to="ff02::2%eth0", more="-t 64")
    assert network.on_path(FIREWALL) >= 3
    assert network.observed() >= {named}


def test_the_last_hop_is_the_senders_to_know(network: Network) -> None:
    network.declare(FIREWALL, rules(everything()))

    assert network.ping(Family.IPV6, more="-t 1") == 0

    assert network.kernel.chain_counts().drops[CHAIN, Way.FORWARD] == ChainDrops(hop_limit=3)
    shown = network.on("host", "cat /proc/net/snmp6")
    assert re.search(r"Icmp6InTimeExcds\s+[1-3]", shown)


def test_no_route(network: Network) -> None:
    network.declare(FIREWALL, rules(everything()))
    network.run("ip -6 route delete fcbb:0:3::/48")

    assert network.ping(Family.IPV6) == 0

    assert network.kernel.chain_counts().drops[CHAIN, Way.FORWARD] == ChainDrops(no_route=3)


def test_the_outer_header(network: Network) -> None:
    """With the traffic class of the packet inside, a label of its flow, and its hop counted."""
    network.declare(path(), rules(everything()))
    with network.captured() as packets:
        network.send(Family.IPV6, 20000, tclass=0xB8)
        network.send(Family.IPV6, 20001, tclass=0xB8)

    found = [IPv6(raw) for raw in packets]
    assert [(p.src, p.dst, p.tc, p.hlim, p.plen) for p in found] == [
        (str(OWN), str(SITE_SIDS[Family.IPV6]), 0xB8, 64, len(raw) - 40)
        for p, raw in zip(found, packets, strict=True)
    ]
    assert len({p.fl for p in found}) == 2
    (first, *_) = found
    header = first[IPv6ExtHdrSegmentRouting]
    assert (header.segleft, header.lastentry) == (0, 0)
    assert first[IPv6:2].hlim == 63


def test_an_interface_comes_again(network: Network) -> None:
    """What is left of the one that went is in nobody's way."""
    network.declare(FIREWALL, rules(everything()))
    network.run(f"ip link delete {PORT}")
    assert ClassifierHook(PORT, CLASSIFIER) not in network.observed()
    network.run(f"ip link add {PORT} type veth peer name far-port")

    network.create(ClassifierHook(PORT, CLASSIFIER))

    assert ClassifierHook(PORT, CLASSIFIER) in network.observed()
    assert len(list((network.programs.folder / "links").iterdir())) == 1


def test_hooks_and_maps_are_repaired(network: Network) -> None:
    """What was counted stays."""
    network.declare(FIREWALL, rules(everything()))
    assert network.ping(Family.IPV6) == 3
    for pin in network.programs.folder.glob("*/*"):
        pin.unlink()
    found = network.observed()
    assert ChainPrograms(intact=False) in found

    network.replace(ChainPrograms(intact=False), ChainPrograms())
    network.create(ClassifierHook(PORT, CLASSIFIER))

    assert network.ping(Family.IPV6) == 3
    assert network.on_path(FIREWALL) == 6
    assert network.observed() == {
        ChainPrograms(), FIREWALL, rules(everything()), ClassifierHook(PORT, CLASSIFIER)
    }  # fmt: skip


@pytest.mark.parametrize("family", IP)
def test_from_a_vrf(network: Network, vrf: None, family: Family) -> None:
    """By routes that are not the VRF's; what no rule has stays in it."""
    network.join("red")
    by_firewall = path("firewall", family=family)
    network.declare(by_firewall, rules(everything()))

    assert network.ping(family) == 3

    assert network.on_path(by_firewall) == 3
    assert network.ping(family, to=ROUTER[family]) == 0
    network.replace(rules(everything()), rules(everything(chain=None)))
    assert network.ping(family, to=ROUTER[family]) == 3


def test_an_interface_without_frames(network: Network) -> None:
    network.run("ip link add tunnel type ip6tnl local ::1 remote ::2 2>/dev/null || true")
    if "tunnel" not in network.run("ip link"):
        pytest.skip("kernel without ip6tnl")
    network.declare(FIREWALL, rules(everything()))

    (rejected,) = network.kernel.apply([Create(ClassifierHook("tunnel", CLASSIFIER))])

    assert rejected.message == "interface tunnel is no Ethernet interface"
