"""Two PEs, configured through the vty sockets: VPN routes, SIDs, repair."""

from __future__ import annotations

import time
from functools import partial

import pytest

from lab.guest.nodes import Node
from lab.problem import LabError
from lab.waiting import wait_until
from srv6mgrd.frr.blocks import LOCATORS, ZEBRA, block
from srv6mgrd.frr.status import vrf_status
from srv6mgrd.model.desired import Desired
from srv6mgrd.plan.actions import Create, Delete
from tests.contract.frr.conftest import Pe, declaration, sid

pytestmark = pytest.mark.contract

Pes = tuple[Pe, Pe]
DEADLINE = 40.0


def remote(pe: Pe, family: str, table: int, prefix: str) -> str:
    """The encapsulation of a remote prefix, empty when the route is not there."""
    for line in pe.ip(family, "route", "show", "table", str(table)).splitlines():
        if line.startswith(prefix):
            if "encap seg6" in line:
                return line
            if "nhid" in line:
                number = line.split("nhid", 1)[1].split()[0]
                return line + pe.ip("nexthop", "show", "id", number)
    return ""


def arrive(pe: Pe, family: str, table: int, prefix: str, sid: str = "encap seg6") -> None:
    """Wait for a remote prefix with this SID."""
    what = f"{prefix} by {sid} in table {table} of pe{pe.number}"
    wait_until(lambda: sid in remote(pe, family, table, prefix), what, DEADLINE)


def leave(pe: Pe, family: str, table: int, prefix: str) -> None:
    """Wait until a remote prefix is gone."""
    what = f"withdrawal of {prefix} from table {table} of pe{pe.number}"
    wait_until(lambda: not remote(pe, family, table, prefix), what, DEADLINE)


def up(pes: Pes, *vrfs: str) -> None:
    """Wait until both PEs advertise the SIDs of these VRFs."""
    for pe in pes:
        advertised(pe, declaration(pe.number, *vrfs))


def advertised(pe: Pe, wanted: Desired) -> None:
    """Wait until every VRF's declared SID is advertised, and no other."""
    sids = {s.vrf: (s.prefix[0], "") for s in wanted.sids.values()}
    try:
        wait_until(lambda: vrf_status(wanted, pe.frr) == sids, f"SIDs of pe{pe.number}", DEADLINE)
    except LabError as error:
        raise AssertionError(f"{error}: {vrf_status(wanted, pe.frr)}") from None


def push(pes: Pes, *vrfs: str) -> None:
    for pe in pes:
        assert pe.push(declaration(pe.number, *vrfs)) == []


def test_vpn(pes: Pes) -> None:
    started = time.monotonic()
    push(pes, "red", "blue")
    accepted = time.monotonic()
    up(pes, "red", "blue")
    up_at = time.monotonic()
    one, two = pes
    for pe, other in ((one, two), (two, one)):
        for table, function in ((10, "64"), (20, "65")):
            end = f"fcbb:0:{other.number}:{function}::"
            arrive(pe, "-4", table, f"10.{other.number}.0.0/24", end)
            arrive(pe, "-6", table, f"fd00:{other.number}::/64", end)
    done = time.monotonic()
    print(
        f"accepted {accepted - started:.3f} s, advertised {up_at - started:.3f} s,"
        f" routes {done - started:.3f} s"
    )
    assert one.vpn_routes()
    assert one.vpn_routes(6)
    for pe in pes:
        assert pe.plan(declaration(pe.number, "red", "blue")) == []


def test_traffic(pes: Pes) -> None:
    push(pes, "red", "blue")
    one = Node("ce-red1")
    for target in ("10.2.0.10", "fd00:2::10"):
        wait_until(partial(_pings, one, target), f"ping to {target}", DEADLINE)


def _pings(node: Node, target: str) -> bool:
    return node.run(["ping", "-c1", "-W1", target], check=False).returncode == 0


