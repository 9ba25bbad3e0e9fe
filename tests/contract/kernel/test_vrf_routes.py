"""srv6ctl reads the routes of VRFs as they are, whatever made them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_network

from srv6mgrd.cli import vrf_routes
from srv6mgrd.cli.vrf_routes import Path, VrfRoute
from tests.contract.kernel.conftest import Run

FIRST, SECOND = IPv6Address("fcbb:0:2:64::"), IPv6Address("fcbb:0:3:64::")
CORE = IPv6Address("2001:db8::9")
TABLES = {"red": 10, "blue": 1000}


def found(run: Run, *commands: str) -> dict[str, VrfRoute]:
    run("ip link add core type veth peer name peer; ip link set peer up; ip link set core up")
    run("ip addr add 2001:db8::1/64 dev core nodad; ip addr add 192.0.2.1/24 dev core")
    for command in commands:
        run(command)
    return {f"{route.vrf} {route.prefix}": route for route in vrf_routes.read(TABLES)}


def test_ways_to_remote_sids(run: Run) -> None:
    encap = "encap seg6 mode encap segs"
    routes = found(
        run,
        f"ip -6 route add fd00:1::/64 table 10 proto 186 {encap} {FIRST} via {CORE} dev core",
        f"ip -6 route add fd00:2::/64 table 1000 {encap} {SECOND},{FIRST} dev core",
        f"ip route add 10.1.0.0/24 table 10 {encap} {FIRST} via inet6 {CORE} dev core",
        f"ip -6 route add fd00:3::/64 table 10 nexthop {encap} {FIRST} via {CORE} dev core"
        f" nexthop {encap} {SECOND} via {CORE} dev core",
        f"ip -6 route add fd00:9::/64 {encap} {FIRST} dev core",  # in no VRF
    )

    to_first = Path((FIRST,), CORE, "core", True)
    assert routes.keys() == {
        "red 10.1.0.0/24", "red fd00:1::/64", "red fd00:3::/64", "blue fd00:2::/64"
    }  # fmt: skip
    assert routes["red fd00:1::/64"].paths == (to_first,)
    assert routes["red fd00:1::/64"].protocol == 186
    assert routes["red 10.1.0.0/24"].paths == (to_first,)
    assert routes["red fd00:3::/64"].sids == (FIRST, SECOND)
    (path,) = routes["blue fd00:2::/64"].paths
    assert (path.segments, path.next_hop) == ((SECOND, FIRST), None)


def test_nexthop_objects(run: Run) -> None:
    routes = found(
        run,
        f"ip -6 nexthop add id 44 via {CORE} dev core encap seg6 mode encap segs {FIRST}",
        f"ip -6 nexthop add id 45 via {CORE} dev core encap seg6 mode encap segs {SECOND}",
        "ip nexthop add id 46 group 44/45",
        "ip -6 route add fd00:1::/64 table 10 nhid 44",
        "ip -6 route add fd00:2::/64 table 10 nhid 46",
    )

    assert routes["red fd00:1::/64"].paths == (Path((FIRST,), CORE, "core", True),)
    assert routes["red fd00:2::/64"].sids == (FIRST, SECOND)


def test_others(run: Run) -> None:
    routes = found(
        run,
        "ip route add 10.2.0.0/24 table 10 via 192.0.2.9 dev core",
        "ip -6 route add unreachable default table 10 metric 4278198272 proto 86",
    )

    assert routes["red 10.2.0.0/24"].paths == (
        Path((), IPv4Address("192.0.2.9"), "core", True),
    )  # fmt: skip
    assert routes["red 10.2.0.0/24"].sids == ()
    default = routes["red ::/0"]
    assert (default.prefix, default.kind, default.protocol) == (ip_network("::/0"), 7, 86)


def test_whether_there_is_a_route_to_a_sid(run: Run) -> None:
    found(run, f"ip -6 route add fcbb:0:2::/48 via {CORE} dev core")

    lost = vrf_routes.unreachable([FIRST, FIRST, SECOND])

    assert lost.keys() == {SECOND}
    assert "no route" in lost[SECOND]
