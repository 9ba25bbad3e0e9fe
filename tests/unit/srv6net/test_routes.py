"""Verification waits for the routes of other routers, and rolls nothing back for their lack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from srv6net.command import session
from srv6net.compile.configuration import vrf_path
from srv6net.proposal import propose
from srv6net.transaction.executor import Executor, Timing
from srv6net.transaction.record import Revision
from srv6net.transaction.routes import expected
from tests.unit.srv6net.intents import access, document, hub_and_spoke, node, routers, service
from tests.unit.srv6net.test_command import BLUE, RED, Network

VRF_RED = vrf_path("red")


def entries(*services: Any) -> Any:
    return propose(document(*services), routers(3), Revision(), 1.0).revision.routers


def test_a_vrf_waits_for_each_router_that_exports_to_it() -> None:
    found = entries(RED, BLUE)
    assert expected(found, found) == {
        "pe1": {VRF_RED: 1}, "pe2": {VRF_RED: 1, vrf_path("blue"): 1}, "pe3": {vrf_path("blue"): 1},
    }  # fmt: skip
    assert expected({"pe1": found["pe1"]}, found) == {"pe1": {VRF_RED: 1}}


def test_a_spoke_waits_for_the_hub_alone() -> None:
    found = entries(hub_and_spoke("red", "pe1", "pe2", "pe3"))
    assert expected(found, found) == {"pe1": {VRF_RED: 2}, "pe2": {VRF_RED: 1}, "pe3": {VRF_RED: 1}}


def test_a_node_without_an_access_has_nothing_to_say() -> None:
    found = entries(service("red", node("pe1"), node("pe2", access("a", "to-red"))))
    assert expected(found, found) == {"pe1": {VRF_RED: 1}, "pe2": {VRF_RED: 0}}


def test_routes_that_do_not_come_are_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def executor(self: session.Session) -> Executor:
        return Executor(self.store, self.devices, timing=Timing(verify=0, routes=0))

    monkeypatch.setattr(session.Session, "executor", executor)
    network = Network(tmp_path, monkeypatch, capsys)
    network.routers["pe2"].routes_of = 0
    status, out, err = network.run("apply", network.intent(RED))
    assert (status, out) == (0, "committed: revision 1\n")
    assert "router pe2: VRF red has routes of 0 of 1 other routers so far" in err
    assert "pe1" not in err
