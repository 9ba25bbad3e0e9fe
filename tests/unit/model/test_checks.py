"""What no router can be, in the words the operator reads; and its nearest neighbours that can."""

from dataclasses import replace

import pytest

from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import check
from srv6mgrd.model.rejection import RejectedError
from tests.builders import desired, dt46, locator, net, sid, small_vpn, vpn, vrf

RED = vrf("red", 10)


def rejections(*parts):
    with pytest.raises(RejectedError) as caught:
        check(desired(*parts))
    return caught.value.rejections


def rejection(*parts):
    (found,) = rejections(*parts)
    return str(found), found.tag, found.path


REJECTED = {
    "two locators with one prefix": (
        [locator("A"), locator("B")],
        "locator B: prefix fcbb:0:1::/48 overlaps fcbb:0:1::/48 of locator A; "
        "give each locator a prefix of its own",
        "locator-overlap",
        "/srv6mgr-srv6:srv6/locators/locator[name='B']",
    ),
    "a locator within another": (
        [locator("A", "fcbb::/32"), locator("B", "fcbb:0:1::/48")],
        "locator B: prefix fcbb:0:1::/48 overlaps fcbb::/32 of locator A; "
        "give each locator a prefix of its own",
        "locator-overlap",
        "/srv6mgr-srv6:srv6/locators/locator[name='B']",
    ),
    "a SID outside its locator": (
        [locator(), sid("fcbb:0:2:1::/64")],
        "SID fcbb:0:2:1::/64: it is outside locator MAIN (fcbb:0:1::/48); "
        "choose a SID in this prefix, or another locator",
        "sid-outside-locator",
        "/srv6mgr-srv6:srv6/local-sids/sid[prefix='fcbb:0:2:1::/64']",
    ),
    "a SID shorter than its locator": (
        [locator(), sid("fcbb::/32")],
        "SID fcbb::/32: it is outside locator MAIN (fcbb:0:1::/48); "
        "choose a SID in this prefix, or another locator",
        "sid-outside-locator",
        "/srv6mgr-srv6:srv6/local-sids/sid[prefix='fcbb::/32']",
    ),
    "a SID shorter than locator and function": (
        [locator(), sid("fcbb:0:1:8000::/63")],
        "SID fcbb:0:1:8000::/63: its prefix is shorter than locator and function of MAIN (64); "
        "write it as /64 or /128",
        "sid-prefix-short",
        "/srv6mgr-srv6:srv6/local-sids/sid[prefix='fcbb:0:1:8000::/63']",
    ),
    "a SID of a locator without room for it, which YANG refuses": (
        [locator("MAIN", "fcbb::1:0/120"), sid("fcbb::1:1/128")],
        "SID fcbb::1:1/128: its prefix is shorter than locator and function of MAIN (136); "
        "write it as /136 or /128",
        "sid-prefix-short",
        "/srv6mgr-srv6:srv6/local-sids/sid[prefix='fcbb::1:1/128']",
    ),
    "function 0": (
        [locator(), sid("fcbb:0:1::/64")],
        "SID fcbb:0:1::/64: function 0 is the locator itself; choose a function from 1",
        "sid-function-reserved",
        "/srv6mgr-srv6:srv6/local-sids/sid[prefix='fcbb:0:1::/64']",
    ),
    "function 0 as /128": (
        [locator(), sid("fcbb:0:1::1/128")],
        "SID fcbb:0:1::1/128: function 0 is the locator itself; choose a function from 1",
        "sid-function-reserved",
        "/srv6mgr-srv6:srv6/local-sids/sid[prefix='fcbb:0:1::1/128']",
    ),
    "a SID within another": (
        [locator(), sid("fcbb:0:1:1::/64"), sid("fcbb:0:1:1::/128")],
        "SID fcbb:0:1:1::/128: it overlaps SID fcbb:0:1:1::/64; "
        "give each SID a function of its own",
        "sid-overlap",
        "/srv6mgr-srv6:srv6/local-sids/sid[prefix='fcbb:0:1:1::/128']",
    ),
    "a VRF on the table of the SIDs": (
        [vrf("red", 8986)],
        "VRF red: table 8986 holds the local SIDs; choose another table-id",
        "table-reserved",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']",
    ),
    "a VRF on the table of SIDs into the default VRF": (
        [vrf("red", 898646)],
        "VRF red: table 898646 is for SIDs that look up the default VRF; choose another table-id",
        "table-reserved",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']",
    ),
    "a VRF with the name of ours": (
        [vrf("srv6mgr-default", 10)],
        "VRF srv6mgr-default: the VRF device of SIDs that look up the default VRF has this name; "
        "rename the VRF",
        "vrf-name-reserved",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='srv6mgr-default']",
    ),
    "our own VRF as a port": (
        [vrf("red", 10, "srv6mgr-default")],
        "VRF red: interface srv6mgr-default is itself a VRF; take it off the list",
        "interface-is-vrf",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']",
    ),
    "two VRFs on one table": (
        [vrf("red", 10), vrf("blue", 10)],
        "VRF red: table 10 is already used by VRF blue; choose another table-id",
        "table-in-use",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']",
    ),
    "an interface in two VRFs": (
        [vrf("red", 10, "eth1"), vrf("blue", 20, "eth1")],
        "VRF blue: interface eth1 is already in VRF red; list it in one VRF only",
        "interface-in-use",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='blue']",
    ),
    "an export of an End": (
        [
            locator(),
            vrf("red", 10, bgp=vpn(export_sid="fcbb:0:1:64::/64")),
            sid("fcbb:0:1:64::/64"),
        ],
        "VRF red: export-sid fcbb:0:1:64::/64 is End; name an End.DT46 SID of VRF red",
        "export-sid-behavior",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/srv6mgr-bgp:bgp",
    ),
    "an export of an End.DT4": (
        [
            locator(),
            vrf("red", 10, bgp=vpn(export_sid="fcbb:0:1:64::/64")),
            sid("fcbb:0:1:64::/64", Behavior.END_DT4, "red"),
        ],
        "VRF red: export-sid fcbb:0:1:64::/64 is End.DT4 of VRF red; "
        "name an End.DT46 SID of VRF red",
        "export-sid-behavior",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/srv6mgr-bgp:bgp",
    ),
    "an export of an End.DT6 for IPv4": (
        [
            locator(),
            vrf("red", 10, bgp=replace(vpn(), export_sid_ipv4=net("fcbb:0:1:64::/64"))),
            sid("fcbb:0:1:64::/64", Behavior.END_DT6, "red"),
        ],
        "VRF red: export-sid-ipv4 fcbb:0:1:64::/64 is End.DT6 of VRF red; "
        "name an End.DT4 SID of VRF red",
        "export-sid-behavior",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/srv6mgr-bgp:bgp",
    ),
    "an export of an End.DT46 for IPv6": (
        [
            locator(),
            vrf("red", 10, bgp=replace(vpn(), export_sid_ipv6=net("fcbb:0:1:64::/64"))),
            dt46("fcbb:0:1:64::/64", "red"),
        ],
        "VRF red: export-sid-ipv6 fcbb:0:1:64::/64 is End.DT46 of VRF red; "
        "name an End.DT6 SID of VRF red",
        "export-sid-behavior",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/srv6mgr-bgp:bgp",
    ),
    "an export of another VRF's SID": (
        [
            locator(),
            vrf("red", 10, bgp=vpn(export_sid="fcbb:0:1:64::/64")),
            vrf("blue", 20),
            dt46("fcbb:0:1:64::/64", "blue"),
        ],
        "VRF red: export-sid fcbb:0:1:64::/64 is End.DT46 of VRF blue; "
        "name an End.DT46 SID of VRF red",
        "export-sid-behavior",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/srv6mgr-bgp:bgp",
    ),
    "an export whose function is below the first label": (
        [
            locator("WIDE", function_length=20),
            vrf("red", 10, bgp=vpn(export_sid="fcbb:0:1:0:f000::/68")),
            dt46("fcbb:0:1:0:f000::/68", "red", "WIDE"),
        ],
        "VRF red: export-sid fcbb:0:1:0:f000::/68 has a function too small for a VPN label; "
        "choose a function from 16",
        "export-sid-label",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/srv6mgr-bgp:bgp",
    ),
    "a route distinguisher that is too large": (
        [vrf("red", 10, bgp=replace(vpn(), rd="70000:65536"))],
        "VRF red: route distinguisher 70000:65536 does not fit into 6 bytes; "
        "behind an AS number above 65535 or an IPv4 address take a number up to 65535",
        "community-range",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/srv6mgr-bgp:bgp",
    ),
    "a route distinguisher of two VRFs that export, written in two ways": (
        [
            locator(),
            *(dt46(f"fcbb:0:1:{n}::/64", name) for n, name in (("64", "red"), ("65", "blue"))),
            vrf("red", 10, bgp=vpn("65000:0110", "fcbb:0:1:64::/64")),
            vrf("blue", 20, bgp=vpn("65000:110", "fcbb:0:1:65::/64")),
        ],
        "VRF red: route distinguisher 65000:0110 is already that of VRF blue; "
        "give it one of its own",
        "route-distinguisher-duplicate",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/srv6mgr-bgp:bgp",
    ),
    "a VRF with the name of our device": (
        [vrf("srv6mgr", 10)],
        "VRF srv6mgr: the device of the local SIDs has this name; rename the VRF",
        "vrf-name-reserved",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='srv6mgr']",
    ),
    "our device in a VRF": (
        [vrf("red", 10, "srv6mgr")],
        "VRF red: interface srv6mgr carries the local SIDs; take it off the list",
        "interface-reserved",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']",
    ),
    "a VRF in a VRF": (
        [vrf("red", 10, "blue"), vrf("blue", 20)],
        "VRF red: interface blue is itself a VRF; take it off the list",
        "interface-is-vrf",
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']",
    ),
}


