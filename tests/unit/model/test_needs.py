"""What a node does not offer: rejected with the reason, or left out if the operator accepts it."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address

import pytest

from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.capabilities import EVERYTHING
from srv6mgrd.model.desired import Proxy, Role, SteeredRoute
from srv6mgrd.model.expand import expand
from srv6mgrd.model.needs import check
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.model.subset import without
from srv6mgrd.plan.target import target
from tests.builders import desired, locator, net, sid, small_vpn, vpn, vrf
from tests.unit.model import service_chaining

ACCEPT = "or set unsupported to accept, to keep it until the node offers it"
DT46 = ObjectRef(Kind.SID, "fcbb:0:1:64::/64")
RED = ObjectRef(Kind.VRF, "red")
RED_BGP = ObjectRef(Kind.VRF_BGP, "red")


def lacking(*names, reason="Operation not supported"):
    """A node that lacks these behaviors, flavors (``End psp``), headends or facilities."""
    return replace(
        EVERYTHING,
        behaviors=frozenset(b for b in EVERYTHING.behaviors if b not in names),
        flavors=frozenset(f for f in EVERYTHING.flavors if f"{f[0]} {f[1]}" not in names),
        headends=frozenset(h for h in EVERYTHING.headends if h not in names),
        facilities=frozenset(f for f in EVERYTHING.facilities if f not in names),
        missing=dict.fromkeys(names, reason),
    )


def steered(vrf=None, **more):
    return SteeredRoute(vrf, IPv4Network("10.0.0.0/8"), "PATH", **more)


def routed(route, *parts):
    return replace(desired(*parts), routes={route.name: route})


def rejections(state, node):
    with pytest.raises(RejectedError) as caught:
        check(state, node)
    return caught.value.rejections


PROXY = Proxy("ipv4", "eth1", "eth1", IPv4Address("192.0.2.2"))
SID = "fcbb:0:1:1::/64"
SID_AT = f"/srv6mgr-srv6:srv6/local-sids/sid[prefix='{SID}']"

REJECTED = {
    "a behavior": (
        small_vpn(),
        "End.DT46",
        "SID fcbb:0:1:64::/64: this node does not offer End.DT46: Operation not supported; "
        "choose another behavior, " + ACCEPT,
        "/srv6mgr-srv6:srv6/local-sids/sid[prefix='fcbb:0:1:64::/64']",
    ),
    "a flavor": (
        desired(locator(), replace(sid(SID), flavors=frozenset({Flavor.PSP}))),
        "End psp",
        f"SID {SID}: this node does not offer flavor psp of End: Operation not supported; "
        "remove the flavor, " + ACCEPT,
        SID_AT,
    ),
    "counters": (
        desired(locator(), sid(SID)),
        "counters",
        f"SID {SID}: this node does not offer counters of SIDs: Operation not supported; "
        "set counters to false, " + ACCEPT,
        SID_AT,
    ),
    "the programs of a proxy": (
        desired(locator(), replace(sid(SID, Behavior.END_AD), proxy=PROXY)),
        "bpf",
        f"SID {SID}: this node does not offer the BPF programs of End.AD: "
        "Operation not supported; choose another behavior, " + ACCEPT,
        SID_AT,
    ),
    "VRFs": (
        desired(vrf("red", 10)),
        "vrf",
        "VRF red: this node does not offer VRFs: Operation not supported; remove it, " + ACCEPT,
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']",
    ),
    "a headend": (
        routed(steered(behavior=Headend.H_ENCAPS_RED)),
        "H.Encaps.Red",
        "route 10.0.0.0/8: this node does not offer H.Encaps.Red: Operation not supported; "
        "choose another behavior, " + ACCEPT,
        "/srv6mgr-srv6:srv6/srv6mgr-steering:steering/route[prefix='10.0.0.0/8']",
    ),
    "a source of a route": (
        routed(steered("red", source=IPv6Address("fcbb:0:1::1")), vrf("red", 10)),
        "route-source",
        "route 10.0.0.0/8 of VRF red: this node does not offer a source address for each route: "
        "Operation not supported; remove source-address, " + ACCEPT,
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/srv6mgr-steering:steering"
        "/route[prefix='10.0.0.0/8']",
    ),
    "the SID that is made for a VRF": (
        expand(
            desired(
                locator(),
                vrf("red", 10, bgp=replace(vpn(), export_function=100, locator="MAIN")),
            )
        ),
        "End.DT46",
        "SID fcbb:0:1:64::/64 made for VRF red: this node does not offer End.DT46: "
        "Operation not supported; choose another behavior, " + ACCEPT,
        "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/srv6mgr-bgp:bgp",
    ),
}


@pytest.mark.parametrize("case", REJECTED)
def test_rejected_with_the_reason(case):
    state, lack, text, path = REJECTED[case]

    (rejection,) = rejections(state, lacking(lack))

    assert (str(rejection), rejection.tag, rejection.path) == (text, "capability-missing", path)


@pytest.mark.parametrize("case", REJECTED)
def test_a_node_that_offers_all_takes_it(case):
    assert check(REJECTED[case][0], EVERYTHING) == {}


@pytest.mark.parametrize("case", REJECTED)
def test_accepted_it_is_left_out_and_the_rest_needs_nothing(case):
    state, lack, _, _ = REJECTED[case]
    accepting = replace(state, accept_unsupported=True)

    left = without(accepting, check(accepting, lacking(lack)))

    assert check(left, lacking(lack)) == {}
    assert left != accepting


def test_what_was_never_tried_is_said_so():
    (rejection,) = rejections(desired(vrf("red", 10)), replace(lacking("vrf"), missing={}))

    assert rejection.cause == "this node does not offer VRFs: it was not found when probed"


def test_every_lack_is_said_at_once():
    found = rejections(small_vpn(), lacking("End.DT46", "counters", "vrf"))

    assert [(r.object, r.cause.split(":")[0].rpartition("offer ")[2]) for r in found] == [
        ("VRF red", "VRFs"),
        ("SID fcbb:0:1:64::/64", "End.DT46"),
        ("SID fcbb:0:1:64::/64", "counters of SIDs"),
        ("SID fcbb:0:1:1::/64", "counters of SIDs"),
    ]


def test_a_sid_without_counters_needs_none():
    assert check(desired(replace(sid(SID), counters=False)), lacking("counters")) == {}


def test_a_vrf_takes_with_it_what_stands_on_it():
    state = replace(small_vpn(), accept_unsupported=True)
    route = steered("red")
    state = replace(state, routes={route.name: route})

    found = check(state, lacking("vrf", reason="Unknown device type"))

    needs = "it needs VRF red, which is unsupported: this node does not offer VRFs: "
    assert found == {
        RED: "this node does not offer VRFs: Unknown device type",
        DT46: needs + "Unknown device type",
        RED_BGP: needs + "Unknown device type",
        ObjectRef(Kind.ROUTE, "red 10.0.0.0/8"): needs + "Unknown device type",
    }
    left = without(state, found)
    assert (left.vrfs, left.routes, set(left.sids)) == ({}, {}, {net(SID)})


def test_a_sid_takes_its_export_with_it_and_the_vrf_stays():
    state = replace(small_vpn(), accept_unsupported=True)

    found = check(state, lacking("End.DT46"))

    assert found.keys() == {DT46, RED_BGP}
    left = without(state, found)
    assert left.vrfs == {"red": replace(state.vrfs["red"], bgp=None)}
    assert left.bgp == state.bgp


def test_nothing_missing_nothing_changes():
    state = small_vpn()

    assert without(state, check(state, EVERYTHING)) == state


def test_without_bpf_nothing_is_classified():
    state = service_chaining.desired()
    (classifier,) = state.chains.classifiers.values()
    # Without a chain.
    alone = replace(classifier, name="alone", vrf=None, interfaces=("ce2",), rules=())
    chains = replace(state.chains, classifiers={"tenant": classifier, "alone": alone})
    state = replace(state, chains=chains, accept_unsupported=True)
    lost = check(expand(state), lacking("bpf"))
    assert {ref.name for ref in lost if ref.kind is Kind.CLASSIFIER} == {"tenant", "alone"}
    left = without(state, lost.keys())
    assert not left.chains.classifiers


def test_without_nftables_nothing_is_put_where_a_customer_could_reach_it():
    state = replace(small_vpn("eth1"), roles={"eth9": Role.CUSTOMER, "eth8": Role.CORE})
    node = lacking("nftables")

    (rejection,) = rejections(state, node)
    assert str(rejection) == (
        "boundary of the SRv6 domain: this node does not offer the filter that keeps customers "
        "from SIDs (nftables): Operation not supported; remove SRv6, " + ACCEPT
    )
    assert rejection.path == "/srv6mgr-srv6:srv6/interfaces/interface[name='eth9']"

    accepting = replace(state, accept_unsupported=True)
    lost = check(accepting, node)
    assert set(lost) == {
        ObjectRef(Kind.INTERFACE, "eth9"),
        RED,
        RED_BGP,
        DT46,
        ObjectRef(Kind.SID, "fcbb:0:1:1::/64"),
    }
    left = without(accepting, lost)
    assert (left.vrfs, left.sids) == ({}, {})
    assert "boundary" not in target(left, {"eth1": 1}).objects


@pytest.mark.parametrize(
    "state",
    [
        desired(vrf("red", 10, "eth1")),
        replace(desired(locator(), sid(SID)), default_role=Role.CORE),
    ],
    ids=["VRF", "SID"],
)
def test_without_customers_or_sids_nftables_is_not_missed(state):
    assert check(state, lacking("nftables")) == {}


def test_who_stands_before_a_vrf_that_can_not_be_is_kept_out():
    accepting = replace(small_vpn("eth1"), accept_unsupported=True)

    left = without(accepting, check(accepting, lacking("vrf")))

    assert left.sids
    assert "eth1" not in target(left, {"eth1": 1}).objects["boundary"].interfaces
    left = replace(left, default_role=Role.CORE)
    assert target(left, {"eth1": 1}).objects["boundary"].interfaces == ("eth1",)


def test_without_nftables_a_node_without_customers_is_reported_how_to_open_its_domain():
    (rejection,) = rejections(desired(locator(), sid(SID)), lacking("nftables"))

    assert "remove SRv6, or set boundary/default-role to core where no customer" in str(rejection)
    assert rejection.path == "/srv6mgr-srv6:srv6/locators/locator[name='MAIN']"
