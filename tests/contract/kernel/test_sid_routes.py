"""srv6ctl reads the table of SIDs as the kernel has it."""

from __future__ import annotations

from ipaddress import IPv6Network

from srv6mgrd.cli import host, sid_routes
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.reserved import ROUTE_PROTOCOL, SID_DEVICE
from srv6mgrd.plan.actions import Create
from tests.contract.kernel.conftest import Run


def prefix(number: int) -> IPv6Network:
    return IPv6Network(f"fcbb:0:1:{number:x}::/64")


def test_all_and_one_of_them(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    sids = [SidRoute(prefix(n), Behavior.END, SID_TABLE) for n in range(1, 300)]
    assert not kernel.apply([Create(sid) for sid in sids])
    run(f"ip -6 route add blackhole fcbb:0:1:1::/64 table {SID_TABLE} metric 7")

    found = host.read(routes=True).routes

    ours = {route.prefix for route in found if route.protocol == ROUTE_PROTOCOL}
    assert ours == {sid.prefix for sid in sids}
    (foreign,) = (r for r in found if r.type == "blackhole")
    assert (foreign.prefix, foreign.metric, foreign.encap) == (prefix(1), 7, "")
    for number in (1, 250):
        route = sid_routes.find(prefix(number))
        assert route is not None
        assert (route.device, route.encap) == (SID_DEVICE, "seg6local")
        assert route in found
    assert sid_routes.find(prefix(300)) is None
    assert sid_routes.find(IPv6Network("fcbb:0:1:1::/65")) is None


def test_whether_a_link_is_up(sid_device: str, run: Run) -> None:
    assert host.is_up(SID_DEVICE)
    run(f"ip link set {SID_DEVICE} down")
    assert not host.is_up(SID_DEVICE)
    assert not host.is_up("absent")
