"""Routers that are down while others change: ``--allow-partial``, and how they catch up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from srv6net.compile.configuration import vrf_path
from tests.fakes.network import Faults
from tests.unit.srv6net.test_command import BLUE, RED, Network

DOWN = Faults(lambda: "unreachable")
VRF_RED, VRF_BLUE = vrf_path("red"), vrf_path("blue")


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Network:
    return Network(tmp_path, monkeypatch, capsys)


@pytest.fixture
def partial(network: Network) -> Network:
    """pe2 is down, and has nothing of the first revision."""
    network.routers["pe2"].faults_ = DOWN
    network.run("apply", network.intent(RED, BLUE), "--allow-partial")
    return network


def test_a_router_that_is_down_holds_up_nobody(network: Network) -> None:
    network.routers["pe2"].faults_ = DOWN
    status, out, err = network.run("apply", network.intent(RED, BLUE), "--allow-partial")
    assert (status, out) == (3, "committed: revision 1, pending on pe2: run srv6net resume\n")
    assert "srv6net: router pe2: it does not answer; see its link" in err
    assert VRF_RED in network.routers["pe1"].entries
    assert VRF_BLUE in network.routers["pe3"].entries


def test_without_the_option_it_rejects_the_change(network: Network) -> None:
    network.routers["pe2"].faults_ = DOWN
    status, out, _ = network.run("apply", network.intent(RED))
    assert (status, out) == (1, "rolled back on all routers\n")
    assert network.routers["pe1"].entries == {}


def test_where_no_router_answers_nothing_is_committed(network: Network) -> None:
    for one in network.routers.values():
        one.faults_ = DOWN
    status, out, _ = network.run("apply", network.intent(RED), "--allow-partial")
    assert (status, out) == (1, "rolled back on all routers\n")
    assert network.run("resume")[:2] == (0, "no transaction is open\n")


def test_a_router_that_rejects_is_not_left_out(network: Network) -> None:
    network.routers["pe2"].rejects_dry_run = "VRF red: no; correct it"
    assert network.run("apply", network.intent(RED), "--allow-partial")[0] == 1


def test_status_says_which_routers_are_pending(partial: Network) -> None:
    status, out, _ = partial.run("status")
    assert status == 6
    (row,) = (line for line in out.splitlines() if line.startswith("pe2"))
    assert " ".join(row.split()) == (
        "pe2 pending - it has revision 0: it does not answer; see its link"
    )
    partial.routers["pe2"].faults_ = Faults()
    assert "it has revision 0: it answers; run srv6net resume" in partial.run("status")[1]
    reported = {one["router"]: one["pending"] for one in partial.json("status")["routers"]}
    assert reported == {"pe1": False, "pe2": True, "pe3": False}


@pytest.mark.parametrize("command", ["resume", "reconcile"])
def test_a_router_that_is_back_gets_its_part(partial: Network, command: str) -> None:
    assert partial.run(command)[0] == 3
    partial.routers["pe2"].faults_ = Faults()
    assert partial.run(command)[0] == 0
    assert {VRF_RED, VRF_BLUE} <= partial.routers["pe2"].entries.keys()
    assert partial.run("status")[0] == 0


def test_entries_that_left_meanwhile_are_removed(network: Network) -> None:
    network.run("apply", network.intent(RED))
    network.routers["pe2"].faults_ = DOWN
    network.run("apply", network.intent(RED, BLUE), "--allow-partial")
    network.run("apply", network.intent(BLUE), "--allow-partial")
    assert VRF_RED in network.routers["pe2"].entries
    network.routers["pe2"].faults_ = Faults()
    assert network.run("resume")[0] == 0
    assert VRF_RED not in network.routers["pe2"].entries
    assert VRF_BLUE in network.routers["pe2"].entries


def test_changes_of_other_routers_go_on(partial: Network) -> None:
    green = {"vpn-id": "green", "vpn-nodes": {"vpn-node": [{"vpn-node-id": "pe1"}]}}
    assert partial.run("apply", partial.intent(RED, BLUE, green))[:2] == (
        0,
        "committed: revision 2\n",
    )


def test_a_change_of_a_pending_router_needs_the_option(partial: Network) -> None:
    status, _, err = partial.run("apply", partial.intent(RED))
    assert status == 1
    assert "or add --allow-partial" in err
    assert partial.run("apply", partial.intent(RED), "--allow-partial")[0] == 3


def test_the_next_change_brings_it_back_first(partial: Network) -> None:
    partial.routers["pe2"].faults_ = Faults()
    assert partial.run("apply", partial.intent(RED))[:2] == (0, "committed: revision 2\n")
    assert VRF_BLUE not in partial.routers["pe2"].entries


def test_entries_of_others_are_kept(partial: Network) -> None:
    router = partial.routers["pe2"]
    router.faults_ = Faults()
    router.entries[VRF_RED] = {"name": "red", "table-id": 7}
    status, _, err = partial.run("resume")
    assert status == 3
    assert "VRF red is configured there, and not by srv6net" in err
    assert router.entries == {VRF_RED: {"name": "red", "table-id": 7}}


def test_an_answer_that_was_lost_leaves_nothing_open(partial: Network) -> None:
    router = partial.routers["pe2"]
    # Read, and then the write whose answer is lost.
    answers = iter(["", "lost"])
    router.faults_ = Faults(lambda: next(answers, ""))
    assert partial.run("resume")[0] == 3
    assert VRF_RED in router.entries
    assert partial.run("resume")[0] == 0
    assert partial.run("status")[0] == 0
