"""Dumps of a kernel, decoded.

``dumps/*.hex`` hold one datagram per line as Linux 7.3 (sids, links: attributes that are not read
left out) and 6.18 (rules, defaults) sent them.
"""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Network
from pathlib import Path

import pytest

from srv6mgrd.kinds.admin_state.kernel import AdminStates
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.dummy.kernel import DummyDevices
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.route import UnknownRoute
from srv6mgrd.kinds.rule import kernel as rules
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid.notices import Notice
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sid.route_dump import Row, decode, make_template, rows
from srv6mgrd.kinds.sid.sid_table import Prefix, SidTable
from srv6mgrd.kinds.unreachable.kernel import unreachable
from srv6mgrd.kinds.unreachable.object import UnreachableDefault
from srv6mgrd.kinds.vlan.kernel import VlanDevices
from srv6mgrd.kinds.vrf.kernel import VrfDevices
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.kernel import VrfPorts
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.netlink import links, wire
from srv6mgrd.plan.observed import ObservedObject
from tests.dumped import HOST, read_of

DUMPS = Path(__file__).parent / "dumps"


def dump(name: str) -> list[bytes]:
    return [bytes.fromhex(line) for line in (DUMPS / f"{name}.hex").read_text().split()]


def all_links() -> list[links.Link]:
    return links.decode_all(dump("links"))


def names() -> dict[int, str]:
    return {link.index: link.name for link in all_links()}


def sid(address: str, behavior: Behavior, vrf_table: int | None = None) -> SidRoute:
    return SidRoute(IPv6Network(address), behavior, 8986, vrf_table)


SIDS = [
    sid("fc00:1::1/128", Behavior.END),
    sid("fc00:1:0:2::/64", Behavior.END),
    sid("fc00:1::4/128", Behavior.END_DT4, 100),
    sid("fc00:1::6/128", Behavior.END_DT6, 100),
    sid("fc00:1::46/128", Behavior.END_DT46, 100),
]


def test_links() -> None:
    kinds = [kind(HOST) for kind in (DummyDevices, VrfDevices, VlanDevices, VrfPorts, AdminStates)]
    seen = {item.object.key: item for item in read_of(kinds, [], all_links())}
    assert seen["link srv6mgr"] == ObservedObject(DummyDevice("srv6mgr"), ours=True)
    assert seen["link red"].object == VrfDevice("red", 100, (1 << 28) | 100)
    assert seen["link red"].ours
    assert seen["port p0"] == ObservedObject(VrfPort("p0", "red"), ours=False)
    named = {key for key in seen if not key.startswith("admin ")}
    assert named == {"link srv6mgr", "link red", "port p0"}
    assert seen["admin red"].object == AdminState("red", up=True)


def test_rules() -> None:
    (item,) = rules.observed(dump("rules"))
    assert item == ObservedObject(Rule(2000, IPv6Network("fc00:1::/48"), 8986), ours=True)


@pytest.mark.parametrize("family", [4, 6])
def test_defaults(family: int) -> None:
    (item,) = unreachable(dump(f"defaults{family}"))
    assert item == ObservedObject(UnreachableDefault(4 if family == 4 else 6, 100), ours=True)


def test_sids() -> None:
    table = SidTable()
    for _ in range(2):
        seen = table.observed(dump("sids"), names())
        assert [seen[s.key] for s in SIDS] == [ObservedObject(s, ours=True) for s in SIDS]


def test_what_was_written_is_reported_with_the_same_objects() -> None:
    table = SidTable()
    written = [replace(s, prefix=Prefix(s.prefix)) for s in SIDS]
    # Written differently from what is installed.
    written[-1] = replace(written[-1], counters=not written[-1].counters)
    table.recognise(written)

    seen = table.observed(dump("sids"), names())

    same = [seen[s.key].object is s for s in written]
    # The first of each kind is made of what the kernel says.
    assert sum(same) > 0
    assert not same[-1]
    assert [seen[s.key] for s in SIDS] == [ObservedObject(s, ours=True) for s in SIDS]


