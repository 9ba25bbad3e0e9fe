"""Which tests a change touches: those that import what changed, nearest first."""

from __future__ import annotations

import ast
import subprocess
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

SOURCES = ("srv6mgrd", "orchagent", "srv6net", "lab", "tests")
# Rooms of contract tests by what is no Python.
ROOM_OF = {"netconfd": "netconf", "yang": "yang", "redis-schema": "redis"}
# Test files further from the change than so many imports are left to `make test`.
FURTHEST = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """Test files to run, nearest first, and those for which the time does not suffice."""

    files: tuple[str, ...]
    left_out: tuple[str, ...]


def changed_files(checkout: Path, base: str) -> list[str]:
    """Paths that differ from a revision, and files that git does not know yet."""
    lines: list[str] = []
    for command in (
        ["diff", "--name-only", base],
        ["ls-files", "--others", "--exclude-standard"],
    ):
        done = subprocess.run(
            ["git", *command], cwd=checkout, capture_output=True, text=True, check=True
        )
        lines += done.stdout.splitlines()
    return sorted(set(lines))


def import_graph(checkout: Path) -> dict[str, frozenset[str]]:
    """File -> files of the checkout that it imports."""
    files = [
        str(path.relative_to(checkout))
        for top in SOURCES
        for path in checkout.glob(f"{top}/**/*.py")
    ]
    modules = {_module(file): file for file in files}
    return {file: frozenset(_imports(checkout / file, file, modules)) for file in files}


def distances(graph: Mapping[str, frozenset[str]], changed: Iterable[str]) -> dict[str, int]:
    """How many imports each file is away from the nearest changed one."""
    importers: dict[str, list[str]] = {}
    for file, imported in graph.items():
        for other in imported:
            importers.setdefault(other, []).append(file)
    found = dict.fromkeys(changed, 0)
    queue = deque(found)
    while queue:
        file = queue.popleft()
        for importer in importers.get(file, ()):
            if importer not in found:
                found[importer] = found[file] + 1
                queue.append(importer)
    return found


def choose(
    graph: Mapping[str, frozenset[str]],
    changed: Iterable[str],
    seconds: Mapping[str, float],
    budget: float,
) -> Choice:
    """``seconds``: how long each test file took; ``budget``: seconds of tests in all."""
    changed = list(changed)
    away = distances(graph, changed)
    rooms = {room for file in changed if (room := room_of(file))}
    ranked = []
    for file in graph:
        if not is_test(file):
            continue
        same_room = room_of(file) in rooms
        distance = away.get(file, FURTHEST + 1)
        if same_room or distance <= FURTHEST:
            ranked.append((distance - 1.5 * same_room, file))
    taken: list[str] = []
    left_out: list[str] = []
    spent = 0.0
    for _, file in sorted(ranked):
        spent += seconds.get(file, 1.0)
        (taken if spent <= budget else left_out).append(file)
    return Choice(tuple(taken), tuple(left_out))


def is_test(file: str) -> bool:
    """A test that needs no lab of its own."""
    path = PurePath(file)
    return path.name.startswith("test_") and path.parts[1] in ("unit", "property", "contract")


def room_of(file: str) -> str | None:
    """``srv6mgrd/gnmi/set.py`` and ``tests/contract/gnmi/test_set.py``: gnmi."""
    parts = PurePath(file).parts
    if parts[0] in ROOM_OF:
        return ROOM_OF[parts[0]]
    if parts[0] == "tests" and len(parts) > 3 and parts[1] in ("unit", "contract"):
        return parts[2]
    if parts[0] == "srv6mgrd" and len(parts) > 2:
        return parts[1]
    return parts[0] if parts[0] in ("orchagent", "srv6net", "lab") and len(parts) > 1 else None


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imports(path: Path, file: str, modules: Mapping[str, str]) -> Iterable[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if name in modules and modules[name] != file:
                yield modules[name]
    # A conftest serves the tests beside and below it.
    if PurePath(file).name.startswith("test_"):
        for folder in PurePath(file).parents:
            conftest = str(folder / "conftest.py")
            if conftest in modules.values():
                yield conftest
