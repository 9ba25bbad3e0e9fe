"""Traffic through a function in a namespace, on a node that is planned and written as a whole."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Network

import pytest
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import Packet

from lab.waiting import wait_until
from srv6mgrd.apply import error_messages
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.model.desired import Desired, Sid
from srv6mgrd.plan.actions import Create, Replace
from srv6mgrd.proxy.programs import Programs
from tests.contract.proxy.network import FIRST, LAST, PREFIX, Network, declared
from tests.contract.proxy.packets import inner6, left_of, routed

pytestmark = pytest.mark.contract

CASES = [
    (Behavior.END_AD, "ipv6"),
    (Behavior.END_AD, "ipv4"),
    (Behavior.END_AS, "ipv6"),
    (Behavior.END_AS, "ipv4"),
    (Behavior.END_AM, "ipv6"),
]

POPS = IPv6Network("fcbb:0:1:e::/64")


@pytest.mark.parametrize(("behavior", "inner"), CASES)
def test_there_and_on(network: Network, behavior: Behavior, inner: str) -> None:
    network.steer(inner, (FIRST, LAST[inner]))
    # The function's host stack reports its multicast groups now and then.
    network.declare(declared(behavior, inner, passes=("multicast",)))

    assert network.ping(inner) == 3

    counts = network.counts()
    assert (counts.to_packets, counts.from_packets, counts.errors) == (3, 3, 0)


def test_masquerades_an_inserted_header(network: Network) -> None:
    """The function sees a packet to its real destination, with a header that it need not know; a
    SID with PSP takes that off. The destination's own SID could not: what it pops has to be
    forwarded (seg6_lookup_any_nexthop)."""
    pops = Sid(POPS, "MAIN", Behavior.END, flavors=frozenset({Flavor.PSP}))
    desired = declared(Behavior.END_AM, "ipv6", passes=("multicast",))
    network.insert((FIRST, str(POPS.network_address)))
    network.declare(replace(desired, sids={**desired.sids, pops.prefix: pops}))

    assert network.ping("ipv6") == 3

    counts = network.counts()
    assert (counts.to_packets, counts.from_packets, counts.errors) == (3, 3, 0)
    assert network.kernel.sid_counters()[POPS][0] == 3


@pytest.mark.parametrize(("behavior", "inner"), CASES)
def test_there_and_on_by_a_tap(network: Network, behavior: Behavior, inner: str) -> None:
    network.steer(inner, (FIRST, LAST[inner]))
    with network.behind_a_tap():
        network.declare(declared(behavior, inner, passes=("multicast",)))

        assert network.ping(inner) == 3

        counts = network.counts()
        assert (counts.to_packets, counts.from_packets, counts.errors) == (3, 3, 0)
        network.declare(Desired())


@pytest.mark.parametrize("behavior", [Behavior.END_AD, Behavior.END_AS])
def test_frames_there_and_on(network: Network, behavior: Behavior) -> None:
    network.build_wire()
    network.steer_wire((FIRST, LAST["ethernet"]))
    network.declare(declared(behavior, "ethernet"))

    assert network.arrive_by_wire(3) == 3

    # Bridges have things of their own to say.
    assert network.counts().to_packets == 3
    assert network.counts().from_packets >= 3


@pytest.mark.parametrize(
    "tags",
    [Dot1Q(vlan=5, prio=3), Dot1AD(vlan=7) / Dot1Q(vlan=5), Dot1Q(vlan=7) / Dot1Q(vlan=5)],
    ids=["802.1Q", "802.1ad and 802.1Q", "802.1Q twice"],
)
@pytest.mark.parametrize("per_flow", [False, True], ids=["", "per flow"])
def test_frames_keep_their_vlan_tags(network: Network, tags: Packet, per_flow: bool) -> None:
    """The kernel takes the outermost one off before any filter sees the frame."""
    network.build_wire()
    network.declare(declared(Behavior.END_AD, "ethernet", per_flow=per_flow))
    frame = Ether(dst="02::22", src="02::11") / tags / inner6()
    packet = routed(frame, (FIRST, LAST["ethernet"]))
    packet.dst = network.mac("to-source")

    came = network.carry([bytes(packet)] * 3, 3)

    assert [c[-len(frame) :] for c in came] == [bytes(frame)] * 3
    assert {left_of(Ether(c)) for c in came} == {(LAST["ethernet"], 0)}
    # Their length is right, or the sink would not take them.
    assert {Ether(c)[IPv6].plen for c in came} == {len(came[0]) - 14 - 40}


def test_frames_with_more_tags_than_can_be_put_back_are_errors(network: Network) -> None:
    network.build_wire()
    network.declare(declared(Behavior.END_AD, "ethernet"))
    frame = Ether(dst="02::22", src="02::11") / inner6()
    tagged = Ether(dst="02::22", src="02::11") / Dot1Q() / Dot1Q() / Dot1Q() / inner6()
    packets = [routed(inside, (FIRST, LAST["ethernet"])) for inside in (tagged, frame)]
    for packet in packets:
        packet.dst = network.mac("to-source")

    (came,) = network.carry(list(map(bytes, packets)), 1)

    assert came.endswith(bytes(frame))
    counts = network.counts()
    # The wire has packets of its own, of which one may come before the frame.
    assert counts.not_for_proxy == counts.errors - counts.nothing_learned == 1


@pytest.mark.parametrize("inner", ["ipv6", "ipv4"])
def test_the_nodes_own_packets_into_its_own_proxy(network: Network, inner: str) -> None:
    network.declare(declared(Behavior.END_AD, inner, passes=("multicast",)))
    network.steer_own(inner, (FIRST, LAST[inner]))

    assert network.ping(inner, local=True) == 3

    counts = network.counts()
    assert (counts.to_packets, counts.from_packets, counts.errors) == (3, 3, 0)


@pytest.mark.parametrize("node", ["sink", "function"])
def test_a_neighbor_gets_another_address(network: Network, node: str) -> None:
    """What the programs know of it is not older than a tick."""
    network.steer("ipv6", (FIRST, LAST["ipv6"]))
    network.declare(declared(Behavior.END_AD, "ipv6", passes=("multicast",)))
    with network.pinging("ipv6"):
        wait_until(network.passing, "packets from the function")
        network.on(node, "ip link set eth0 address 02:00:00:00:00:77")
        network.run(f"ip neigh flush dev to-{node}")
        network.repair()

        wait_until(lambda: network.ping("ipv6") == 3, "answers")


def test_the_way_on_changes(network: Network) -> None:
    network.steer("ipv6", (FIRST, LAST["ipv6"]))
    network.declare(declared(Behavior.END_AD, "ipv6", passes=("multicast",)))
    with network.pinging("ipv6"):
        wait_until(network.passing, "packets from the function")
        network.run("ip -6 route replace blackhole fcbb:0:3::/48")
        wait_until(lambda: network.ping("ipv6") == 0, "no answers")
        network.run("ip -6 route replace fcbb:0:3::/48 via 2001:db8:2::2")

        wait_until(lambda: network.ping("ipv6") == 3, "answers")


def test_written_once(network: Network) -> None:
    network.declare(declared(Behavior.END_AD, "ipv6", passes=("2001:db8:9::/64", "multicast")))

    assert network.differing() == []


def test_the_mtu_of_the_functions_link_is_reported(network: Network) -> None:
    network.declare(declared(Behavior.END_AD, "ipv6"))
    network.run("ip link set to-function mtu 1400")

    assert network.differing() == []

    assert network.kernel.proxies()[PREFIX].mtu == 1400


def test_a_declared_mtu_is_set_and_kept(network: Network) -> None:
    network.declare(declared(Behavior.END_AD, "ipv6", mtu=1420))
    network.run("ip link set to-function mtu 1500")

    assert network.repair() == [Replace(LinkMtu("to-function", 1500), LinkMtu("to-function", 1420))]

    assert network.differing() == []
    assert network.kernel.proxies()[PREFIX].mtu == 1420
    assert network.declare(declared(Behavior.END_AD, "ipv6")) == []


def test_an_mtu_that_the_link_cannot_have_is_rejected_in_words(network: Network) -> None:
    wanted = LinkMtu("to-function", 70000)

    (rejected,) = network.kernel.apply([Create(wanted)])

    assert str(error_messages.of_rejected(rejected)).startswith(
        "MTU 70000 of interface to-function: the kernel refused it: "
    )


def test_the_functions_link_goes_and_comes_while_packets_flow(network: Network) -> None:
    network.steer("ipv6", (FIRST, LAST["ipv6"]))
    network.declare(declared(Behavior.END_AD, "ipv6", passes=("multicast",)))
    with network.pinging("ipv6"):
        wait_until(network.passing, "packets from the function")
        network.take_function()

        network.repair()

        assert PREFIX not in network.kernel.proxies()
        network.bring_function()
        network.repair()
        wait_until(network.passing, "packets from the function")
    assert network.differing() == []


def test_nothing_stays(network: Network, programs: Programs) -> None:
    network.declare(declared(Behavior.END_AD, "ipv6"))
    network.declare(Desired())

    assert network.differing() == []
    assert "tcx" not in network.run("bpftool net show")
    assert not programs.folder.exists()


def test_a_restart_goes_on_with_what_was_learned(network: Network, programs: Programs) -> None:
    network.steer("ipv6", (FIRST, LAST["ipv6"]))
    network.declare(declared(Behavior.END_AD, "ipv6"))
    assert network.ping("ipv6") == 3
    programs.close()

    assert network.differing() == []
    assert network.counts().to_packets == 3


@pytest.mark.parametrize("harm", ["rm {}", "bpftool link detach pinned {}"])
@pytest.mark.parametrize("interface", ["to-source", "to-function"])
def test_repairs_what_was_detached(
    network: Network, programs: Programs, interface: str, harm: str
) -> None:
    network.steer("ipv6", (FIRST, LAST["ipv6"]))
    network.declare(declared(Behavior.END_AD, "ipv6", passes=("multicast",)))
    index = network.kernel.links().indexes[interface]
    network.run(harm.format(programs.folder / "links" / f"{index}-ingress"))
    network.ping("ipv6", 1)
    assert network.counts().from_packets == 0

    assert network.repair() != []

    assert network.differing() == []
    assert network.ping("ipv6") == 3
    assert network.counts().from_packets == 3


def test_repairs_pins_without_forgetting(network: Network, programs: Programs) -> None:
    network.steer("ipv6", (FIRST, LAST["ipv6"]))
    network.declare(declared(Behavior.END_AD, "ipv6"))
    assert network.ping("ipv6") == 3
    network.run(f"rm -r {programs.folder}")

    network.repair()

    assert network.differing() == []
    assert network.counts().to_packets == 3
    assert network.ping("ipv6") == 3


def test_others_programs_and_filters_stay(network: Network) -> None:
    network.run("tc qdisc add dev to-source clsact")
    network.run("tc filter add dev to-source ingress prio 9 bpf bytecode '1,6 0 0 0,' classid 1:1")
    before = network.run("tc filter show dev to-source ingress")
    found = declared(Behavior.END_AD, "ipv6")
    network.declare(found)
    network.declare(replace(found, sids={}))

    assert network.run("tc filter show dev to-source ingress") == before


def test_ours_stay_when_others_take_theirs_down(network: Network) -> None:
    network.steer("ipv6", (FIRST, LAST["ipv6"]))
    network.declare(declared(Behavior.END_AD, "ipv6", passes=("multicast",)))
    for interface in ("to-source", "to-function"):
        network.run(f"tc qdisc add dev {interface} clsact; tc qdisc del dev {interface} clsact")

    assert network.differing() == []
    assert network.ping("ipv6") == 3
    assert network.counts().from_packets == 3


def test_the_place_of_an_interface_that_is_gone_is_free(
    network: Network, programs: Programs
) -> None:
    network.declare(declared(Behavior.END_AD, "ipv6"))
    pins = {pin.name for pin in (programs.folder / "links").iterdir()}
    network.take_function()
    network.repair()
    network.bring_function()
    network.repair()

    assert network.differing() == []
    assert len({pin.name for pin in (programs.folder / "links").iterdir()}) == len(pins)
