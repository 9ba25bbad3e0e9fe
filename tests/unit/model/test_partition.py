"""An invalid object takes along what needs it; later commits are judged without it."""

from dataclasses import replace
from ipaddress import IPv6Address

import pytest

from srv6mgrd.apply.admission import Admission, Admitted
from srv6mgrd.frr.limits import limits
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.bgp import Neighbor
from srv6mgrd.model.desired import Role, SegmentList, SteeredRoute
from srv6mgrd.model.isis import Isis, IsisInterface
from srv6mgrd.model.parse import parse
from srv6mgrd.model.partition import partition
from srv6mgrd.model.references import Part, of_path
from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef
from tests.builders import desired, dt46, locator, net, sid, small_vpn, vpn, vrf

MAIN, OTHER = ObjectRef(Kind.LOCATOR, "MAIN"), ObjectRef(Kind.LOCATOR, "OTHER")
RED, RED_BGP = ObjectRef(Kind.VRF, "red"), ObjectRef(Kind.VRF_BGP, "red")
BLUE, BLUE_BGP = ObjectRef(Kind.VRF, "blue"), ObjectRef(Kind.VRF_BGP, "blue")
END, DT46 = ObjectRef(Kind.SID, "fcbb:0:1:1::/64"), ObjectRef(Kind.SID, "fcbb:0:1:64::/64")
OUTSIDE = ObjectRef(Kind.SID, "fcbb:0:9:1::/64")
VPN = small_vpn("eth1")


def adding(state, *parts, **more):
    """The state with more objects."""
    new = desired(*parts)
    return replace(
        state,
        locators={**state.locators, **new.locators},
        vrfs={**state.vrfs, **new.vrfs},
        sids={**state.sids, **new.sids},
        **more,
    )


def removing(state, prefix):
    return replace(state, sids={p: s for p, s in state.sids.items() if p != net(prefix)})


def taken(state):
    return Admission(limits).take(state)


def committed(state, before):
    return Admission(limits).commit(state, before)


def routed(route):
    return {"routes": {route.name: route}}


def isis(*interfaces, of="MAIN"):
    return Isis("49.0001", "0000.0000.0001", of, interfaces=tuple(map(IsisInterface, interfaces)))


BAD_ROUTE = SteeredRoute("red", net("ff02::/16"), "PATH")
PATH = SegmentList("PATH", (IPv6Address("fcbb:0:2::1"),))
BAD_PATH = SegmentList("PATH", (IPv6Address("ff02::1"),))
GOOD_ROUTE = SteeredRoute("red", net("fd00::/64"), "PATH")

