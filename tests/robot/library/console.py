"""What a run says on the terminal: one line per test, the words of a failure below it. The same
goes to ``$TEST_RECORDS``, with the last lines of the services' logs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.runner import records
from tests.runner.records import Record


class Console:
    """Listener of Robot Framework."""

    ROBOT_LISTENER_API_VERSION = 3

    def __init__(self) -> None:
        self._passed = self._failed = 0

    def start_suite(self, data: Any, result: Any) -> None:
        if data.tests:
            _say(f"\n{data.name.lower()}")

    def end_test(self, data: Any, result: Any) -> None:
        seconds = result.elapsed_time.total_seconds()
        _say(line(outcome_of(result), data.name, seconds))
        self._record("test", f"{suite_file(data.parent)}::{data.name}", seconds, result)
        self._passed += result.passed
        self._failed += result.failed
        if not result.passed:
            _say(indented(result.message))

    def end_suite(self, data: Any, result: Any) -> None:
        for part in (result.setup, result.teardown):
            if part:
                name = f"{suite_file(data)}::{part.type.lower()}"
                self._record("suite", name, part.elapsed_time.total_seconds(), part)
        if data.tests:
            _say(f"  {result.elapsed_time.total_seconds():.1f} s")
        elif result.setup.failed:
            _say(indented(result.message))

    def report_file(self, path: Any) -> None:
        _say(f"\nreport: {path.name} in the folder of the results")

    def _record(self, kind: str, name: str, seconds: float, result: Any) -> None:
        if path := os.environ.get(records.VARIABLE):
            text = "" if result.passed else result.message
            if result.failed:
                text += f"\n{records.log_tails()}"
            records.append(Path(path), Record(kind, name, seconds, outcome_of(result), text))

    def close(self) -> None:
        _say(f"{self._passed} passed, {self._failed} failed")


def suite_file(suite: Any) -> str:
    """The suite's file, below the checkout."""
    return os.path.relpath(suite.source, Path(__file__).parents[3])


def outcome_of(result: Any) -> str:
    """Of a test, or of the setup or teardown of a suite, as records have it."""
    if result.passed:
        return "passed"
    return "skipped" if result.skipped else "failed"


def line(outcome: str, name: str, seconds: float) -> str:
    word = {"passed": "pass", "skipped": "skip", "failed": "FAIL"}[outcome]
    return f"  {word}  {name} ({seconds:.1f} s)"


def indented(text: str) -> str:
    return "\n".join(f"        {part}" for part in text.splitlines())


def _say(text: str) -> None:
    print(text, flush=True)