def test_same_again_sends_nothing(pes: Pes) -> None:
    push(pes, "red")
    up(pes, "red")
    one = pes[0]
    before = one.frr.writes
    version = one.vpn_routes().get("tableVersion")
    assert one.push(declaration(1, "red")) == []
    assert one.frr.writes == before
    assert one.vpn_routes().get("tableVersion") == version


def test_one_vrf_goes_the_other_stays(pes: Pes) -> None:
    push(pes, "red", "blue")
    up(pes, "red", "blue")
    one, two = pes
    started = time.monotonic()
    assert one.push(declaration(1, "red")) == []
    print(f"removal accepted after {time.monotonic() - started:.3f} s")
    leave(two, "-4", 20, "10.1.0.0/24")
    assert vrf_status(declaration(1, "red"), one.frr)["red"][0] == sid(1, 100).network_address
    observed = one.frr.observe()
    assert observed is not None
    assert not [key for key in observed if "vrf blue" in key and "router" in key]
    started = time.monotonic()
    assert one.push(declaration(1, "red", "blue")) == []
    up(pes, "red", "blue")
    print(f"added again and advertised after {time.monotonic() - started:.3f} s")


def test_another_sid(pes: Pes) -> None:
    push(pes, "red")
    up(pes, "red")
    one, two = pes
    assert one.push(declaration(1, "red", function=200)) == []
    advertised(one, declaration(1, "red", function=200))
    arrive(two, "-4", 10, "10.1.0.0/24", "fcbb:0:1:c8::")


def test_vrf_device_may_come_later(pes: Pes) -> None:
    one, two = pes
    one.ip("link", "set", "to-ce-red", "nomaster")
    one.ip("link", "del", "red")
    push(pes, "red")
    wanted = declaration(1, "red")
    wait_until(
        lambda: "does not see the device" in vrf_status(wanted, one.frr)["red"][1], "reason", 40
    )
    one.vrf("red")
    started = time.monotonic()
    up(pes, "red")
    print(f"advertised {time.monotonic() - started:.3f} s after the device came")
    arrive(two, "-6", 10, "fd00:1::/64")


def test_vrf_device_made_anew(pes: Pes) -> None:
    push(pes, "red")
    up(pes, "red")
    one, two = pes
    one.ip("link", "set", "to-ce-red", "nomaster")
    one.ip("link", "del", "red")
    leave(two, "-6", 10, "fd00:1::/64")
    one.vrf("red")
    up(pes, "red")
    arrive(two, "-6", 10, "fd00:1::/64")


@pytest.mark.parametrize("daemon", ["bgpd", "zebra"])
def test_restarted_daemon_is_seen_and_configured_again(pes: Pes, daemon: str) -> None:
    push(pes, "red")
    up(pes, "red")
    one, two = pes
    one.stop(daemon)
    assert one.frr.observe() is None
    assert f"{daemon} can't be reached" in one.frr.unreachable
    assert f"{daemon} can't be reached" in vrf_status(declaration(1, "red"), one.frr)["red"][1]
    one.start(daemon)
    wait_until(lambda: one.frr.observe() is not None, "observation", 40)
    actions = one.plan(declaration(1, "red"))
    assert {a.object.key.split()[1] for a in actions} == {daemon}
    assert one.push(declaration(1, "red")) == []
    up(pes, "red")
    arrive(two, "-4", 10, "10.1.0.0/24", "fcbb:0:1:64::")
    arrive(one, "-4", 10, "10.2.0.0/24", "fcbb:0:2:64::")


def test_removing_another_locator_leaves_ours_at_work(pes: Pes) -> None:
    """bgpd loses its locator when any goes; an operator's removal shows in status, and a push
    that removes one of ours mends it."""
    one = pes[0]
    push(pes, "red")
    up(pes, "red")
    line = "prefix fcbb:0:9::/48 block-len 32 node-len 16 func-bits 16"
    other = block(ZEBRA, (*LOCATORS, "locator OTHER"), [line])
    assert one.frr.apply([Create(other)]) == []
    assert one.frr.apply([Delete(other)]) == []
    up(pes, "red")
    assert one.push(declaration(1, "red", "blue")) == []
    advertised(one, declaration(1, "red", "blue"))
