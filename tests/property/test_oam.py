"""Packets of ping and trace: what is built is read back, and no bytes of a stranger harm."""

from ipaddress import IPv4Address, IPv6Address

from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.cli.oam import packet, reply
from srv6mgrd.cli.oam.probe import Echo, Host, Loop, Vpn, destination_of
from srv6mgrd.cli.oam.reply import Kind

ROUTER = IPv6Address("2001:db8:1::2")
NUMBERS = st.integers(0, 0xFFFF)
SIZES = st.integers(0, 64)
V6 = st.ip_addresses(v=6)
LISTS = st.lists(V6, min_size=1, max_size=6).map(tuple)
HOSTS = st.one_of(
    st.builds(Host, st.just("red"), V6, V6, SIZES),
    st.builds(Host, st.just("red"), st.ip_addresses(v=4), st.ip_addresses(v=4), SIZES),
)
PROBES = st.one_of(
    st.builds(Echo, V6, LISTS, SIZES),
    st.builds(Loop, V6, LISTS, SIZES, st.booleans()),
    st.builds(Vpn, V6, LISTS, HOSTS, st.integers(1, 255)),
    HOSTS,
)


def error(kind: int, code: int, quoted: bytes) -> bytes:
    return bytes([kind, code, 0, 0, 0, 0, 0, 0]) + quoted


@given(PROBES, NUMBERS, NUMBERS, st.integers(1, 255))
def test_an_error_names_its_probe(probe, ident, sequence, hop_limit):
    data = probe.pack(ident, sequence, hop_limit)
    version = data[0] >> 4
    sender = ROUTER if version == 6 else IPv4Address("192.0.2.1")
    found = reply.of_icmp(error(3 if version == 6 else 11, 0, data), sender)
    assert found is not None
    assert (found.kind, found.ident, found.sequence) == (Kind.TIME_EXCEEDED, ident, sequence)
    assert found.quoted.destination == destination_of(data)
    assert found.quoted.hop_limit == hop_limit
    if found.quoted.left is not None:
        assert found.quoted.left == len(found.quoted.segments) - 1
        assert found.quoted.segments[0] == found.quoted.destination


@given(PROBES, st.data())
def test_a_quote_may_be_cut_anywhere(probe, data):
    packed = probe.pack(7, 9, 64)
    cut = data.draw(st.integers(0, len(packed)))
    found = reply.of_icmp(error(3, 0, packed[:cut]), ROUTER)
    assert found is None or (found.ident, found.sequence) == (7, 9)


@given(st.binary(max_size=200), st.integers(0, 255))
def test_bytes_of_strangers_are_read_or_left(data, kind):
    for head in (data, bytes([kind]) + data, error(kind, 0, data), b"\x60" + data):
        reply.of_icmp(head, ROUTER)
        reply.of_icmp(head, IPv4Address("192.0.2.1"))
        reply.of_ipv4(head)
        reply.of_routing(head, ROUTER)


@given(V6, LISTS, NUMBERS, NUMBERS, st.booleans())
def test_a_probe_that_came_back_is_known(source, segments, ident, sequence, encapsulated):
    data = Loop(source, segments, 8, encapsulated).pack(ident, sequence)
    found = reply.of_routing(data[40:], source)
    assert (found.kind, found.ident, found.sequence) == (Kind.RETURNED, ident, sequence)


@given(HOSTS, NUMBERS, NUMBERS)
def test_checksums_are_right(host, ident, sequence):
    data = host.pack(ident, sequence)
    if data[0] >> 4 == 4:
        assert packet.checksum(data[:20]) == 0
        assert packet.checksum(data[20:]) == 0
    else:
        pseudo = data[8:40] + (len(data) - 40).to_bytes(4) + bytes([0, 0, 0, packet.ICMPV6])
        assert packet.checksum(pseudo + data[40:]) == 0
