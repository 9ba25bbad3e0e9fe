"""Notifications say the same of installed objects as a dump."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.sid.notices import SidNotices
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.reserved import MAIN_TABLE, SID_DEVICE
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.plan.actions import Create, Delete, Replace
from srv6mgrd.plan.observed import ObservedObject
from tests.contract.kernel.conftest import Run
from tests.contract.kernel.test_sids import end

pytestmark = pytest.mark.contract

DUMPED = "dumped"


@pytest.fixture
def follower(namespace: None, sid_device: str) -> Iterator[LinuxKernel]:
    made = LinuxKernel(notices=SidNotices())
    yield made
    made.close()


def sids(kernel: LinuxKernel) -> dict[str, ObservedObject]:
    found = kernel.observe([]).objects
    return {key: seen for key, seen in found.items() if key.startswith("route6 table 8986")}


def agrees(follower: LinuxKernel) -> int:
    """How many routes there are, by both."""
    fresh = LinuxKernel()
    try:
        reported, dumped = sids(follower), sids(fresh)
    finally:
        fresh.close()
    assert reported == dumped
    return len(reported)


@pytest.fixture
def undumped(follower: LinuxKernel, monkeypatch: pytest.MonkeyPatch) -> LinuxKernel:
    """It holds three SIDs and has dumped; now it must do without a dump of the SID table."""
    assert follower.apply([Create(end(n)) for n in (1, 2, 3)]) == []
    assert agrees(follower) == 3

    def observed(*_: object) -> None:
        raise AssertionError(DUMPED)

    monkeypatch.setattr(follower._sids._table, "observed", observed)
    return follower


def test_own_writes(undumped: LinuxKernel) -> None:
    other = SidRoute(end(2).prefix, Behavior.END_DT6, SID_TABLE, lookup_table=MAIN_TABLE)

    assert undumped.apply([Create(end(4)), Delete(end(1)), Replace(end(2), other)]) == []

    assert agrees(undumped) == 3
    assert sids(undumped)[other.key].object == other


@pytest.mark.parametrize(
    "command",
    [
        f"ip -6 route del fc00:1::1/128 table {SID_TABLE}",
        f"ip -6 route flush table {SID_TABLE}",
        f"ip -6 route replace fc00:1::1/128 table {SID_TABLE} metric 1024 proto 86"
        f" encap seg6local action End.DT6 table 254 count dev {SID_DEVICE}",
        f"ip -6 route replace fc00:1::1/128 table {SID_TABLE} metric 1024 proto static"
        f" encap seg6local action End count dev {SID_DEVICE}",
        f"ip -6 route add fc00:1::9/128 table {SID_TABLE} metric 1024"
        f" encap seg6local action End count dev {SID_DEVICE}",
        "ip -6 route add 2001:db8::/32 dev lo table 77",
    ],
)
def test_changes_by_others(undumped: LinuxKernel, run: Run, command: str) -> None:
    run(command)

    agrees(undumped)
    agrees(undumped)


@pytest.mark.parametrize(
    "command",
    [
        # One more route to the same prefix.
        f"ip -6 route add fc00:1::1/128 table {SID_TABLE} metric 5"
        f" encap seg6local action End.DT6 table 254 dev {SID_DEVICE}",
        f"ip -6 route append fc00:1::1/128 table {SID_TABLE} metric 1024"
        f" encap seg6local action End.DT6 table 254 dev {SID_DEVICE}",
        f"ip -6 route add blackhole fc00:1::77/128 table {SID_TABLE}",
        # Links are others than before: their routes may have gone with them.
        f"ip link set {SID_DEVICE} down",
        f"ip link set {SID_DEVICE} down; ip link set {SID_DEVICE} up; ip link add b0 type veth",
        f"ip link del {SID_DEVICE}",
        "sysctl -qw net.ipv6.route.skip_notify_on_dev_down=1",
    ],
)
def test_where_it_is_not_enough_a_dump_tells(follower: LinuxKernel, run: Run, command: str) -> None:
    assert follower.apply([Create(end(n)) for n in (1, 2, 3)]) == []
    agrees(follower)

    run(command)

    agrees(follower)
    agrees(follower)


def test_routes_that_go_with_their_device(follower: LinuxKernel, run: Run) -> None:
    """Also when it is back before anybody looks."""
    assert follower.apply([Create(end(n)) for n in (1, 2, 3)]) == []
    assert agrees(follower) == 3

    run(f"ip link set {SID_DEVICE} down; ip link set {SID_DEVICE} up")

    assert agrees(follower) == 0


def test_a_silent_loss_of_routes_is_seen(follower: LinuxKernel, run: Run) -> None:
    run("sysctl -qw net.ipv6.route.skip_notify_on_dev_down=1")
    assert follower.apply([Create(end(1))]) == []
    assert agrees(follower) == 1

    run(f"ip link set {SID_DEVICE} down; ip link set {SID_DEVICE} up")

    assert agrees(follower) == 0


def test_what_was_lost_is_dumped(namespace: None, sid_device: str) -> None:
    follower = LinuxKernel(notices=SidNotices(buffer=4096))
    try:
        agrees(follower)
        assert follower.apply([Create(end(n)) for n in range(1, 2000)]) == []

        assert agrees(follower) == 1999
    finally:
        follower.close()


def test_many_at_once_are_dumped(undumped: LinuxKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert undumped.apply([Create(end(n)) for n in range(4, 204)]) == []
    with pytest.raises(AssertionError, match=DUMPED):
        undumped.observe([])
    monkeypatch.undo()
    assert agrees(undumped) == 203


def test_a_full_resync_is_a_dump(undumped: LinuxKernel) -> None:
    undumped.force_full_resync()

    with pytest.raises(AssertionError, match=DUMPED):
        undumped.observe([])


def test_what_was_reported_is_not_lost_when_the_kernel_can_not_be_read(
    follower: LinuxKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert follower.apply([Create(end(n)) for n in (1, 2, 3)]) == []
    agrees(follower)
    assert follower.apply([Delete(end(1))]) == []

    def interrupted(*_: object, **__: object) -> list[bytes]:
        raise KernelError("netlink dump", "interrupted", "look")

    with monkeypatch.context() as patched:
        patched.setattr(follower._netlink, "dump", interrupted)
        with pytest.raises(KernelError):
            follower.observe([])

    assert agrees(follower) == 2
