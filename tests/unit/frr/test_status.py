"""What the daemons show, to a verdict per VRF."""

from __future__ import annotations

import errno
import json
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Address, IPv6Network
from typing import Any

from srv6mgrd.frr.status import leak_status, vrf_status
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.model.bgp import Neighbor
from srv6mgrd.model.desired import Desired, Locator
from srv6mgrd.model.isis import Isis
from srv6mgrd.model.leaking import Leak
from tests.unit.frr.samples import PE1, with_families

SID = IPv6Address("fcbb:0:1:64::")


@dataclass
class Shown:
    """A healthy PE; tests spoil one thing."""

    locators: list[dict[str, Any]] = field(
        default_factory=lambda: [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]
    )
    bgp_prefix: str = "  prefix: fcbb:0:1::/48\n"
    red_sid: str = str(SID)
    vrfs: dict[str, Any] = field(
        default_factory=lambda: {"default": {"vrfId": 0}, "red": {"vrfId": 3}}
    )
    state: str = "Established"
    customer: str = "Established"
    away: str = ""
    hops: dict[str, Any] = field(default_factory=dict)

    def show(self, daemon: str, command: str) -> str:
        if self.away:
            raise VtyError(errno.ENOENT, self.away)
        return {
            "show segment-routing srv6 locator json": json.dumps({"locators": self.locators}),
            "show bgp segment-routing srv6": f"locator_name: MAIN\n{self.bgp_prefix}"
            "locator_chunks:\nfunctions:\nbgps:\n- name: default\n  per-vrf tovpn_sid: (null)\n"
            f"- name: red\n  vpn_policy[AFI_IP].tovpn_sid: (null)\n"
            f"  vpn_policy[AFI_IP6].tovpn_sid: (null)\n  per-vrf tovpn_sid: {self.red_sid}\n",
            "show bgp vrfs json": json.dumps({"vrfs": self.vrfs}),
            "show bgp vrf all summary json": json.dumps(
                {
                    "default": {"ipv4Vpn": {"peers": {"fcbb:0:2::1": {"state": self.state}}}},
                    "red": {
                        "ipv4Unicast": {"peers": {"10.1.0.10": {"state": self.customer}}},
                        "ipv6Unicast": {"peers": {"fd00:1::10": {"state": "Established"}}},
                    },
                    "watch": {},
                }
            ),
            "show bgp vrf all nexthop json": json.dumps(
                {"default": {"ipv4": {}, "ipv6": {}}, "red": {"ipv4": {}, "ipv6": self.hops}}
            ),
            "show bgp ipv6 vpn json": '{"routes": {}}',
        }[command]


def red(shown: Shown) -> tuple[IPv6Address | None, str]:
    return vrf_status(PE1, shown)["red"]


def test_advertised() -> None:
    assert red(Shown()) == (SID, "")


def test_import_only_misses_nothing() -> None:
    assert vrf_status(PE1, Shown()) == {"red": (SID, ""), "watch": (None, "")}


def test_neighbors_that_bfd_does_not_watch() -> None:
    bgp = PE1.vrfs["red"].bgp
    assert bgp is not None
    watched = replace(bgp, neighbors=(Neighbor("10.1.0.10", 65100, bfd=True),))
    desired = replace(PE1, vrfs={**PE1.vrfs, "red": replace(PE1.vrfs["red"], bgp=watched)})

    class NoBfdd(Shown):
        def show(self, daemon: str, command: str) -> str:
            if daemon == "bfdd":
                raise VtyError(errno.ENOENT, "bfdd can't be reached")
            return super().show(daemon, command)

    message = "BFD does not watch 10.1.0.10, since bfdd does not run"
    assert vrf_status(desired, NoBfdd())["red"] == (SID, message)


def test_imports_from_other_vrfs() -> None:
    leaks = (Leak("watch", "red"), Leak("default", "red", "P"), Leak("watch", "default", "P"))
    desired = replace(PE1, leaks={leak.name: leak for leak in leaks})
    both = {"default": {"vrfId": 0}, "red": {"vrfId": 3}, "watch": {"vrfId": 4}}

    def reported(shown: Shown) -> dict[str, tuple[bool, str]]:
        return {ref.name: verdict for ref, verdict in leak_status(desired, shown).items()}

    # That no other router gets the routes is no matter of theirs.
    assert reported(Shown(vrfs=both, state="Active")) == dict.fromkeys(desired.leaks, (True, ""))
    missing = "bgpd has no instance for VRF watch yet"
    assert reported(Shown()) == {
        "watch red": (False, missing),
        "default red": (True, ""),
        "watch default": (False, missing),
    }
    sid = f"VRF red exports nothing: zebra has not given SID {SID}/64 to bgpd yet"
    for name, (in_place, reason) in reported(Shown(vrfs=both, red_sid="(null)")).items():
        assert in_place is (name == "watch default")
        assert reason.startswith(sid) is not in_place
    away = reported(Shown(away="bgpd can't be reached"))
    assert set(away.values()) == {(False, "bgpd can't be reached")}
    assert leak_status(PE1, Shown(away="bgpd can't be reached")) == {}


