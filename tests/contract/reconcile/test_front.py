"""What others put in front of ours is reported and never removed; what is lost on the way is read
again."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import Callable
from ipaddress import IPv6Network

import pytest

from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.model.status import InstallStatus, ObjectRef
from srv6mgrd.netlink import socket as netlink
from srv6mgrd.netlink.socket import NetlinkSocket, open_socket
from srv6mgrd.plan.actions import Create
from tests.contract.reconcile.router import DT4, DT46, END, LOCATOR, Router

pytestmark = pytest.mark.contract

SID = "SID fcbb:0:1:1::/64"
RULE = "rule 2000 that looks up fcbb:0:1::/48 in table 8986"
FRONT = "something that srv6mgr did not make takes packets of it"


FRONTS: list[tuple[str, ObjectRef, str]] = [
    (
        "route {} blackhole fcbb:0:1:1::/64 table 8986 metric 7",
        END,
        f"{SID}: {FRONT} (route fcbb:0:1:1::/64 metric 7:",
    ),
    (
        "route {} fcbb:0:1:1:7::/80 dev eth9 table 8986",
        END,
        f"{SID}: {FRONT} (route fcbb:0:1:1:7::/80 metric 1024:",
    ),
    (
        "route {} fcbb:0:1:1::/64 table 8986 metric 7 encap seg6local action End count dev srv6mgr",
        END,
        f"{SID}: {FRONT} (route fcbb:0:1:1::/64 metric 7: End); remove it",
    ),
    (
        "rule {} pref 100 to fcbb:0:1::/48 lookup 77",
        LOCATOR,
        f"{RULE}: {FRONT} (rule 100 to fcbb:0:1::/48: table 77); remove it",
    ),
    (
        "rule {} pref 1500 to fcbb:0:1:1::/64 blackhole",
        LOCATOR,
        f"{RULE}: {FRONT} (rule 1500 to fcbb:0:1:1::/64: blackhole); remove it",
    ),
    ("rule {} pref 5 prohibit", LOCATOR, f"{RULE}: {FRONT} (rule 5 to ::/0: prohibit)"),
    (
        "rule {} pref 500 from fcbb:0:1::1 to fcbb::/32 lookup 77",
        LOCATOR,
        f"{RULE}: {FRONT} (rule 500 to fcbb::/32: table 77)",
    ),
]


@pytest.mark.parametrize(
    ("what", "ref", "reason", "silent"),
    [*((*front, False) for front in FRONTS), (*FRONTS[0], True), (*FRONTS[3], True)],
)
async def test_in_front(
    router: Router, what: str, ref: ObjectRef, reason: str, silent: bool
) -> None:
    if silent:
        # Nobody listens.
        router.stop_watching()
    before, writes = router.picture(), router.kernel.writes

    router.run("ip -6 " + what.format("add"))
    standing = router.picture()
    assert standing != before
    if silent:
        router.manager.repair.compare()
    await router.wait_until(lambda: router.status(ref).status is InstallStatus.DRIFTED, "told")

    assert router.status(ref).reason.startswith(reason)
    router.manager.repair.compare()
    assert router.picture() == standing
    assert router.kernel.writes == writes
    assert router.repairs(ref) == 0

    # It stays when all of ours is put back around it, and when it is gone all is well.
    router.run("ip -6 route flush table 8986 proto 86; ip -6 rule del pref 2000")
    if silent:
        router.manager.repair.compare()
    await router.wait_until(lambda: router.repairs(DT46) == 1, "ours is back")
    assert router.picture() == standing
    router.run("ip -6 " + what.format("del"))
    if silent:
        router.manager.repair.compare()
    await router.wait_until(
        lambda: router.status(ref).status is InstallStatus.INSTALLED, "well again"
    )
    assert router.picture() == before


async def test_a_route_behind_keeps_nobody_waiting(router: Router) -> None:
    router.run("ip -6 route add blackhole fcbb:0:1:1::/64 table 8986 metric 2048")
    before = router.picture()
    router.run("ip -6 route del fcbb:0:1:1::/64 table 8986 proto 86")
    await router.wait_until(lambda: router.repairs(END) == 1, "repaired")
    assert router.status(END).status is InstallStatus.INSTALLED
    assert router.picture() == before


async def test_strict_mode_that_somebody_keeps_off(router: Router) -> None:
    """A second VRF took the table while it was off: it is reported, and comes back with it gone."""
    router.run(
        "echo 0 > /proc/sys/net/vrf/strict_mode; ip link add other type vrf table 100;"
        "ip -6 route del fcbb:0:1:64::/64 table 8986"
    )
    await router.wait_until(lambda: router.status(DT46).status is InstallStatus.FAILED, "told")
    assert "two VRF devices share a table" in router.status(DT4).reason
    assert "table 100 belongs to VRF other" in router.status(DT46).reason
    assert "other" in router.run("ip link show type vrf")
    router.run("ip link del other")
    await router.wait_until(
        lambda: router.status(DT46).status is InstallStatus.INSTALLED, "well again"
    )
    assert router.run("cat /proc/sys/net/vrf/strict_mode").strip() == "1"


@pytest.mark.parametrize("router", [4096], indirect=True, ids=["small buffer"])
async def test_lost_events(router: Router) -> None:
    """What is deleted while the socket overflows comes back all the same (ENOBUFS)."""
    router.run(
        "{ for i in $(seq 3000); do printf 'route add blackhole fc00:7::%x table 8986\\n' $i; done;"
        "echo route del fcbb:0:1:1::/64 table 8986; } | ip -6 -batch -"
    )
    await router.wait_until(lambda: router.repairs(END) == 1, "repaired")
    assert router.lost > 0
    assert router.run("ip -6 route show table 8986 type blackhole").count("fc00:7::") == 3000


def test_lost_answers(kernel: LinuxKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that found no room: each of the batch is in doubt, and the socket goes on."""
    network = IPv6Network("fc00:7::/64")
    rules = [Create(Rule(3000 + i, network, 8986)) for i in range(400)]
    assert kernel.apply(rules) == []

    def opened(family: int, buffer: int) -> socket.socket:
        made = open_socket(family, buffer)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        return made

    monkeypatch.setattr(netlink, "open_socket", opened)
    small = LinuxKernel()
    try:
        rejected = small.apply(rules)
        assert {(r.message, r.in_doubt) for r in rejected} == {
            ("the kernel's answers were lost", True)
        }
        assert [r.action for r in rejected] == rules
        assert small.observe([]).objects.keys() >= {a.object.key for a in rules}
    finally:
        small.close()


async def test_interrupted_dumps(router: Router, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compares while others keep changing links and rules: nothing is taken for missing."""
    interrupted = 0
    dump: Callable[..., list[bytes] | None] = NetlinkSocket._dump

    def counted(self: NetlinkSocket, request: bytes, sequence: int) -> list[bytes] | None:
        nonlocal interrupted
        datagrams = dump(self, request, sequence)
        interrupted += datagrams is None
        return datagrams

    monkeypatch.setattr(NetlinkSocket, "_dump", counted)
    # So many that a dump takes several datagrams, between which it can be interrupted.
    router.run("for i in $(seq 150); do echo link add a$i type dummy; done | ip -batch -")
    router.stop_watching()
    writes = router.kernel.writes
    churn = subprocess.Popen(
        "while echo link add x type dummy; do echo link del x; done | ip -batch -",
        shell=True,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(30):
            while interrupted < 3:
                assert router.manager.repair.compare().actions == []
                # Let the clock run.
                await asyncio.sleep(0)
    finally:
        os.killpg(churn.pid, 9)
        churn.wait()
    assert router.kernel.writes == writes
    assert router.drift() == {}
