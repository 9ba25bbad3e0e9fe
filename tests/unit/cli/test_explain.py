"""What the error counter of a SID means."""

import struct
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network, ip_interface

import pytest

from srv6mgrd.cli import host, sid_routes
from srv6mgrd.cli.explain.causes import CERTAIN, LIKELY, POSSIBLE, Dropped, Facts, causes
from srv6mgrd.cli.explain.listen import program_for, verdict
from srv6mgrd.cli.problem import Exit
from srv6mgrd.counters.proxies import proxy_state
from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.model.desired import Proxy, Sid
from srv6mgrd.model.drops import DropReason
from srv6mgrd.model.proxy_state import ProxyCounts, ProxyState
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from tests.unit.cli.conftest import SID

PREFIX = IPv6Network(SID)
TO = IPv6Address("fcbb:0:1:64::")


def sid(behavior, **more):
    return Sid(PREFIX, "MAIN", behavior, **more)


def packet(*, next_header=58, srh=None, hops=64, to=TO, inner=b""):
    """``srh``: segments left; None for no header."""
    routing = b"" if srh is None else struct.pack("BBBBBBH", next_header, 2, 4, srh, 0, 0, 0)
    routing += bytes(16) if routing else b""
    first = next_header if srh is None else 43
    header = struct.pack("!IHBB", 6 << 28, len(routing), first, hops)
    return header + bytes(16) + to.packed + routing + inner


@pytest.mark.parametrize(
    ("behavior", "made", "found"),
    [
        (Behavior.END, packet(), "no-srh"),
        (Behavior.END, packet(srh=0), "no-segments-left"),
        (Behavior.END, packet(srh=1), ""),
        (Behavior.END, packet(srh=1, hops=1), "hop-limit"),
        (Behavior.END_DT46, packet(), "inner 58"),
        (Behavior.END_DT46, packet(next_header=41), ""),
        (Behavior.END_DT46, packet(next_header=4, srh=0), ""),
        (Behavior.END_DT46, packet(next_header=4, srh=1), "segments-left"),
        (Behavior.END_DT4, packet(next_header=41), "inner 41"),
        (Behavior.END_DT46, packet(next_header=41, inner=bytes(7) + b"\1"), "hop-limit"),
        (Behavior.END_DX2, packet(next_header=143), ""),
        (Behavior.END_DX2, packet(next_header=41, srh=0), "inner 41"),
        (Behavior.END_DT46, b"\x60", ""),
    ],
)
def test_why_a_packet_is_dropped(behavior, made, found):
    assert verdict(sid(behavior), made) == found


def test_a_compressed_sid_needs_no_header():
    compressed = sid(Behavior.END, flavors=frozenset({Flavor.NEXT_CSID}))
    assert verdict(compressed, packet(to=IPv6Address("fcbb:0:1:64:65::"))) == ""
    assert verdict(compressed, packet()) == "no-srh"


def passes(program, made):
    """Classic BPF as net/core/filter.c runs it, for the four instructions that are used."""
    steps = list(struct.iter_unpack("HBBI", program))
    at, accumulator = 0, 0
    while True:
        code, true, false, k = steps[at]
        at += 1
        if code == 0x20:
            accumulator = struct.unpack_from("!I", made, k)[0]
        elif code == 0x54:
            accumulator &= k
        elif code == 0x15:
            at += true if accumulator == k else false
        else:
            return k


@pytest.mark.parametrize(
    "prefix", ["fcbb:0:1:64::/64", "fcbb::/32", "fcbb:0:1:64::/128", "fc00::/7"]
)
def test_the_filter_lets_the_prefix_through(prefix):
    program = program_for(IPv6Network(prefix))
    assert passes(program, packet())
    for other in ("fdbb:0:1:64::", "2001:db8::1"):
        wanted = IPv6Address(other) in IPv6Network(prefix)
        assert bool(passes(program, packet(to=IPv6Address(other)))) == wanted


def test_what_was_seen_is_certain_and_comes_first():
    found = causes(sid(Behavior.END_DT46), Facts(heard={"inner 58": 3}, rp_filter=1))
    assert [cause.how for cause in found] == [CERTAIN, LIKELY, POSSIBLE, POSSIBLE]
    assert (
        "carry ICMPv6, while End.DT46 takes IPv4 or IPv6 alone (seen just now: 3)" in found[0].what
    )
    assert "rp_filter is 1" in found[1].what


