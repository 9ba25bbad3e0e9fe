"""Reasons of drops, from srv6mgrd to its readers: a JSON file beside the store, apart from the
rows of accounting, of which there may be a hundred thousand (docs/adr/0008).
``counters.accounting.AccountingWriter`` writes it, and ``counters.node.NodeReader`` reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from srv6mgrd.model.drops import Drop
from srv6mgrd.model.times import time_text

# Of the container in the model.
PART = "drops"


def beside(store: Path) -> Path:
    """Where the file is, given the store."""
    return store.with_name("drops.json")


def reasons(found: Iterable[Drop], since: int) -> dict[str, Any]:
    """The container ``accounting/drops``, empty before there are any; ``since`` in nanoseconds
    since the epoch."""
    entries = []
    for one in sorted(found, key=lambda drop: (drop.sid, drop.reason)):
        entry = {"sid": str(one.sid), "reason": one.reason.value}
        if one.vrf is not None:
            entry["vrf"] = one.vrf
        entry |= {
            "certainty": one.certainty.value,
            "packets": str(one.packets),
            "last-seen": time_text(one.last),
        }
        entries.append(entry)
    return {"discontinuity-time": time_text(since), "drop": entries} if entries else {}
