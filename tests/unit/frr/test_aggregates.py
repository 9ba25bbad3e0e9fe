"""Aggregates of a VRF: bgpd's lines, and what is missing of them."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from typing import Any

import pytest

from srv6mgrd.frr.aggregates import shortcomings
from srv6mgrd.frr.render import render
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.model.bgp import Aggregate
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.routing_policy import ApplyPolicy
from tests.unit.frr.samples import PE1

TEN, FD = Aggregate(ip_network("10.0.0.0/8"), summary_only=True), Aggregate(ip_network("fd00::/16"))
MADE = {"paths": [{"aggregated": True, "valid": True}]}
EXPORTED = {"65000:10": {"paths": [{"valid": True, "local": True}]}}


def having(vrf: str, *aggregates: Aggregate, **more: Any) -> Desired:
    was = PE1.vrfs[vrf]
    assert was.bgp is not None
    now = replace(was, bgp=replace(was.bgp, aggregates=aggregates, **more))
    return replace(PE1, vrfs={**PE1.vrfs, vrf: now})


@dataclass
class Shown:
    answers: Mapping[str, Any] = field(default_factory=dict)

    def show(self, daemon: str, command: str) -> str:
        answer = self.answers.get(command, {})
        return answer if isinstance(answer, str) else json.dumps(answer)


def reason(desired: Desired, answers: Mapping[str, Any], vrf: str = "red") -> str:
    return shortcomings(desired.vrfs, Shown(answers)).get(vrf, "")


def test_lines_are_of_the_family() -> None:
    lines = {
        b.context[-1]: b.lines for b in render(having("red", TEN, FD)) if "red" in b.context[0]
    }
    assert "aggregate-address 10.0.0.0/8 summary-only" in lines["address-family ipv4 unicast"]
    assert "aggregate-address fd00::/16" in lines["address-family ipv6 unicast"]
    assert not any("fd00" in line for line in lines["address-family ipv4 unicast"])


def test_exported() -> None:
    shown = {
        "show bgp vrf red ipv4 unicast 10.0.0.0/8 json": MADE,
        "show bgp ipv4 vpn 10.0.0.0/8 json": EXPORTED,
    }
    assert reason(having("red", TEN), shown) == ""


@pytest.mark.parametrize(
    "exported",
    [
        {},
        {"65000:20": EXPORTED["65000:10"]},
        {"65000:10": {"paths": [{"valid": False, "local": True}]}},
        {"65000:10": {"paths": [{"valid": True}]}},
    ],
    ids=["nothing", "of another VRF", "invalid", "of another router"],
)
def test_not_exported(exported: Mapping[str, Any]) -> None:
    shown = {
        "show bgp vrf red ipv4 unicast 10.0.0.0/8 json": MADE,
        "show bgp ipv4 vpn 10.0.0.0/8 json": exported,
    }
    message = "bgpd does not export aggregate 10.0.0.0/8: stock FRR before 10.4 exports none"
    assert reason(having("red", TEN), shown) == message
    desired = having("red", TEN, apply_policy=ApplyPolicy(export_policy="SOME"))
    assert reason(desired, shown) == f"{message}, and policy SOME may reject it"


@pytest.mark.parametrize("answer", [{}, {"paths": [{"valid": True}]}, "% Unknown VRF"])
def test_nothing_to_aggregate(answer: Any) -> None:
    shown = {"show bgp vrf red ipv4 unicast 10.0.0.0/8 json": answer}
    message = "VRF red has no route that is more specific than aggregate 10.0.0.0/8"
    assert reason(having("red", TEN), shown) == message


def test_a_vrf_that_exports_nothing_has_aggregates_for_its_neighbors() -> None:
    shown = {"show bgp vrf watch ipv4 unicast 10.0.0.0/8 json": MADE}
    assert reason(having("watch", TEN), shown, "watch") == ""


def test_bgpd_is_not_asked_without_an_aggregate() -> None:
    class Away:
        def show(self, daemon: str, command: str) -> str:
            raise VtyError(errno.ENOENT, "bgpd can't be reached")

    assert shortcomings(PE1.vrfs, Away()) == {}
    with pytest.raises(VtyError):
        shortcomings(having("red", TEN).vrfs, Away())