def test_the_state_of_the_node_makes_a_cause_likely():
    down = Facts(device="red", device_up=False, forwarding_v4=False, forwarding_v6=True)
    likely = [c for c in causes(sid(Behavior.END_DT4), down) if c.how == LIKELY]
    assert [c.remedy for c in likely] == ["ip link set red up", "sysctl -w net.ipv4.ip_forward=1"]
    assert not [c for c in causes(sid(Behavior.END_DT6), down) if "IPv4 is not" in c.what]


def test_errors_of_a_proxy_have_their_reasons():
    proxy = Proxy("ipv4", "in", "out")
    found = causes(sid(Behavior.END_AD, proxy=proxy), Facts(proxy={"no-srh": 4, "hop-limit": 0}))
    (only,) = found
    assert only.how == CERTAIN
    assert only.what == "4 packets without a segment routing header"


@pytest.mark.parametrize("reason", proxy_state(ProxyState(ProxyCounts()))["errors"])
def test_each_error_that_a_proxy_counts_is_explained(reason):
    proxy = Proxy("ipv4", "in", "out")
    (only,) = causes(sid(Behavior.END_AD, proxy=proxy), Facts(proxy={reason: 1}))
    assert only.what != f"1 {reason}"
    assert only.remedy


@pytest.mark.parametrize("behavior", list(Behavior))
def test_every_behavior_has_causes(behavior):
    proxy = Proxy("ipv4", "in", "out") if behavior.is_proxy else None
    facts = Facts(proxy={"no-srh": 1})
    assert all(c.what and c.remedy for c in causes(sid(behavior, proxy=proxy), facts))
    assert causes(sid(behavior, proxy=proxy), facts)


@pytest.fixture
def node(monkeypatch):
    route = host.Route(PREFIX, 8986, 1024, 86, "unicast", "srv6mgr", "seg6local")
    monkeypatch.setattr(sid_routes, "find", {PREFIX: route}.get)
    monkeypatch.setattr(host, "sysctl", lambda _: "0")


@pytest.mark.usefixtures("node")
def test_explain_tells_status_counters_and_causes(ctl):
    ctl.report(packets=5, errors=2)
    shown = ctl.run("explain", "fcbb:0:1:64::1", "--listen", "0")
    assert shown.status == 0
    assert "5 packets, 0 octets, 2 errors" in shown.out
    assert "in table 8986 on srv6mgr" in shown.out
    assert "possible" in shown.out
    reported = ctl.run("explain", SID, "--listen", "0", "--json").json
    assert reported["in-kernel"] is True
    assert reported["causes"][0]["how"] == LIKELY


@pytest.mark.usefixtures("node")
def test_explain_ends_with_found_unless_it_is_installed(ctl):
    ctl.report(InstallStatus.FAILED, "table 10: no such device; create it")
    shown = ctl.run("explain", SID, "--listen", "0")
    assert shown.status == Exit.FOUND
    assert "table 10: no such device; create it" in shown.out


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize("status", InstallStatus)
def test_explain_tells_each_status(ctl, status):
    reason = "" if status is InstallStatus.INSTALLED else "it is so; do this"
    ctl.report(status, reason)
    shown = ctl.run("explain", SID, "--listen", "0")
    assert shown.status == (Exit.DONE if status is InstallStatus.INSTALLED else Exit.FOUND)
    assert f"status    {status.text}" in shown.out
    assert reason in shown.out
    reported = ctl.run("explain", SID, "--listen", "0", "--json").json
    assert (reported["install-status"], reported.get("reason", "")) == (status.text, reason)


@pytest.mark.parametrize(("what", "status"), [("fc00::1", Exit.REJECTED), ("red", Exit.USAGE)])
def test_explain_of_no_sid(ctl, what, status):
    ctl.report()
    assert ctl.run("explain", what).status == status


