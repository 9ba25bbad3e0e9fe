"""What is read of the node."""

from __future__ import annotations

from srv6mgrd.drops.node import DropNode, discards_of
from srv6mgrd.plan.observed import Links


def test_counters_of_the_node_that_say_that_a_packet_came_to_nothing() -> None:
    snmp6 = "Ip6InReceives 900\nIp6InNoRoutes 3\nIp6InHdrErrors 2\nIcmp6OutDestUnreachs 1\n"
    snmp = (
        "Ip: Forwarding DefaultTTL InReceives InHdrErrors\nIp: 1 64 800 5\n"
        "Icmp: InMsgs OutDestUnreachs\nIcmp: 7 4\nTcp: InSegs InErrs\nTcp: 10 9\n"
    )
    netstat = "TcpExt: SyncookiesSent\nTcpExt: 6\nIpExt: InNoRoutes InTruncatedPkts\nIpExt: 11 8\n"
    assert discards_of(snmp6, snmp, netstat) == (3 + 2 + 1) + (5 + 4) + 11


class Busy:
    """A kernel with many links: to read them takes 0.1 s."""

    def __init__(self) -> None:
        self.spent = self.now = 0.0
        self.reads = 0

    def links(self) -> Links:
        self.spent += 0.1
        self.reads += 1
        return Links()

    def filtered(self) -> int:
        return 0


def test_reading_many_links_takes_a_fiftieth_of_the_time() -> None:
    kernel = Busy()
    node = DropNode(kernel, clock=lambda: kernel.now, spent=lambda: kernel.spent)
    for second in range(100):
        kernel.now = float(second)
        node.links()
    assert kernel.reads == 20
