"""What no router can be: micro-segments, next hops, proxies, steering, made exports, sessions."""

from dataclasses import replace
from ipaddress import IPv6Address, ip_address, ip_network

import pytest

from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.model.bgp import NO_AS, Bgp, Neighbor
from srv6mgrd.model.checks import check
from srv6mgrd.model.desired import Proxy, Role, SegmentList, SteeredRoute
from srv6mgrd.model.expand import expand
from srv6mgrd.model.rejection import RejectedError
from tests.builders import desired, dt46, locator, sid, speaker, vpn, vrf

SID = "fcbb:0:1:a0::/64"
MICRO = replace(locator(), micro_segment=True)
NEXT_CSID = frozenset({Flavor.NEXT_CSID})
AT = "/srv6mgr-srv6:srv6"
SID_AT = f"{AT}/local-sids/sid[prefix='{SID}']"
RED_AT = f"{AT}/vrfs/vrf[name='red']"
RED_BGP_AT = f"{RED_AT}/srv6mgr-bgp:bgp"


def crossing(behavior=Behavior.END_X, next_hop=None, interface=None):
    hop = ip_address(next_hop) if next_hop else None
    return replace(sid(SID, behavior), next_hop=hop, interface=interface)


def csid(prefix="fcbb:0:1::/48", behavior=Behavior.END):
    return replace(sid(prefix, behavior), flavors=NEXT_CSID)


def proxied(prefix=SID, behavior=Behavior.END_AS, inner="ipv4", back="eth1", **more):
    proxy = Proxy(inner, more.pop("interface", back), back, **more)
    return replace(sid(prefix, behavior), proxy=proxy)


def routed(*parts, vrf=None, prefix="10.0.0.0/8", **more):
    route = SteeredRoute(vrf, ip_network(prefix), "PATH", **more)
    return replace(desired(*parts), routes={route.name: route})


def segments(*addresses):
    path = SegmentList("PATH", tuple(map(IPv6Address, addresses)))
    return replace(desired(), segment_lists={"PATH": path})


def exporting(name="red", table=100, **bgp):
    return vrf(name, table, bgp=replace(vpn(f"65000:{table}"), locator="MAIN", **bgp))


def session(address="2001:db8::2", remote_as=65000, **more):
    return desired(
        Bgp(65000, ip_address("10.0.0.1"), (Neighbor(address, remote_as, **more),)),
    )


def in_vrf(neighbor):
    return desired(speaker(), vrf("red", 10, bgp=replace(vpn(), neighbors=(neighbor,))))


