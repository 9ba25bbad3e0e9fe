"""MkDocs hook: a folder in the navigation stands for its pages, index first."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    config["nav"] = [expanded(entry, Path(config["docs_dir"])) for entry in config["nav"]]
    return config


def expanded(entry: Any, root: Path) -> Any:
    if isinstance(entry, dict):
        return {title: expanded(below, root) for title, below in entry.items()}
    if isinstance(entry, list):
        return [expanded(below, root) for below in entry]
    if not entry.endswith("/"):
        return entry
    pages = sorted((root / entry).glob("*.md"), key=_index_first)
    return [str(page.relative_to(root)) for page in pages]


def _index_first(page: Path) -> tuple[bool, str]:
    return page.name not in ("index.md", "README.md"), page.name
