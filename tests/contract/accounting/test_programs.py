"""The programs over single packets (BPF_PROG_TEST_RUN): the bound of the table, and what is not
counted. Needs no VRF."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Network

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment, IPv6ExtHdrSegmentRouting
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw

from srv6mgrd.accounting import layout
from srv6mgrd.accounting.programs import AccountingPrograms
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.accounting.object import (
    RECEIVED,
    SENT,
    AccountedSid,
    AccountedVrf,
    AccountingSources,
)
from srv6mgrd.kinds.accounting.object import AccountingPrograms as ProgramsObject
from srv6mgrd.model.accounting import Accounted, Count, Direction, Family, Row
from srv6mgrd.plan.actions import Create, Delete, Replace
from tests.contract.kernel.conftest import Run
from tests.contract.proxy.packets import FRAME, MAC, NEXT_FILTER, Runner

pytestmark = pytest.mark.contract

OWN, SECOND_OWN = IPv6Address("2001:db8::1"), IPv6Address("2001:db8::11")
REMOTE = IPv6Address("fcbb:0:2:d46::")
SID = IPv6Network("fcbb:0:1:d46::/64")
LOCAL = "fcbb:0:1:d46::"
PEER = "2001:db8::2"
VRF, IFINDEX = "red", 1 << 28 | 10
# struct __sk_buff: ingress_ifindex, ifindex, gso_segs, gso_size.
_CONTEXT, _INGRESS_IFINDEX, _IFINDEX, _GSO_SEGS, _GSO_SIZE = 192, 36, 40, 164, 176


@dataclass(slots=True)
class Programs:
    kernel: LinuxKernel
    programs: AccountingPrograms
    core: int
    runner: Runner = field(default_factory=Runner)

    def run(self, name: str, packet: Packet, *, interface: int = IFINDEX, gso: int = 0) -> None:
        """The packet goes on as it is."""
        program = self.programs.program(name)
        assert program is not None
        context = bytearray(_CONTEXT)
        struct.pack_into("=I", context, _INGRESS_IFINDEX, interface)
        struct.pack_into("=I", context, _IFINDEX, self.core)
        if gso:
            struct.pack_into("=I", context, _GSO_SEGS, 1)
            struct.pack_into("=I", context, _GSO_SIZE, gso)
        try:
            raw = bytes(packet)
            assert self.runner(program, raw, context=bytes(context)) == (NEXT_FILTER, raw)
        finally:
            os.close(program)

    @property
    def accounted(self) -> Accounted:
        return self.kernel.accounted()

    def rows(self, direction: Direction) -> dict[Row, Count]:
        return dict(self.accounted.rows[direction])


@pytest.fixture
def loaded(programs: AccountingPrograms, run: Run) -> Iterator[Programs]:
    # A packet is for the router by its MAC address.
    run(f"ip link add core address {MAC} type veth peer name far")
    kernel = LinuxKernel(accounting=programs)
    objects = [
        ProgramsObject(),
        AccountingSources((OWN, SECOND_OWN)),
        AccountedVrf(VRF, IFINDEX),
        AccountedSid(SID, VRF, (Family.IPV6,)),
    ]
    assert kernel.apply([Create(obj) for obj in objects]) == []
    yield Programs(kernel, programs, kernel.observe([]).interfaces["core"])
    kernel.close()


def inner(size: int = 100) -> Packet:
    return IPv6(src="2001:db8:1::1", dst="2001:db8:2::2") / UDP() / Raw(bytes(size))


def sent(segments: list[str], packet: Packet, source: IPv6Address = OWN) -> Packet:
    header = IPv6ExtHdrSegmentRouting(
        addresses=segments[::-1], segleft=len(segments) - 1, lastentry=len(segments) - 1
    )
    if isinstance(packet, Ether):
        header.nh = 143
    return FRAME / IPv6(src=str(source), dst=segments[0]) / header / packet


def received(packet: Packet, source: str = PEER) -> Packet:
    return FRAME / IPv6(src=source, dst=LOCAL, nh=41) / packet


def count_of(packet: Packet, inside: Packet, packets: int = 1) -> Count:
    return Count(packets, len(inside), len(packet) - 14)


def test_sent(loaded: Programs) -> None:
    packet = sent(["fcbb:0:7::", str(REMOTE)], inner())
    loaded.run(SENT, packet)
    row = Row(VRF, Family.IPV6, REMOTE, (IPv6Address("fcbb:0:7::"),))
    assert loaded.rows(Direction.SENT) == {row: count_of(packet, inner())}


def test_the_order_of_segments_makes_another_row(loaded: Programs) -> None:
    for first, second in (("fcbb:0:7::", "fcbb:0:8::"), ("fcbb:0:8::", "fcbb:0:7::")):
        loaded.run(SENT, sent([first, second, str(REMOTE)], inner()))
    found = {row.segments for row in loaded.rows(Direction.SENT)}
    assert found == {
        (IPv6Address("fcbb:0:7::"), IPv6Address("fcbb:0:8::")),
        (IPv6Address("fcbb:0:8::"), IPv6Address("fcbb:0:7::")),
    }


def test_frames(loaded: Programs) -> None:
    """L2 (H.Encaps.L2): the frame inside counts with its header."""
    frame = Ether(dst="02:00:00:00:00:09", src="02:00:00:00:00:08") / IP() / UDP() / Raw(b"frame")
    packet = sent([str(REMOTE)], frame)
    loaded.run(SENT, packet)
    row = Row(VRF, Family.ETHERNET, REMOTE)
    assert loaded.rows(Direction.SENT) == {row: count_of(packet, frame)}


def test_fragments_of_the_outer_packet(loaded: Programs) -> None:
    """They are one packet, and all of its octets."""
    for offset, more in ((0, 1), (64, 0)):
        fragment = IPv6ExtHdrFragment(nh=41, offset=offset // 8, m=more)
        payload = Raw(bytes(inner(512))[:512] if more else bytes(100))
        loaded.run(SENT, FRAME / IPv6(src=str(OWN), dst=str(REMOTE)) / fragment / payload)
    row = Row(VRF, Family.IPV6, REMOTE)
    assert loaded.rows(Direction.SENT) == {row: Count(1, 512 + 100, 2 * 48 + 512 + 100)}


_HEADER = Ether(dst="02:00:00:00:00:09", src="02:00:00:00:00:08")
_SEGMENT = TCP(options=[("Timestamp", (1, 2)), ("NOP", None), ("NOP", None)]) / Raw(bytes(2500))


@pytest.mark.parametrize(
    ("family", "packet"),
    [
        (Family.IPV4, IP() / _SEGMENT),
        (Family.IPV6, IPv6() / _SEGMENT),
        (Family.ETHERNET, _HEADER / IP() / _SEGMENT),
        (Family.ETHERNET, _HEADER / Dot1Q(vlan=5) / IPv6() / _SEGMENT),
        (Family.IPV6, IPv6() / UDP() / Raw(bytes(2500))),
    ],
)
def test_super_packets(loaded: Programs, family: Family, packet: Packet) -> None:
    """Each packet has headers of its own; the last one may be shorter."""
    whole = sent([str(REMOTE)], packet)
    loaded.run(SENT, whole, gso=1000)

    inside, outside = len(packet) - 2500, len(whole) - 14 - len(packet)
    counted = Count(3, 2500 + 3 * inside, 2500 + 3 * (inside + outside))
    assert loaded.rows(Direction.SENT) == {Row(VRF, family, REMOTE): counted}


def lists_of(loaded: Programs, numbers: Iterable[int]) -> list[tuple[IPv6Address, ...]]:
    """Send a packet over each of these segment lists."""
    found = []
    for n in numbers:
        segments = [str(IPv6Address((0xFD << 120) + n)), str(REMOTE)]
        loaded.run(SENT, sent(segments, inner()))
        found.append(tuple(map(IPv6Address, segments)))
    return found


def test_lists_that_are_not_declared_make_room(loaded: Programs) -> None:
    """What was counted over them goes on in the row for others; declared ones have rows."""
    declared = lists_of(loaded, range(layout.MAX_LISTS // 20))
    lists_of(loaded, range(5000, 5000 + layout.MAX_LISTS))
    found = loaded.kernel.accounted(declared)
    rows = found.rows[Direction.SENT]
    assert {(*row.segments, row.remote) for row in rows} == set(declared)
    one = count_of(sent([str(REMOTE), str(REMOTE)], inner()), inner())
    octets = layout.MAX_LISTS * one.inner_octets, layout.MAX_LISTS * one.outer_octets
    other = Direction.SENT, Family.IPV6
    assert found.others[other] == Count(layout.MAX_LISTS, *octets)

    (new,) = lists_of(loaded, [99999])
    rows = loaded.kernel.accounted(declared).rows[Direction.SENT]
    assert Row(VRF, Family.IPV6, REMOTE, new[:-1]) in rows


def srh(*segments: str, left: int = 0, following: int = 41) -> Packet:
    return IPv6ExtHdrSegmentRouting(
        addresses=segments, segleft=left, lastentry=len(segments) - 1, nh=following
    )


@pytest.mark.parametrize(
    "headers",
    [
        srh(str(REMOTE), "fcbb:0:7::", following=43) / srh("fcbb:0:9::", "fcbb:0:8::"),
        srh(str(REMOTE), following=43) / srh("fcbb:0:9::"),
        srh(*(f"fcbb:0:{n}::" for n in range(1, 20))),
    ],
)
def test_packets_whose_list_no_row_can_name(loaded: Programs, headers: Packet) -> None:
    packet = FRAME / IPv6(src=str(OWN), dst=str(REMOTE)) / headers / inner()
    loaded.run(SENT, packet)
    assert loaded.accounted.rows[Direction.SENT] == {}
    assert loaded.accounted.others == {(Direction.SENT, Family.IPV6): count_of(packet, inner())}


@pytest.mark.parametrize(
    ("headers", "counted"),
    [
        # The behavior looks at the first routing header.
        (srh(LOCAL, following=43) / srh(LOCAL), True),
        (srh(LOCAL, "fcbb:0:7::", left=1, following=43) / srh(LOCAL), False),
        (srh(LOCAL, following=43) / srh(LOCAL, "fcbb:0:7::", left=1), True),
        # It takes a malformed one for none.
        (srh(LOCAL, left=9), True),
        # More segments than a row has.
        (srh(*[LOCAL] * 20), True),
    ],
)
def test_received_with_routing_headers(loaded: Programs, headers: Packet, counted: bool) -> None:
    packet = FRAME / IPv6(src=PEER, dst=LOCAL) / headers / inner()
    loaded.run(RECEIVED, packet)
    row = Row(VRF, Family.IPV6, IPv6Address(PEER))
    expected = {row: count_of(packet, inner())} if counted else {}
    assert loaded.rows(Direction.RECEIVED) == expected


def test_counters_are_read_while_a_pin_is_missing(loaded: Programs) -> None:
    loaded.run(RECEIVED, received(inner()))
    before = loaded.accounted
    (loaded.programs.folder / "maps" / "rows").unlink()
    assert loaded.accounted == before


def test_a_sid_of_no_vrf_that_is_known_differs(loaded: Programs) -> None:
    """It would be counted for the default VRF."""
    maps = loaded.programs.maps()
    assert maps is not None
    assert maps.sids.put(layout.prefix_key(SID), layout.sid(77, [Family.IPV6])) is None
    wanted = AccountedSid(SID, VRF, (Family.IPV6,))
    seen = loaded.kernel.observe([]).objects[wanted.key].object
    assert isinstance(seen, AccountedSid)
    assert seen.vrf not in (None, VRF)
    assert loaded.kernel.apply([Replace(seen, wanted)]) == []
    assert loaded.kernel.observe([]).objects[wanted.key].object == wanted


def test_received(loaded: Programs) -> None:
    packet = received(inner())
    loaded.run(RECEIVED, packet)
    row = Row(VRF, Family.IPV6, IPv6Address(PEER))
    assert loaded.rows(Direction.RECEIVED) == {row: count_of(packet, inner())}


@pytest.mark.parametrize(
    ("program", "packet"),
    [
        # In transit, and a packet of this router that is in no tunnel.
        (SENT, sent([str(REMOTE)], inner(), IPv6Address(PEER))),
        (SENT, FRAME / IPv6(src=str(OWN), dst=PEER) / UDP()),
        # For another SID; of a family that the SID does not take; with segments left.
        (RECEIVED, FRAME / IPv6(src=PEER, dst="fcbb:0:1:e::", nh=41) / inner()),
        (RECEIVED, FRAME / IPv6(src=PEER, dst=LOCAL, nh=4) / IP()),
        (RECEIVED, sent([LOCAL, str(REMOTE)], inner(), IPv6Address(PEER))),
        # Cut off inside of the SRH.
        (SENT, Raw(bytes(sent([str(REMOTE)], inner()))[: 14 + 40 + 12])),
    ],
)
def test_not_counted(loaded: Programs, program: str, packet: Packet) -> None:
    loaded.run(program, packet)
    assert loaded.accounted.rows == {Direction.SENT: {}, Direction.RECEIVED: {}}
    assert loaded.accounted.others == {}


def test_each_source_of_ours_counts(loaded: Programs) -> None:
    loaded.run(SENT, sent([str(REMOTE)], inner(), SECOND_OWN))
    assert [count.packets for count in loaded.rows(Direction.SENT).values()] == [1]


def test_packets_of_no_vrf(loaded: Programs) -> None:
    loaded.run(SENT, sent([str(REMOTE)], inner()), interface=1)
    assert [row.vrf for row in loaded.rows(Direction.SENT)] == ["default"]


def test_a_scan_fills_the_table_and_all_is_counted(loaded: Programs) -> None:
    """The sum is exact, whatever has a row."""
    maps = loaded.programs.maps()
    assert maps is not None
    # On the first CPU.
    one = layout.COUNT.pack(1, 1, 1).ljust(maps.rows.value_size, b"\0")
    for n in range(layout.MAX_ROWS):
        source = IPv6Address((0xFD << 120) + n)
        assert maps.rows.put(layout.key(1, Direction.RECEIVED, Family.IPV6, source), one) is None
    packet = received(inner())
    for _ in range(5):
        loaded.run(RECEIVED, packet)

    found = loaded.accounted
    rows = found.rows[Direction.RECEIVED].values()
    assert (len(rows), sum(count.packets for count in rows)) == (layout.MAX_ROWS, layout.MAX_ROWS)
    other = Count(5, 5 * len(inner()), 5 * (len(packet) - 14))
    assert found.others == {(Direction.RECEIVED, Family.IPV6): other}


def test_rows_of_vrfs_that_are_gone_make_room(loaded: Programs) -> None:
    maps = loaded.programs.maps()
    assert maps is not None
    nothing, red = bytes(maps.rows.value_size), AccountedVrf(VRF, IFINDEX)
    loaded.run(SENT, sent([str(REMOTE)], inner()), interface=1)
    for n in range(layout.MAX_ROWS * 95 // 100):
        source = IPv6Address((0xFD << 120) + n)
        key = layout.key(1, Direction.RECEIVED, Family.IPV6, source)
        assert maps.rows.put(key, nothing) is None
    assert len(loaded.rows(Direction.RECEIVED)) > layout.MAX_ROWS * 9 // 10

    assert loaded.kernel.apply([Delete(red)]) == []
    assert loaded.rows(Direction.RECEIVED) == {}
    left = [key for key, _ in maps.rows.items(layout.KEY_SIZE)]
    assert [layout.vrf_of_key(key) for key in left] == [0]
    assert loaded.kernel.apply([Create(red)]) == []
    loaded.run(SENT, sent([str(REMOTE)], inner()))
    assert {row.vrf for row in loaded.rows(Direction.SENT)} == {"default", VRF}