REJECTED = {
    "next-csid in a locator of whole SIDs": (
        desired(locator(), csid("fcbb:0:1:a0::/64")),
        f"SID {SID}: flavor next-csid needs a micro-segment locator, and MAIN is none; "
        "set micro-segment of locator MAIN, or remove the flavor",
        "sid-next-csid-locator",
        SID_AT,
    ),
    "an End without next-csid on the locator": (
        desired(MICRO, sid("fcbb:0:1::/48")),
        "SID fcbb:0:1::/48: its prefix is shorter than locator and function of MAIN (64); "
        "write it as /64 or /128",
        "sid-prefix-short",
        f"{AT}/local-sids/sid[prefix='fcbb:0:1::/48']",
    ),
    "an End.X without next-csid on the locator": (
        desired(MICRO, sid("fcbb:0:1::/48", Behavior.END_X)),
        "SID fcbb:0:1::/48: its prefix is shorter than locator and function of MAIN (64); "
        "write it as /64 or /128",
        "sid-prefix-short",
        f"{AT}/local-sids/sid[prefix='fcbb:0:1::/48']",
    ),
    "an End with next-csid in the local block": (
        desired(MICRO, csid("fcbb:0:e001::/48")),
        "SID fcbb:0:e001::/48: it is outside locator MAIN (fcbb:0:1::/48); "
        "choose a SID in this prefix, or another locator",
        "sid-outside-locator",
        f"{AT}/local-sids/sid[prefix='fcbb:0:e001::/48']",
    ),
    "an End.X in the local block that is no C-SID": (
        desired(MICRO, sid("fcbb:0:e001::/48", Behavior.END_X)),
        "SID fcbb:0:e001::/48: it is outside locator MAIN (fcbb:0:1::/48); "
        "choose a SID in this prefix, or another locator",
        "sid-outside-locator",
        f"{AT}/local-sids/sid[prefix='fcbb:0:e001::/48']",
    ),
    "an End.X in the local block of another length": (
        desired(MICRO, csid("fcbb:0:e001::/64", Behavior.END_X)),
        "SID fcbb:0:e001::/64: it is in the block of locator MAIN, outside of fcbb:0:1::/48, where "
        "a SID is block and function (48 bits); write it as /48, or choose a SID in the locator's "
        "prefix",
        "sid-local-length",
        f"{AT}/local-sids/sid[prefix='fcbb:0:e001::/64']",
    ),
    "function 0 of the local block": (
        desired(MICRO, csid("fcbb::/48", Behavior.END_X)),
        "SID fcbb::/48: function 0 is the block itself; choose a function from 1",
        "sid-function-reserved",
        f"{AT}/local-sids/sid[prefix='fcbb::/48']",
    ),
    "a function of the local block that is another locator": (
        desired(
            MICRO, locator("OTHER", "fcbb:0:e001::/48"), csid("fcbb:0:e001::/48", Behavior.END_X)
        ),
        "SID fcbb:0:e001::/48: its function is that of node fcbb:0:e001::/48 of locator OTHER; "
        "choose a function that is no node of the block",
        "sid-local-node",
        f"{AT}/local-sids/sid[prefix='fcbb:0:e001::/48']",
    ),
    "a function of the local block that holds the locator": (
        desired(
            replace(locator(prefix="fcbb:0:e001::/48", function_length=8), micro_segment=True),
            csid("fcbb:0:e000::/40", Behavior.END_X),
        ),
        "SID fcbb:0:e000::/40: its function is that of node fcbb:0:e001::/48 of locator MAIN; "
        "choose a function that is no node of the block",
        "sid-local-node",
        f"{AT}/local-sids/sid[prefix='fcbb:0:e000::/40']",
    ),
    "a C-SID that holds bits of the next one": (
        desired(MICRO, csid("fcbb:0:1:e001:200::/72", Behavior.END_X)),
        "SID fcbb:0:1:e001:200::/72: with next-csid all but 64 bits are the C-SIDs that follow; "
        "write it as /64",
        "sid-next-csid-length",
        f"{AT}/local-sids/sid[prefix='fcbb:0:1:e001:200::/72']",
    ),
    "a C-SID of a whole address": (
        desired(MICRO, csid("fcbb:0:1:e001::/128", Behavior.END_X)),
        "SID fcbb:0:1:e001::/128: with next-csid all but 64 bits are the C-SIDs that follow; "
        "write it as /64",
        "sid-next-csid-length",
        f"{AT}/local-sids/sid[prefix='fcbb:0:1:e001::/128']",
    ),
    "a C-SID that leaves no room for the next one": (
        desired(
            replace(locator(function_length=80), micro_segment=True),
            csid("fcbb:0:1:e001::/128", Behavior.END_X),
        ),
        "SID fcbb:0:1:e001::/128: block, node and function of locator MAIN leave no bits for the "
        "next C-SID; shorten function-length, or remove the flavor",
        "sid-next-csid-argument",
        f"{AT}/local-sids/sid[prefix='fcbb:0:1:e001::/128']",
    ),
    "a C-SID of bits where each SID has a length of its own": (
        desired(
            replace(locator(function_length=0), micro_segment=True),
            csid("fcbb:0:1:e000::/52", Behavior.END_X),
        ),
        "SID fcbb:0:1:e000::/52: with next-csid block and function are whole bytes "
        "(net/ipv6/seg6_local.c); write it with a length that is a multiple of 8",
        "sid-next-csid-length",
        f"{AT}/local-sids/sid[prefix='fcbb:0:1:e000::/52']",
    ),
    "a SID that fills the address": (
        desired(locator(function_length=80), sid("fcbb:0:1:a0::/64")),
        f"SID {SID}: its prefix is shorter than locator and function of MAIN (128); "
        "write it as /128",
        "sid-prefix-short",
        SID_AT,
    ),
    "a locator of multicast": (
        desired(locator(prefix="ff0e:0:1::/48")),
        "locator MAIN: prefix ff0e:0:1::/48 is multicast; "
        "choose a prefix that is routed to this router",
        "locator-prefix-reserved",
        f"{AT}/locators/locator[name='MAIN']",
    ),
    "a segment that is no router": (
        segments("fcbb:0:2::1", "fe80::1"),
        "segment list PATH: segment fe80::1 is link-local; name the SID of a router",
        "segment-address-reserved",
        f"{AT}/segment-lists/segment-list[name='PATH']",
    ),
    "a link-local next hop without its link": (
        desired(locator(), crossing(next_hop="fe80::2")),
        f"SID {SID}: next-hop fe80::2 is link-local and does not say on which link; add interface",
        "sid-interface-missing",
        SID_AT,
    ),
    "a next hop of multicast": (
        desired(locator(), crossing(Behavior.END_DX4, "224.0.0.5")),
        f"SID {SID}: next-hop 224.0.0.5 is multicast; name the address of a neighbor",
        "next-hop-reserved",
        SID_AT,
    ),
    "a cross-connect to our own device": (
        desired(locator(), crossing(Behavior.END_DX2, interface="srv6mgr")),
        f"SID {SID}: interface srv6mgr carries the local SIDs; "
        "name an interface towards the next hop or customer",
        "interface-reserved",
        SID_AT,
    ),
    "a cross-connect to a VRF": (
        desired(locator(), vrf("red", 10), crossing(Behavior.END_DX2, interface="red")),
        f"SID {SID}: interface red is a VRF; name an interface towards the next hop or customer",
        "interface-reserved",
        SID_AT,
    ),
    "a role of the loopback": (
        replace(desired(), roles={"lo": Role.CORE}),
        "interface lo: it is the loopback; give roles to interfaces that others connect to",
        "interface-reserved",
        f"{AT}/interfaces/interface[name='lo']",
    ),
    "a role of a VRF": (
        replace(desired(vrf("red", 10)), roles={"red": Role.CUSTOMER}),
        "interface red: it is a VRF; give roles to interfaces that others connect to",
        "interface-reserved",
        f"{AT}/interfaces/interface[name='red']",
    ),
    "the loopback in a VRF": (
        desired(vrf("red", 10, "lo")),
        "VRF red: interface lo is the loopback; take it off the list",
        "interface-reserved",
        RED_AT,
    ),
    "a proxy on a port of a VRF": (
        desired(locator(), vrf("red", 10, "eth1"), proxied(back="eth2", interface="eth1")),
        f"SID {SID}: interface eth1 is in VRF red; name an interface of the function alone",
        "proxy-interface",
        SID_AT,
    ),
    "a proxy that hears a port of a VRF": (
        desired(locator(), vrf("red", 10, "eth2"), proxied(back="eth2", interface="eth1")),
        f"SID {SID}: return-interface eth2 is in VRF red; name an interface of the function alone",
        "proxy-interface",
        SID_AT,
    ),
    "a proxy towards the loopback address": (
        desired(locator(), proxied(next_hop=ip_address("127.0.0.1"))),
        f"SID {SID}: next-hop 127.0.0.1 is loopback; name the address of the function",
        "next-hop-reserved",
        SID_AT,
    ),
    "a proxy without a function": (
        desired(locator(), sid(SID, Behavior.END_AM)),
        f"SID {SID}: End.AM has a function behind it; "
        "add proxy with inner-type, interface and next-hop",
        "sid-proxy-missing",
        SID_AT,
    ),
    "two static proxies on one interface": (
        desired(locator(), proxied("fcbb:0:1:1::/64"), proxied()),
        f"SID {SID}: ipv4 traffic from eth1 belongs to SID fcbb:0:1:1::/64 (End.AS); "
        "give each proxy a return-interface of its own, such as a VLAN",
        "proxy-return-interface-in-use",
        SID_AT,
    ),
    "a static and a dynamic proxy on one interface": (
        desired(locator(), proxied("fcbb:0:1:1::/64"), proxied(behavior=Behavior.END_AD)),
        f"SID {SID}: ipv4 traffic from eth1 belongs to SID fcbb:0:1:1::/64 (End.AS); "
        "give each proxy a return-interface of its own, such as a VLAN",
        "proxy-return-interface-in-use",
        SID_AT,
    ),
    "IPv4 beside Ethernet": (
        desired(locator(), proxied(), proxied("fcbb:0:1:e::/64", inner="ethernet")),
        f"SID {SID}: every frame from eth1 belongs to SID fcbb:0:1:e::/64 (End.AS); "
        "give each proxy a return-interface of its own, such as a VLAN",
        "proxy-return-interface-in-use",
        SID_AT,
    ),
    "masquerading beside Ethernet": (
        desired(
            locator(),
            proxied(behavior=Behavior.END_AM, inner="ipv6"),
            proxied("fcbb:0:1:e::/64", inner="ethernet"),
        ),
        f"SID {SID}: every frame from eth1 belongs to SID fcbb:0:1:e::/64 (End.AS); "
        "give each proxy a return-interface of its own, such as a VLAN",
        "proxy-return-interface-in-use",
        SID_AT,
    ),
    "two MTUs of one interface": (
        desired(
            locator(),
            proxied("fcbb:0:1:1::/64", inner="ipv6", mtu=1400),
            proxied("fcbb:0:1:2::/64"),
            proxied(back="eth2", interface="eth1", mtu=1420),
        ),
        f"SID {SID}: mtu 1420 of eth1 is 1400 for SID fcbb:0:1:1::/64; "
        "declare one mtu for an interface",
        "proxy-mtu-differs",
        SID_AT,
    ),
    "steering of multicast": (
        routed(prefix="224.0.0.0/4"),
        "route 224.0.0.0/4: multicast, link-local and loopback prefixes are not routed; "
        "steer a unicast prefix",
        "route-prefix-reserved",
        f"{AT}/srv6mgr-steering:steering/route[prefix='224.0.0.0/4']",
    ),
    "steering from no address": (
        routed(source=IPv6Address("::")),
        "route 10.0.0.0/8: source-address :: is no address of a router; "
        "name an address of this router",
        "route-source",
        f"{AT}/srv6mgr-steering:steering/route[prefix='10.0.0.0/8']",
    ),
    "steering into a VRF's device": (
        routed(vrf("red", 10), vrf="red", interface="red"),
        "route 10.0.0.0/8 of VRF red: interface red is a VRF; name another interface, or none",
        "interface-reserved",
        f"{RED_AT}/srv6mgr-steering:steering/route[prefix='10.0.0.0/8']",
    ),
    "an export function beyond the locator": (
        desired(locator(), exporting(export_function=65536)),
        "VRF red: export-function 65536 is greater than the 16 bits of locator MAIN hold; "
        "choose one up to 65535",
        "export-function-large",
        RED_BGP_AT,
    ),
    "an export function below the first label": (
        desired(locator(function_length=20), exporting(export_function=15)),
        "VRF red: export-function 15 is too small for a VPN label; choose a function from 16",
        "export-sid-label",
        RED_BGP_AT,
    ),
    "an export function of a declared SID": (
        desired(locator(), exporting(export_function=0xA0), sid(SID)),
        f"VRF red: export-function 160 of locator MAIN, which belongs to SID {SID} (End); "
        "give it an export-function that is free",
        "export-function-in-use",
        RED_BGP_AT,
    ),
    "an export function of another VRF's SID": (
        desired(locator(), exporting(export_function=0xA0), vrf("blue", 7), dt46(SID, "blue")),
        f"VRF red: export-function 160 of locator MAIN, which belongs to SID {SID} "
        "(End.DT46 of VRF blue); give it an export-function that is free",
        "export-function-in-use",
        RED_BGP_AT,
    ),
    "an export function within which a longer SID lies": (
        desired(locator(), exporting(export_function=0xA0), sid("fcbb:0:1:a0::7/128")),
        "VRF red: export-function 160 of locator MAIN, which belongs to SID "
        "fcbb:0:1:a0::7/128 (End); give it an export-function that is free",
        "export-function-in-use",
        RED_BGP_AT,
    ),
    "one export function for two VRFs": (
        desired(locator(), exporting("blue", 7, export_function=20), exporting(export_function=20)),
        "VRF red: export-function 20 of locator MAIN, which belongs to VRF blue; "
        "give it an export-function that is free",
        "export-function-in-use",
        RED_BGP_AT,
    ),
    "made functions that meet": (
        desired(
            locator(),
            exporting("blue", 100, export_auto=True),
            exporting("red", 100 + 0xFF00, export_auto=True),
        ),
        "VRF red: export-auto makes function 356 of locator MAIN, which belongs to VRF blue; "
        "give it an export-function that is free",
        "export-function-in-use",
        RED_BGP_AT,
    ),
    "a neighbor that is link-local": (
        session("fe80::2"),
        "BGP neighbor fe80::2: its address is link-local; name an address that is routed",
        "bgp-neighbor-address",
        f"{AT}/srv6mgr-bgp:bgp/neighbor[address='fe80::2']",
    ),
    "a neighbor without an AS number": (
        session(remote_as=NO_AS),
        "BGP neighbor 2001:db8::2: remote-as is missing; add remote-as, or a peer-group that has"
        " one",
        "bgp-remote-as-missing",
        f"{AT}/srv6mgr-bgp:bgp/neighbor[address='2001:db8::2']",
    ),
    "a neighbor of AS 0": (
        session(remote_as=0),
        "BGP neighbor 2001:db8::2: AS number 0 is reserved; choose another remote-as",
        "bgp-as-reserved",
        f"{AT}/srv6mgr-bgp:bgp/neighbor[address='2001:db8::2']",
    ),
    "a session with itself": (
        session(update_source="2001:db8::2"),
        "BGP neighbor 2001:db8::2: update-source is the neighbor's own address; "
        "name an address of this router",
        "bgp-update-source",
        f"{AT}/srv6mgr-bgp:bgp/neighbor[address='2001:db8::2']",
    ),
    "a session between families": (
        session(update_source="192.0.2.1"),
        "BGP neighbor 2001:db8::2: update-source 192.0.2.1 is not of its address family; "
        "name an IPv6 address of this router",
        "bgp-update-source",
        f"{AT}/srv6mgr-bgp:bgp/neighbor[address='2001:db8::2']",
    ),
    "a keepalive that comes too late": (
        in_vrf(Neighbor("10.1.0.2", 65001, keepalive=30, hold_time=30)),
        "BGP neighbor 10.1.0.2 of VRF red: keepalive 30 is not below hold-time 30; "
        "choose a keepalive of a third of hold-time",
        "bgp-keepalive-long",
        f"{RED_AT}/srv6mgr-bgp:bgp/neighbor[address='10.1.0.2']",
    ),
    "several hops inside the AS": (
        session(ebgp_multihop=2),
        "BGP neighbor 2001:db8::2: ebgp-multihop is for neighbors of another AS, and 65000 is the "
        "own one; remove ebgp-multihop, or correct remote-as",
        "bgp-multihop-internal",
        f"{AT}/srv6mgr-bgp:bgp/neighbor[address='2001:db8::2']",
    ),
    "reflecting to another AS": (
        session(remote_as=65001, route_reflector_client=True),
        "BGP neighbor 2001:db8::2: a route-reflector-client has the own AS number (65000), "
        "not 65001; remove route-reflector-client, or correct remote-as",
        "bgp-reflector-external",
        f"{AT}/srv6mgr-bgp:bgp/neighbor[address='2001:db8::2']",
    ),
}


