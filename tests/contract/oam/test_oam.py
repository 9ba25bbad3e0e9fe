"""srv6ctl ping and trace over routers of the kernel: what works, and where packets stop."""

from __future__ import annotations

import pytest

from tests.contract.oam.conftest import Row

pytestmark = pytest.mark.contract

END, NEAR, FAR = "fcbb:0:2:1::", "fcbb:0:3::", "2001:db8::2"
P, B = "2001:db8:1::2", "2001:db8:2::1"
HERE = "2001:db8::1"


def hops(ran: dict[str, object]) -> list[tuple[str, str, int | None]]:
    found = ran["hops"]
    assert isinstance(found, list)
    return [(hop["router"], hop["to"], hop["segments-left"]) for hop in found]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (FAR, f"answer of {FAR}"),
        (END, "came back through it"),
        (f"{END} --encap", "came back through it"),
        (f"{FAR} --segments {NEAR}", f"answer of {FAR}"),
        (f"{END} --segments {NEAR}", "came back through it"),
        ("fcbd:3:2::", "came back through it"),
        (f"{END} --size 1200", "came back through it"),
    ],
)
def test_ping(row: Row, line: str, said: str) -> None:
    ran = row.ctl(f"ping {line} -c2 -i0.05")
    assert ran.status == 0, ran.out
    assert ran.out.count(said) == 2
    assert "2 sent, 2 arrived" in ran.out


def test_the_sid_of_each_hop(row: Row) -> None:
    over = row.ctl(f"trace {FAR} --segments {NEAR} --json")
    assert hops(over.json) == [(P, FAR, 0), (FAR, None, None)]
    loop = row.ctl(f"trace {END} --segments {NEAR} --json")
    assert hops(loop.json) == [(P, END, 1), (B, HERE, 0)]
    assert loop.json["arrived"] is True
    container = row.ctl("trace fcbd:3:2:: --json")
    assert hops(container.json) == [(P, "fcbd:2::", 1), (B, HERE, 0)]
    assert [hop["note"] for hop in container.json["hops"]] == [
        "past fcbd:3:2::",
        "on its way back",
    ]


def test_a_router_without_a_route(row: Row) -> None:
    row.on("p", "ip -6 route delete fcbb:0:2::/48")
    ran = row.ctl(f"trace {END}")
    assert ran.status == 1
    assert f"it stops at {P} (hop 1): no route to {END}" in ran.out
    ran = row.ctl(f"ping {END} -c1")
    assert ran.status == 1
    assert f"{P}: no route to {END}" in ran.out


def test_a_router_that_prohibits(row: Row) -> None:
    row.on("p", "ip -6 route add prohibit fcbb:0:2:1::/64")
    ran = row.ctl(f"trace {END}")
    assert f"it stops at {P} (hop 1): administratively prohibited to {END}" in ran.out


def test_a_sid_that_is_gone(row: Row) -> None:
    row.on("b", f"ip -6 route delete {END}/64")
    ran = row.ctl(f"trace {END} --segments {NEAR} --json")
    assert ran.status == 1
    found = ran.json
    assert found["message"] == f"it stops at {B} (hop 2): no route to {END}"
    assert (found["last-router"], found["last-hop"], found["next-sid"]) == (B, 2, END)


def test_routers_that_loop(row: Row) -> None:
    row.on("b", f"ip -6 route delete {END}/64")
    row.on("b", "ip -6 route add default via 2001:db8:2::2")
    ran = row.ctl(f"trace {END}")
    assert f"it loops between {B} and 2001:db8:2::2, on the way to {END}" in ran.out


def test_a_sid_that_drops_what_is_not_for_it(row: Row) -> None:
    """An End.DT6 without a VRF here that leads there."""
    ran = row.ctl("trace fcbb:0:2:64:: --timeout 0.3")
    assert ran.status == 1
    assert f"no answer after hop 1 ({P})" in ran.out
    assert "name the VRF (--vrf)" in ran.out


def test_a_small_mtu(row: Row) -> None:
    row.on("p", "ip link set to-b mtu 1300")
    ran = row.ctl(f"trace {END} --size 1300")
    assert ran.status == 1
    assert "name the VRF" not in ran.out
    assert f"it stops at {P} (hop 1): packet too big for an MTU of 1300 to {END}" in ran.out


def test_no_route_here(row: Row) -> None:
    row.on("a", "ip -6 route delete default")
    ran = row.ctl(f"trace {END}")
    assert ran.status == 1
    assert "it stops at this router: Network is unreachable" in ran.out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ping 10.0.0.1", "10.0.0.1: an IPv4 address is reached inside of a VRF alone"),
        ("ping here", "here: it is no address and no prefix"),
        ("trace fcbb:0:9:: --vrf red", "VRF red: there is no VRF of this name"),
        (f"ping {END} --segments fcbb::1,x", "x"),
    ],
)
def test_errors_have_a_status_of_their_own(row: Row, line: str, said: str) -> None:
    ran = row.ctl(line)
    assert ran.status == 2
    assert said in ran.out


def test_a_sid_of_this_router(row: Row) -> None:
    row.on("a", "ip -6 route add fcbb:0:1:1::/64 encap seg6local action End dev to-p")
    ran = row.ctl("ping fcbb:0:1:1::")
    assert ran.status == 2
    assert "SID fcbb:0:1:1::: it is a SID of this router; see srv6ctl explain" in ran.out
