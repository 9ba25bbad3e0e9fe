"""What bgpd shows, as evidence for the state of services."""

from __future__ import annotations

import errno
import json
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from srv6mgrd.frr.service_evidence import bgp_evidence
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.model.desired import Desired
from srv6mgrd.service_state.evidence import (
    SPEAKER,
    BgpEvidence,
    BgpSession,
    RouteCount,
    UnresolvedNextHop,
)
from tests.unit.frr.samples import PE1
from tests.unit.frr.test_status import Shown

INVALID = {"valid": False, "complete": False, "pathCount": 3}


@dataclass
class Daemons(Shown):
    """With the neighbors of two instances, and next hops of the router's own."""

    default_hops: dict[str, Any] = field(default_factory=dict)
    paths: list[dict[str, str]] = field(default_factory=list)

    def show(self, daemon: str, command: str) -> str:
        if command == "show bgp vrf all summary json":
            up = {"state": "Established", "connectionsEstablished": 2}
            lost = {"state": "Active", "connectionsEstablished": 1}
            never = {"state": "Connect", "connectionsEstablished": 0}
            families = {"ipv4Vpn": {"peers": {"p1": lost, "p2": never}}}
            families["ipv6Vpn"] = {"peers": {"p1": up, "p2": {**never, "state": "NoNeg"}}}
            families["ipv4Unicast"] = {"peers": {"p2": up}}
            return json.dumps(
                {"default": families, "red": {"ipv4Unicast": {"peers": {"c1": lost}}}}
            )
        if command == "show ip route vrf all summary json":
            local = {"fib": 9, "rib": 9, "type": "connected"}
            red = [{"fib": 1, "rib": 2, "type": "ebgp"}, {"fib": 1, "rib": 3, "type": "ibgp"}]
            return json.dumps({"default": {"routes": [local]}, "red": {"routes": [local, *red]}})
        if command == "show ipv6 route vrf all summary json":
            return json.dumps({"watch": {"routes": [{"fib": 2, "rib": 2, "type": "ibgp"}]}})
        if command == "show ip route vrf red bgp json":
            active = {"nexthops": [{"active": True}]}
            return json.dumps(
                {
                    "10.1.0.0/24": [{"selected": True, "installed": True, **active}],
                    "10.2.0.0/24": [{"selected": True, "installed": True, **active}],
                    "10.3.0.0/24": [{"selected": True, **active}],
                    "10.4.0.0/24": [{"nexthops": [{"afi": "ipv6"}]}],
                    "10.5.0.0/24": [active],
                }
            )
        if command == "show bgp vrf all nexthop json":
            return json.dumps({"default": {"ipv4": {}, "ipv6": self.default_hops}, "red": {}})
        if command.startswith("show bgp nexthop "):
            hop = command.split()[3]
            return json.dumps({"ipv6": {hop: {**self.default_hops[hop], "paths": self.paths}}})
        return super().show(daemon, command)


def test_sessions_for_vpn_routes_and_with_customers() -> None:
    found = bgp_evidence(PE1, Daemons())
    assert found.sessions == {
        (SPEAKER, "p1"): BgpSession("Established", was_established=True),
        (SPEAKER, "p2"): BgpSession("Connect"),
        ("red", "c1"): BgpSession("Active", was_established=True),
    }
    assert (found.problem, found.exports, found.unresolved) == ("", {"red": ""}, ())


def test_exports() -> None:
    found = bgp_evidence(PE1, Daemons(locators=[]))
    assert found.exports == {"red": "zebra has no locator MAIN yet"}


def test_routes_of_bgp_that_belong_in_the_kernel() -> None:
    """Two of red's five are installed; of the others zebra failed to install one, has no next hop
    for one, and prefers a static route to one."""
    assert bgp_evidence(PE1, Daemons()).routes == {
        "default": RouteCount(0, 0),
        "red": RouteCount(4, 0),
        "watch": RouteCount(0, 2),
    }


def test_next_hops_of_imported_routes() -> None:
    shown = Daemons()
    shown.default_hops = {"2001:db8::2": INVALID, "2001:db8::3": {**INVALID, "valid": True}}
    vrfs = ("red", "red", "watch", "default", "foreign")
    shown.paths = [{"vrf": vrf, "prefix": "10.0.0.0/8"} for vrf in vrfs]
    (hop,) = bgp_evidence(PE1, shown).unresolved
    assert hop == UnresolvedNextHop("2001:db8::2", {"red": 2, "watch": 1})


def test_a_next_hop_of_very_many_routes_concerns_all_vrfs_in_bgp() -> None:
    shown = Daemons()
    shown.default_hops = {"2001:db8::2": {**INVALID, "pathCount": 100_000}}
    (hop,) = bgp_evidence(PE1, shown).unresolved
    assert hop.routes == {"red": 1, "watch": 1}


def test_bgpd_is_away() -> None:
    assert bgp_evidence(PE1, Shown(away="bgpd can't be reached")) == BgpEvidence(
        "bgpd can't be reached"
    )


def test_without_bgp_nobody_is_asked() -> None:
    def show(_daemon: str, _command: str) -> str:
        raise VtyError(errno.EIO, "asked")

    silent = SimpleNamespace(show=show)
    assert bgp_evidence(replace(PE1, bgp=None), silent) == BgpEvidence()
    assert bgp_evidence(Desired(), silent) == BgpEvidence()