def test_reasons() -> None:
    assert red(Shown(locators=[])) == (None, "zebra has no locator MAIN yet")
    assert red(Shown(bgp_prefix=""))[1].startswith("bgpd has not received locator MAIN")
    assert red(Shown(vrfs={}))[1] == "bgpd has no instance for VRF red yet"
    assert "does not see the device" in red(Shown(vrfs={"red": {"vrfId": -1}}))[1]
    assert "has not given SID" in red(Shown(red_sid="(null)"))[1]
    assert "instead of fcbb:0:1:64::" in red(Shown(red_sid="fcbb:0:1:65::"))[1]
    assert red(Shown(state="Active")) == (
        None,
        "no BGP session for VPN routes is established: fcbb:0:2::1 is Active",
    )
    assert red(Shown(away="bgpd can't be reached")) == (None, "bgpd can't be reached")


def test_vpn_routes_that_bgpd_holds_invalid() -> None:
    peer = {"valid": False, "complete": False, "pathCount": 0}
    assert red(Shown(hops={"fcbb:0:1:64::": peer, "fd00:1::10": peer})) == (SID, "")
    hops = {"fcbb:0:1:64::": {**peer, "pathCount": 2}}
    assert red(Shown(hops=hops)) == (
        None,
        "bgpd holds 2 VPN routes of VRF red invalid: zebra knows no route to SID"
        " fcbb:0:1:64::/64 in table 10",
    )
    hops["fcbb:0:1:64::"] = {"valid": True, "complete": True, "pathCount": 2}
    assert red(Shown(hops=hops)) == (SID, "")


def with_customers(vrf: str, *addresses: str) -> Desired:
    bgp = PE1.vrfs[vrf].bgp
    assert bgp is not None
    neighbors = tuple(Neighbor(address, 65100) for address in addresses)
    changed = replace(PE1.vrfs[vrf], bgp=replace(bgp, neighbors=neighbors))
    return replace(PE1, vrfs={**PE1.vrfs, vrf: changed})


def test_customers_with_a_session() -> None:
    # FRR writes addresses in their shortest form.
    wanted = with_customers("red", "10.1.0.10", "fd00:1:0::10")
    assert vrf_status(wanted, Shown())["red"] == (SID, "")


def test_a_customer_without_a_session_is_named_beside_the_sid() -> None:
    wanted = with_customers("red", "10.1.0.10", "fd00:1::10", "10.1.0.11")
    assert vrf_status(wanted, Shown(customer="Active"))["red"] == (
        SID,
        "no BGP session with neighbors in the VRF: 10.1.0.10 is Active, 10.1.0.11 is unknown",
    )


def test_a_customer_of_a_vrf_that_only_imports() -> None:
    wanted = with_customers("watch", "10.1.0.10")
    message = "no BGP session with neighbors in the VRF: 10.1.0.10 is unknown"
    assert vrf_status(wanted, Shown())["watch"] == (None, message)


def test_one_of_several_neighbors_without_a_session_is_named_beside_the_sid() -> None:
    assert PE1.bgp is not None
    other = Neighbor("fcbb:0:3:0::1", 65000)
    several = replace(PE1, bgp=replace(PE1.bgp, neighbors=(*PE1.bgp.neighbors, other)))
    message = "no BGP session for VPN routes with some neighbors: fcbb:0:3:0::1 is unknown"
    assert vrf_status(several, Shown())["red"] == (SID, message)
    both = replace(several, vrfs=with_customers("red", "10.1.0.11").vrfs)
    customer = "no BGP session with neighbors in the VRF: 10.1.0.11 is unknown"
    assert vrf_status(both, Shown())["red"] == (SID, f"{message}; {customer}")


def test_a_locator_that_isis_does_not_advertise_is_named_beside_the_sid() -> None:
    other = Locator("OTHER", IPv6Network("fcbb:0:9::/48"))
    isis = Isis("49.0001", "0000.0000.0001", "MAIN")
    two = replace(PE1, locators={**PE1.locators, "OTHER": other}, isis=isis)
    assert vrf_status(two, Shown())["red"] == (SID, "")
    message = "IS-IS advertises locator OTHER; other routers need a route to MAIN"
    moving = replace(two, isis=replace(isis, locator="OTHER"))
    assert vrf_status(moving, Shown())["red"] == (SID, message)


def test_no_neighbor() -> None:
    assert PE1.bgp is not None
    alone = replace(PE1, bgp=replace(PE1.bgp, neighbors=()))
    assert vrf_status(alone, Shown(state="Idle"))["red"][1] == "no BGP neighbor is configured"


def test_nothing_to_ask_for() -> None:
    assert vrf_status(replace(PE1, vrfs={}), Shown(away="not asked")) == {}


class ShownFamilies(Shown):
    def show(self, daemon: str, command: str) -> str:
        text = super().show(daemon, command)
        name, _, sid = self.red_sid.partition("=")
        return text.replace(f"[{name}].tovpn_sid: (null)", f"[{name}].tovpn_sid: {sid}").replace(
            f"per-vrf tovpn_sid: {self.red_sid}", "per-vrf tovpn_sid: (null)"
        )


def test_a_sid_of_one_family() -> None:
    shown = ShownFamilies(red_sid="AFI_IP6=fcbb:0:1:6::")
    assert vrf_status(with_families(6), shown)["red"] == (IPv6Address("fcbb:0:1:6::"), "")


def test_the_sid_of_the_other_family_is_missing() -> None:
    shown = ShownFamilies(red_sid="AFI_IP=fcbb:0:1:4::")
    sid, reason = vrf_status(with_families(4, 6), shown)["red"]
    assert sid is None
    assert reason.startswith("zebra has not given SID fcbb:0:1:6::/64 to bgpd yet")
