"""Each of frr-patches: what fails on the distribution's FRR and holds on the patched one."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from dataclasses import replace
from functools import partial
from ipaddress import IPv6Address
from pathlib import Path

import pytest

from lab.guest.catalogue import PATCHED_FRR, STOCK_FRR
from lab.guest.nodes import Node
from lab.problem import LabError
from lab.waiting import wait_until
from srv6mgrd.frr.blocks import BGPD, LOCATORS, ZEBRA
from srv6mgrd.frr.lookup_table import LookupTable, lookup_table
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.kernel.probe import probe
from srv6mgrd.model.bgp import VrfBgp
from srv6mgrd.model.capabilities import ROUTE_LOOKUP_TABLE
from srv6mgrd.model.desired import Desired, Vrf
from tests.contract.frr.conftest import DAEMONS, TABLES, Pe, declaration, sid
from tests.contract.frr.test_vpn import Pes, arrive, leave, push, remote, up

pytestmark = pytest.mark.contract

PREFIX = "prefix fcbb:0:1::/48 block-len 32 node-len 16 func-bits 16"
SHORT = 5.0
MANY = range(300, 312)


@pytest.fixture(
    params=[
        pytest.param(
            STOCK_FRR,
            marks=pytest.mark.xfail(raises=(AssertionError, LabError), strict=True),
            id="stock",
        ),
        pytest.param(PATCHED_FRR, id="patched"),
    ]
)
def programs(request: pytest.FixtureRequest) -> Path:
    """The stock FRR has to fail: otherwise the patch is needed no more, or the test no good. That
    takes minutes, and says something about the patches alone: with them, or not at all."""
    if not PATCHED_FRR.is_dir():
        pytest.skip("no patched FRR: make frr")
    found: Path = request.param
    return found


@pytest.fixture
def pe(pes: Pes) -> Pe:
    """PE 1 with VRF red's SID given out."""
    one = pes[0]
    assert one.push(declaration(1, "red")) == []
    allocated(one, "red")
    return one


def sids_of(pe: Pe) -> dict[str, IPv6Address | None]:
    """What bgpd holds per VRF, whatever its sessions do."""
    text = pe.frr.show(BGPD, "show bgp segment-routing srv6")
    found = re.findall(r"- name: (\S+)\n(?:  vpn_.*\n)*  per-vrf tovpn_sid: (\S+)", text)
    return {name: None if value == "(null)" else IPv6Address(value) for name, value in found}


def allocated(pe: Pe, *vrfs: str, timeout: float = 20.0) -> None:
    """Wait for the declared SIDs. zebra and bgpd speak in order: whatever they had to send each
    other before has been sent then."""
    wanted = {v: sid(1, 100 + list(TABLES).index(v))[0] for v in vrfs}
    wait_until(lambda: wanted.items() <= sids_of(pe).items(), f"SIDs of {vrfs}", timeout)


def log_of(pe: Pe, daemon: str) -> str:
    return pe.node.read_file(f"/tmp/{daemon}.log")


def watch_sids(pe: Pe) -> int:
    """Have zebra log what it does with SIDs; where its log ends now."""
    pe.operator(ZEBRA, "configure terminal", "debug zebra srv6")
    return len(log_of(pe, ZEBRA))


def test_same_locator_again(pe: Pe) -> None:
    """The routes of a VRF stay as they are when a configuration is sent twice."""
    version = partial(_version, pe, "10.1.0.0/24")
    wait_until(lambda: version() > 0, "route of red")
    before = version()
    pe.operator(ZEBRA, "configure terminal", *LOCATORS, "locator MAIN", PREFIX)
    assert pe.push(declaration(1, "red", "blue")) == []
    allocated(pe, "red", "blue")
    wait_until(lambda: _version(pe, "10.1.0.0/24") > 0, "route of red")
    assert version() == before


