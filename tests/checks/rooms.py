"""Check the imports between our packages against the table in docs/architecture.md.

The table is the source: its first column names the packages and modules of a row, its last one the
rows that they may import. A name with an asterisk is a pattern of files, which go before packages.
An import that no row permits is reported, and so is a permission that nothing uses, so that the
table stays true.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = Path("docs/architecture.md")
HEADING = "## Rooms"
TOPS = ("srv6mgrd", "orchagent", "srv6net")
# Beside srv6mgrd, with a row for each of its packages.
_BESIDE = "srv6net"
_NAME = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module: ``line`` of ``file``, and the modules at both ends as paths below
    srv6mgrd, or the package if it is another one."""

    file: Path
    line: int
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Table:
    """``group`` of each package, module or pattern, and what each group may import."""

    group: Mapping[str, str]
    permitted: Mapping[str, frozenset[str]]

    def row(self, module: str) -> str | None:
        """The group of a module."""
        for name, group in self.group.items():
            if "/" in name and fnmatch(module, name):
                return group
        return self.group.get(_package(module))


def parse(page: str) -> Table:
    """The table below the heading. Raises ValueError where a row names an unknown one."""
    group: dict[str, str] = {}
    wanted: dict[str, list[str]] = {}
    for names, targets in _rows(page):
        # A group of modules has a name of its own before a colon.
        head, colon, rest = names.partition(":")
        members = [name.strip("/") for name in _NAME.findall(rest or names)]
        members = [name if "/" in name else name.removesuffix(".py") for name in members]
        key = head.strip() if colon else members[0]
        group |= dict.fromkeys(members, key)
        wanted[key] = [word.strip().removesuffix(".py") for word in targets.split(",")]
    permitted = {}
    for key, words in wanted.items():
        if words == ["all"]:
            permitted[key] = frozenset(wanted)
            continue
        known = [group.get(word, word) for word in words if word != "nothing"]
        if unknown := [word for word in known if word not in wanted]:
            raise ValueError(f"the row of {key} imports {', '.join(unknown)}, which has no row")
        permitted[key] = frozenset(known)
    return Table(group, permitted)


def _rows(page: str) -> Iterator[tuple[str, str]]:
    """First and last column of each row."""
    _, found, rest = page.partition(f"{HEADING}\n")
    if not found:
        raise ValueError(f"{PAGE} has no heading {HEADING!r}")
    lines = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("|")]
    for line in lines[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        yield cells[0], cells[-1]


def imports(checkout: Path) -> list[Import]:
    """Each import of one package by another."""
    found = []
    for file in sorted(path for top in TOPS for path in checkout.glob(f"{top}/**/*.py")):
        relative = file.relative_to(checkout)
        source = _module(checkout, relative.with_suffix("").parts)
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            for name in _modules(node):
                parts = tuple(name.split("."))
                if parts[0] in TOPS:
                    target = _module(checkout, parts)
                    found.append(Import(relative, node.lineno, source, target))
    return found


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    # The name may be a module, as in `from srv6mgrd import notifications`.
    return [f"{node.module}.{alias.name}" for alias in node.names]


def _module(checkout: Path, parts: Sequence[str]) -> str:
    """Path of a module below srv6mgrd, given its name with or without one in it. orchagent is one
    itself; modules of srv6net keep its name before them."""
    if parts[0] not in (TOPS[0], _BESIDE):
        return parts[0]
    path = Path(_BESIDE) if parts[0] == _BESIDE else Path()
    top = checkout if parts[0] == _BESIDE else checkout / TOPS[0]
    for part in parts[1:]:
        path /= part
        if not (top / path).is_dir():
            break
    return f"{path}.py" if path.name else ""


def _package(module: str) -> str:
    """The package or module right below srv6mgrd."""
    first = module.partition("/")[0].removesuffix(".py")
    return first if first != "__init__" else ""


def problems(table: Table, found: Sequence[Import]) -> list[str]:
    """Imports beside the table, packages without a row, unused permissions, and cycles."""
    lines = []
    used: set[tuple[str, str]] = set()
    for one in found:
        modules = (one.source, one.target)
        ends = [table.row(module) for module in modules]
        missing = [_package(m) for m, end in zip(modules, ends, strict=True) if end is None]
        if missing:
            lines.append(f"{one.file}:{one.line}: {missing[0]} has no row in {PAGE}; add one")
            continue
        source, target = str(ends[0]), str(ends[1])
        used.add((source, target))
        if source != target and target not in table.permitted[source]:
            lines.append(
                f"{one.file}:{one.line}: {source} must not import {target} ({PAGE}); move what"
                " both need to where both may import it, or pass it in"
            )
    for source, targets in table.permitted.items():
        if len(targets) < len(table.permitted):
            unused = sorted(t for t in targets if (source, t) not in used)
            lines += [f"{PAGE}: {source} does not import {t}; remove it there" for t in unused]
    if cycle := _cycle(table.permitted):
        lines.append(f"{PAGE}: a cycle: {' -> '.join(cycle)}")
    # One statement may import several names.
    return list(dict.fromkeys(lines))


def _cycle(permitted: Mapping[str, frozenset[str]]) -> list[str]:
    """Rows that may import each other; empty when there are none."""
    done: set[str] = set()

    def visit(name: str, above: list[str]) -> list[str]:
        if name in above:
            return [*above[above.index(name) :], name]
        if name not in done:
            for other in sorted(permitted[name] - {name}):
                if len(permitted[name]) < len(permitted) and (
                    cycle := visit(other, [*above, name])
                ):
                    return cycle
            done.add(name)
        return []

    return next((cycle for name in permitted if (cycle := visit(name, []))), [])


def main() -> int:
    found = problems(parse((CHECKOUT / PAGE).read_text()), imports(CHECKOUT))
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
