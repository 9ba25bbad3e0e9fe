"""Requests byte by byte, as linux/*.h lays them out (little endian)."""

from __future__ import annotations

import sys
from ipaddress import IPv6Network

import pytest

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.dummy.kernel import DummyDevices
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.rule import kernel as rules
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid import requests
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.unreachable import kernel as unreachable
from srv6mgrd.kinds.unreachable.object import UnreachableDefault, UnreachableSid
from srv6mgrd.kinds.vrf.kernel import VrfDevices
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.netlink import routes, wire
from tests.dumped import HOST

pytestmark = pytest.mark.skipif(sys.byteorder != "little", reason="golden bytes")

SID = IPv6Network("fc00:1::1/128")
BATCH = Batch(HOST.netlink, {})
ADDRESS = "fc000001000000000000000000000001"
COUNTERS = (
    "28000a80"  # SEG6_LOCAL_COUNTERS, nested
    "0c0002000000000000000000"
    "0c0003000000000000000000"
    "0c0004000000000000000000"
)


def spaced(*parts: str) -> bytes:
    return bytes.fromhex("".join(parts))


def test_create_end() -> None:
    golden = spaced(
        "84000000 1800 0106 00000000 00000000",  # RTM_NEWROUTE, REQUEST | CREATE | EXCL
        "0a 80 00 00 00 56 00 01 00000000",  # AF_INET6, /128, protocol 86, RTN_UNICAST
        "1400 0100",
        ADDRESS,  # RTA_DST
        "0800 0f00 1a230000",  # RTA_TABLE 8986
        "0800 0600 00040000",  # RTA_PRIORITY 1024
        "0800 0400 05000000",  # RTA_OIF
        "3400 1680",  # RTA_ENCAP, nested
        "0800 0100 01000000",  # SEG6_LOCAL_ACTION End
        COUNTERS,
        "0600 1500 0700 0000",  # RTA_ENCAP_TYPE seg6local
    )
    assert requests.put(SidRoute(SID, Behavior.END, 8986), routes.CREATE, 5) == golden


@pytest.mark.parametrize(
    ("behavior", "number"), [(Behavior.END_DT4, 8), (Behavior.END_DT6, 7), (Behavior.END_DT46, 16)]
)
def test_replace_decapsulation(behavior: Behavior, number: int) -> None:
    sid = SidRoute(SID, behavior, 8986, vrf_table=100)
    packed = requests.put(sid, routes.REPLACE, 5)
    assert packed[6:8] == spaced("0105")  # REQUEST | CREATE | REPLACE
    encap = spaced("0800 0100", f"{number:02x}000000", "0800 0900 64000000", COUNTERS)
    assert packed.endswith(spaced("3c00 1680") + encap + spaced("0600 1500 0700 0000"))


def test_without_counters() -> None:
    packed = requests.put(SidRoute(SID, Behavior.END, 8986, counters=False), routes.CREATE, 5)
    assert bytes.fromhex(COUNTERS) not in packed


def test_delete_names_place_and_protocol() -> None:
    golden = spaced(
        "40000000 1900 0100 00000000 00000000",  # RTM_DELROUTE, REQUEST
        "0a 80 00 00 00 56 00 00 00000000",
        "1400 0100",
        ADDRESS,
        "0800 0f00 1a230000",
        "0800 0600 00040000",
    )
    assert requests.delete(SidRoute(SID, Behavior.END, 8986)) == golden


def test_unreachable_default() -> None:
    golden = spaced(
        "2c000000 1800 0106 00000000 00000000",
        "02 00 00 00 00 56 00 07 00000000",  # AF_INET, RTN_UNREACHABLE
        "0800 0f00 64000000",
        "0800 0600 002000ff",  # 4278198272
    )
    assert unreachable.put(UnreachableDefault(4, 100), routes.CREATE) == golden


def test_unreachable_sid() -> None:
    golden = spaced(
        "40000000 1800 0106 00000000 00000000",
        "0a 80 00 00 00 56 00 07 00000000",  # AF_INET6, RTN_UNREACHABLE
        "1400 0100",
        ADDRESS,
        "0800 0f00 64000000",
        "0800 0600 002000ff",  # 4278198272
    )
    assert unreachable.put(UnreachableSid(SID, 100), routes.CREATE) == golden


def test_rule() -> None:
    golden = spaced(
        "48000000 2000 0106 00000000 00000000",  # RTM_NEWRULE
        "0a 30 00 00 00 00 00 01 00000000",  # to /48, FR_ACT_TO_TBL
        "1400 0100 fc000001000000000000000000000000",
        "0800 0600 d0070000",
        "0800 0f00 1a230000",
        "0500 1500 56000000",  # FRA_PROTOCOL
    )
    assert rules.create(Rule(2000, IPv6Network("fc00:1::/48"), 8986)) == golden


def test_vrf() -> None:
    golden = spaced(
        "40000000 1000 0106 00000000 00000000",  # RTM_NEWLINK
        "00 00 0000 e8030000 00000000 00000000",  # ifindex 1000
        "0800 0300 72656400",
        "1800 1280",  # IFLA_LINKINFO
        "0800 0100 76726600",
        "0c00 0280 0800 0100 64000000 ",  # IFLA_INFO_DATA, IFLA_VRF_TABLE
    )
    assert VrfDevices(HOST).made(BATCH, VrfDevice("red", 100, 1000)) == golden


def test_mark_sets_alias_and_up() -> None:
    packed = DummyDevices(HOST).marked(DummyDevice("sid"))
    assert packed[16:32] == spaced("00 00 0000 00000000 01000000 01000000")
    assert packed.endswith(spaced("0800 0300 73696400 0c00 1400") + b"srv6mgr\0")


def test_attributes_stop_at_nonsense() -> None:
    good = wire.nla_u32(1, 7)
    assert list(wire.attributes(good + spaced("0300 0200"))) == [(1, 4, 4)]
    assert list(wire.attributes(good + spaced("ff00 0200"))) == [(1, 4, 4)]
