"""A declaration that several tests share: one PE with a VRF that exports and one that imports."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.bgp import Bgp, Neighbor, VrfBgp
from srv6mgrd.model.desired import Desired, Locator, Sid, Vrf

RED_SID = IPv6Network("fcbb:0:1:64::/64")
PE1 = Desired(
    encapsulation_source=IPv6Address("fcbb:0:1::1"),
    locators={"MAIN": Locator("MAIN", IPv6Network("fcbb:0:1::/48"))},
    vrfs={
        "red": Vrf(
            "red",
            10,
            bgp=VrfBgp("65000:10", ("65000:10",), ("65000:10",), RED_SID, redistribute_static=True),
        ),
        "watch": Vrf("watch", 20, bgp=VrfBgp("65000:20", ("65000:20", "65000:3"), ("65000:21",))),
        "local": Vrf("local", 30),
    },
    sids={RED_SID: Sid(RED_SID, "MAIN", Behavior.END_DT46, "red")},
    bgp=Bgp(65000, IPv4Address("10.0.0.1"), (Neighbor("fcbb:0:2::1", 65000, "fcbb:0:1::1"),)),
)


RED_SIDS = {4: IPv6Network("fcbb:0:1:4::/64"), 6: IPv6Network("fcbb:0:1:6::/64")}


def with_families(*families: int) -> Desired:
    """red exports a SID for each of these families, and none for both."""
    vrf, behaviors = PE1.vrfs["red"], {4: Behavior.END_DT4, 6: Behavior.END_DT6}
    assert vrf.bgp is not None
    sids = {4: RED_SIDS[4] if 4 in families else None, 6: RED_SIDS[6] if 6 in families else None}
    bgp = replace(vrf.bgp, export_sid=None, export_sid_ipv4=sids[4], export_sid_ipv6=sids[6])
    declared = {RED_SIDS[f]: Sid(RED_SIDS[f], "MAIN", behaviors[f], "red") for f in families}
    return replace(PE1, vrfs={**PE1.vrfs, "red": replace(vrf, bgp=bgp)}, sids=declared)


def with_export(desired: Desired, vrf: str, sid: IPv6Network, locator: str = "MAIN") -> Desired:
    """The same, with another export SID for a VRF."""
    was = desired.vrfs[vrf]
    assert was.bgp is not None
    now = replace(was, bgp=replace(was.bgp, export_sid=sid))
    sids = {**desired.sids, sid: Sid(sid, locator, Behavior.END_DT46, vrf)}
    return replace(desired, vrfs={**desired.vrfs, vrf: now}, sids=sids)