def _version(pe: Pe, prefix: str) -> int:
    """How often bgpd changed its mind about the VPN route; 0 without one."""
    try:
        text = pe.frr.show(BGPD, f"show bgp ipv4 vpn {prefix}")
    except VtyError as error:
        if "Network not in table" not in str(error):
            raise
        return 0
    found = re.search(r"65000:110:10\.1\.0\.0/24, version (\d+)", text)
    return int(found[1]) if found else 0


def test_other_locator_removed(pe: Pe) -> None:
    prefix = PREFIX.replace(":1::", ":9::")
    pe.operator(ZEBRA, "configure terminal", *LOCATORS, "locator OTHER", prefix)
    pe.operator(ZEBRA, "configure terminal", *LOCATORS, "no locator OTHER")
    assert pe.push(declaration(1, "red", "blue")) == []
    allocated(pe, "red", "blue", timeout=SHORT)


def test_no_stale_sids(pe: Pe) -> None:
    for function in (200, 100, 300):
        assert pe.push(declaration(1, "red", function=function)) == []
        wanted = sid(1, function)[0]
        wait_until(lambda: sids_of(pe)["red"] == wanted, f"function {function}")  # noqa: B023
    text = pe.frr.show(BGPD, "show bgp segment-routing srv6")
    listed = re.findall(r"- sid: (\S+)", text)
    assert listed == [str(sid(1, 300)[0])]


def test_sids_of_many_vrfs(pe: Pe) -> None:
    """What bgpd asks of zebra grows as the number of VRFs does."""
    pe.operator(ZEBRA, "configure terminal", *LOCATORS, "no locator MAIN")
    wanted = many(declaration(1, "red"))
    for number in MANY:
        name = f"v{number}"
        pe.ip("link", "add", name, "type", "vrf", "table", str(number))
        pe.ip("link", "set", name, "up")
    try:
        assert pe.push(wanted) == []
        names = [f"v{number}" for number in MANY]
        wait_until(lambda: all(sids_of(pe).get(n) for n in names), "SIDs", 60)
        pe.operator(BGPD, "configure terminal", "router bgp 65000", "no segment-routing srv6")
        wait_until(lambda: not any(sids_of(pe).get(n) for n in names), "release", 60)
        start = watch_sids(pe)
        assert pe.push(wanted) == []
        wait_until(lambda: all(sids_of(pe).get(n) for n in names), "SIDs again", 90)
        asked = log_of(pe, ZEBRA)[start:].count("received SRv6 SID alloc request")
        print(f"{asked} requests for {len(MANY) + 1} SIDs")
        assert asked <= 4 * (len(MANY) + 1)
    finally:
        for number in MANY:
            pe.ip("link", "del", f"v{number}")


def many(base: Desired) -> Desired:
    """One VRF more for each of MANY."""
    vrfs, sids = dict(base.vrfs), dict(base.sids)
    for number in MANY:
        name, export, rt = f"v{number}", sid(1, number), (f"65000:{number}",)
        vrfs[name] = Vrf(name, number, bgp=VrfBgp(f"65000:{number}", rt, rt, export))
        sids[export] = replace(next(iter(base.sids.values())), prefix=export, vrf=name)
    return replace(base, vrfs=vrfs, sids=sids)


def test_released_once(pe: Pe) -> None:
    assert pe.push(declaration(1, "red", "blue")) == []
    allocated(pe, "red", "blue")
    start = watch_sids(pe)
    assert pe.push(declaration(1, "blue")) == []
    assert pe.push(declaration(1, "red", "blue")) == []
    allocated(pe, "red", "blue")
    releases = re.findall(r"releasing SRv6 SID associated with ctx", log_of(pe, ZEBRA)[start:])
    assert len(releases) == 1


