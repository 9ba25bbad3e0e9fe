"""Revisions and records as JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from srv6net.allocate.plan import Allocations
from srv6net.allocate.pool import Numbers, Released
from srv6net.transaction.record import Change, Revision


def pack(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def of_revision(revision: Revision) -> str:
    pools = {name: _of_numbers(numbers) for name, numbers in revision.allocations.pools.items()}
    return pack(
        {
            "number": revision.number,
            "at": revision.at,
            "intent": revision.intent,
            "allocations": pools,
            "routers": revision.routers,
            "inventory": revision.inventory,
        }
    )


def revision(text: str) -> Revision:
    found = json.loads(text)
    pools = {name: _numbers(numbers) for name, numbers in found["allocations"].items()}
    return Revision(
        found["number"],
        found["at"],
        found["intent"],
        Allocations(pools),
        found["routers"],
        found.get("inventory", ""),
    )


def of_changes(changes: Mapping[str, Change]) -> str:
    return pack({name: [change.before, change.after] for name, change in changes.items()})


def changes(text: str) -> dict[str, Change]:
    return {name: Change(*pair) for name, pair in json.loads(text).items()}


def _of_numbers(numbers: Numbers) -> dict[str, Any]:
    released = {str(n): [r.owner, r.until] for n, r in numbers.released.items()}
    return {"taken": numbers.taken, "released": released}


def _numbers(found: Mapping[str, Any]) -> Numbers:
    released = {int(n): Released(*pair) for n, pair in found["released"].items()}
    return Numbers(found["taken"], released)