def test_what_differs() -> None:
    seen = SidTable().observed(dump("sids"), names())

    def at(number: str) -> ObservedObject:
        return seen[f"route6 table 8986 fc00:1::{number}/128"]

    psp = replace(sid("fc00:1::a3/128", Behavior.END), flavors=frozenset({Flavor.PSP}))
    assert at("a3") == ObservedObject(psp, ours=True)
    looked_up = replace(sid("fc00:1::a1/128", Behavior.END_T), lookup_table=100)
    assert at("a1") == ObservedObject(looked_up, ours=True)
    uncounted = at("a2").object
    assert isinstance(uncounted, SidRoute)
    assert not uncounted.counters
    assert at("a4") == ObservedObject(sid("fc00:1::a4/128", Behavior.END), ours=False)
    # A foreign one with a better metric is beside ours, under a key of its own.
    beside = seen["route6 table 8986 fc00:1::46/128 metric 7"]
    assert isinstance(beside.object, UnknownRoute)
    assert not beside.ours
    assert len(seen) == len(SIDS) + 5


def test_device_renamed() -> None:
    table = SidTable()
    table.observed(dump("sids"), names())
    renamed = dict.fromkeys(names(), "other")
    item = table.observed(dump("sids"), renamed)[SIDS[0].key].object
    assert isinstance(item, SidRoute)
    assert item.device == "other"


def test_template_and_walk_agree() -> None:
    messages = [
        memoryview(datagram)[at : at + length]
        for datagram in dump("sids")
        for at, length in _messages(datagram)
    ]
    templates = [t for m in messages if (t := make_template(m)) is not None]
    assert templates
    for message in messages:
        for template in templates:
            if template.unpack.size != len(message):
                continue
            values = template.unpack.unpack(message)
            if template.fixed(values) == template.expected and (
                template.action(values) in template.modelled
            ):
                assert template.row(values) == decode(message)


def _messages(datagram: bytes) -> list[tuple[int, int]]:
    found, at = [], 0
    while at < len(datagram):
        length, kind, *_ = wire.NLMSGHDR.unpack_from(datagram, at)
        if kind == wire.RTM_NEWROUTE:
            found.append((at, length))
        at += length
    return found


def test_any_changed_byte_is_seen() -> None:
    """The template never takes a message for a SID that the walk would not."""
    (datagram, *_) = dump("sids")
    at, length = _messages(datagram)[0]
    message = bytearray(datagram[at : at + length])
    template = make_template(memoryview(message))
    assert template is not None
    same = decode(memoryview(message))
    for position in range(wire.NLMSGHDR.size, length):
        changed = bytearray(message)
        changed[position] ^= 0x40
        values = template.unpack.unpack(changed)
        if template.fixed(values) == template.expected and (
            template.action(values) in template.modelled
        ):
            # Only what the template reads out may differ, and the device's state.
            row = template.row(values)
            assert row == decode(memoryview(changed))
            assert isinstance(row, Row)
            if row == same:
                assert 24 <= position < 28


def test_counters() -> None:
    datagram = bytearray(dump("sids")[0])
    start = datagram.index(bytes.fromhex("0c000200"))
    for number, at in ((5, start + 4), (440, start + 16), (1, start + 28)):
        datagram[at : at + 8] = number.to_bytes(8, "little")
    table = SidTable()
    for _ in range(2):
        counters = table.counters([bytes(datagram)])
        assert sorted(counters.values())[-1] == (5, 440, 1)
        assert counters.keys() >= {s.prefix for s in SIDS}
        # No counters.
        assert IPv6Network("fc00:1::a2/128") not in counters


def test_rows_of_nothing() -> None:
    assert list(rows([])) == []
    assert list(rows([dump("sids")[-1][-20:]])) == []


