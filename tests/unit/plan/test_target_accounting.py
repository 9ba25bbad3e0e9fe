"""Objects of accounting that declarations need."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from srv6mgrd.kinds.accounting.object import (
    AccountedPort,
    AccountedSid,
    AccountedVrf,
    AccountingHook,
    AccountingPrograms,
    AccountingSources,
)
from srv6mgrd.model.accounting import Accounting, Family
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.chains import Chains, Classifier
from srv6mgrd.model.desired import Desired, Locator, Role, SegmentList, Sid, SteeredRoute, Vrf
from srv6mgrd.plan.observed import Links
from srv6mgrd.plan.target import met, target, with_sids
from srv6mgrd.plan.target_objects import vrf_ifindex
from tests.kinds import every_kind

OWN, OTHER = IPv6Address("2001:db8::1"), IPv6Address("2001:db8::9")
SID, SECOND = IPv6Network("fcbb:0:1:64::/64"), IPv6Network("fcbb:0:1:65::/64")
LINKS = Links({"core": 1, "port": 2, "customer": 3}, frozenset({"core", "port", "customer"}))
DESIRED = Desired(
    encapsulation_source=OWN,
    locators={"MAIN": Locator("MAIN", IPv6Network("fcbb:0:1::/48"))},
    vrfs={"red": Vrf("red", 10, ("port",))},
    sids={SID: Sid(SID, "MAIN", Behavior.END_DT46, vrf="red")},
    roles={"core": Role.CORE},
    accounting=Accounting(enabled=True),
)
KINDS = tuple(kind for kind in every_kind() if "accounting" in kind.__module__)


def needed(desired, links=LINKS, **more):
    objects = target(desired, links, **more).objects.values()
    return {obj for obj in objects if isinstance(obj, KINDS)}


def test_nothing_while_it_is_disabled():
    assert needed(replace(DESIRED, accounting=Accounting())) == set()


def test_all_that_a_vpn_needs():
    assert needed(DESIRED) == {
        AccountingPrograms(),
        AccountingSources((OWN,)),
        AccountedVrf("red", vrf_ifindex(10)),
        AccountedSid(SID, "red", (Family.IPV4, Family.IPV6)),
        AccountingHook("core", "sent"),
        AccountingHook("core", "received"),
    }


def test_ports_that_are_classified_are_known_by_themselves():
    classifier = Classifier("tenant", vrf="red")
    desired = replace(DESIRED, chains=Chains(classifiers={"tenant": classifier}))
    assert needed(desired) - needed(DESIRED) == {AccountedPort("port", 2, "red")}
    # One in no VRF is the default VRF's, as before.
    classifier = Classifier("other", interfaces=("customer",))
    desired = replace(DESIRED, chains=Chains(classifiers={"other": classifier}))
    assert needed(desired) == needed(DESIRED)


def test_sources_of_routes_come_behind_the_common_one():
    lists = {"far": SegmentList("far", (IPv6Address("fcbb:0:2::"),))}
    route = SteeredRoute(None, IPv6Network("2001:db8:2::/64"), "far", source=OTHER)
    desired = replace(DESIRED, segment_lists=lists, routes={route.name: route})
    assert AccountingSources((OWN, OTHER)) in needed(desired)


def test_a_cross_connect_counts_for_the_vrf_of_its_port():
    hop = IPv4Address("10.0.0.2")
    sid = Sid(SID, "MAIN", Behavior.END_DX4, interface="port", next_hop=hop)
    assert AccountedSid(SID, "red", (Family.IPV4,)) in needed(replace(DESIRED, sids={SID: sid}))


def test_behaviors_that_do_not_decapsulate_are_not_counted():
    sids = {SID: Sid(SID, "MAIN", Behavior.END)}
    found = needed(replace(DESIRED, sids=sids))
    assert not any(isinstance(obj, AccountedSid) for obj in found)


def test_one_more_sid():
    """As what ``target`` makes of all."""
    more = {**DESIRED.sids, SECOND: Sid(SECOND, "MAIN", Behavior.END_DT6, vrf="red")}
    after = replace(DESIRED, sids=more)
    found = with_sids(target(DESIRED, LINKS), DESIRED, after)
    assert found is not None
    assert found.objects == target(after, LINKS).objects


def test_a_new_interface_to_the_core_is_met():
    assert met(DESIRED, LINKS).receivers == LINKS.receivers
