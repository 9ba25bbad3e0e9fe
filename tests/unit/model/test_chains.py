"""Service function chains: what they are parsed to, and the SIDs and paths that they become."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Address
from typing import Any

import pytest

from srv6mgrd.kinds.chain.object import ClassifierHook, ClassifierRules, ServicePath
from srv6mgrd.kinds.proxy.object import ProxyEntry
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.chains import ClassifierRule, Way
from srv6mgrd.model.checks import check
from srv6mgrd.model.expand import expand
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.service_paths import ServicePaths
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.target import target
from tests.unit.model.service_chaining import config, desired

FIREWALL, CACHE1 = "fcbb:0:1:1000::/64", "fcbb:0:1:1006::/64"
WEB = ObjectRef(Kind.SERVICE_FUNCTION_CHAIN, "web")


def test_rules_are_ordered_and_complete() -> None:
    (classifier,) = desired().chains.classifiers.values()
    assert classifier.rules == (
        ClassifierRule(10, None, destination=IPv4Network("10.2.0.9/32")),
        ClassifierRule(
            20,
            "web",
            source=IPv4Network("10.1.0.0/24"),
            protocol=6,
            destination_ports=(80, 443),
        ),
    )


def test_a_function_has_a_sid_for_each_inner_type_and_direction() -> None:
    found = expand(desired())
    made = {str(p): s for p, s in found.sids.items() if s.behavior is Behavior.END_AD}
    assert list(made) == [
        "fcbb:0:1:1000::/64",
        "fcbb:0:1:1001::/64",
        "fcbb:0:1:1002::/64",
        "fcbb:0:1:1003::/64",
        CACHE1,  # one interface: one SID for both directions
    ]
    forward, reverse = made[FIREWALL].proxy, made["fcbb:0:1:1001::/64"].proxy
    assert forward is not None
    assert reverse is not None
    assert (forward.interface, forward.return_interface) == ("fw-in", "fw-out")
    assert (reverse.interface, reverse.return_interface) == ("fw-out", "fw-in")
    assert (str(forward.next_hop), str(reverse.next_hop)) == ("10.9.0.2", "10.9.1.2")
    assert forward.per_flow
    assert expand(found) == found


def _paths(way: Way, family: Family = Family.IPV4) -> list[tuple[str, str, int, int]]:
    found = expand(desired())
    chain = found.chains.chains["web"]
    return [
        (
            ",".join(path.functions),
            " ".join(map(str, path.segments)),
            path.preference,
            path.weight,
        )
        for path in ServicePaths(found).paths(chain, family, way)
    ]


def test_paths_lead_through_one_function_of_each_hop() -> None:
    assert _paths(Way.FORWARD) == [
        ("firewall,cache1", "fcbb:0:1:1000:: fcbb:0:1:1006:: fcbb:0:1:64::", 0, 3),
        ("firewall,cache2", "fcbb:0:1:1000:: fcbb:0:2:1:: fcbb:0:1:64::", 0, 1),
        ("cache1", "fcbb:0:1:1006:: fcbb:0:1:64::", 1, 3),
        ("cache2", "fcbb:0:2:1:: fcbb:0:1:64::", 1, 1),
    ]


def test_the_reverse_direction_begins_with_the_last_hop() -> None:
    assert _paths(Way.REVERSE)[:2] == [
        ("firewall,cache1", "fcbb:0:1:1006:: fcbb:0:1:1001:: fcbb:0:3:64::", 0, 3),
        ("firewall,cache2", "fcbb:0:2:2:: fcbb:0:1:1001:: fcbb:0:3:64::", 0, 1),
    ]


def test_a_chain_carries_what_all_of_its_hops_take() -> None:
    found = expand(desired())
    chain = found.chains.chains["web"]
    assert ServicePaths(found).families(chain, Way.FORWARD) == [Family.IPV4]


def test_paths_of_the_chain_that_replaces_it_come_last() -> None:
    tree = config()
    chaining = tree["srv6mgr-chain:service-chaining"]
    chaining["service-function-chain"][0]["fallback-chain"] = "direct"
    chaining["service-function-chain"][0]["hop"][1]["on-failure"] = "chain"
    chaining["service-function-chain"].append(
        {
            "name": "direct",
            "hop": [{"index": 1, "service-function": "cache2"}],
            "forward": {"vrf": "red"},
        }
    )
    found = expand(desired(tree))
    paths = ServicePaths(found).paths(found.chains.chains["web"], Family.IPV4, Way.FORWARD)
    assert [(path.functions, path.preference) for path in paths] == [
        (("firewall", "cache1"), 0),
        (("firewall", "cache2"), 0),
        (("cache2",), 1000),
        ((), 1001),
    ]


LINKS = dict(zip(("ce1", "fw-in", "fw-out", "cache1"), range(2, 6), strict=True))


def test_the_target_has_proxies_paths_and_the_classifier() -> None:
    t = target(expand(desired()), LINKS)
    proxies = [obj for obj in t.objects.values() if isinstance(obj, ProxyEntry)]
    assert len(proxies) == 5
    paths = [obj for obj in t.objects.values() if isinstance(obj, ServicePath)]
    assert len(paths) == 8
    assert paths[0].source == IPv6Address("2001:db8::1")
    assert all(t.refs(path.key) == [WEB] for path in paths)
    rules = [obj for obj in t.objects.values() if isinstance(obj, ClassifierRules)]
    assert [len(one.rules) for one in rules] == [2]
    hooks = [obj for obj in t.objects.values() if isinstance(obj, ClassifierHook)]
    assert hooks == [ClassifierHook("ce1", "tenant")]
    assert ObjectRef(Kind.SERVICE_FUNCTION, "firewall") in t.refs(f"proxy {FIREWALL}")


def test_a_chain_waits_for_the_interfaces_of_its_functions() -> None:
    t = target(expand(desired()), {"ce1": 2, "fw-in": 3, "cache1": 5})
    function = t.pending[ObjectRef(Kind.SERVICE_FUNCTION, "firewall")]
    assert function == "interface fw-out does not exist yet"
    assert t.pending[WEB] == f"service function firewall: {function}"


def test_packets_of_other_routers_go_on_without_a_function_that_is_gone() -> None:
    """All chains of this router permit it; not so for the functions of the group."""
    t = target(expand(desired()), {"ce1": 2, "fw-in": 3})
    routes = {str(o.prefix): o.action for o in t.objects.values() if isinstance(o, SidRoute)}
    assert routes[FIREWALL] is Behavior.END
    assert CACHE1 not in routes


def _rejected(tree: dict[str, Any]) -> list[str]:
    with pytest.raises(RejectedError) as rejected:
        check(desired(tree))
    return [str(rejection) for rejection in rejected.value.rejections]


def test_it_is_as_it_should_be() -> None:
    check(desired())
    check(expand(desired()))


def test_a_sid_of_a_function_that_is_declared_already() -> None:
    tree = config()
    tree["local-sids"]["sid"].append(
        {
            "prefix": "fcbb:0:1:1001::/64",
            "locator": "main",
            "behavior": "End.DT46",
            "vrf": "red",
        }
    )
    assert _rejected(tree) == [
        "service function firewall: its SID fcbb:0:1:1001::/64 is SID fcbb:0:1:1001::/64 already;"
        " choose a sid-function that leaves 6 functions free"
    ]


def _function(tree: dict[str, Any], at: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = tree["srv6mgr-chain:service-chaining"]["service-function"][at]
    return found


def _web(tree: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = tree["srv6mgr-chain:service-chaining"]["service-function-chain"][0]
    return found


def _tenant(tree: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = tree["srv6mgr-chain:service-chaining"]["classifier"][0]
    return found


def test_a_function_on_an_interface_of_a_vrf() -> None:
    tree = config()
    _function(tree)["proxy"]["interface"] = "ce1"
    assert _rejected(tree) == [
        "service function firewall: interface ce1 is in VRF red;"
        " name an interface of the function alone"
    ]


def test_two_functions_on_one_interface() -> None:
    tree = config()
    _function(tree, 1)["proxy"]["interface"] = "fw-out"
    assert _rejected(tree) == [
        "service function cache1: ipv4 traffic from fw-out belongs to SID fcbb:0:1:1000::/64"
        " (End.AD); give each proxy a return-interface of its own, such as a VLAN"
    ]


def test_a_function_twice_in_a_chain() -> None:
    tree = config()
    _web(tree)["hop"].append({"index": 3, "service-function": "firewall"})
    assert _rejected(tree) == [
        "service function chain web: service function firewall is in it twice;"
        " let packets go through a proxy once"
    ]


def test_a_chain_that_leads_back_to_itself() -> None:
    tree = config()
    _web(tree)["fallback-chain"] = "other"
    tree["srv6mgr-chain:service-chaining"]["service-function-chain"].append(
        {
            "name": "other",
            "hop": [{"index": 1, "service-function": "cache2"}],
            "forward": {"vrf": "red"},
            "fallback-chain": "web",
        }
    )
    assert _rejected(tree)[0] == (
        "service function chain web: its fallback-chain other leads back to it;"
        " let the last one drop or bypass"
    )


def test_a_vrf_that_nothing_decapsulates_into() -> None:
    tree = config()
    tree["local-sids"]["sid"] = []
    assert _rejected(tree) == [
        "service function chain web: no local SID decapsulates into VRF red (forward);"
        " declare one with behavior End.DT46 and vrf red"
    ]


def test_a_chain_that_leads_nowhere() -> None:
    tree = config()
    del _web(tree)["forward"]
    assert _rejected(tree) == [
        "service function chain web: packets go nowhere behind its last function (forward);"
        " add forward with vrf or segment"
    ]


def test_a_chain_without_a_source() -> None:
    tree = config()
    del tree["encapsulation"]
    assert _rejected(tree) == [
        "service function chain web: packets that it encapsulates have no source;"
        " add encapsulation/source-address"
    ]


def test_functions_without_a_common_inner_type() -> None:
    tree = config()
    _function(tree)["proxy"]["inner-type"] = ["ipv6"]
    assert _rejected(tree) == [
        "service function chain web: its functions have no inner type in common (forward);"
        " see inner-type and direction of each",
        "service function chain web: its functions have no inner type in common (reverse);"
        " see inner-type and direction of each",
    ]


def test_a_classifier_that_catches_what_comes_back_from_a_function() -> None:
    tree = config()
    del _tenant(tree)["vrf"]
    _tenant(tree)["interface"] = ["fw-out"]
    assert _rejected(tree) == [
        "classifier tenant: what comes back from service function firewall by fw-out is on its"
        " chain already; name interfaces of customers"
    ]


def test_a_rule_for_what_the_chain_does_not_carry() -> None:
    tree = config()
    _tenant(tree)["rule"] = [{"priority": 1, "service-function-chain": "web"}]
    assert _rejected(tree) == [
        "classifier tenant: rule 1: chain web carries ipv4 only, not ipv6; set inner-type to ipv4"
    ]


def test_a_rule_in_a_direction_that_is_not_there() -> None:
    tree = config()
    del _web(tree)["reverse"]
    _tenant(tree)["rule"][0]["direction"] = "reverse"
    assert _rejected(tree) == [
        "classifier tenant: rule 20: chain web cannot be gone in the reverse direction;"
        " add reverse to chain web"
    ]


def test_ports_the_wrong_way_round() -> None:
    tree = config()
    _tenant(tree)["rule"][0]["destination-port"] = "443-80"
    assert _rejected(tree) == [
        "classifier tenant: rule 20: 443-80 is no range of ports;"
        " write the lower one first, 0 to 65535"
    ]


def test_an_interface_with_two_classifiers() -> None:
    tree = config()
    tree["srv6mgr-chain:service-chaining"]["classifier"].append(
        {"name": "other", "interface": ["ce1"]}
    )
    assert _rejected(tree) == [
        "classifier tenant: packets from ce1 are those of classifier other already;"
        " put the rules into one classifier"
    ]


def test_more_paths_than_there_is_room_for() -> None:
    tree = config()
    chaining = tree["srv6mgr-chain:service-chaining"]
    for number in range(300):
        chaining["service-function"].append(
            {
                "name": f"f{number}",
                "function-sid": [
                    {
                        "address": f"fcbb:0:2:{number + 256:x}::",
                        "inner-type": ["ipv4"],
                        "direction": ["forward"],
                    }
                ],
            }
        )
    chaining["service-function-group"].append(
        {"name": "many", "service-function": [f"f{number}" for number in range(300)]}
    )
    _web(tree)["hop"] = [{"index": 1, "service-function-group": "many"}]
    del _web(tree)["reverse"]
    # Nobody looks through those of a chain that a start found, and that is rejected.
    expanded = expand(desired(tree))
    paths = ServicePaths(expanded).paths(expanded.chains.chains["web"], Family.IPV4, Way.FORWARD)
    assert not list(paths)
    assert _rejected(tree) == [
        "service function chain web: it has 301 paths for ipv4 (forward); 256 are possible;"
        " make groups smaller, or set on-failure to drop"
    ]