@pytest.mark.parametrize("made", [False, True], ids=["declared", "expanded"])
@pytest.mark.parametrize("case", REJECTED)
def test_rejected(case, made):
    state, text, tag, path = REJECTED[case]

    with pytest.raises(RejectedError) as caught:
        check(expand(state) if made else state)

    (found,) = caught.value.rejections
    assert (str(found), found.tag, found.path) == (text, tag, path)


ACCEPTED = {
    "a micro-segment node with its functions": desired(
        MICRO, csid(), csid("fcbb:0:1:e001::/64", Behavior.END_X), sid(SID)
    ),
    "a micro-segment adjacency on the locator": desired(MICRO, csid(behavior=Behavior.END_X)),
    "a micro-segment adjacency of the local block": desired(
        MICRO, csid(), csid("fcbb:0:e001::/48", Behavior.END_X)
    ),
    "a link-local next hop on its link": desired(
        locator(), crossing(next_hop="fe80::2", interface="eth1")
    ),
    "a port of a VRF as cross-connect": desired(
        locator(), vrf("red", 10, "eth1"), crossing(Behavior.END_DX2, interface="eth1")
    ),
    "proxies of each inner type": desired(
        locator(),
        proxied("fcbb:0:1:1::/64"),
        proxied("fcbb:0:1:2::/64", inner="ipv6"),
        proxied("fcbb:0:1:3::/64", inner="ethernet", back="eth2"),
    ),
    "proxies to one function that come back apart": desired(
        locator(),
        proxied("fcbb:0:1:1::/64", interface="eth0"),
        proxied("fcbb:0:1:2::/64", back="eth2", interface="eth0"),
    ),
    "masquerading proxies that share": desired(
        locator(),
        proxied("fcbb:0:1:1::/64", Behavior.END_AM, "ipv6"),
        proxied("fcbb:0:1:2::/64", Behavior.END_AM, "ipv6"),
        proxied("fcbb:0:1:3::/64", Behavior.END_AS, "ipv6"),
    ),
    "a proxy to a link-local function": desired(
        locator(), proxied(inner="ipv6", next_hop=ip_address("fe80::2"))
    ),
    "steering of all": routed(prefix="::/0"),
    "steering through our own device": routed(interface="srv6mgr"),
    "a segment twice": segments("fcbb:0:2::1", "fcbb:0:3::1", "fcbb:0:2::1"),
    "the greatest export function": desired(locator(), exporting(export_function=65535)),
    "the first export function with a label": desired(
        locator(function_length=20), exporting(export_function=16)
    ),
    "one function in two locators": desired(
        locator(),
        locator("B", "fcbb:0:2::/48"),
        exporting(export_function=20),
        vrf("blue", 7, bgp=replace(vpn("65000:7"), locator="B", export_function=20)),
    ),
    # Address spaces of VRFs are their own.
    "a neighbor in a VRF and outside": desired(
        speaker("10.1.0.2"),
        vrf("red", 10, bgp=replace(vpn(), neighbors=(Neighbor("10.1.0.2", 65001),))),
    ),
    "a reflector's client": session(route_reflector_client=True, keepalive=10, hold_time=30),
}


@pytest.mark.parametrize("made", [False, True], ids=["declared", "expanded"])
@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case, made):
    check(expand(ACCEPTED[case]) if made else ACCEPTED[case])