@pytest.mark.parametrize(
    "prefix", ["fc00:1::1/128", "::/0", "::1/128", "::ffff:1.2.3.4/128", "1:0:2::/64", "::5:0/112"]
)
def test_prefix_is_as_ipaddress_has_it(prefix: str) -> None:
    plain = IPv6Network(prefix)
    ours = Prefix((plain.network_address.packed, plain.prefixlen))
    assert ours == plain
    assert hash(ours) == hash(plain)
    assert str(ours) == str(plain)
    assert f"{ours}" == f"{plain}"
    assert {plain: 1}[ours] == 1


def test_a_dump_like_the_last_one_is_not_decoded_again() -> None:
    datagram = bytearray(dump("sids")[0])
    table = SidTable()
    first = table.counters([bytes(datagram)])
    assert table.counters([bytes(datagram)]) is first
    start = datagram.index(bytes.fromhex("0c000200"))
    datagram[start + 4] ^= 1
    assert table.counters([bytes(datagram)]) != first


def test_what_stands_is_reported_anew_when_a_device_has_another_name() -> None:
    """The bytes are the same: a device has its number in them."""
    datagrams = dump("sids")
    table = SidTable()
    first = table.observed(datagrams, {})
    assert table.observed(datagrams, {}) == first
    indexes = {row.oif for row in _rows(datagrams)}
    named = dict.fromkeys(indexes, "eth9")
    renamed = table.observed(datagrams, named)
    assert {s.object.device for s in renamed.values() if isinstance(s.object, SidRoute)} == {"eth9"}
    assert table.observed(datagrams, named) == renamed


def _rows(datagrams: list[bytes]) -> list[Row]:
    return [
        decode(memoryview(datagram)[at : at + length])
        for datagram in datagrams
        for at, length in _messages(datagram)
    ]


def _plain(datagrams: list[bytes]) -> list[bytes]:
    """A dump of those SIDs alone that are alike but for their address."""
    found = [d[at : at + n] for d in datagrams for at, n in _messages(d)]
    rows = {m: decode(memoryview(m)) for m in found}
    first: dict[tuple[bytes, int], bytes] = {}
    for m, row in rows.items():
        if not row.unknown and row.counters is not None and row.extras.bpf_program is None:
            first.setdefault((row.address, row.length), m)
    return list(first.values())


def test_notifications_lead_to_what_a_dump_says() -> None:
    messages = _plain(dump("sids"))
    some, others = messages[::2], messages[1::2]
    table = SidTable()
    before = table.observed(some, names())
    came = [Notice(m, removed=False, replaces=False) for m in others]
    went = [Notice(m, removed=True, replaces=False) for m in some]

    left = SidTable().observed(others, names())
    everything = SidTable().observed(messages, names())

    assert table.followed([], names()) == (before, set())
    assert table.followed(came, names()) == (everything, set(left))
    assert table.followed(went, names()) == (left, set(before))
    # What is older than the dump ends where the dump is.
    again = [Notice(m, removed=r, replaces=False) for m in others for r in (True, False)]
    assert table.followed(again, names()) == (left, set(left))


def test_notifications_that_leave_doubt_ask_for_a_dump() -> None:
    messages = _plain(dump("sids"))
    other = replace_metric(messages[0], 7)
    for notice in (
        Notice(other, removed=False, replaces=False),
        Notice(other, removed=False, replaces=True),
        Notice(other, removed=True, replaces=False),
    ):
        table = SidTable()
        table.observed(messages, names())
        assert table.followed([notice], names()) is None
        # Until there was one.
        assert table.followed([], names()) is None
        table.observed(messages, names())
        assert table.followed([], names()) is not None


def test_no_notification_tells_more_than_no_dump() -> None:
    assert SidTable().followed([], {}) is None


def replace_metric(message: bytes, metric: int) -> bytes:
    for kind, at, _ in wire.attributes(memoryview(message), 28):
        if kind == wire.RTA_PRIORITY:
            return message[:at] + metric.to_bytes(4, "little") + message[at + 4 :]
    raise AssertionError("no metric")
