"""A transaction on routers: what they are asked, and what the operator reads."""

from __future__ import annotations

from srv6net.compile.configuration import Entries
from srv6net.transaction.executor import Executor, Outcome, Timing
from srv6net.transaction.presence import missing, repair
from srv6net.transaction.record import Change, Decision, Revision
from tests.fakes.network import FakeRouter, FakeStore

RED: Entries = {"/vrf[red]": {"name": "red", "table-id": 1}}


class Network:
    def __init__(self) -> None:
        self.store = FakeStore()
        self.routers = {"pe1": FakeRouter(), "pe2": FakeRouter()}

    def executor(self) -> Executor:
        return Executor(self.store, self.routers, timing=Timing(verify=0))

    def apply(self) -> Outcome:
        routers = dict.fromkeys(self.routers, RED)
        proposed = Revision(self.store.revision().number + 1, routers=routers)
        return self.executor().apply(proposed, dict.fromkeys(self.routers, Change({}, RED)))


def test_all_routers_are_changed_and_confirmed() -> None:
    network = Network()
    outcome = network.apply()
    assert (outcome.decision, outcome.pending) == (Decision.COMMITTED, {})
    assert all(r.entries == RED and r.awaiting is None for r in network.routers.values())
    assert network.store.revision().number == 1


def test_a_dry_run_that_fails_changes_no_router() -> None:
    network = Network()
    network.routers["pe2"].rejects_dry_run = "VRF red: table 1 is used by VRF x; choose another"
    outcome = network.apply()
    assert outcome.decision is Decision.ABORTED
    assert outcome.reasons == ("router pe2: VRF red: table 1 is used by VRF x; choose another",)
    assert [r.writes for r in network.routers.values()] == [0, 0]


def test_a_router_that_rejects_rolls_all_back() -> None:
    network = Network()
    network.routers["pe2"].rejects = "no"
    assert network.apply().decision is Decision.ABORTED
    assert [r.writes for r in network.routers.values()] == [1, 0]
    assert all(r.entries == {} for r in network.routers.values())
    assert network.store.revision().number == 0


def test_a_router_that_does_not_install_is_named_and_all_roll_back() -> None:
    network = Network()
    network.routers["pe1"].does_not_install = True
    outcome = network.apply()
    assert outcome.reasons == (
        "router pe1: it accepted the change and did not install it: VRF red: the kernel lacks it;"
        " run srv6ctl doctor there",
    )
    assert all(r.entries == {} for r in network.routers.values())


def test_an_entry_of_others_is_not_taken_over() -> None:
    network = Network()
    network.routers["pe1"].entries = {"/vrf[red]": {"name": "red", "table-id": 7}}
    (reason,) = network.apply().reasons
    assert reason.startswith("router pe1: /vrf[red] is configured there, and not by srv6net;")
    assert network.routers["pe1"].entries == {"/vrf[red]": {"name": "red", "table-id": 7}}


def test_a_router_that_rolled_back_after_the_decision_gets_it_once_more() -> None:
    network = Network()
    pe2 = network.routers["pe2"]
    pe2.at_confirm = lambda _: network.routers["pe1"].roll_back()
    network.routers = {"pe2": pe2, "pe1": network.routers["pe1"]}
    network.store.write = lambda: None
    executor = Executor(
        network.store, network.routers, timing=Timing(verify=0),
        run=lambda jobs: [job() for job in reversed(jobs)],
    )  # fmt: skip
    changes = dict.fromkeys(network.routers, Change({}, RED))
    outcome = executor.apply(Revision(1, routers=dict.fromkeys(network.routers, RED)), changes)
    assert outcome.decision is Decision.COMMITTED
    assert network.routers["pe1"].entries == RED
    assert network.routers["pe1"].writes == 2


def test_a_router_that_left_the_inventory_is_reported() -> None:
    network = Network()
    executor = Executor(network.store, {"pe1": network.routers["pe1"]}, timing=Timing(verify=0))
    changes = dict.fromkeys(network.routers, Change({}, RED))
    (reason,) = executor.apply(Revision(1), changes).reasons
    assert reason == "router pe2: the inventory lacks it; add it again"


def test_there_is_nothing_to_resume_after_the_end() -> None:
    network = Network()
    network.apply()
    assert network.executor().resume() is None


def test_defaults_and_the_order_of_lists_are_no_difference() -> None:
    wanted = {"/a": {"x": [{"k": 1}, {"k": 2}], "y": {"z": True}}}
    found = {"/a": {"x": [{"k": 2, "d": 0}, {"k": 1}], "y": {"z": True}, "default": 5}}
    assert missing(wanted, found) == {}
    assert missing({"/a": {"x": [{"k": 1}]}}, found) == {"/a": {"x": [{"k": 1}]}}
    assert missing({"/a": {"y": {"z": False}}}, found) != {}


def test_a_repair_removes_what_must_be_gone_and_is_there() -> None:
    edit = repair({"/a": 1}, {"/a": 0, "/b": 2, "/c": 3}, {"/a": 1, "/b": 2})
    assert (edit.delete, dict(edit.replace)) == (("/b",), {})
