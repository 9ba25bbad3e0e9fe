"""Who may call what from which thread: docs/threads.md, and the assertion of it."""

from __future__ import annotations

import ast
import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path

import pytest

from srv6mgrd import threads
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.threads import WrongThreadError, one_thread

CHECKOUT = Path(__file__).resolve().parents[3]
PAGE = (CHECKOUT / "docs/threads.md").read_text()
# Python's own: of the event loop, and of its default executor.
OWN = {"MainThread", "asyncio_"}

# Callees that start a thread, and which of their arguments names it.
_NAMED_BY = {"_thread": 1, "InOwnThread": 0}


def calls() -> Iterator[tuple[Path, ast.Call, str]]:
    """Each call in the product, with the name of what is called."""
    for top in ("srv6mgrd", "orchagent"):
        for file in sorted((CHECKOUT / top).glob("**/*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call):
                    function = node.func
                    name = function.attr if isinstance(function, ast.Attribute) else ""
                    name = function.id if isinstance(function, ast.Name) else name
                    yield file, node, name


def started() -> set[str]:
    """Names of the threads that the product starts."""
    found = set()
    for file, call, function in calls():
        where = f"{file.relative_to(CHECKOUT)}:{call.lineno}"
        if function == "Thread":
            named = [k.value for k in call.keywords if k.arg == "name"]
            assert named, f"{where}: a thread without a name"
            # What names it by a parameter is called with the name below.
            found |= {n.value for n in named if isinstance(n, ast.Constant)}
        elif function == "ThreadPoolExecutor":
            assert len(call.args) > 1, f"{where}: threads without a name"
            assert isinstance(call.args[1], ast.Constant)
            found.add(call.args[1].value)
        elif function in _NAMED_BY:
            named_by = call.args[_NAMED_BY[function]]
            assert isinstance(named_by, ast.Constant), where
            found.add(named_by.value)
    return {str(name) for name in found}


def test_the_page_names_each_thread_and_no_other() -> None:
    tables = PAGE.partition("## Means")[0]
    first, second = r"^\| (`[^|]*?) \|", r"^\| [^|`]*\| (`[^|]*?) \|"
    cells = re.findall(first, tables, re.M) + re.findall(second, tables, re.M)
    assert {name for cell in cells for name in re.findall("`([^`]+)`", cell)} == started() | OWN


def test_the_page_names_each_class_that_is_asserted() -> None:
    found = set()
    for file in sorted((CHECKOUT / "srv6mgrd").glob("**/*.py")):
        found |= set(re.findall(r"^@one_thread\(.*\)\nclass (\w+)", file.read_text(), re.M))
    assert len(found) > 10
    assert {name for name in found if f"{name}`" not in PAGE} == set()


@one_thread(but=("size",), checked=True)
class Ledger:
    """Used by one thread."""

    def __init__(self) -> None:
        self.entries: list[str] = []

    def add(self, entry: str) -> None:
        self.entries.append(entry)

    async def later(self, entry: str) -> None:
        self.add(entry)

    @property
    def last(self) -> str:
        return self.entries[-1]

    def size(self) -> int:
        return len(self.entries)


def in_thread(work: Callable[[], object]) -> BaseException | None:
    """What the work raises in a thread of its own."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="other")
    thread.start()
    thread.join()
    return raised[0] if raised else None


def test_another_thread_may_not_use_it(caplog: pytest.LogCaptureFixture) -> None:
    ledger = Ledger()
    ledger.add("mine")

    for work in (
        lambda: ledger.add("yours"),
        lambda: ledger.last,
        lambda: asyncio.run(ledger.later("yours")),
    ):
        assert isinstance(in_thread(work), WrongThreadError)
    assert in_thread(ledger.size) is None
    assert ledger.entries == ["mine"]
    assert "Ledger.add: called in thread other, but MainThread owns it" in caplog.text


def test_a_coroutine_is_of_the_thread_that_runs_it() -> None:
    ledger = Ledger()
    ledger.add("mine")
    made: list[Coroutine[object, object, None]] = []

    assert in_thread(lambda: made.append(ledger.later("made elsewhere"))) is None
    asyncio.run(made[0])
    assert ledger.entries == ["mine", "made elsewhere"]


def test_who_makes_it_need_not_own_it() -> None:
    ledger = Ledger()

    assert in_thread(lambda: ledger.add("first")) is None
    # That thread has ended.
    ledger.add("mine")


def test_the_classes_of_the_product_are_checked_in_tests(tmp_path: Path) -> None:
    assert threads.CHECKED
    store = StoreWriter(tmp_path / "store")
    store.statuses()

    assert isinstance(in_thread(store.statuses), WrongThreadError)
    assert in_thread(lambda: store.renew_lease(1)) is None


def test_nothing_is_checked_where_nobody_asked_for_it() -> None:
    code = (
        "from srv6mgrd.manager.repair import Repair;"
        "assert not hasattr(Repair.compare, '__wrapped__') or 'threads' not in"
        " Repair.compare.__code__.co_filename"
    )
    subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, env={"PATH": ""}, check=True)
