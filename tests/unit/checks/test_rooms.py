"""Imports between packages are those of the table in docs/architecture.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks import rooms

PAGE = """
## Rooms

Words.

| room | what | imports |
|---|---|---|
| `model/` | state | nothing |
| `kernel/` | netlink | model, base |
| `daemon.py`, `tool.py` | wiring | all |
| base: `storage.py`, `pace.py` | helpers | nothing |

## Contracts
| `ghost/` | not of the table | model |
"""


def written(checkout: Path, files: dict[str, str]) -> list[rooms.Import]:
    for name, text in files.items():
        file = checkout / "srv6mgrd" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return rooms.imports(checkout)


GOOD = {
    "__init__.py": "",
    "model/desired.py": "from srv6mgrd.model import behavior\n",
    "kernel/wire.py": "from srv6mgrd import pace\nfrom srv6mgrd.model.desired import Desired\n",
    "pace.py": "import srv6mgrd.storage\n",
    "daemon.py": "from srv6mgrd.tool import main\nfrom srv6mgrd.kernel import wire\n",
}


def test_the_sources_match_the_table() -> None:
    assert rooms.main() == 0


def test_imports_that_the_table_permits_pass(tmp_path: Path) -> None:
    assert rooms.problems(rooms.parse(PAGE), written(tmp_path, GOOD)) == []


@pytest.mark.parametrize(
    ("file", "line", "problem"),
    [
        ("model/parse.py", "from srv6mgrd.kernel.wire import pack", "model must not import kernel"),
        ("model/parse.py", "from srv6mgrd import kernel", "model must not import kernel"),
        ("model/parse.py", "import srv6mgrd.kernel.wire", "model must not import kernel"),
        ("model/parse.py", "from orchagent.sai import x", "orchagent has no row"),
        ("model/parse.py", "def f():\n    from srv6mgrd import pace", "model must not import base"),
        ("proxy/map_index.py", "from srv6mgrd.model import desired", "proxy has no row"),
    ],
)
def test_another_import_is_reported_with_its_place(
    tmp_path: Path, file: str, line: str, problem: str
) -> None:
    found = rooms.problems(rooms.parse(PAGE), written(tmp_path, {**GOOD, file: f"{line}\n"}))
    assert len(found) == 1
    assert problem in found[0]
    assert found[0].startswith(f"srv6mgrd/{file}:")


def test_files_of_a_pattern_have_a_row_of_their_own(tmp_path: Path) -> None:
    page = PAGE.replace("| `daemon.py`", "| pure: `kernel/*/plain.py` | x | model |\n| `daemon.py`")
    files = {
        "kernel/a/plain.py": "from srv6mgrd.model.desired import Desired\n",
        "kernel/wire.py": f"{GOOD['kernel/wire.py']}from srv6mgrd.kernel.a import plain\n",
    }
    page = page.replace("| netlink | model, base |", "| netlink | model, base, pure |")
    assert rooms.problems(rooms.parse(page), written(tmp_path, {**GOOD, **files})) == []
    (found,) = rooms.problems(
        rooms.parse(page),
        written(
            tmp_path, {"kernel/a/plain.py": "import srv6mgrd.model\nimport srv6mgrd.kernel.wire\n"}
        ),
    )
    assert "srv6mgrd/kernel/a/plain.py:2: pure must not import kernel" in found


def test_a_permission_that_nothing_uses_is_reported(tmp_path: Path) -> None:
    found = written(tmp_path, {**GOOD, "kernel/wire.py": "from srv6mgrd.model import x\n"})
    assert rooms.problems(rooms.parse(PAGE), found) == [
        "docs/architecture.md: kernel does not import base; remove it there"
    ]


def test_rooms_that_import_each_other_are_reported(tmp_path: Path) -> None:
    page = PAGE.replace("| state | nothing |", "| state | kernel |")
    files = {**GOOD, "model/parse.py": "from srv6mgrd import kernel\n"}
    (found,) = rooms.problems(rooms.parse(page), written(tmp_path, files))
    assert "a cycle: model -> kernel -> model" in found


def test_a_row_that_imports_what_has_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="the row of kernel imports nowhere, which has no row"):
        rooms.parse(PAGE.replace("model, base", "model, nowhere"))


def test_packages_of_srv6net_have_rows_of_their_own(tmp_path: Path) -> None:
    rows = "| net a: `/srv6net/one*` | x | model |\n| net b: `/srv6net/two*` | x | net a |\n"
    page = PAGE.replace("| `daemon.py`", f"{rows}| `daemon.py`")
    for name, text in {
        "one/pure.py": "from srv6mgrd.model.desired import Desired\nimport srv6net.two\n",
        "two/wire.py": "from srv6net.one.pure import x\nfrom srv6net import one\n",
    }.items():
        file = tmp_path / "srv6net" / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    (found,) = rooms.problems(rooms.parse(page), written(tmp_path, GOOD))
    assert found.startswith("srv6net/one/pure.py:2: net a must not import net b")
