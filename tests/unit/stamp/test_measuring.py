from __future__ import annotations

from pathlib import Path

import pytest

from srv6mgrd.counters.node import publish_secret
from srv6mgrd.stamp import assignments
from srv6mgrd.stamp.assignments import Assignments
from srv6mgrd.stamp.measuring import Measuring
from srv6mgrd.storage import Problems


async def test_assignments_of_another_release_are_reported_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file, reported = tmp_path / "stamp.json", tmp_path / "results.json"
    publish_secret(file, {"port": 862, "allowed": [], "sessions": []}, None)
    measuring = Measuring(file, reported, Problems())
    for _ in range(3):
        measuring.step()
    (logged,) = caplog.messages
    cause = "KeyError: 'reflector'"
    assert logged == f"{file} cannot be used: {cause}; restart srv6mgrd, which writes it"
    assignments.write(file, Assignments(), None)
    measuring.step()
    assert len(caplog.messages) == 1
    # What was wrong is well again, and is reported when it comes back.
    publish_secret(file, {}, None)
    measuring.step()
    assert len(caplog.messages) == 2
