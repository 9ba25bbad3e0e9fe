"""Tunnels that srv6-gnmid dials, as it reports them to others. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

# Beside the store.
FILE = "tunnels.json"


@dataclass(frozen=True, slots=True)
class Tunnel:
    """``server`` as in the settings, ``since`` in seconds since the epoch, ``reason`` why it is
    down: cause and remedy."""

    server: str
    target: str
    is_up: bool
    since: float
    reason: str = ""
    sessions: int = 0


def encode(tunnels: Iterable[Tunnel]) -> str:
    """The content of the file."""
    return json.dumps({"tunnels": [asdict(tunnel) for tunnel in tunnels]})


def decode(text: str) -> list[Tunnel]:
    """Raises ValueError for what no such file is."""
    try:
        return [Tunnel(**found) for found in json.loads(text)["tunnels"]]
    except (TypeError, KeyError) as error:
        raise ValueError(f"it holds no tunnels ({error})") from None
