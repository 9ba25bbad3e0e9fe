"""Tunnels that srv6-gnmid dials, by what it reports of them."""

from __future__ import annotations

from pathlib import Path

from srv6mgrd.model.tunnels import FILE, Tunnel, decode
from srv6mgrd.storage import read_text


def found(runtime: Path) -> list[Tunnel]:
    """None without settings for it, or while srv6-gnmid does not run, which is a condition of its
    own."""
    try:
        return decode(read_text(runtime / FILE))
    except (OSError, ValueError):
        return []
