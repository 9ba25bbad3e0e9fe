"""Rows equal what passed on the wire."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address

import pytest

from srv6mgrd.model.accounting import Accounted, Accounting, Direction, Family, Row
from srv6mgrd.model.chains import (
    Chain,
    Chains,
    Classifier,
    ClassifierRule,
    Egress,
    Hop,
    ServiceFunction,
    Way,
)
from srv6mgrd.model.desired import Role
from srv6mgrd.model.leaking import DEFAULT_VRF
from tests.contract.accounting.network import (
    EDGE,
    FAR,
    FAR_SIDS,
    PASSED,
    SITE,
    VRF,
    Network,
    counted,
    declared,
    renamed,
)

pytestmark = pytest.mark.contract


@pytest.mark.parametrize("inner", ["ipv6", "ipv4"])
def test_forwarded(network: Network, inner: str) -> None:
    network.declare(declared())
    assert network.differing() == []

    with network.captured() as packets:
        assert network.ping(inner) == 3

    sent, received = counted(packets, outgoing=False), counted(packets, outgoing=True)
    assert sent.packets == received.packets == 3
    family = Family(inner)
    assert network.rows(Direction.SENT) == {Row(VRF, family, IPv6Address(FAR_SIDS[inner])): sent}
    assert network.rows(Direction.RECEIVED) == {Row(VRF, family, FAR): received}


@pytest.mark.parametrize("inner", ["ipv6", "ipv4"])
def test_classified(network: Network, inner: str) -> None:
    """What a classifier encapsulates never comes by the VRF."""
    family, far = Family(inner), IPv6Address(FAR_SIDS[inner])
    through = {(family, Way.FORWARD): IPv6Address(PASSED)}
    chains = Chains(
        functions={"cleaner": ServiceFunction("cleaner", segments=through)},
        chains={
            "clean": Chain("clean", (Hop(1, "cleaner"),), {Way.FORWARD: Egress(segments=(far,))})
        },
        classifiers={
            "tenant": Classifier(
                "tenant", vrf=VRF, rules=(ClassifierRule(1, "clean", family=family),)
            )
        },
    )
    try:
        network.declare(replace(declared(), chains=chains))
        assert network.differing() == []

        with network.captured() as packets:
            assert network.ping(inner) == 3

        sent = counted(packets, outgoing=False)
        assert sent.packets == 3
        row = Row(VRF, family, far, (IPv6Address(PASSED),))
        assert network.rows(Direction.SENT) == {row: sent}
    finally:
        network.declare(declared())


@pytest.mark.parametrize("inner", ["ipv6", "ipv4"])
def test_local(network: Network, inner: str) -> None:
    network.declare(declared())

    with network.captured() as packets:
        network.ping(inner, local=VRF)

    sent = counted(packets, outgoing=False)
    assert sent.packets == 3
    assert network.rows(Direction.SENT) == {
        Row(VRF, Family(inner), IPv6Address(FAR_SIDS[inner])): sent
    }


@pytest.mark.parametrize("inner", ["ipv6", "ipv4"])
def test_replies_of_the_kernel(network: Network, inner: str) -> None:
    """Nothing says of which VRF they are (docs/accounting.md)."""
    network.declare(declared())

    with network.captured() as packets:
        network.on("far", f"ping -{inner[-1]} -n -c 3 -i 0.01 -W 2 -I {SITE[inner]} {EDGE[inner]}")

    sent = counted(packets, outgoing=False)
    assert sent.packets == 3
    row = Row(DEFAULT_VRF, Family(inner), IPv6Address(FAR_SIDS[inner]))
    assert network.rows(Direction.SENT) == {row: sent}


@pytest.mark.parametrize("reduced", [False, True])
def test_segment_list(network: Network, reduced: bool) -> None:
    network.declare(declared(segments=[PASSED], reduced=reduced))

    with network.captured() as packets:
        assert network.ping("ipv6") == 3

    row = Row(VRF, Family.IPV6, IPv6Address(FAR_SIDS["ipv6"]), (IPv6Address(PASSED),))
    assert network.rows(Direction.SENT) == {row: counted(packets, outgoing=False)}


@pytest.mark.parametrize("inner", ["ipv6", "ipv4"])
def test_super_packets(network: Network, inner: str) -> None:
    """TCP hands down what is cut to packets behind the program; they count as on the wire."""
    network.declare(declared())
    network.run("ip link set core gso_max_segs 1")
    network.on("far", "ip link set eth0 gso_max_segs 1")

    with network.captured() as packets:
        network.transfer(inner, 1 << 20)

    assert network.kernel.accounted().others == {}
    assert network.total(Direction.SENT) == counted(packets, outgoing=False)
    assert network.total(Direction.RECEIVED) == counted(packets, outgoing=True)


def test_several_interfaces(network: Network) -> None:
    """What leaves on one and on another is in one row."""
    far = network.name("far")
    network.run(f"ip link add core2 mtu 1700 type veth peer name eth1 mtu 1700 netns {far}")
    network.run("ip link set core2 up; ip addr add 2001:db8:d::1/64 dev core2 nodad")
    network.on("far", "ip addr add 2001:db8:d::2/64 dev eth1 nodad")
    network.on("far", "ip link set eth1 up")
    network.on("far", "sysctl -qw net.ipv6.conf.eth1.seg6_enabled=1")
    both = declared()
    network.declare(replace(both, roles={**both.roles, "core2": Role.CORE}))

    with network.captured() as packets:
        assert network.ping("ipv6") == 3
        network.run("ip -6 route replace fcbb:0:3::/48 via 2001:db8:d::2")
        assert network.ping("ipv6") == 3

    assert counted(packets, outgoing=False).packets == 3
    row = Row(VRF, Family.IPV6, IPv6Address(FAR_SIDS["ipv6"]))
    assert network.rows(Direction.SENT)[row].packets == 6


def test_a_vrf_that_is_made_again_goes_on(network: Network) -> None:
    """Its rows are not shown while it is gone, and are no other VRF's that has its table."""
    network.declare(declared())
    network.ping("ipv6")
    before = network.rows(Direction.SENT)

    red = declared()
    network.declare(renamed(red, "green"))
    assert network.rows(Direction.SENT) == {}
    network.ping("ipv6")
    (green,) = network.rows(Direction.SENT).items()
    assert (green[0].vrf, green[1].packets) == ("green", 3)

    network.declare(red)
    assert network.rows(Direction.SENT) == before
    network.ping("ipv6")
    (row,) = network.rows(Direction.SENT).values()
    assert row.packets == 6


def test_nothing_is_left_when_it_is_disabled(network: Network) -> None:
    network.declare(declared())
    assert "tcx/egress sent" in network.run("bpftool net show dev core")

    network.declare(replace(declared(), accounting=Accounting()))
    assert "tcx" not in network.run("bpftool net show dev core")
    assert network.kernel.accounted() == Accounted()
    assert network.differing() == []


def test_hooks_and_maps_are_repaired(network: Network) -> None:
    """What was counted stays."""
    network.declare(declared())
    network.ping("ipv6")
    before = network.rows(Direction.SENT)

    for pin in network.programs.folder.glob("*/*"):
        pin.unlink()
    network.repair()
    assert network.differing() == []
    network.ping("ipv6")
    assert {row: 2 * c.packets for row, c in before.items()} == {
        row: c.packets for row, c in network.rows(Direction.SENT).items()
    }
