# ruff: noqa: E501
"""Write docs/reference: settings, metrics and errors, from the sources that define them.

python docs/site/reference.py [--check]
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pyang import context, repository

from srv6mgrd.datastore.app_tags import APP_TAGS

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs/reference"
# A settings file, its manual page, and the classes that hold its settings.
SETTINGS = {
    "srv6mgrd.toml": (("srv6mgrd/settings.py", ("Settings", "DaemonSettings")),),
    "gnmid.toml": (("srv6mgrd/gnmi/config.py", ("Config",)),),
    "srv6-metricsd.toml": (("srv6mgrd/metrics/config.py", ("Config",)),),
    "srv6-configdbd.toml": (
        ("srv6mgrd/configdb/daemon.py", ("Settings",)),
        ("srv6mgrd/settings.py", ("DaemonSettings",)),
    ),
    "srv6-orchagent.toml": (
        ("orchagent/daemon.py", ("Settings",)),
        ("srv6mgrd/settings.py", ("DaemonSettings",)),
    ),
}
SETTINGS_HEAD = """# Settings

Each daemon reads one TOML file in `/etc/srv6mgr`. Every setting has a default, and an unknown one is rejected. Times are
in seconds. The manual pages srv6mgrd.toml(5), gnmid.toml(5), srv6-metricsd(8), srv6-configdbd(8) and srv6-orchagent(8) explain more.
"""
METRICS_HEAD = """# Metrics

Counters and gauges of the models, with their paths below `/srv6mgr-srv6:srv6`. gNMI serves them (Get and Subscribe), and
so does NETCONF (`get`, YANG-Push); `srv6ctl show counters --json` prints those of SIDs.

| path | type | description |
|---|---|---|
"""
ERRORS_HEAD = """# Errors

A change that cannot be applied is rejected atomically. Each error names the object, the cause and the remedy, and has
one of these tags: the `error-app-tag` of NETCONF, also in the JSON of srv6ctl. `...` stands for names and values.
"""
COUNTERS = re.compile(r"(zero-based-)?(counter|gauge)(32|64)$")
_TAG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
_DESCRIBED = re.compile(r"^    ((?:``\w+``(?:, +)?)+) +(.*(?:\n {6,}.*)*)", re.M)


def main() -> int:
    pages = {"settings.md": settings(), "metrics.md": metrics(), "errors.md": errors()}
    stale = False
    for name, text in pages.items():
        file = TARGET / name
        if "--check" not in sys.argv:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"docs/reference/{name} is stale: run 'make format'")
            stale = True
    return 1 if stale else 0


def settings() -> str:
    text = SETTINGS_HEAD
    for file, places in SETTINGS.items():
        text += f"\n## {file}\n\n| setting | default | |\n|---|---|---|\n"
        seen: set[str] = set()
        for source, names in places:
            tree = (ROOT / source).read_text()
            for name in names:
                for setting, default, about in of_class(tree, name):
                    if setting not in seen:
                        seen.add(setting)
                        text += f"| `{setting}` | `{default}` | {about} |\n"
    return text


def of_class(source: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Settings that a dataclass declares: name, default, description."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ClassDef) or node.name != name:
            continue
        described = dict(of_docstring(ast.get_docstring(node, clean=False) or ""))
        for field in node.body:
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                about = described.get(field.target.id) or comment_above(lines, field.lineno - 1)
                yield field.target.id, default(field.value), about


def of_docstring(text: str) -> Iterator[tuple[str, str]]:
    for names, about in _DESCRIBED.findall(text):
        for name in re.findall(r"``(\w+)``", names):
            yield name, " ".join(about.split()).replace("``", "`")


def comment_above(lines: list[str], at: int) -> str:
    found: list[str] = []
    while at and lines[at - 1].strip().startswith("#"):
        at -= 1
        found.insert(0, lines[at].strip("# "))
    return " ".join(found)


def default(value: ast.expr | None) -> str:
    if value is None or isinstance(value, ast.Call):
        return "{}"
    found = ast.literal_eval(value)
    if isinstance(found, bool):
        return str(found).lower()
    return (
        str(list(found)).replace("'", '"')
        if isinstance(found, tuple)
        else repr(found).replace("'", '"')
    )


def metrics() -> str:
    rows = (f"| `{path}` | {kind} | {about} |\n" for path, kind, about in counters())
    return METRICS_HEAD + "".join(rows)


def counters() -> Iterator[tuple[str, str, str]]:
    """State leaves that count, by path."""
    modules = context.Context(repository.FileRepository(str(ROOT / "yang"), use_env=False))
    for file in sorted((ROOT / "yang").glob("srv6mgr-*.yang")):
        modules.add_module(str(file), file.read_text())
    modules.validate()
    (top,) = (
        m for m in modules.modules.values() if m.arg == "srv6mgr-srv6" and m.keyword == "module"
    )
    yield from below(top.search_one("container", "srv6", children=top.i_children), "")


def below(node: Any, path: str) -> Iterator[tuple[str, str, str]]:
    for child in node.i_children:
        here = f"{path}/{child.arg}"
        if child.keyword in ("container", "list"):
            key = child.search_one("key")
            keys = "".join(f"[{name}]" for name in key.arg.split()) if key else ""
            yield from below(child, f"{here}{keys}")
        elif child.keyword == "leaf" and not child.i_config:
            kind = child.search_one("type").arg.rpartition(":")[2]
            if COUNTERS.match(kind):
                about = child.search_one("description")
                yield here, kind, " ".join(about.arg.split()) if about else ""


def errors() -> str:
    text = f"{ERRORS_HEAD}\n## Rules of the models\n\n{table_of_errors(of_models())}"
    found = {row for file in sorted((ROOT / "srv6mgrd").rglob("*.py")) for row in rejections(file)}
    return f"{text}\n## Rules that srv6mgrd checks\n\n{table_of_errors(found)}"


def of_models() -> Iterator[tuple[str, str, str]]:
    """Tag, cause and remedy of each error-message of the models."""
    for message, tag in APP_TAGS.items():
        cause, _, remedy = message.rpartition("; ")
        yield tag, cause, remedy


def table_of_errors(found: Iterable[tuple[str, str, str]]) -> str:
    rows = "".join(f"| `{t}` | {cell(c)} | {cell(r)} |\n" for t, c, r in sorted(found))
    return f"| tag | cause | remedy |\n|---|---|---|\n{rows}"


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def rejections(file: Path) -> Iterator[tuple[str, str, str]]:
    """Tag, cause and remedy of rejections that a module makes, where all are written out."""
    source = file.read_text()
    if "ejection" not in source:
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and "rejection" in ast.unparse(node.func).lower():
            texts = [template(argument) for argument in node.args]
            for at, tag in enumerate(texts):
                if at >= 2 and tag and _TAG.fullmatch(tag) and texts[at - 1] and texts[at - 2]:
                    yield tag, texts[at - 2] or "", texts[at - 1] or ""
                    break


def template(node: ast.expr) -> str | None:
    """A text with ``...`` for what is filled in; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (p.value if isinstance(p, ast.Constant) else "..." for p in node.values)
        return "".join(map(str, parts))
    return None


if __name__ == "__main__":
    sys.exit(main())