INTERFACES = {
    "interfaces": {
        "interface": [
            {
                "name": "eth1",
                "srv6mgr-interfaces:enabled": True,
                "srv6mgr-interfaces:mtu": 9000,
                "srv6mgr-interfaces:ipv4": {"address": [{"ip": "10.1.0.1", "prefix-length": 24}]},
            },
            {"name": "to-p", "role": "core"},
        ]
    },
    "vrfs": {"vrf": [{"name": "red", "table-id": 10, "interface": ["eth1", "eth2"]}]},
}
ETH1 = host.Link("eth1", 2, "", up=True, carrier=True, mtu=9000, master="red")
SEEN = host.Host({"eth1": ETH1}, addresses_of={"eth1": (ip_interface("10.1.0.1/24"),)})


@pytest.fixture
def interfaces(ctl, monkeypatch):
    """Explains interfaces of a host that the test may change."""
    ctl.report()
    ctl.client.tree = {"srv6mgr-srv6:srv6": INTERFACES}
    found = ObjectStatus(InstallStatus.INSTALLED, since=1)
    ctl.store.set_statuses({ObjectRef(Kind.INTERFACE, n): found for n in ("eth1", "to-p")})

    def at(seen):
        monkeypatch.setattr(host, "read", lambda **_: seen)
        return ctl

    return at


def test_explain_tells_how_an_interface_is(interfaces):
    shown = interfaces(SEEN).run("explain", "eth1")
    assert shown.status == 0
    assert "enabled, MTU 9000, 10.1.0.1/24" in shown.out
    assert "up, carrier, MTU 9000, in red" in shown.out
    assert "differs" not in shown.out
    reported = interfaces(SEEN).run("explain", "eth1", "--json").json
    assert (reported["vrf"], reported["install-status"], reported["causes"]) == (
        "red",
        "installed",
        [],
    )
    assert reported["in-kernel"]["addresses"] == ["10.1.0.1/24"]


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (None, "it does not exist"),
        (replace(ETH1, master=""), "it is in no VRF, not in VRF red"),
        (replace(ETH1, up=False, carrier=False), "it is down, which is not declared"),
        (replace(ETH1, carrier=False), "it has no carrier"),
        (replace(ETH1, mtu=1500), "its MTU is 1500, declared is 9000"),
    ],
)
def test_explain_tells_what_differs(interfaces, link, words):
    seen = replace(SEEN, links={"eth1": link} if link is not None else {})
    shown = interfaces(seen).run("explain", "eth1", "--json")
    assert shown.status == Exit.FOUND
    (cause,) = shown.json["causes"]
    assert cause["what"] == words
    assert cause["remedy"]


def test_explain_tells_of_an_address_that_is_missing(interfaces):
    shown = interfaces(replace(SEEN, addresses_of={})).run("explain", "eth1")
    assert shown.status == Exit.FOUND
    assert "it lacks its address 10.1.0.1/24" in shown.out


def test_explain_knows_interfaces_that_a_vrf_or_a_role_names(interfaces):
    links = {name: replace(ETH1, name=name, master="") for name in ("eth2", "to-p")}
    links["eth2"] = replace(links["eth2"], master="red")
    for name in ("eth2", "to-p"):
        shown = interfaces(host.Host(links)).run("explain", name)
        assert shown.status == 0, shown.out
    assert "core" in shown.out


def test_drops_that_srv6mgrd_has_seen():
    """They come with their number; what was heard just now says more about the same packets."""
    dropped = [
        Dropped(DropReason.HOP_LIMIT, LIKELY, 3, "2 min"),
        Dropped(DropReason.UPPER_LAYER, CERTAIN, 64, "0 s"),
        Dropped(DropReason.VRF_GONE, CERTAIN, 9, "4 s"),
    ]
    first, second, third, *others = causes(
        sid(Behavior.END_DT46), Facts(heard={"inner 58": 2}, dropped=dropped)
    )
    assert first.what.endswith("IPv4 or IPv6 alone (seen just now: 2)")
    assert second[:2] == (CERTAIN, "9 packets whose VRF has no device, the last 4 s ago")
    assert third[:2] == (
        LIKELY,
        "3 packets whose hop limit or TTL is used up here, the last 2 min ago",
    )
    assert {cause.how for cause in others} == {POSSIBLE}


@pytest.mark.parametrize("reason", DropReason)
def test_every_reason_has_a_remedy(reason):
    (cause, *_) = causes(sid(Behavior.END), Facts(dropped=[Dropped(reason, CERTAIN, 1, "1 s")]))
    assert cause.how == CERTAIN
    assert cause.remedy
