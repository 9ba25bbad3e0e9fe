"""Statistics and notifications."""

import pytest

from srv6mgrd.counters.node import Statistics
from srv6mgrd.model.rejection import RejectedError
from tests.unit.manager.world import (
    END,
    END_KEY,
    tree,
)


class Node:
    """Counts how often the statistics were made known."""

    def __init__(self):
        self.statistics = Statistics(since=1)
        self.writes = 0

    def write(self):
        self.writes += 1


async def test_statistics_count_commits_rejections_compares_and_drift(world):
    node = world.manager._node = Node()
    world.commit(tree(1))
    outside = tree(1)
    outside["srv6mgr-srv6:srv6"]["local-sids"]["sid"][0]["prefix"] = "fcbb:9:1:1::/64"
    with pytest.raises(RejectedError):
        world.manager.commits.change(outside)
    world.manager.repair.compare()
    del world.kernel.objects[END_KEY]
    report = world.manager.repair.compare()
    assert [a.object.key for a in report.actions] == [END_KEY]
    reported = node.statistics
    assert (reported.commits, reported.rejected, reported.compares) == (1, 1, 2)
    assert (reported.drifts, reported.repairs) == (1, 1)
    assert reported.last_drift > 0
    assert node.writes == 4


async def test_drift_and_status_changes_are_reported(world):
    reported = world.reported
    world.commit(tree(1))
    assert {n.name for n in reported} == {"sid-status-change"}
    reported.clear()
    del world.kernel.objects[END_KEY]
    world.manager.repair.compare()
    assert [(n.name, n.leaves["name"]) for n in reported] == [
        ("drift-detected", END.name),
        ("drift-repaired", END.name),
    ]
