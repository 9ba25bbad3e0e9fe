"""Service function chains as rows: what each table declares, and what becomes of a whole chain."""

from __future__ import annotations

import pytest

from srv6mgrd.configdb.fields import RowError
from srv6mgrd.configdb.leaves import holds
from srv6mgrd.configdb.objects import Declared, Kind, Object, Part, references
from srv6mgrd.configdb.rejected import Reason
from srv6mgrd.configdb.rows import declare, order
from srv6mgrd.configdb.verdict import Status
from tests.unit.configdb.test_ownership import World

FUNCTION = "SRV6MGR_SERVICE_FUNCTION|firewall"
SHAPER = "SRV6MGR_SERVICE_FUNCTION|shaper"
SID = "SRV6MGR_FUNCTION_SID|shaper|fcbb:0:2:f000::"
GROUP = "SRV6MGR_SERVICE_FUNCTION_GROUP|shapers"
CHAIN = "SRV6MGR_SERVICE_FUNCTION_CHAIN|clean"
HOP, SECOND = "SRV6MGR_CHAIN_HOP|clean|10", "SRV6MGR_CHAIN_HOP|clean|20"
CLASSIFIER = "SRV6MGR_CLASSIFIER|tenant"
RULE = "SRV6MGR_CLASSIFIER_RULE|tenant|10"
PROXY = {
    "locator": "MAIN",
    "sid_function": "61440",
    "inner_type@": "ipv6, ipv4",
    "interface": "fw-in",
    "return_interface": "fw-out",
    "ipv4_next_hop": "10.9.0.2",
    "ipv6_next_hop": "FD09::2",
    "mtu": "1400",
}
BOTH = {"inner_type@": "ipv4", "direction@": "forward,reverse"}
ROWS: dict[str, dict[str, str]] = {
    RULE: {"source_prefix": "10.1.0.0/24", "service_function_chain": "clean"},
    CLASSIFIER: {"vrf": "Vrf1"},
    SECOND: {"service_function_group": "shapers", "on_failure": "drop"},
    HOP: {"service_function": "firewall"},
    CHAIN: {"forward_vrf": "Vrf1"},
    GROUP: {"functions@": "shaper"},
    SID: BOTH,
    SHAPER: {},
    FUNCTION: PROXY,
    "VRF|Vrf1": {},
    "SRV6_MY_LOCATORS|MAIN": {"prefix": "fcbb:0:1::"},
}
CLEAN, TENANT = Object(Kind.FUNCTION_CHAIN, "clean"), Object(Kind.CLASSIFIER, "tenant")


def leaves(row: str, **fields: str) -> dict[str, object]:
    declared = declare(row, fields)
    assert isinstance(declared, Declared)
    return dict(declared.leaves)


def part(row: str, **fields: str) -> dict[str, object]:
    declared = declare(row, fields)
    assert isinstance(declared, Part)
    return dict(declared.content)


def test_a_function_behind_a_proxy() -> None:
    assert leaves(FUNCTION, weight="3", drain="true", **PROXY) == {
        "proxy": {
            "locator": "MAIN",
            "sid-function": 61440,
            "inner-type": ["ipv4", "ipv6"],
            "interface": "fw-in",
            "return-interface": "fw-out",
            "ipv4-next-hop": "10.9.0.2",
            "ipv6-next-hop": "fd09::2",
            "mtu": 1400,
        },
        "weight": 3,
        "drain": True,
    }


def test_health_checks() -> None:
    fields = {"health_check": "false", "health_interval": "50", "health_failures": "5"}
    assert leaves(SHAPER, **fields) == {
        "health-check": {"enabled": False, "interval": 50, "failures": 5}
    }
    assert leaves(SHAPER, health_check="true") == {}


def test_a_sid_of_a_function() -> None:
    declared = declare(SID, BOTH)
    assert isinstance(declared, Part)
    assert (declared.object, declared.base) == (Object(Kind.SERVICE_FUNCTION, "shaper"), SHAPER)
    entry = {"inner-type": ["ipv4"], "direction": ["forward", "reverse"]}
    assert declared.content == {"function-sid": {"fcbb:0:2:f000::": entry}}


def test_a_group() -> None:
    assert leaves(GROUP, **{"functions@": "b,a,b"}) == {"service-function": ["a", "b"]}


def test_a_chain() -> None:
    fields = {
        "forward_segments@": "fcbb:0:3::,FCBB:0:2::",
        "reverse_vrf": "Vrf1",
        "fallback_chain": "x",
    }
    assert leaves(CHAIN, **fields) == {
        "forward": {"segment": ["fcbb:0:3::", "fcbb:0:2::"]},
        "reverse": {"vrf": "Vrf1"},
        "fallback-chain": "x",
    }