# A state, and what of it is rejected.
REJECTED = {
    "a SID outside its locator": (adding(VPN, sid(OUTSIDE.name)), {OUTSIDE}),
    "an exported SID, with the export": (
        adding(VPN, vrf("blue", 20, bgp=vpn("65000:20", OUTSIDE.name)), dt46(OUTSIDE.name, "blue")),
        {OUTSIDE, BLUE_BGP},
    ),
    "a locator, with its SIDs and exports": (
        adding(
            VPN,
            locator("OTHER", "ff00:0:2::/48"),
            sid("ff00:0:2:1::/64", locator="OTHER"),
        ),
        {OTHER, ObjectRef(Kind.SID, "ff00:0:2:1::/64")},
    ),
    "a VRF, with its SIDs, exports and routes": (
        adding(
            VPN,
            vrf("blue", 8986, bgp=vpn("65000:20", "fcbb:0:1:c8::/64")),
            dt46("fcbb:0:1:c8::/64", "blue"),
            segment_lists={"PATH": PATH},
            **routed(replace(GOOD_ROUTE, vrf="blue")),
        ),
        {
            BLUE,
            BLUE_BGP,
            ObjectRef(Kind.SID, "fcbb:0:1:c8::/64"),
            ObjectRef(Kind.ROUTE, "blue fd00::/64"),
        },
    ),
    "the second VRF of an interface": (
        adding(VPN, vrf("zzz", 20, "eth1")),
        {ObjectRef(Kind.VRF, "zzz")},
    ),
    "the second of a route distinguisher, not its VRF": (
        adding(
            VPN,
            vrf("zzz", 20, bgp=vpn("65000:10", "fcbb:0:1:c8::/64")),
            dt46("fcbb:0:1:c8::/64", "zzz"),
        ),
        {ObjectRef(Kind.VRF_BGP, "zzz")},
    ),
    "a SID within another": (
        adding(VPN, sid("fcbb:0:1:1:1::/80")),
        {ObjectRef(Kind.SID, "fcbb:0:1:1:1::/80")},
    ),
    "a segment list, with its routes": (
        adding(VPN, segment_lists={"PATH": BAD_PATH}, **routed(GOOD_ROUTE)),
        {ObjectRef(Kind.SEGMENT_LIST, "PATH"), ObjectRef(Kind.ROUTE, "red fd00::/64")},
    ),
    "a route": (
        adding(VPN, segment_lists={"PATH": PATH}, **routed(BAD_ROUTE)),
        {ObjectRef(Kind.ROUTE, "red ff02::/16")},
    ),
    "a role": (adding(VPN, roles={"lo": Role.CORE}), {ObjectRef(Kind.INTERFACE, "lo")}),
    "a neighbor": (
        replace(VPN, bgp=replace(VPN.bgp, neighbors=(Neighbor("ff02::1", 65000),))),
        {Part("neighbor", "ff02::1")},
    ),
    "a neighbor of a VRF, with its BGP": (
        replace(
            VPN,
            vrfs={
                "red": replace(
                    VPN.vrfs["red"],
                    bgp=replace(VPN.vrfs["red"].bgp, neighbors=(Neighbor("ff02::1", 65000),)),
                )
            },
        ),
        {RED_BGP},
    ),
    "BGP without an AS number, with all exports": (
        replace(VPN, bgp=replace(VPN.bgp, as_number=0)),
        {Part("bgp"), RED_BGP},
    ),
    "an interface of IS-IS": (
        replace(VPN, isis=isis("eth1", "eth9")),
        {Part("isis-interface", "eth1")},
    ),
    "what FRR can not carry of a locator, not its SIDs": (
        replace(VPN, locators={"MAIN": locator(block_length=40)}),
        {RED_BGP},
    ),
    "two at once": (
        adding(VPN, sid(OUTSIDE.name), vrf("lo0", 8986)),
        {OUTSIDE, ObjectRef(Kind.VRF, "lo0")},
    ),
}


@pytest.mark.parametrize("case", REJECTED)
def test_rejected_is_what_is_invalid_and_what_needs_it(case):
    state, rejected = REJECTED[case]

    found = taken(state)

    assert found.partition.rejected.keys() == rejected
    assert taken(found.partition.valid).partition.rejected == {}
    # Every object keeps its place in the whole state, and a status.
    stated = {ref for ref in rejected if isinstance(ref, ObjectRef)}
    assert found.rejected.keys() == stated
    assert {o.status for o in found.rejected.values()} <= {InstallStatus.REJECTED}
    assert set(found.whole.sids) >= set(state.sids)
    assert set(found.whole.vrfs) == set(state.vrfs)
    for rejection in found.partition.rejected.values():
        assert of_path(rejection.path) is not None


@pytest.mark.parametrize("case", REJECTED)
def test_a_commit_that_does_not_touch_it_is_accepted(case):
    state, rejected = REJECTED[case]

    found = committed(adding(state, sid("fcbb:0:1:7::/64")), taken(state))

    assert found.partition.rejected.keys() == rejected
    assert net("fcbb:0:1:7::/64") in found.valid.sids


@pytest.mark.parametrize("case", REJECTED)
def test_without_a_start_in_between_a_commit_of_it_is_rejected(case):
    state, _ = REJECTED[case]

    with pytest.raises(RejectedError):
        committed(state, Admitted())


def test_what_needs_a_rejected_object_says_so():
    state, _ = REJECTED["an exported SID, with the export"]

    rejection = taken(state).partition.rejected[BLUE_BGP]

    assert str(rejection) == (
        "BGP of VRF blue: it needs SID fcbb:0:9:1::/64, which is rejected: it is outside locator"
        " MAIN (fcbb:0:1::/48); correct that first, or remove this one"
    )
    assert rejection.path == "/srv6mgr-srv6:srv6/vrfs/vrf[name='blue']/srv6mgr-bgp:bgp"


