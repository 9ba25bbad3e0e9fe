"""Routing policies in FRR's words, and the order in which they change."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_network

import pytest

from srv6mgrd.frr.blocks import is_list, is_policy
from srv6mgrd.frr.policies import blocks, communities
from srv6mgrd.frr.running import parse
from srv6mgrd.frr.script import commands, removals
from srv6mgrd.model.routing_policy import (
    Actions,
    CommunityOption,
    Conditions,
    Policy,
    PolicyResult,
    PrefixRange,
    RoutingPolicy,
    Statement,
)
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.actions import Delete, Replace

V4, V6 = ip_network("10.0.0.0/8"), ip_network("2001:db8::/32")
BOTH = RoutingPolicy(
    policies={
        "p": Policy(
            "p",
            (
                Statement(10, Conditions(prefix_set="both"), Actions(local_pref=200)),
                Statement(20, actions=Actions(PolicyResult.REJECT)),
            ),
        )
    },
    prefix_sets={"both": (PrefixRange(V4, 8, 24), PrefixRange(V6))},
)


def with_statement(conditions: Conditions, actions: Actions) -> RoutingPolicy:
    return RoutingPolicy(
        policies={"p": Policy("p", (Statement(1, conditions, actions),))},
        prefix_sets={"s": (PrefixRange(V4),)},
        community_sets={"s": ("65000:2", "65000:1")},
        as_path_sets={"s": ("^1_", "_2$")},
    )


def text_of(routing: RoutingPolicy) -> list[str]:
    return [f"{b.context[0]} | {line}" for b in blocks(routing, 65000) for line in b.lines]


def test_a_set_of_both_families_has_an_entry_for_each() -> None:
    assert [(b.context[0], b.lines) for b in blocks(BOTH, 65000)] == [
        ("ip prefix-list srv6mgr-both", ("permit 10.0.0.0/8 le 24",)),
        ("ipv6 prefix-list srv6mgr-both", ("permit 2001:db8::/32",)),
        (
            "route-map srv6mgr-p permit 40",
            ("match ip address prefix-list srv6mgr-both", "set local-preference 200"),
        ),
        (
            "route-map srv6mgr-p permit 41",
            ("match ipv6 address prefix-list srv6mgr-both", "set local-preference 200"),
        ),
        ("route-map srv6mgr-p deny 82", ()),
    ]


def test_each_block_names_the_policies_that_it_is_for() -> None:
    assert {b.serves for b in blocks(BOTH, 65000)} == {(ObjectRef(Kind.ROUTING_POLICY, "p"),)}


@pytest.mark.parametrize(
    ("prefix", "lower", "upper", "line"),
    [
        (V4, None, None, "permit 10.0.0.0/8"),
        (V4, 8, None, "permit 10.0.0.0/8 le 32"),
        (V4, 16, None, "permit 10.0.0.0/8 ge 16"),
        (V4, 16, 32, "permit 10.0.0.0/8 ge 16"),
        (V4, 16, 24, "permit 10.0.0.0/8 ge 16 le 24"),
        (V4, None, 24, "permit 10.0.0.0/8 le 24"),
        (V4, 8, 8, "permit 10.0.0.0/8"),
        (V6, None, 128, "permit 2001:db8::/32 le 128"),
    ],
)
def test_mask_lengths(prefix, lower, upper, line) -> None:  # type: ignore[no-untyped-def]
    routing = replace(BOTH, prefix_sets={"both": (PrefixRange(prefix, lower, upper),)})
    assert blocks(routing, 65000)[0].lines == (line,)


@pytest.mark.parametrize(
    ("conditions", "actions", "lines"),
    [
        (
            Conditions(community_set="s"),
            Actions(),
            [
                "bgp community-list standard srv6mgr-s | permit 65000:1",
                "bgp community-list standard srv6mgr-s | permit 65000:2",
                "route-map srv6mgr-p permit 4 | match community srv6mgr-s",
            ],
        ),
        (
            Conditions(community_set="s", all_communities=True),
            Actions(),
            [
                "bgp community-list standard srv6mgr-s:all | permit 65000:1 65000:2",
                "route-map srv6mgr-p permit 4 | match community srv6mgr-s:all",
            ],
        ),
        (
            Conditions(as_path_set="s", tag=7),
            Actions(PolicyResult.NEXT, med=5, tag=8),
            [
                "bgp as-path access-list srv6mgr-s | permit ^1_",
                "bgp as-path access-list srv6mgr-s | permit _2$",
                "route-map srv6mgr-p permit 4 | match as-path srv6mgr-s",
                "route-map srv6mgr-p permit 4 | match tag 7",
                "route-map srv6mgr-p permit 4 | set metric 5",
                "route-map srv6mgr-p permit 4 | set tag 8",
                "route-map srv6mgr-p permit 4 | on-match next",
            ],
        ),
        (
            Conditions(),
            Actions(prepend=2, communities=("no-export", "65000:1")),
            [
                "route-map srv6mgr-p permit 4 | set as-path prepend 65000 65000",
                "route-map srv6mgr-p permit 4 | set community 65000:1 no-export additive",
            ],
        ),
        (
            Conditions(),
            Actions(communities=("65000:1",), community_option=CommunityOption.REMOVE),
            [
                "bgp community-list standard srv6mgr-p:1 | permit 65000:1",
                "route-map srv6mgr-p permit 4 | set comm-list srv6mgr-p:1 delete",
            ],
        ),
        (
            Conditions(),
            Actions(community_option=CommunityOption.REPLACE, prepend=1, prepend_as=7),
            [
                "route-map srv6mgr-p permit 4 | set as-path prepend 7",
                "route-map srv6mgr-p permit 4 | set community none",
            ],
        ),
    ],
)
def test_statements(conditions: Conditions, actions: Actions, lines: list[str]) -> None:
    assert text_of(with_statement(conditions, actions)) == lines


def test_communities_as_frr_orders_and_names_them() -> None:
    assert communities(["no-export", "65535:666", "65000:2", "1:1"]) == (
        "1:1 65000:2 blackhole no-export"
    )


def test_what_frr_prints_is_what_was_written() -> None:
    printed = """
ip prefix-list srv6mgr-both seq 5 permit 10.0.0.0/8 le 24
ipv6 prefix-list srv6mgr-both seq 15 permit 2001:db8::/32
!
route-map srv6mgr-p permit 40
 match ip address prefix-list srv6mgr-both
 set local-preference 200
exit
!
route-map srv6mgr-p permit 41
 match ipv6 address prefix-list srv6mgr-both
 set local-preference 200
exit
!
route-map srv6mgr-p deny 82
exit
"""
    wanted = {b.key: b for b in blocks(BOTH, 65000)}
    assert parse("bgpd", printed) == wanted


def test_a_line_of_a_list_names_the_list() -> None:
    before = next(b for b in blocks(BOTH, 65000) if b.context[0].startswith("ip "))
    after = replace(before, lines=("permit 10.0.0.0/8 le 16",))
    assert is_list(before.context)
    steps = removals([Replace(before, after)], {})
    assert [c.text for c in commands(steps)] == [
        "no ip prefix-list srv6mgr-both permit 10.0.0.0/8 le 24"
    ]


def test_an_entry_goes_as_a_whole() -> None:
    entry = blocks(BOTH, 65000)[2]
    assert is_policy(entry)
    steps = removals([Delete(entry)], {})
    assert [c.text for c in commands(steps)] == ["no route-map srv6mgr-p permit 40"]