def test_a_hop() -> None:
    assert part(HOP, service_function="a", on_failure="chain") == {
        "hop": {10: {"service-function": "a", "on-failure": "chain"}}
    }
    assert part(HOP, service_function_group="g") == {"hop": {10: {"service-function-group": "g"}}}


def test_a_classifier() -> None:
    assert leaves(CLASSIFIER, vrf="Vrf1") == {"vrf": "Vrf1"}
    assert leaves(CLASSIFIER, **{"interfaces@": "ce2,ce1"}) == {"interface": ["ce1", "ce2"]}


def test_a_rule() -> None:
    fields = {
        "inner_type": "ipv4",
        "source_prefix": "10.1.0.9/24",
        "destination_prefix": "10.2.0.0/16",
        "protocol": "tcp",
        "source_port": "1024-65535",
        "destination_port": "443",
        "dscp": "46",
        "mark": "7",
        "service_function_chain": "clean",
        "direction": "reverse",
    }
    assert part(RULE, **fields) == {
        "rule": {
            10: {
                "inner-type": "ipv4",
                "source-prefix": "10.1.0.0/24",
                "destination-prefix": "10.2.0.0/16",
                "protocol": "tcp",
                "source-port": "1024-65535",
                "destination-port": "443",
                "dscp": 46,
                "mark": 7,
                "service-function-chain": "clean",
                "direction": "reverse",
            }
        }
    }
    assert part(RULE, protocol="58") == {"rule": {10: {"protocol": 58}}}


@pytest.mark.parametrize(
    ("row", "content", "words"),
    [
        (FUNCTION, {"interface": "fw-in"}, "locator is missing; add locator"),
        (FUNCTION, PROXY | {"inner_type@": "ipv4,x"}, "'x' is unknown; write any of ipv4"),
        (FUNCTION, PROXY | {"inner_type@": ","}, "inner_type@ is empty; write values"),
        (FUNCTION, PROXY | {"ipv4_next_hop": "::1"}, "ipv4_next_hop '::1' is no IPv4 address"),
        (FUNCTION, PROXY | {"sid_function": "0"}, "out of range; write 1 to 4294967295"),
        (FUNCTION, PROXY | {"mtu": "500"}, "mtu 500 is out of range; write 1280 to 65535"),
        (FUNCTION, {"weight": "x"}, "weight is no number; write 1 to 100"),
        (FUNCTION, {"drain": "yes"}, "write one of false, true"),
        (f"{FUNCTION}{'x' * 30}", {}, "is longer than 32; shorten it"),
        (SID, {"inner_type@": "ipv4"}, "direction@ is missing; add direction@"),
        (f"{SID}/64", BOTH, "is no IPv6 address, without a length"),
        (GROUP, {}, "functions@ is missing"),
        (
            CHAIN,
            {"forward_vrf": "Vrf1", "forward_segments@": "::1"},
            "forward_vrf and forward_segments@ exclude each other; remove one of both",
        ),
        (CHAIN, {"forward_segments@": "::1,::1"}, "has ::1 twice; remove one of both"),
        (CHAIN, {"reverse_segments@": ",".join(f"::{n}" for n in range(9))}, "write 8 at most"),
        (HOP, {"on_failure": "drop"}, "add service_function or service_function_group"),
        (HOP, {"service_function": "a", "service_function_group": "b"}, "exclude each other"),
        (HOP, {"service_function": "a", "on_failure": "x"}, "write one of bypass, drop, chain"),
        ("SRV6MGR_CHAIN_HOP|clean|010", {"service_function": "a"}, "write 10"),
        ("SRV6MGR_CHAIN_HOP|clean|256", {"service_function": "a"}, "write 0 to 255"),
        ("SRV6MGR_CHAIN_HOP|clean", {"service_function": "a"}, "SRV6MGR_CHAIN_HOP|<chain>|<index>"),
        (CLASSIFIER, {"vrf": "Vrf1", "interfaces@": "ce1"}, "exclude each other"),
        (RULE, {"source_prefix": "10.1.0.0"}, "source_prefix '10.1.0.0' is no prefix"),
        (RULE, {"protocol": "gre"}, "write 0 to 255, or one of icmp"),
        (RULE, {"source_port": "80:90"}, "write it like 443 or 8000-8999"),
        (RULE, {"dscp": "64"}, "write 0 to 63"),
    ],
)
def test_rejections_name_row_cause_and_remedy(
    row: str, content: dict[str, str], words: str
) -> None:
    with pytest.raises(RowError) as error:
        declare(row, content)
    assert str(error.value).startswith(f"{row}: ")
    assert words in str(error.value)