def test_neighbor_survives_a_capability(pes: Pes) -> None:
    """A capability for VPN routes that comes while the session is up."""
    push(pes, "red")
    for pe in pes:
        router = ("configure terminal", "router bgp 65000")
        pe.operator(BGPD, *router, f"neighbor 2001:db8::{3 - pe.number} capability dynamic")
    one, two = pes
    one.operator(BGPD, "clear bgp *")
    shown = partial(one.frr.show, BGPD, "show bgp neighbors 2001:db8::2 json")
    wait_until(lambda: '"dynamic":"advertisedAndReceived"' in shown(), "dynamic capabilities", 60)
    up(pes, "red")
    process = two.frr.instances()
    # It is there already: a session is reset when it comes or goes, notified when it is repeated.
    line = "neighbor 2001:db8::2 capability extended-nexthop"
    one.operator(BGPD, "configure terminal", "router bgp 65000", line)
    # It has taken the capability when it has what is sent after it.
    assert one.push(declaration(1, "red", function=200)) == []
    arrive(two, "-4", 10, "10.1.0.0/24", "fcbb:0:1:c8::")
    assert two.frr.instances() == process


def test_counters_of_zebras_sids(pes: Pes) -> None:
    """Packets that zebra's own SID decapsulates are counted."""
    for pe in pes:
        pe.operator(ZEBRA, "configure terminal", "segment-routing", "srv6", "sid-counters")
        assert "\n  sid-counters\n" in pe.frr.show(ZEBRA, "show running-config")
    push(pes, "red")
    up(pes, "red")
    one, two = pes
    arrive(two, "-4", 10, "10.1.0.0/24", "fcbb:0:1:64::")
    arrive(one, "-4", 10, "10.2.0.0/24", "fcbb:0:2:64::")
    ce = Node("ce-red2")
    wait_until(
        lambda: ce.run(["ping", "-c1", "-W1", "10.1.0.10"], check=False).returncode == 0, "ping"
    )
    before = counted(one)
    ce.run(["ping", "-q", "-c20", "-i0.02", "10.1.0.10"])
    assert counted(one) == before + 20


def counted(pe: Pe) -> int:
    shown = pe.ip("-6", "-s", "route", "show", "fcbb:0:1:64::", "proto", "bgp")
    if "nhid" in shown and "packets" not in shown:
        shown = pe.ip("-s", "nexthop", "show", "id", shown.split("nhid", 1)[1].split()[0])
    found = re.search(r"packets (\d+)", shown)
    assert found, shown
    return int(found[1])


def test_aggregates_are_exported(pes: Pes) -> None:
    """What is made of routes of the VRF reaches other routers, instead of these routes if it is to,
    and is withdrawn with the last of them."""
    push(pes, "red")
    up(pes, "red")
    one, two = pes
    family = ("configure terminal", "router bgp 65000 vrf red", "address-family ipv4 unicast")
    one.operator(BGPD, *family, "aggregate-address 10.1.0.0/16 summary-only")
    arrive(two, "-4", 10, "10.1.0.0/16", "fcbb:0:1:64::")
    leave(two, "-4", 10, "10.1.0.0/24")
    # One that comes later, and one that goes while it is not announced.
    one.ip("link", "add", "behind", "type", "dummy")
    try:
        one.ip("link", "set", "behind", "master", "red")
        one.ip("link", "set", "behind", "up")
        one.ip("address", "add", "10.1.9.1/24", "dev", "behind")
        known = partial(one.frr.show, BGPD, "show bgp vrf red ipv4 unicast json")
        wait_until(lambda: "10.1.9.0/24" in known(), "route of red")
        one.operator(BGPD, *family, "no aggregate-address 10.1.0.0/16")
        arrive(two, "-4", 10, "10.1.0.0/24", "fcbb:0:1:64::")
        arrive(two, "-4", 10, "10.1.9.0/24", "fcbb:0:1:64::")
        leave(two, "-4", 10, "10.1.0.0/16")
        one.operator(BGPD, *family, "aggregate-address 10.1.8.0/22 summary-only")
        arrive(two, "-4", 10, "10.1.8.0/22", "fcbb:0:1:64::")
        leave(two, "-4", 10, "10.1.9.0/24")
    finally:
        one.ip("link", "del", "behind")
    leave(two, "-4", 10, "10.1.8.0/22")
    assert "10.1.9.0/24" not in one.frr.show(BGPD, "show bgp ipv4 vpn json")


