"""What a run says on the terminal: one line per test, the words of a failure below it."""

from __future__ import annotations

from typing import Any


class Console:
    """Listener of Robot Framework."""

    ROBOT_LISTENER_API_VERSION = 3

    def __init__(self) -> None:
        self._passed = self._failed = 0

    def start_suite(self, data: Any, result: Any) -> None:
        if data.tests:
            _say(f"\n{data.name.lower()}")

    def end_test(self, data: Any, result: Any) -> None:
        _say(line(result.passed, data.name, result.elapsed_time.total_seconds()))
        if result.passed:
            self._passed += 1
        else:
            self._failed += 1
            _say(indented(result.message))

    def end_suite(self, data: Any, result: Any) -> None:
        if data.tests:
            _say(f"  {result.elapsed_time.total_seconds():.1f} s")
        elif result.setup.failed:
            _say(indented(result.message))

    def report_file(self, path: Any) -> None:
        _say(f"\nreport: build/lab/robot/{path.name} (in $LAB_OUT, where that is set)")

    def close(self) -> None:
        _say(f"{self._passed} passed, {self._failed} failed")


def line(passed: bool, name: str, seconds: float) -> str:
    return f"  {'pass' if passed else 'FAIL'}  {name} ({seconds:.1f} s)"


def indented(text: str) -> str:
    return "\n".join(f"        {part}" for part in text.splitlines())


def _say(text: str) -> None:
    print(text, flush=True)
