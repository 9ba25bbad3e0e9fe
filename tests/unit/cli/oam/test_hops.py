"""Where a trace says that packets stop."""

import errno
import os
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Address

from srv6mgrd.cli.oam import reply
from srv6mgrd.cli.oam.exchange import Exchange
from srv6mgrd.cli.oam.hops import Limits, Trace
from srv6mgrd.cli.oam.probe import Echo, Host, Loop, Vpn
from srv6mgrd.cli.oam.reply import Kind, Reply
from tests.fakes.oam_network import FakeNetwork

HERE = IPv6Address("2001:db8::1")
FAR = IPv6Address("2001:db8::9")
S1, S2 = IPv6Address("fcbb:0:1::"), IPv6Address("fcbb:0:2::")
R1, R2, R3 = (IPv6Address(f"2001:db8:{n}::1") for n in (1, 2, 3))
HOST = Host("red", IPv6Address("fd00:1::1"), IPv6Address("fd00:2::10"))


@dataclass
class Line:
    """Routers in a row. ``sids`` are those that each goes on from, as Linux does it: before the hop
    limit. ``silent`` ones answer nothing, one that ``drops`` says so by itself or not at all."""

    routers: list = field(default_factory=lambda: [R1, R2, R3])
    sids: dict = field(default_factory=dict)
    silent: tuple = ()
    drops: dict = field(default_factory=dict)
    end: object = None

    def __call__(self, data):
        about = reply.of_icmp(bytes([3, 0, 0, 0, 0, 0, 0, 0]) + data, R1)
        header = about.quoted
        for number, router in enumerate(self.routers, 1):
            active, left = header.destination, header.left
            if active in self.sids.get(router, ()) and left:
                left -= 1
                active = header.segments[len(header.segments) - 1 - left]
            expired = header.hop_limit <= number
            header = replace(header, destination=active, left=left)
            if router in self.drops and not (expired and self.drops[router] is None):
                said = self.drops[router]
                return (
                    [] if said is None else [replace(about, sender=router, quoted=header, **said)]
                )
            if expired:
                return (
                    [] if router in self.silent else [replace(about, sender=router, quoted=header)]
                )
        return self.end(data, about) if self.end is not None else []


def traced(probe, line, **limits):
    network = FakeNetwork(line)
    trace = Trace(Exchange(network, 7, network.clock), probe, Limits(**limits))
    return list(trace.hops()), trace.end, trace


def echo_reply(_, about):
    return [Reply(Kind.ECHO_REPLY, FAR, about.ident, about.sequence)]


def test_sids_are_passed_hop_by_hop():
    line = Line(sids={R1: {S1}, R3: {S2}}, end=echo_reply)
    hops, end, _ = traced(Echo(HERE, (S1, S2, FAR)), line)
    assert [(hop.router, hop.active, hop.left, hop.note) for hop in hops] == [
        (R1, S2, 1, f"past {S1}"),
        (R2, S2, 1, ""),
        (R3, FAR, 0, f"past {S2}"),
        (FAR, None, None, "answers"),
    ]
    assert (end.arrived, end.at_host, end.message) == (True, True, f"{FAR} is reached")


def test_a_loop_ends_behind_the_sid():
    hops, end, _ = traced(Loop(HERE, (S1,)), Line(sids={R2: {S1}}))
    assert [(hop.router, hop.left, hop.note) for hop in hops] == [
        (R1, 1, ""),
        (R2, 0, "on its way back"),
    ]
    assert end.arrived
    assert end.message == f"{S1} is reached: the packet was on its way back at hop 2"


def test_a_router_without_a_route_is_named():
    line = Line(drops={R2: {"kind": Kind.UNREACHABLE, "code": 0}})
    hops, end, _ = traced(Echo(HERE, (S1, FAR)), line)
    assert hops[-1].note == "no route"
    assert end.message == f"it stops at {R2} (hop 2): no route to {S1}"
    assert (end.arrived, end.router, end.after, end.next_sid) == (False, R2, 2, S1)


def test_a_filter_is_found_between_two_hops():
    line = Line(sids={R1: {S1}}, drops={R2: None})
    hops, end, _ = traced(Echo(HERE, (S1, S2, FAR)), line)
    assert [hop.router for hop in hops] == [R1, R2, None, None]
    assert end.message == (
        f"no answer after hop 2 ({R2}): lost there or at the next hop, on the way to {S2}"
    )
    assert end.next_sid == S2


def test_a_silent_router_does_not_end_the_trace():
    hops, end, _ = traced(Echo(HERE, (FAR,)), Line(silent=(R2,), end=echo_reply))
    assert [hop.router for hop in hops] == [R1, None, R3, FAR]
    assert end.arrived


def test_nobody_answers():
    _, end, _ = traced(Echo(HERE, (S1, FAR)), Line(routers=[]))
    assert end.message == f"no answer from any hop on the way to {S1}"


def test_a_loop_of_routers_is_named():
    _, end, _ = traced(Echo(HERE, (S1,)), Line(routers=[R1, *[R2, R3] * 20]))
    assert end.message == f"it loops between {R2} and {R3}, on the way to {S1}"


def test_a_packet_that_is_too_big():
    """Its router shows its hop limit first."""

    def answer(data, about):
        return [replace(about, kind=Kind.TOO_BIG, sender=R2, detail=1400)]

    _, end, _ = traced(Echo(HERE, (S1,), 1500), Line(routers=[R1, R2], end=answer))
    assert end.message == f"it stops at {R2} (hop 2): packet too big for an MTU of 1400 to {S1}"


def test_this_router_has_no_route():
    problem = OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))
    network = FakeNetwork(Line(), problem=problem)
    trace = Trace(Exchange(network, 7, network.clock), Echo(HERE, (S1,)), Limits())
    assert len(list(trace.hops())) == 1
    assert trace.end.message == "it stops at this router: Network is unreachable"


def test_no_more_hops_than_asked_for():
    hops, end, _ = traced(Echo(HERE, (S1,)), Line(), hops=2)
    assert len(hops) == 2
    assert end.message == "it did not arrive within 2 hops"


def test_a_vpn_ends_at_the_edge_and_goes_on_behind_it():
    ce = IPv6Address("fd00:2::1")

    def edge(data, about):
        """Takes the packet out: its hop limit decides who answers."""
        inner = reply.of_icmp(bytes([3, 0, 0, 0, 0, 0, 0, 0]) + data[40:], ce)
        if inner.quoted.hop_limit == 1:
            return [inner]
        return [Reply(Kind.ECHO_REPLY, HOST.destination, about.ident, about.sequence)]

    hops, end, trace = traced(Vpn(HERE, (S2,), HOST), Line(routers=[R1], end=edge))
    assert [(hop.router, hop.note) for hop in hops] == [
        (R1, ""),
        (ce, f"took the packet out of {S2}"),
    ]
    assert (end.arrived, end.at_host) == (True, False)
    assert [(hop.number, hop.router) for hop in trace.inner_hops()] == [(3, HOST.destination)]
    assert trace.end.message == f"{HOST.destination} is reached"
