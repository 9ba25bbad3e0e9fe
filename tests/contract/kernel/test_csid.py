"""Compressed SIDs in each layout that the model accepts: declared, planned, and packets counted."""

from __future__ import annotations

import socket
from dataclasses import replace
from ipaddress import IPv6Address

import pytest

from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.model.checks import check
from srv6mgrd.model.desired import Desired, Sid
from srv6mgrd.plan.target import target
from tests.builders import desired, locator, sid
from tests.contract.kernel.test_forwarding import INNER6 as HOSTS
from tests.contract.kernel.test_forwarding import (
    IPV6,
    NEXT,
    SOURCE,
    Router,
    destination,
    ipv6,
    router,
)

__all__ = ["router"]

pytestmark = pytest.mark.contract

NEXT_MAC = "020000000055"
UDP = b"\0\1\0\2\0\x08\xff\xff"
PACKET = ipv6(*HOSTS, 17, UDP)


def micro(prefix: str, block: int, node: int, function: int, *sids: Sid) -> Desired:
    lengths = {"block_length": block, "node_length": node, "function_length": function}
    return desired(replace(locator(prefix=prefix, **lengths), micro_segment=True), *sids)


def u_n(prefix: str) -> Sid:
    return replace(sid(prefix), flavors=frozenset({Flavor.NEXT_CSID}))


def u_a(prefix: str) -> Sid:
    hop = {"next_hop": IPv6Address(NEXT), "interface": "out0"}
    return replace(u_n(prefix), behavior=Behavior.END_X, **hop)


# What is declared; a carrier as it comes in, and as it goes out to the next hop.
LAYOUTS = {
    # tools/testing/selftests/net/srv6_end_x_next_csid_l3vpn_test.sh
    "uA as the locator, as the kernel's selftest": (
        micro("fdbb:0:200::/48", 32, 16, 16, u_a("fdbb:0:200::/48")),
        ("fdbb:0:200:300:100::", "fdbb:0:300:100::"),
    ),
    "uA of the local block, as FRR and SONiC": (
        micro("fdbb:0:2::/48", 32, 16, 16, u_n("fdbb:0:2::/48"), u_a("fdbb:0:fe01::/48")),
        ("fdbb:0:fe01:3:1::", "fdbb:0:3:1::"),
    ),
    "uA of the local block behind the uN": (
        micro("fdbb:0:2::/48", 32, 16, 16, u_n("fdbb:0:2::/48"), u_a("fdbb:0:fe01::/48")),
        ("fdbb:0:2:fe01:3:1::", "fdbb:0:3:1::"),
    ),
    "uA of the locator": (
        micro("fdbb:0:2::/48", 32, 16, 16, u_n("fdbb:0:2::/48"), u_a("fdbb:0:2:fe01::/64")),
        ("fdbb:0:2:fe01:3:1::", "fdbb:0:3:1::"),
    ),
    "24/8/16, uA of the locator": (
        micro("fdbb:2::/32", 24, 8, 16, u_n("fdbb:2::/32"), u_a("fdbb:2:fe01::/48")),
        ("fdbb:2:fe01:300:100::", "fdbb:3:1::"),
    ),
    "24/8/16, uA of the local block behind the uN": (
        micro("fdbb:2::/32", 24, 8, 16, u_n("fdbb:2::/32"), u_a("fdbb:fe:100::/40")),
        ("fdbb:2:fe01:300:100::", "fdbb:3:1::"),
    ),
    "32/8/8": (
        micro("fdbb:0:200::/40", 32, 8, 8, u_n("fdbb:0:200::/40"), u_a("fdbb:0:2fe::/48")),
        ("fdbb:0:2fe:300:100::", "fdbb:0:300:100::"),
    ),
    "48/16/16": (
        micro("fdbb:0:1:2::/64", 48, 16, 16, u_n("fdbb:0:1:2::/64"), u_a("fdbb:0:1:fe01::/64")),
        ("fdbb:0:1:2:fe01:3:1::", "fdbb:0:1:3:1::"),
    ),
    "32/16/32, a wide function": (
        micro("fdbb:0:2::/48", 32, 16, 32, u_n("fdbb:0:2::/48"), u_a("fdbb:0:fe01:7::/64")),
        ("fdbb:0:2:fe01:7:3::", "fdbb:0:3::"),
    ),
    "all but a byte": (
        micro("fdbb::200/120", 112, 8, 8, u_a("fdbb::200/120")),
        ("fdbb::203", "fdbb::300"),
    ),
}


@pytest.mark.parametrize(("declared", "carrier"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_carrier_goes_on_to_the_next_c_sid(
    router: Router, declared: Desired, carrier: tuple[str, str]
) -> None:
    check(declared)
    planned = target(declared, {"out0": socket.if_nametoindex("out0")}).objects.values()
    router.put(*(o for o in planned if isinstance(o, SidRoute | NextHopRoute | Rule)))

    to, out = router.forward(ipv6(SOURCE, carrier[0], IPV6, PACKET))

    assert (to.hex(), destination(out)) == (NEXT_MAC, IPv6Address(carrier[1]))
    counted = {str(prefix): at[0] for prefix, at in router.kernel.sid_counters().items()}
    (adjacency,) = (p for p, s in declared.sids.items() if s.behavior is Behavior.END_X)
    assert counted[str(adjacency)] == 1