def test_a_vrf_is_deleted_by_hand(pe: Pe) -> None:
    """Whose table had a route before it: zebra lives."""
    process = pe.frr.instances()
    pe.ip("route", "add", "unreachable", "default", "table", "77", "metric", "9")
    known = partial(pe.frr.show, ZEBRA, "show ip route table 77")
    wait_until(lambda: "0.0.0.0/0" in known(), "route without a VRF")
    routes = [f"route add unreachable 10.{n}.0.0/16 table 77" for n in range(100)]
    pe.node.write_file("/tmp/batch", "\n".join([*routes, "link del made"]))
    try:
        for _ in range(3):
            pe.ip("link", "add", "made", "type", "vrf", "table", "77")
            pe.ip("link", "set", "made", "up")
            vrfs = partial(pe.frr.show, ZEBRA, "show vrf")
            wait_until(lambda: "made" in vrfs(), "VRF")  # noqa: B023
            wait_until(lambda: "0.0.0.0/0" in pe.frr.show(ZEBRA, "show ip route vrf made"), "route")
            # zebra is still at work on the routes when the VRF goes.
            pe.ip("-batch", "/tmp/batch")
            wait_until(lambda: "made" not in vrfs(), "end of the VRF")  # noqa: B023
            pe.ip("route", "flush", "table", "77")
            pe.ip("route", "add", "unreachable", "default", "table", "77", "metric", "9")
            wait_until(lambda: "0.0.0.0/0" in known(), "route without a VRF")
    finally:
        pe.node.run(["ip", "link", "del", "made"], check=False)
        pe.node.run(["ip", "route", "flush", "table", "77"], check=False)
    assert pe.frr.instances() == process


def test_an_address_comes_back(pes: Pes) -> None:
    """The address of the session, on an interface again, is the next hop again."""
    push(pes, "red")
    up(pes, "red")
    one, two = pes
    arrive(two, "-4", 10, "10.1.0.0/24", "fcbb:0:1:64::")
    process = one.frr.instances()
    shown = json.loads(one.frr.show(BGPD, "show bgp neighbors 2001:db8::2 json"))
    established = shown["2001:db8::2"]["connectionsEstablished"]
    one.ip("address", "del", "2001:db8::1/128", "dev", "lo")
    try:
        leave(two, "-4", 10, "10.1.0.0/24")
    finally:
        one.ip("address", "add", "2001:db8::1/128", "dev", "lo")
    arrive(two, "-4", 10, "10.1.0.0/24", "fcbb:0:1:64::")
    # The session was not reset for that.
    shown = json.loads(one.frr.show(BGPD, "show bgp neighbors 2001:db8::2 json"))
    assert shown["2001:db8::2"]["connectionsEstablished"] == established
    assert one.frr.instances() == process


def test_routes_come_back_with_the_carrier(pes: Pes) -> None:
    """The kernel flushes what leaves through an interface without a carrier, and says nothing."""
    push(pes, "red")
    up(pes, "red")
    _, two = pes
    prefixes = (("-4", "10.1.0.0/24"), ("-6", "fd00:1::/64"))
    for family, prefix in prefixes:
        arrive(two, family, 10, prefix)
    far = Node("p")
    far.run(["ip", "link", "set", "to-pe2", "down"])
    try:
        for family, prefix in prefixes:
            leave(two, family, 10, prefix)
    finally:
        far.run(["ip", "link", "set", "to-pe2", "up"])
        far.run(["ip", "-6", "address", "replace", "2001:db8:2::2/64", "dev", "to-pe2", "nodad"])
        for to in ("2001:db8::2/128", "fcbb:0:2::/48"):
            far.run(["ip", "-6", "route", "replace", to, "via", "2001:db8:2::1"])
    for family, prefix in prefixes:
        arrive(two, family, 10, prefix)


