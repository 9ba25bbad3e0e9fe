"""Which tests a change touches."""

from __future__ import annotations

from tests.runner import catalogue, near

GRAPH = {
    "srv6mgrd/plan/diff.py": frozenset[str](),
    "srv6mgrd/apply/executor.py": frozenset({"srv6mgrd/plan/diff.py"}),
    "srv6mgrd/gnmi/set.py": frozenset[str](),
    "tests/unit/plan/test_diff.py": frozenset({"srv6mgrd/plan/diff.py"}),
    "tests/unit/plan/test_other.py": frozenset[str](),
    "tests/unit/apply/test_executor.py": frozenset({"srv6mgrd/apply/executor.py"}),
    "tests/contract/gnmi/test_set.py": frozenset({"srv6mgrd/gnmi/set.py"}),
    "tests/robot/library/gnmi.py": frozenset({"srv6mgrd/gnmi/set.py"}),
}


def test_those_that_import_it_come_first_then_the_room_then_the_rest() -> None:
    choice = near.choose(GRAPH, ["srv6mgrd/plan/diff.py"], {}, 60)
    assert choice.files == (
        "tests/unit/plan/test_diff.py",
        "tests/unit/apply/test_executor.py",
        "tests/unit/plan/test_other.py",
    )


def test_what_there_is_no_time_for_is_named() -> None:
    seconds = {"tests/unit/plan/test_diff.py": 50.0, "tests/unit/apply/test_executor.py": 20.0}
    choice = near.choose(GRAPH, ["srv6mgrd/plan/diff.py"], seconds, 60)
    assert choice.files == ("tests/unit/plan/test_diff.py",)
    assert "tests/unit/apply/test_executor.py" in choice.left_out


def test_rooms_that_are_not_python_have_tests_too() -> None:
    assert near.room_of("netconfd/words.c") == "netconf"
    assert near.room_of("yang/srv6mgr-srv6.yang") == "yang"
    assert near.room_of("docs/frr.md") is None


def test_the_checkouts_own_graph() -> None:
    graph = near.import_graph(catalogue.CHECKOUT)
    assert "srv6mgrd/plan/diff.py" in graph["srv6mgrd/apply/reconciler.py"]
    choice = near.choose(graph, ["srv6mgrd/frr/sid_loop.py"], {}, 60)
    assert choice.files[0] == "tests/unit/frr/test_sid_loop.py"
