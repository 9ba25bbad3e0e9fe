"""Every drift: noticed, repaired, counted once, and reported with what differed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from srv6mgrd.model.status import InstallStatus, ObjectRef
from tests.contract.reconcile.router import (
    BLUE,
    DT4,
    DT46,
    END,
    END_X,
    LOCATOR,
    RED,
    SIDS,
    STEERED,
    Router,
)

pytestmark = pytest.mark.contract

PINNED = (1 << 28) | 100
SID = "ip -6 route replace fcbb:0:1:1::/64 table 8986 proto 86 metric 1024 encap seg6local action"
DELETED = "SID route was deleted"
NEXT_HOP = "route to next hop fc00:5::5 was deleted"
DEFAULT4 = "unreachable IPv4 default of table 100 was deleted"
DEFAULT6 = "unreachable IPv6 default of table 100 was deleted"
RULE = "rule 2000 to fcbb:0:1::/48"
LOCAL = "rule 989 to fcbb:0:1::/48"
UNDERLAY = "rule 990 to fcbb::/32"


@dataclass(frozen=True)
class Drift:
    """What is done by hand, and what is found of it. ``silent``: no event reports it."""

    name: str
    command: str
    found: dict[ObjectRef, str]
    silent: bool = False

    def __str__(self) -> str:
        return self.name


def sysctl(path: str, *refs: ObjectRef, to: int = 0) -> Drift:
    name = path.replace("/", ".")
    found = dict.fromkeys(refs, f"{name} was {to}, is {1 - to}")
    return Drift(f"{name} set to {to}", f"echo {to} > /proc/sys/{path}", found, silent=True)


DRIFTS = [
    Drift("SID deleted", "ip -6 route del fcbb:0:1:1::/64 table 8986", {END: DELETED}),
    Drift(
        "SID's action",
        f"{SID} End.DT6 table main count dev srv6mgr",
        {END: "SID route: action was End.DT6, is End; lookup table was 254, is none"},
    ),
    Drift(
        "SID's VRF table",
        f"{SID.replace(':1::/64', ':64::/64')} End.DT46 vrftable 200 count dev srv6mgr",
        {DT46: "SID route: vrf table was 200, is 100"},
    ),
    Drift(
        "SID's device",
        f"{SID} End count dev eth1",
        {END: "SID route: device was eth1, is srv6mgr"},
    ),
    Drift(
        "SID's metric",
        "ip -6 route del fcbb:0:1:1::/64 table 8986;"
        f"{SID.replace('metric 1024', 'metric 7')} End count dev srv6mgr",
        {END: "SID route: metric was 7, is 1024"},
    ),
    Drift(
        "SID's counters",
        f"{SID} End dev srv6mgr",
        {END: "SID route: counters was off, is on"},
    ),
    Drift(
        "SID's flavor",
        f"{SID} End flavors psp count dev srv6mgr",
        {END: "SID route: flavors was psp, is none"},
    ),
    Drift(
        "SID without our mark",
        f"{SID.replace('proto 86', 'proto boot')} End count dev srv6mgr",
        {END: "SID route: lacked our mark"},
    ),
    *(
        Drift(
            f"IPv{family} l3mdev rule flushed",
            f"ip -{family} rule del priority 1000",
            {RED: f"IPv{family} l3mdev rule was deleted"},
        )
        for family in (4, 6)
    ),
    Drift(
        "VRF without our mark",
        "ip link set red alias customer",
        {RED: "VRF device red: lacked our mark"},
    ),
    Drift(
        "default without our mark",
        "ip route replace unreachable default table 100 metric 4278198272",
        {RED: "unreachable IPv4 default of table 100: lacked our mark"},
    ),
    Drift(
        "SID moved to another table",
        "ip -6 route del fcbb:0:1:1::/64 table 8986;"
        f"{SID.replace('8986', '77')} End count dev srv6mgr",
        {END: DELETED},
    ),
    Drift(
        "table flushed by a foreign tool",
        "ip -6 route flush table 8986",
        dict.fromkeys(SIDS, DELETED),
    ),
    Drift(
        "SID device flaps",
        "ip link set srv6mgr down; ip link set srv6mgr up",
        {**dict.fromkeys(SIDS, DELETED), STEERED: "route fc00:9::/64 was deleted"},
    ),
    Drift(
        "SID device down",
        "ip link set srv6mgr down",
        {END: f"device srv6mgr was dummy down; {DELETED}"},
    ),
    Drift(
        "SID device deleted",
        "ip link del srv6mgr",
        {END: f"device srv6mgr was deleted; {DELETED}"},
    ),
    Drift(
        "interface of End.X flaps", "ip link set eth1 down; ip link set eth1 up", {END_X: NEXT_HOP}
    ),
    Drift("VRF down", "ip link set red down", {RED: "VRF device red: up was off, is on"}),
    Drift(
        "VRF deleted",
        "ip link del red",
        {
            RED: "VRF device red was deleted; net.ipv6.conf.red.seg6_enabled was deleted;"
            " interface eth2 had left VRF red"
        },
    ),
    Drift(
        "VRF recreated",
        "ip link del red; ip link add red index 77 type vrf table 100; ip link set red up",
        {RED: f"VRF device red: ifindex was 77, is {PINNED}; interface eth2 had left VRF red"},
    ),
    Drift(
        "VRF on another table",
        f"ip link del red; ip link add red index {PINNED} type vrf table 300; ip link set red up;"
        "ip link set eth2 master red",
        {RED: "VRF device red: table was 300, is 100"},
    ),
    Drift(
        "interface out of its VRF",
        "ip link set eth2 nomaster",
        {RED: "interface eth2 had left VRF red"},
    ),
    Drift(
        "interface in another VRF",
        "ip link set eth2 master blue",
        {RED: "interface eth2 was in VRF blue, is in red"},
    ),
    Drift(
        "default of IPv4",
        "ip route del unreachable default table 100 metric 4278198272",
        {RED: DEFAULT4},
    ),
    Drift(
        "default of IPv6",
        "ip -6 route del unreachable default table 100 metric 4278198272",
        {RED: DEFAULT6},
    ),
    Drift(
        "table of a VRF flushed",
        "ip route flush table 100; ip -6 route flush table 100",
        {RED: f"{DEFAULT4}; {DEFAULT6}"},
    ),
    Drift("rule deleted", "ip -6 rule del pref 2000", {LOCATOR: f"{RULE} was deleted"}),
    Drift("rule of the underlay", "ip -6 rule del pref 990", {LOCATOR: f"{UNDERLAY} was deleted"}),
    Drift(
        "all rules flushed",
        "ip -6 rule flush",
        {LOCATOR: f"{RULE} was deleted; {LOCAL} was deleted; {UNDERLAY} was deleted"},
    ),
    Drift(
        "rule into another table",
        "ip -6 rule del pref 2000; ip -6 rule add pref 2000 to fcbb:0:1::/48 lookup 77 proto 86",
        {LOCATOR: f"{RULE}: table was 77, is 8986"},
    ),
    Drift(
        "rule with a selector",
        "ip -6 rule del pref 2000;"
        "ip -6 rule add pref 2000 to fcbb:0:1::/48 iif eth1 lookup 8986 proto 86",
        {LOCATOR: f"{RULE} was table 8986, with iif"},
    ),
    Drift(
        "steered route",
        "ip -6 route del fc00:9::/64 proto 86",
        {STEERED: "route fc00:9::/64 was deleted"},
    ),
    Drift("next hop", "ip -6 route del fc00:5::5 proto 86", {END_X: NEXT_HOP}),
    sysctl("net/vrf/strict_mode", DT4, DT46),
    sysctl("net/ipv6/conf/all/forwarding", LOCATOR, RED, BLUE),
    sysctl("net/ipv4/ip_forward", RED, BLUE),
    sysctl("net/ipv6/conf/eth2/keep_addr_on_down", RED),
    sysctl("net/ipv6/conf/eth2/seg6_enabled", RED, to=1),
]


@pytest.mark.parametrize("drift", DRIFTS, ids=str)
async def test_drift(router: Router, drift: Drift) -> None:
    before = router.picture()

    router.run(drift.command)
    if drift.silent:
        router.manager.request_reconcile()

    def is_repaired() -> bool:
        return all(router.repairs(ref) for ref in drift.found)

    await router.wait_until(is_repaired, "repaired")
    found = router.drift()
    assert {ref.name: found[ref.name] for ref in drift.found} == {
        ref.name: words for ref, words in drift.found.items()
    }
    assert [router.repairs(ref) for ref in drift.found] == [1] * len(drift.found)
    assert all(router.status(ref).status is InstallStatus.INSTALLED for ref in drift.found)
    assert router.node.statistics.repairs == router.node.statistics.drifts == len(found)
    after = router.picture()
    assert [line for line in before if line not in after] == []
    writes = router.kernel.writes
    assert router.manager.repair.compare().actions == []
    assert router.kernel.writes == writes
