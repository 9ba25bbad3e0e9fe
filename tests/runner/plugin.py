"""A plugin of pytest: records each test and fixture, and runs what another run skipped.

``--only-skipped-in FILE`` selects the tests that the records in FILE name as skipped: what the
host's kernel lacks is tested in the lab.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.runner import records
from tests.runner.records import Record


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--only-skipped-in", metavar="FILE", type=Path)


def pytest_configure(config: pytest.Config) -> None:
    if path := os.environ.get(records.VARIABLE):
        config.pluginmanager.register(_Recorder(Path(path), hasattr(config, "workerinput")))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    file: Path | None = config.getoption("--only-skipped-in")
    if file is None:
        return
    wanted = {r.id for r in records.read(file) if r.kind == "test" and r.outcome == "skipped"}
    left_out = [item for item in items if item.nodeid not in wanted]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item.nodeid in wanted]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if session.config.getoption("--only-skipped-in") and exitstatus == 5:
        session.exitstatus = pytest.ExitCode.OK  # nothing was skipped there


class _Recorder:
    """With xdist the controller records the tests, each worker its own fixtures."""

    def __init__(self, path: Path, is_worker: bool) -> None:
        self._path = path
        self._is_worker = is_worker
        self._reports: dict[str, dict[str, pytest.TestReport]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        started = time.perf_counter()
        try:
            return (yield)
        finally:
            seconds = time.perf_counter() - started
            if seconds > 0.01:
                where = fixturedef.baseid or "pytest"
                name = f"{where}::{fixturedef.argname}"
                records.append(self._path, Record("fixture", name, seconds))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._is_worker:
            return
        phases = self._reports.setdefault(report.nodeid, {})
        phases[report.when or "call"] = report
        if report.when == "teardown":
            del self._reports[report.nodeid]
            records.append(self._path, _record(report.nodeid, phases))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self._is_worker:
            text = records.last_lines(report.longreprtext, records.FAILURE_LINES)
            records.append(self._path, Record("test", report.nodeid, 0, "failed", text))


def _record(name: str, phases: dict[str, pytest.TestReport]) -> Record:
    outcome, text = "passed", ""
    for report in phases.values():
        if report.failed:
            outcome, text = "failed", _text(report)
            break
        if report.skipped and not hasattr(report, "wasxfail"):
            outcome = "skipped"
            text = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    seconds = {when: report.duration for when, report in phases.items()}
    return Record(
        "test", name, seconds.get("call", 0.0), outcome, text,
        setup=seconds.get("setup", 0.0), teardown=seconds.get("teardown", 0.0),
    )  # fmt: skip


def _text(report: pytest.TestReport) -> str:
    parts = [records.last_lines(report.longreprtext, records.FAILURE_LINES)]
    parts += [
        f"-- {title}\n{records.last_lines(content, records.LOG_LINES)}"
        for title, content in report.sections
    ]
    return "\n".join(part for part in [*parts, records.log_tails()] if part)
