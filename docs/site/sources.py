"""Collect the sources of the site: pages where the repository has them, and generated ones.

sources.py CHECKOUT TARGET
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

# Of the tracked files; other files of the repository are not part of the site.
PAGES = (
    "*.md", "docs/*.md", "docs/adr/*.md", "docs/tutorial/*.md", "docs/howto/*.md",
    "docs/reference/*.md",
    "frr-patches/README.md", "lab/README.md", "redis-schema/README.md",
)  # fmt: skip
LINKED = (
    "LICENSE",
    "docs/site/iframe-worker.js",
    "docs/site/style.css",
    "docs/figures/*.svg",
    "docs/images/*.png",
    "docs/images/*.svg",
    "docs/yang/*.tree",
    "examples/*/*.json",
)
_ITEM = re.compile(r"([-*]|\d+\.) ")


def main(checkout: Path, target: Path) -> int:
    shutil.rmtree(target, ignore_errors=True)
    for name in tracked(checkout, [*PAGES, *LINKED]):
        copy(checkout / name, target / name)
    trees = sorted((checkout / "docs/yang").glob("*.tree"))
    write(target / "docs/yang/index.md", yang_index([tree.stem for tree in trees]))
    for tree in trees:
        write(target / f"docs/yang/{tree.stem}.md", as_text(tree.stem, tree.read_text()))
    manuals = sorted((checkout / "docs/man").glob("*.[1-9]"))
    write(target / "docs/man/index.md", manual_index([manual.name for manual in manuals]))
    for manual in manuals:
        write(target / f"docs/man/{manual.name}.md", as_text(title(manual.name), rendered(manual)))
    return 0


def tracked(checkout: Path, patterns: Iterable[str]) -> list[str]:
    """Files of the repository whose whole path matches one of the patterns."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=checkout, check=True, capture_output=True, text=True,
    )  # fmt: skip
    wanted = [pattern.split("/") for pattern in patterns]
    return [name for name in listed.stdout.splitlines() if any(matches(name, w) for w in wanted)]


def matches(name: str, parts: list[str]) -> bool:
    """``*`` does not match a slash."""
    path = PurePosixPath(name)
    return len(path.parts) == len(parts) and path.match("/".join(parts))


def copy(source: Path, target: Path) -> None:
    if source.suffix == ".md":
        write(target, with_lists(source.read_text()))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def with_lists(page: str) -> str:
    """Put the blank line before lists that Python-Markdown needs and CommonMark does not."""
    blocks = re.split(r"(?ms)^(```.*?^```$)", page)
    return "".join(b if b.startswith("```") else _separated(b) for b in blocks)


def _separated(text: str) -> str:
    lines: list[str] = []
    for line in text.split("\n"):
        last = lines[-1] if lines else ""
        if _ITEM.match(line) and last.strip() and not (_ITEM.match(last) or last[0] == " "):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def as_text(name: str, text: str) -> str:
    return f"# {name}\n\n```text\n{text.rstrip()}\n```\n"


def title(manual: str) -> str:
    """srv6ctl.1: srv6ctl(1)."""
    name, _, section = manual.rpartition(".")
    return f"{name}({section})"


def rendered(manual: Path) -> str:
    """A manual page as plain text."""
    command = ["groff", "-man", "-Tutf8", "-rLL=92n", "-P-cbou", str(manual)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def yang_index(names: Iterable[str]) -> str:
    rows = "".join(f"| [{name}]({name}.md) | [{name}.tree]({name}.tree) |\n" for name in names)
    return f"# YANG trees\n\nTrees as in RFC 8340.\n\n| module | file |\n|---|---|\n{rows}"


def manual_index(names: Iterable[str]) -> str:
    rows = "".join(f"| [{title(name)}]({name}.md) |\n" for name in names)
    return f"# Manual pages\n\n| page |\n|---|\n{rows}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
