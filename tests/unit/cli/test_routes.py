"""show routes, and one VRF in detail."""

from ipaddress import IPv6Address, ip_network

import pytest

from srv6mgrd.cli import vrf_routes
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.cli.vrf_routes import Path, VrfRoute
from tests.unit.cli.conftest import SID

NEAR, FAR, LOST = (IPv6Address(f"fcbb:0:{n}:64::") for n in (2, 3, 9))
CORE = IPv6Address("2001:db8::9")


def route(vrf, prefix, *sids, up=True, protocol=186, kind=1):
    paths = tuple(Path((sid,), CORE, "to-p", up) for sid in sids)
    if kind == 1 and not sids:
        paths = (Path((), None, "eth1", up),)
    return VrfRoute(vrf, ip_network(prefix), protocol, kind, 20, paths)


ROUTES = [
    route("blue", "10.2.0.0/24", NEAR),
    route("red", "10.1.0.0/24", protocol=2),
    route("red", "10.2.0.0/16", NEAR, FAR),
    route("red", "10.2.0.0/24", NEAR),
    route("red", "10.3.0.0/24", LOST),
    route("red", "10.4.0.0/24", NEAR, LOST),
    route("red", "::/0", protocol=86, kind=7),
    route("red", "fd00:2::/64", NEAR, up=False),
]


@pytest.fixture
def kernel(ctl, monkeypatch):
    tables = {"blue": 20, "red": 10}
    monkeypatch.setattr(vrf_routes, "vrfs", lambda: tables)
    monkeypatch.setattr(vrf_routes, "read", lambda asked: [r for r in ROUTES if r.vrf in asked])
    monkeypatch.setattr(
        vrf_routes, "unreachable", lambda sids: {LOST: "no route"} if LOST in set(sids) else {}
    )
    ctl.report()
    return ctl


def shown(ctl, *more):
    found = ctl.run("show", "routes", *more, "--json").json["routes"]
    return [f"{one['vrf']} {one['prefix']} {one['state']}" for one in found]


def test_remote_prefixes_with_their_state(kernel):
    assert shown(kernel) == [
        "blue 10.2.0.0/24 installed",
        "red 10.2.0.0/16 installed",
        "red 10.2.0.0/24 installed",
        "red 10.3.0.0/24 unreachable",
        "red 10.4.0.0/24 installed",
        "red fd00:2::/64 down",
    ]
    table = kernel.run("show", "routes", "--vrf", "red").out.splitlines()
    assert " ".join(table[0].split()) == "VRF PREFIX PROTOCOL REMOTE SID NEXT HOP STATE REASON"
    words = table[2].split()
    assert words == ["red", "10.2.0.0/24", "bgp", str(NEAR), str(CORE), "to-p", "installed"]
    assert table[3].endswith(f"unreachable  SID {LOST}, no route")
    # It works, by one path less.
    assert f"SID {LOST}, no route" in table[4]


@pytest.mark.parametrize(
    ("asked", "prefixes"),
    [
        (("--vrf", "blue"), "blue 10.2.0.0/24"),
        (("--family", "ipv6"), "red fd00:2::/64"),
        (("--status", "unreachable"), "red 10.3.0.0/24"),
        (("--sid", f"*{FAR}*"), "red 10.2.0.0/16"),
        (("10.2.0.7", "--vrf", "red"), "red 10.2.0.0/24"),
        (("10.2.9.7", "--vrf", "red"), "red 10.2.0.0/16"),
        (("10.3.0.0/24",), "red 10.3.0.0/24"),
        (("fd00:*",), "red fd00:2::/64"),
        (("--all", "--protocol", "kernel"), "red 10.1.0.0/24"),
        (("--all", "--status", "drops"), "red ::/0"),
    ],
)
def test_which(kernel, asked, prefixes):
    assert [line.rpartition(" ")[0] for line in shown(kernel, *asked)] == [prefixes]


def test_where_nothing_leads(kernel):
    ran = kernel.run("show", "routes", "192.0.2.1")
    assert (ran.status, "no route leads there" in ran.err) == (Exit.REJECTED, True)
    assert kernel.run("show", "routes", "everywhere").status == Exit.USAGE


def test_one_vrf_in_detail(kernel):
    shown = kernel.run("show", "vrfs", "red").out
    facts = {line.split()[0]: line.split(maxsplit=1)[1] for line in shown.splitlines() if line}
    assert facts["table"] == "10"
    assert facts["interfaces"] == "eth1 (unknown)"
    assert facts["routes"] == "5 ipv4, 2 ipv6; 5 routes to remote SIDs"
    assert SID in shown
    (one,) = kernel.run("show", "vrfs", "red", "--json").json["vrfs"]
    assert one["routes"] == {"ipv4": 5, "ipv6": 2, "remote": 5}
    assert [sid["prefix"] for sid in one["sids"]] == [SID]
    # A pattern is a table.
    assert "sids" not in kernel.run("show", "vrfs", "r*", "--json").json["vrfs"][0]


def test_a_vrf_is_shown_where_the_kernel_is_not(kernel, monkeypatch):
    def fail(_):
        raise Problem.of("netlink", "it is away", "look for it")

    monkeypatch.setattr(vrf_routes, "read", fail)
    assert "they can't be read" in kernel.run("show", "vrfs", "red").out
    assert kernel.run("show", "vrfs", "red", "--json").json["vrfs"][0]["routes"] is None