def rejects(state, before):
    with pytest.raises(RejectedError) as caught:
        committed(state, before)
    return str(caught.value)


def test_a_change_to_something_still_invalid_is_rejected():
    before = taken(adding(VPN, sid(OUTSIDE.name)))

    changed = adding(VPN, sid(OUTSIDE.name, Behavior.END_T))

    assert "it is outside locator MAIN" in rejects(changed, before)


def test_another_invalid_object_is_rejected_alone():
    before = taken(adding(VPN, sid(OUTSIDE.name)))

    said = rejects(adding(VPN, sid(OUTSIDE.name), sid("fcbb:0:8:1::/64")), before)

    assert "SID fcbb:0:8:1::/64" in said
    assert OUTSIDE.name not in said


def test_something_new_that_needs_a_rejected_object_is_rejected():
    state, _ = REJECTED["a locator, with its SIDs and exports"]

    said = rejects(adding(state, sid("ff00:0:2:2::/64", locator="OTHER")), taken(state))

    assert said.startswith("SID ff00:0:2:2::/64: it needs locator OTHER, which is rejected:")


def test_removed_it_is_rejected_no_more():
    before = taken(adding(VPN, sid(OUTSIDE.name)))

    assert committed(VPN, before).rejected == {}


def test_corrected_in_another_place_it_is_rejected_no_more():
    state, _ = REJECTED["a locator, with its SIDs and exports"]
    corrected = adding(state, locator("OTHER", "fcbb:0:2::/48"))
    corrected = adding(
        removing(corrected, "ff00:0:2:1::/64"), sid("fcbb:0:2:1::/64", locator="OTHER")
    )

    assert committed(corrected, taken(state)).rejected == {}


def test_the_first_of_two_goes_and_the_second_becomes_valid():
    before = taken(adding(VPN, vrf("zzz", 20, "eth1")))
    commit = adding(small_vpn(), vrf("zzz", 20, "eth1"))

    assert committed(commit, before).rejected == {}


def test_a_valid_object_goes_before_a_rejected_one_that_it_collides_with():
    before = taken(adding(VPN, vrf("aaa", 8986, "eth5")))
    commit = adding(VPN, vrf("aaa", 8986, "eth5"), vrf("zzz", 20, "eth5"))

    found = committed(commit, before)

    assert found.rejected.keys() == {ObjectRef(Kind.VRF, "aaa")}
    assert "zzz" in found.valid.vrfs


def test_an_export_that_is_made_for_a_vrf_is_not_in_the_way_of_a_rejected_sid():
    blue = vrf("blue", 20, bgp=replace(vpn("65000:20"), export_function=200, locator="MAIN"))
    state = adding(VPN, blue, sid("fcbb:0:1:c8::/64"))

    found = taken(state)

    assert found.rejected.keys() == {BLUE_BGP}
    assert found.whole.vrfs["blue"].bgp is not None
    assert found.valid.vrfs["blue"].bgp is None


def malformed(*functions, behavior="End"):
    return [
        {"prefix": f"fcbb:0:1:{n}::/64", "locator": "MAIN", "behavior": behavior} for n in functions
    ]


def test_a_sid_that_can_not_be_understood_is_rejected_alone():
    def state(*entries):
        return parse({
            "srv6mgr-srv6:srv6": {
                "locators": {"locator": [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]},
                "local-sids": {"sid": list(entries)},
            }
        })  # fmt: skip

    bad = malformed(9, behavior="decapsulate-to-vrf")
    before = taken(state(*bad, *malformed(1)))

    assert before.rejected.keys() == {ObjectRef(Kind.SID, "fcbb:0:1:9::/64")}
    after = committed(state(*bad, *malformed(1, 2)), before)
    assert set(after.valid.sids) == {net("fcbb:0:1:1::/64"), net("fcbb:0:1:2::/64")}
    assert "not a behavior" in rejects(state(*malformed(9, behavior="endpoint")), before)


def test_a_reason_that_names_no_part_is_reported_at_once():
    with pytest.raises(RejectedError):
        partition(VPN, lambda _: [Rejection("srv6mgrd", "no part", "none", "x")])
