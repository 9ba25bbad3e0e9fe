"""What chains counted, as readers get it."""

from __future__ import annotations

from srv6mgrd.counters.chains import ChainReport
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chain_state import ChainCounts, ChainDrops, PathName, Traffic
from srv6mgrd.model.chains import FunctionState, Way
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.expand import expand
from srv6mgrd.model.parse import CHAINING
from tests.unit.model.service_chaining import desired

BOTH = PathName("web", Way.FORWARD, Family.IPV4, ("firewall", "cache1"))
BYPASS = PathName("web", Way.FORWARD, Family.IPV4, ("cache1",))
COUNTS = ChainCounts(
    rules={("tenant", 20): Traffic(9, 900), ("tenant", 10): Traffic(), ("gone", 1): Traffic(1, 1)},
    paths={BOTH: Traffic(5, 500), BYPASS: Traffic(4, 400)},
    drops={("web", Way.FORWARD): ChainDrops(unavailable=2, no_route=1)},
)


def _paths(states: dict[str, FunctionState]) -> list[tuple[str, bool, str]]:
    member = ChainReport(expand(desired())).chaining(COUNTS, states)[CHAINING]
    (chain,) = member["service-function-chain"]
    return [
        (" ".join([one["direction"], *one["service-function"]]), one["active"], one["pkts"])
        for one in chain["state"]["path"]
    ]


def test_paths_that_are_used_or_were() -> None:
    assert _paths({}) == [
        ("forward firewall cache1", True, "5"),
        ("forward firewall cache2", True, "0"),
        ("forward cache1", False, "4"),
        ("reverse firewall cache1", True, "0"),
        ("reverse firewall cache2", True, "0"),
    ]


def test_those_without_a_function_that_is_down() -> None:
    assert _paths({"firewall": FunctionState.DOWN})[:3] == [
        ("forward firewall cache1", False, "5"),
        ("forward cache1", True, "4"),
        ("forward cache2", True, "0"),
    ]


def test_a_path_keeps_its_number() -> None:
    def numbers(counts: ChainCounts) -> dict[tuple[str, ...], int]:
        member = ChainReport(expand(desired())).chaining(counts, {})[CHAINING]
        shown = member["service-function-chain"][0]["state"]["path"]
        return {(one["direction"], *one["service-function"]): one["number"] for one in shown}

    # Paths that count for the first time come among those that did before.
    before, now = numbers(ChainCounts()), numbers(COUNTS)
    assert now.keys() > before.keys()
    assert {path: now[path] for path in before} == before


def test_one_report_follows_states_and_counters() -> None:
    report = ChainReport(expand(desired()))
    for states in ({}, {"firewall": FunctionState.DOWN}, {}):
        for counts in (COUNTS, ChainCounts(), COUNTS):
            fresh = ChainReport(expand(desired())).chaining(counts, states)
            assert report.chaining(counts, states) == fresh


def test_drops_and_rules() -> None:
    member = ChainReport(expand(desired())).chaining(COUNTS, {})[CHAINING]
    assert member["service-function-chain"][0]["state"]["dropped-pkts"] == "3"
    # Neither rules that nothing matched, nor classifiers that are gone.
    assert member["classifier"] == [
        {"name": "tenant", "rule": [{"priority": 20, "state": {"pkts": "9", "octets": "900"}}]}
    ]


def test_nothing_is_declared() -> None:
    assert ChainReport(Desired()).chaining(COUNTS, {}) == {}