def test_packets_leave_a_vrf_without_rules(pes: Pes) -> None:
    """The route names the table in which the outer header is looked up, with one path and with
    several VRFs to one next hop; so do the routes of a zebra that was killed."""
    if ROUTE_LOOKUP_TABLE not in probe().facilities:
        pytest.skip("the kernel ignores SEG6_IPTUNNEL_TABLE")
    push(pes, "red", "blue")
    up(pes, "red", "blue")
    _, two = pes
    cross(pes)
    for pe in pes:
        pe.underlay_rule("del")
    try:
        for vrf in TABLES:
            assert pings(vrf) == {"10.1.0.10": 5, "fd00:1::10": 5}
        assert lookup_table(two.frr) == LookupTable(supported=True, in_all_routes=True)

        two.stop(*reversed(DAEMONS))
        two.start(*DAEMONS)
        two.journal.clear()
        wait_until(lambda: lookup_table(two.frr).in_all_routes, "end of the routes before")
        assert two.push(declaration(2, "red", "blue")) == []
        up(pes, "red", "blue")
        cross(pes)
        assert pings("red") == {"10.1.0.10": 5, "fd00:1::10": 5}
    finally:
        for pe in pes:
            pe.underlay_rule("add")


def cross(pes: Pes) -> None:
    """Wait for the tunnels of both VRFs, in both directions."""
    for pe, other in (pes, pes[::-1]):
        for number, table in enumerate(TABLES.values()):
            end = str(sid(other.number, 100 + number)[0])
            arrive(pe, "-4", table, f"10.{other.number}.0.0/24", end)
            arrive(pe, "-6", table, f"fd00:{other.number}::/64", end)


def pings(vrf: str) -> dict[str, int]:
    """How many of five packets from site 2 are answered by site 1."""
    found = {}
    for address in ("10.1.0.10", "fd00:1::10"):
        argv = ["ping", "-q", "-c5", "-i0.1", "-W2", address]
        shown = Node(f"ce-{vrf}2").run(argv, check=False).stdout
        found[address] = int(re.findall(r"(\d+) received", shown)[0])
    return found


# Prefix -> block, node, function, argument, transposition length and offset of a SID.
VALID = (32, 16, 16, 0, 16, 48)
INVALID = {
    # More than a label has.
    "192.0.2.0/28": (32, 16, 24, 0, 24, 48),
    "192.0.2.16/28": (32, 16, 8, 8, 16, 48),  # more than the function
    "192.0.2.32/28": (64, 64, 16, 0, 16, 48),  # longer than a SID
    "192.0.2.48/28": (32, 16, 16, 0, 16, 64),
    "192.0.2.64/28": (64, 32, 32, 0, 16, 120),
    "192.0.2.80/28": (32, 16, 16, 0, 16),  # truncated
}


def test_invalid_sids_of_others_are_not_used(pes: Pes) -> None:
    """RFC 9252, section 7: no tunnel is made of them, and the session stays."""
    one, two = pes
    assert one.push(declaration(1, "red")) == []
    two.stop("bgpd")
    argv = [sys.executable, "-m", "tests.contract.frr.speaker", "2001:db8::2", "2001:db8::1"]
    with two.node.popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "established\n"
        was_valid = next(iter(INVALID))
        routes = [("192.0.2.224/28", VALID), (was_valid, VALID), *INVALID.items()]
        for prefix, structure in [*routes, ("192.0.2.240/28", VALID)]:
            print(prefix, 1600, service(*structure).hex(), file=other.stdin, flush=True)
        arrive(one, "-4", 10, "192.0.2.240/28", "fcbb:0:2:64::")
        assert "fcbb:0:2:64::" in remote(one, "-4", 10, "192.0.2.224/28")
        assert {p: found for p in INVALID if (found := remote(one, "-4", 10, p))} == {}
        other.stdin.close()
        assert other.stdout.read().splitlines()[-1] == "closed by the test"


def service(*structure: int) -> bytes:
    """The value of an SRv6 L3 Service TLV: fcbb:0:2::, End.DT46, and its structure."""
    sid = IPv6Address("fcbb:0:2::").packed
    inner = struct.pack("!BH", 1, len(structure)) + bytes(structure)
    info = b"\0" + sid + struct.pack("!BHB", 0, 0x14, 0) + inner
    return b"\0" + struct.pack("!BH", 1, len(info)) + info
