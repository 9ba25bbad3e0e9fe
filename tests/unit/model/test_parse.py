"""What a configuration in YANG JSON declares."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import pytest

from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.bgp import Bgp, Neighbor, PeerKind, VrfBgp
from srv6mgrd.model.checks import check
from srv6mgrd.model.desired import (
    Desired,
    Locator,
    Proxy,
    Role,
    SegmentList,
    Sid,
    SteeredRoute,
    Vrf,
)
from srv6mgrd.model.isis import (
    Authentication,
    Isis,
    IsisInterface,
    LspTimers,
    Overload,
    SpfDelay,
)
from srv6mgrd.model.parse import parse
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.routing_policy import ApplyPolicy
from tests.builders import net


def srv6(**children):
    return {"srv6mgr-srv6:srv6": {k.replace("_", "-"): v for k, v in children.items()}}


def one_vrf(**leaves):
    entry = {"name": "red", "table-id": 10, **leaves}
    return parse(srv6(vrfs={"vrf": [entry]})).vrfs["red"]


def bgp_of(**leaves):
    entry = {"rd": "65000:10", "import-rt": ["65000:10"], "export-rt": ["65000:10"], **leaves}
    return one_vrf(**{"srv6mgr-bgp:bgp": entry}).bgp


@pytest.mark.parametrize(
    "config",
    [
        {},
        srv6(),
        srv6(locators={}, vrfs={}, local_sids={}, encapsulation={}),
        {"ietf-interfaces:interfaces": {"interface": [{"name": "eth0"}]}},
    ],
)
def test_nothing_declared(config):
    assert parse(config) == Desired()


def test_a_whole_router():
    config = {
        "srv6mgr-srv6:srv6": {
            "encapsulation": {"source-address": "fcbb:0:1::1"},
            "locators": {
                "locator": [
                    {
                        "name": "MAIN",
                        "prefix": "fcbb:0:1::/48",
                        "block-length": 40,
                        "node-length": 8,
                        "function-length": 20,
                        "argument-length": 4,
                    }
                ]
            },
            "vrfs": {
                "vrf": [
                    {
                        "name": "red",
                        "table-id": 10,
                        "interface": ["eth2", "eth1"],
                        "srv6mgr-bgp:bgp": {
                            "rd": "65000:10",
                            "import-rt": ["65000:11", "65000:10"],
                            "export-rt": ["65000:10"],
                            "export-sid": "fcbb:0:1:64::/64",
                            "redistribute": {"connected": False, "static": True},
                        },
                    }
                ]
            },
            "local-sids": {
                "sid": [
                    {
                        "prefix": "fcbb:0:1:64::/64",
                        "locator": "MAIN",
                        "behavior": "End.DT46",
                        "vrf": "red",
                    }
                ]
            },
            "srv6mgr-bgp:bgp": {
                "as-number": 65000,
                "router-id": "10.0.0.1",
                "neighbor": [
                    {"address": "fcbb:0:3::1", "remote-as": 65001},
                    {
                        "address": "fcbb:0:2::1",
                        "remote-as": 65000,
                        "update-source": "fcbb:0:1::1",
                    },
                ],
            },
        }
    }

    assert parse(config) == Desired(
        encapsulation_source=IPv6Address("fcbb:0:1::1"),
        locators={"MAIN": Locator("MAIN", net("fcbb:0:1::/48"), 40, 8, 20, 4)},
        vrfs={
            "red": Vrf(
                "red",
                10,
                ("eth1", "eth2"),
                VrfBgp(
                    "65000:10",
                    ("65000:10", "65000:11"),
                    ("65000:10",),
                    net("fcbb:0:1:64::/64"),
                    redistribute_connected=False,
                    redistribute_static=True,
                ),
            )
        },
        sids={
            net("fcbb:0:1:64::/64"): Sid(net("fcbb:0:1:64::/64"), "MAIN", Behavior.END_DT46, "red")
        },
        bgp=Bgp(
            65000,
            IPv4Address("10.0.0.1"),
            (
                Neighbor("fcbb:0:2::1", 65000, "fcbb:0:1::1"),
                Neighbor("fcbb:0:3::1", 65001),
            ),
        ),
    )


def test_a_locator_has_the_defaults_of_the_yang_model():
    entry = {"name": "MAIN", "prefix": "fcbb:0:1::/48"}

    found = parse(srv6(locators={"locator": [entry]})).locators["MAIN"]

    assert found == Locator("MAIN", net("fcbb:0:1::/48"), 32, 16, 16, 0)


def test_an_export_has_the_defaults_of_the_yang_model():
    found = bgp_of()

    assert found.export_sid is None
    assert found.redistribute_connected
    assert not found.redistribute_static


def test_a_vrf_without_bgp():
    assert one_vrf() == Vrf("red", 10)


@pytest.mark.parametrize("behavior", list(Behavior))
@pytest.mark.parametrize("module", ["", "srv6mgr-srv6:"])
def test_a_behavior_with_and_without_its_module(behavior, module):
    entry = {"prefix": "fcbb:0:1:1::/64", "locator": "MAIN", "behavior": module + behavior}

    (found,) = parse(srv6(local_sids={"sid": [entry]})).sids.values()

    assert found.behavior is behavior


@pytest.mark.parametrize("name", ["decapsulate-to-vrf", "srv6mgr-srv6:decapsulate-to-vrf"])
def test_a_group_of_behaviors_is_rejected(name):
    entry = {"prefix": "fcbb:0:1:1::/64", "locator": "MAIN", "behavior": name}
    state = parse(srv6(local_sids={"sid": [entry]}))

    with pytest.raises(RejectedError) as caught:
        check(state)

    assert not state.sids
    assert str(caught.value) == (
        "SID fcbb:0:1:1::/64: decapsulate-to-vrf is not a behavior of its own; "
        f"choose {', '.join(Behavior)}"
    )


def test_a_prefix_with_host_bits_is_its_network():
    entry = {"prefix": "fcbb:0:1:1::7/64", "locator": "MAIN", "behavior": "End"}

    assert list(parse(srv6(local_sids={"sid": [entry]})).sids) == [net("fcbb:0:1:1::/64")]


def test_the_order_of_leaf_lists_says_nothing():
    assert one_vrf(interface=["b", "a"]) == one_vrf(interface=["a", "b"])
    assert bgp_of(**{"import-rt": ["1:2", "1:1"]}) == bgp_of(**{"import-rt": ["1:1", "1:2"]})


def test_the_largest_table():
    assert one_vrf(**{"table-id": 4294967295}).table == 4294967295


def one_sid(behavior="End", **leaves):
    entry = {"prefix": "fcbb:0:1:1::/64", "locator": "MAIN", "behavior": behavior, **leaves}
    (found,) = parse(srv6(local_sids={"sid": [entry]})).sids.values()
    return found


def proxy_of(**leaves):
    entry = {"inner-type": "ipv4", "interface": "eth1", **leaves}
    return one_sid("End.AD", **{"srv6mgr-proxy:proxy": entry}).proxy


def test_a_sid_has_the_defaults_of_the_yang_model():
    assert one_sid() == Sid(net("fcbb:0:1:1::/64"), "MAIN", Behavior.END)


def test_everything_of_a_sid():
    found = one_sid(
        "End.X",
        **{
            "next-hop": "fe80::2",
            "interface": "eth1",
            "segment-list": "PATH",
            "bpf-program": "/sys/fs/bpf/x",
            "flavor": ["next-csid", "psp"],
            "counters": False,
            "default-vrf": True,
        },
    )

    assert found == Sid(
        net("fcbb:0:1:1::/64"),
        "MAIN",
        Behavior.END_X,
        next_hop=IPv6Address("fe80::2"),
        interface="eth1",
        segment_list="PATH",
        bpf_program="/sys/fs/bpf/x",
        flavors=frozenset({Flavor.PSP, Flavor.NEXT_CSID}),
        counters=False,
        default_vrf=True,
    )


def test_a_proxy_comes_back_on_the_interface_that_it_sends_to():
    assert proxy_of() == Proxy("ipv4", "eth1", "eth1")


def test_everything_of_a_proxy():
    found = proxy_of(
        **{
            "return-interface": "eth2",
            "next-hop": "192.0.2.2",
            "segment-list": "PATH",
            "source-address": "fcbb:0:1::1",
            "age": 0,
            "per-flow": True,
            "decrement-hop-limit": False,
            "pass": ["multicast", "10.1.2.3/8", "2001:db8::/32"],
        }
    )

    assert found == Proxy(
        "ipv4",
        "eth1",
        "eth2",
        IPv4Address("192.0.2.2"),
        "PATH",
        IPv6Address("fcbb:0:1::1"),
        age=0,
        per_flow=True,
        decrement_hop_limit=False,
        passes=("10.0.0.0/8", "2001:db8::/32", "multicast"),
    )


def test_segments_stand_in_the_order_of_their_indexes():
    segments = [
        {"index": 30, "sid": "fcbb:0:3::1"},
        {"index": 4, "sid": "fcbb:0:2::1"},
        {"index": 200, "sid": "fcbb:0:2::1"},
    ]
    config = srv6(segment_lists={"segment-list": [{"name": "PATH", "segment": segments}]})

    path = tuple(map(IPv6Address, ("fcbb:0:2::1", "fcbb:0:3::1", "fcbb:0:2::1")))
    assert parse(config).segment_lists == {"PATH": SegmentList("PATH", path)}


def test_one_prefix_steered_in_the_main_table_and_in_a_vrf():
    plain = {"prefix": "10.0.0.0/8", "segment-list": "PATH"}
    full = {
        **plain,
        "behavior": "H.Encaps.L2.Red",
        "source-address": "fcbb:0:1::1",
        "interface": "eth1",
        "metric": 7,
    }
    vrf = {"name": "red", "table-id": 10, "srv6mgr-steering:steering": {"route": [full]}}
    config = srv6(vrfs={"vrf": [vrf]}, **{"srv6mgr-steering:steering": {"route": [plain]}})

    prefix = IPv4Network("10.0.0.0/8")
    assert parse(config).routes == {
        "main 10.0.0.0/8": SteeredRoute(None, prefix, "PATH"),
        "red 10.0.0.0/8": SteeredRoute(
            "red", prefix, "PATH", Headend.H_ENCAPS_L2_RED, IPv6Address("fcbb:0:1::1"), "eth1", 7
        ),
    }


@pytest.mark.parametrize("prefix", ["2001:db8::7/32", "2001:db8::/32"])
def test_a_steered_prefix_with_host_bits_is_its_network(prefix):
    route = {"prefix": prefix, "segment-list": "PATH"}

    (found,) = parse(srv6(**{"srv6mgr-steering:steering": {"route": [route]}})).routes.values()

    assert found.prefix == IPv6Network("2001:db8::/32")


def test_a_sid_made_by_function_and_by_itself():
    by_function = bgp_of(**{"export-function": 100, "locator": "MAIN"})
    by_itself = bgp_of(**{"export-auto": [None], "locator": "MAIN"})

    assert (by_function.export_function, by_function.export_auto) == (100, False)
    assert (by_itself.export_function, by_itself.export_auto) == (None, True)
    assert by_function.locator == by_itself.locator == "MAIN"


def test_isis():
    interfaces = [{"name": "to-p", "point-to-point": True, "metric": 20}, {"name": "lo"}]
    isis = {"area": "49", "system-id": "0000.0000.0001", "locator": "MAIN", "interface": interfaces}

    found = parse(srv6(**{"srv6mgr-isis:isis": isis})).isis

    by_name = (IsisInterface("lo"), IsisInterface("to-p", False, True, 20))
    assert found == Isis("49", "0000.0000.0001", "MAIN", "level-2", by_name)
    level = parse(srv6(**{"srv6mgr-isis:isis": {**isis, "level": "level-1"}})).isis.level
    assert level == "level-1"


def test_all_that_isis_says():
    hello = {"password": "link", "algorithm": "clear"}
    core = {"name": "to-p", "hello-interval": 1, "hello-multiplier": 4, "bfd": True}
    delay = {"initial-delay": 1, "short-delay": 2, "long-delay": 3}
    isis = {
        "area": "49",
        "system-id": "0000.0000.0001",
        "locator": "MAIN",
        "interface": [{**core, "hello-authentication": hello}],
        "additional-locator": ["SHARED", "ANYCAST"],
        "lsp-gen-interval": 5,
        "lsp-refresh-interval": 600,
        "lsp-lifetime": 1000,
        "ietf-spf-delay": {**delay, "hold-down": 5, "time-to-learn": 4},
        "overload": {"status": True, "on-startup": 60},
        "area-authentication": {"password": "area", "snp": "none"},
        "domain-authentication": {"password": "domain"},
    }
    found = parse(srv6(**{"srv6mgr-isis:isis": isis})).isis
    key = Authentication("link", "clear")
    interface = IsisInterface("to-p", False, False, None, 1, 4, True, key)
    assert found == Isis(
        "49",
        "0000.0000.0001",
        "MAIN",
        interfaces=(interface,),
        additional_locators=("ANYCAST", "SHARED"),
        timers=LspTimers(5, 600, 1000),
        spf_delay=SpfDelay(1, 2, 3, 5, 4),
        overload=Overload(status=True, on_startup=60),
        area_authentication=Authentication("area"),
        domain_authentication=Authentication("domain", snp="validate"),
    )


def test_everything_of_a_neighbor():
    neighbor = {
        "address": "10.1.0.2",
        "remote-as": 65001,
        "description": "CE 1",
        "update-source": "10.1.0.1",
        "password": "secret",
        "keepalive": 10,
        "hold-time": 30,
        "bfd": True,
        "route-reflector-client": True,
        "ebgp-multihop": 3,
    }

    (found,) = bgp_of(neighbor=[neighbor]).neighbors

    assert found == Neighbor("10.1.0.2", 65001, "10.1.0.1", "CE 1", "secret", 10, 30, True, True, 3)
    assert "secret" not in repr(found)


def test_encapsulation_and_what_becomes_of_the_unsupported():
    found = parse(
        srv6(encapsulation={"hop-limit": 64, "flow-label": "compute"}, unsupported="accept")
    )

    assert (found.hop_limit, found.flow_label, found.accept_unsupported) == (64, "compute", True)


def test_a_micro_segment_locator():
    entry = {"name": "MAIN", "prefix": "fcbb:0:1::/48", "micro-segment": True}

    assert parse(srv6(locators={"locator": [entry]})).locators["MAIN"].micro_segment


def test_interfaces_are_customers_by_default():
    assert parse({}).default_role is Role.CUSTOMER
    assert parse(srv6(boundary={"default-role": "core"})).default_role is Role.CORE
    assert parse(srv6(boundary={"default-role": "core"})).is_empty


def test_a_neighbor_has_the_values_of_its_peer_group_where_it_has_none() -> None:
    tree = {
        "srv6mgr-srv6:srv6": {
            "srv6mgr-bgp:bgp": {
                "as-number": 65000,
                "router-id": "192.0.2.1",
                "peer-group": [
                    {
                        "name": "all",
                        "remote-as": 65001,
                        "bfd": True,
                        "apply-policy": {"import-policy": "in", "export-policy": "out"},
                        "dynamic-neighbor-prefix": ["10.0.0.1/8"],
                    },
                    {"name": "template", "keepalive": 3},
                ],
                "neighbor": [
                    {
                        "address": "192.0.2.7",
                        "peer-group": "all",
                        "bfd": False,
                        "apply-policy": {"export-policy": "own"},
                    }
                ],
                "unnumbered-neighbor": [{"interface": "eth0", "remote-as": 1}],
            }
        }
    }

    bgp = parse(tree).bgp

    assert bgp is not None
    assert bgp.neighbors == (
        Neighbor("192.0.2.7", 65001, apply_policy=ApplyPolicy("in", "own")),
        Neighbor(
            "all",
            65001,
            bfd=True,
            apply_policy=ApplyPolicy("in", "out"),
            kind=PeerKind.DYNAMIC,
            prefixes=("10.0.0.0/8",),
        ),
        Neighbor("eth0", 1, kind=PeerKind.UNNUMBERED),
    )