@pytest.mark.parametrize("case", REJECTED)
def test_rejected(case):
    parts, text, tag, path = REJECTED[case]

    assert rejection(*parts) == (text, tag, path)


ACCEPTED = {
    "nothing": [],
    "locators side by side": [locator("A", "fcbb:0:1::/48"), locator("B", "fcbb:0:2::/48")],
    "a SID as /64": [locator(), sid("fcbb:0:1:1::/64")],
    "a SID as /128": [locator(), sid("fcbb:0:1:1::/128")],
    "the greatest function": [locator(), sid("fcbb:0:1:ffff::/64")],
    "SIDs side by side": [locator(), sid("fcbb:0:1:1::/64"), sid("fcbb:0:1:2::/64")],
    "/128 SIDs of one function": [locator(), sid("fcbb:0:1:1::1/128"), sid("fcbb:0:1:1::2/128")],
    "tables beside that of the SIDs": [vrf("red", 8985), vrf("blue", 8987)],
    "an interface in each VRF": [vrf("red", 10, "eth1"), vrf("blue", 20, "eth2")],
    "a VRF that only imports": [vrf("red", 10, bgp=vpn())],
    "VRFs that only import with one route distinguisher": [
        vrf("red", 10, bgp=vpn()),
        vrf("blue", 20, bgp=vpn()),
    ],
    "route distinguishers of the same bytes but the type": [
        locator(),
        *(dt46(f"fcbb:0:1:{n}::/64", name) for n, name in (("64", "red"), ("65", "blue"))),
        vrf("red", 10, bgp=vpn("10.0.0.1:7", "fcbb:0:1:64::/64")),
        vrf("blue", 20, bgp=vpn("167772161:7", "fcbb:0:1:65::/64")),
    ],
    "16 bits of function": [
        locator(),
        vrf("red", 10, bgp=vpn(export_sid="fcbb:0:1:1::/64")),
        dt46("fcbb:0:1:1::/64", "red"),
    ],
    "the first label": [
        locator("WIDE", function_length=20),
        vrf("red", 10, bgp=vpn(export_sid="fcbb:0:1:1::/68")),
        dt46("fcbb:0:1:1::/68", "red", "WIDE"),
    ],
    "End.DT4 and End.DT6 on one VRF": [
        locator(),
        RED,
        sid("fcbb:0:1:4::/64", Behavior.END_DT4, "red"),
        sid("fcbb:0:1:6::/64", Behavior.END_DT6, "red"),
    ],
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case):
    check(desired(*ACCEPTED[case]))


