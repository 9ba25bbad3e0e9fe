"""Where the commit socket is."""

from __future__ import annotations

from pathlib import Path


def commit_socket(runtime: Path) -> Path:
    """In srv6mgrd's runtime directory."""
    return runtime / "commit.sock"
