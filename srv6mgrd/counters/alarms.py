"""The alarm list, from srv6mgrd to its readers: a JSON file beside the store (docs/adr/0041).
``counters.node.NodeReader`` reads it.

Members are those of ``/ietf-alarms:alarms`` as RFC 7951 writes them.
"""

from __future__ import annotations

from pathlib import Path

# The module, its top and the container's name in RFC 7951.
MODULE = "ietf-alarms"
TOP = f"{MODULE}:alarms"
MEMBERS = ("alarm-list", "shelved-alarms", "alarm-inventory", "summary")


def beside(store: Path) -> Path:
    """Where the file is, given the store."""
    return store.with_name("alarms.json")
