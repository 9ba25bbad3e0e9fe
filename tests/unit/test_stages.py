"""Stages of a commit: how long each takes, in the log and in numbers."""

from __future__ import annotations

import itertools
import logging

import pytest

from srv6mgrd.stages import Stage, Stages


def test_each_is_counted_with_its_times(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "srv6mgrd.stages")
    clock = itertools.chain((0.0, 1.0), (1.0, 1.25), (2.0, 2.5)).__iter__()
    stages = Stages(lambda: next(clock))

    with stages(Stage.PARSE):
        pass
    with stages(Stage.PARSE):
        pass
    with pytest.raises(ValueError, match="no"), stages(Stage.WRITE_KERNEL, "3 actions"):
        raise ValueError("no")

    parsed = stages.taken[Stage.PARSE]
    assert (parsed.count, parsed.total, parsed.last, parsed.longest) == (2, 1.25, 0.25, 1.0)
    assert stages.taken[Stage.WRITE_KERNEL].count == 1
    assert caplog.messages == [
        "parse: 1000.0 ms",
        "parse: 250.0 ms",
        "write-kernel 3 actions: 500.0 ms",
    ]


def test_nothing_is_logged_above_debug(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "srv6mgrd.stages")
    with Stages()(Stage.COMMIT):
        pass
    assert caplog.messages == []