def test_references_decide_the_order() -> None:
    tables = ("LOCATORS", "VRF", "FUNCTION|", "GROUP", "CHAIN|", "CLASSIFIER|")
    found = [row for row in sorted(ROWS, key=order) if any(t in row for t in tables)]
    assert [next(t for t in tables if t in row) for row in found] == [
        *tables[:3],
        *tables[2:],
    ]


def test_a_chain_of_rows_in_any_order() -> None:
    world = World()
    for row, fields in ROWS.items():
        world.ownership.write(row, fields)
        world.round()
    world.round()
    assert {status for status, _ in world.round().values()} == {Status.ACCEPTED}
    assert world.objects[CLEAN] == {
        "forward": {"vrf": "Vrf1"},
        "hop": [
            {"index": 10, "service-function": "firewall"},
            {"index": 20, "service-function-group": "shapers", "on-failure": "drop"},
        ],
    }
    assert world.objects[TENANT] == {
        "vrf": "Vrf1",
        "rule": [
            {
                "priority": 10,
                "source-prefix": "10.1.0.0/24",
                "service-function-chain": "clean",
            }
        ],
    }
    world.ownership.remove(SECOND)
    world.round()
    assert [hop["index"] for hop in world.objects[CLEAN]["hop"]] == [10]
    for row in ROWS:
        world.ownership.remove(row)
    world.round()
    assert world.objects == {}


def test_what_refers_to_a_row_that_is_left_out_is_left_out_too() -> None:
    world = World()
    for row, fields in ROWS.items():
        if "LOCATORS" not in row:
            world.ownership.write(row, fields)
    verdicts = world.round()
    assert "locator MAIN does not exist" in verdicts[FUNCTION][1]
    assert "service function firewall does not exist" in verdicts[CHAIN][1]
    assert "service function chain clean does not exist" in verdicts[CLASSIFIER][1]
    assert TENANT not in world.objects


def test_a_wrong_hop_leaves_the_chain_as_it_is() -> None:
    """Else a function would be bypassed by a typing mistake."""
    world = World()
    for row, fields in ROWS.items():
        world.ownership.write(row, fields)
    world.round()
    before = dict(world.objects[CLEAN])
    world.ownership.write(HOP, {"service_function": "firewall", "on_failure": "x"})
    verdicts = world.round()
    assert world.objects[CLEAN] == before
    assert "on_failure 'x' is unknown" in verdicts[HOP][1]
    status, reason = verdicts[CHAIN]
    assert status is Status.REJECTED
    assert reason == (
        f"service function chain clean: {HOP} is a part of it, and wrong; correct or remove that"
        " row"
    )
    world.ownership.write(HOP, {"service_function": "firewall", "on_failure": "drop"})
    assert world.round()[CHAIN][0] is Status.ACCEPTED
    assert world.objects[CLEAN]["hop"][0]["on-failure"] == "drop"
    world.ownership.write(HOP, {})
    world.round()
    world.ownership.remove(HOP)
    world.round()
    assert [hop["index"] for hop in world.objects[CLEAN]["hop"]] == [20]


def test_a_rejected_chain_is_tried_again_with_its_next_hop() -> None:
    world = World()
    for row, fields in ROWS.items():
        if row not in (HOP, CHAIN, CLASSIFIER):
            world.ownership.write(row, fields)
    world.round()
    world.ownership.write(CHAIN, ROWS[CHAIN])
    running = world.running
    (change,) = world.ownership.judge(running).changes
    assert change.object == CLEAN
    world.ownership.begin(change)
    reason = Reason("service function chain clean: not so; service function group shapers is")
    world.ownership.reject(change, reason, running)
    assert not world.ownership.judge(running).changes
    world.ownership.write(HOP, ROWS[HOP])
    assert len(world.ownership.judge(running).changes) == 1


def test_defaults_are_left_out_of_the_running_configuration() -> None:
    fields = {"weight": "1", "drain": "false", "health_failures": "2"}
    assert holds({"name": "shaper"}, leaves(SHAPER, **fields))
    assert not holds({"name": "shaper", "weight": 2}, leaves(SHAPER, **fields))


def test_the_order_of_segments_matters_and_that_of_other_lists_does_not() -> None:
    declared = leaves(CHAIN, **{"forward_segments@": "::2,::1"})
    assert holds({"forward": {"segment": ["::2", "::1"]}}, declared)
    assert not holds({"forward": {"segment": ["::1", "::2"]}}, declared)
    group = leaves(GROUP, **{"functions@": "a,b"})
    assert holds({"service-function": ["b", "a"]}, group)


def test_references_of_an_entry_of_another_northbound() -> None:
    entry = {"name": "x", "hop": [{"index": 1}], "rule": [{"priority": 1}], "reverse": {}}
    assert list(references(entry)) == []