@pytest.mark.parametrize(
    "value", ["0:0", "65535:4294967295", "65536:65535", "4294967295:65535", "192.0.2.1:65535"]
)
def test_communities_that_fit(value):
    check(desired(vrf("red", 10, bgp=vpn(value))))


@pytest.mark.parametrize(
    "value",
    ["65535:4294967296", "65536:65536", "4294967296:1", "192.0.2.1:65536", "192.0.2.256:1"],
)
@pytest.mark.parametrize("kind", ["rd", "import_rts", "export_rts"])
def test_communities_that_do_not_fit(kind, value):
    bgp = replace(vpn(), **{kind: value if kind == "rd" else (value,)})

    assert rejection(vrf("red", 10, bgp=bgp))[1] == "community-range"


def test_a_small_vpn_is_accepted():
    check(small_vpn("eth1"))


def test_every_reason_is_said_at_once():
    found = rejections(
        locator("A", "fcbb:0:1::/48"),
        locator("B", "fcbb:0:1::/64"),
        sid("fcbb:0:9:1::/64", locator="A"),
        vrf("red", 8986, "eth1"),
        vrf("blue", 8986, "eth1"),
    )

    assert [r.tag for r in found] == [
        "locator-overlap",
        "sid-outside-locator",
        "table-reserved",
        "table-reserved",
        "table-in-use",
        "interface-in-use",
    ]


def test_the_error_reads_one_reason_a_line():
    with pytest.raises(RejectedError) as caught:
        check(desired(vrf("red", 8986), vrf("blue", 8986)))

    assert str(caught.value).splitlines() == [str(r) for r in caught.value.rejections]


def test_an_overlap_of_three_is_found_when_the_widest_is_not_beside_the_last():
    found = rejections(
        locator("WIDE", "fcbb::/32"),
        locator("A", "fcbb:0:1::/48"),
        locator("B", "fcbb:0:2::/48"),
    )

    assert {r.object for r in found} == {"locator A", "locator B"}
